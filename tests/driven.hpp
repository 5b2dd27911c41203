// What acts on problems in tests from outside, in plain functions.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "model/force.hpp"

namespace bathline {

/// A drive and its rate as they are given.
class PlainDrive final : public Drive {
 public:
  using Function = std::function<Eigen::VectorXd(double t)>;
  PlainDrive(Function value, Function rate) : value_(std::move(value)), rate_(std::move(rate)) {}
  void value(double t, Eigen::VectorXd& force) const override { force = value_(t); }
  void rate(double t, Eigen::VectorXd& rate) const override { rate = rate_(t); }

 private:
  Function value_, rate_;
};

/// d = amplitude cos(omega t) on the first of `size` degrees of freedom.
inline std::shared_ptr<const Drive> cosine_drive(int size, double amplitude, double omega) {
  const Eigen::VectorXd first = Eigen::VectorXd::Unit(size, 0);
  return std::make_shared<PlainDrive>(
      [=](double t) -> Eigen::VectorXd { return amplitude * std::cos(omega * t) * first; },
      [=](double t) -> Eigen::VectorXd { return -amplitude * omega * std::sin(omega * t) * first; });
}

/// A force and its slopes as they are given; without the last of them it does not depend on velocities.
class PlainForce final : public Force {
 public:
  using Vector = std::function<Eigen::VectorXd(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t)>;
  using Matrix = std::function<Eigen::MatrixXd(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t)>;
  PlainForce(Vector value, Matrix by_q, Matrix by_v = {})
      : value_(std::move(value)), by_q_(std::move(by_q)), by_v_(std::move(by_v)) {}
  void value(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::VectorXd& force) const override {
    force = value_(q, v, t);
  }
  void jacobians(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::MatrixXd& by_q,
                 Eigen::MatrixXd& by_v) const override {
    by_q = by_q_(q, v, t);
    by_v = by_v_ ? by_v_(q, v, t) : Eigen::MatrixXd::Zero(q.size(), q.size()).eval();
  }
  bool depends_on_velocity() const override { return static_cast<bool>(by_v_); }

 private:
  Vector value_;
  Matrix by_q_, by_v_;
};

}  // namespace bathline
