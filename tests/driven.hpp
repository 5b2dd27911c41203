// External forces on problems in tests, as plain functions.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "model/force.hpp"

namespace bathline {

/// A drive and its rate from given functions.
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

/// A force and its Jacobians from given functions; without the last of them it does not depend on velocities.
class PlainForce final : public Force {
 public:
  using Vector = std::function<Eigen::VectorXd(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t)>;
  using Matrix = std::function<Eigen::MatrixXd(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t)>;
  PlainForce(Vector value, Matrix df_dq, Matrix df_dv = {})
      : value_(std::move(value)), df_dq_(std::move(df_dq)), df_dv_(std::move(df_dv)) {}
  void value(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::VectorXd& force) const override {
    force = value_(q, v, t);
  }
  void jacobians(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::MatrixXd& df_dq,
                 Eigen::MatrixXd& df_dv) const override {
    df_dq = df_dq_(q, v, t);
    df_dv = df_dv_ ? df_dv_(q, v, t) : Eigen::MatrixXd::Zero(q.size(), q.size()).eval();
  }
  bool depends_on_velocity() const override { return static_cast<bool>(df_dv_); }

 private:
  Vector value_;
  Matrix df_dq_, df_dv_;
};

}  // namespace bathline
