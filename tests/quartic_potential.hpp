// A nonlinear potential of any number of coordinates, for tests: springs that harden with the distance.
#pragma once

#include "model/potential.hpp"

namespace bathline {

/// V(q) = q^T K q / 2 + c/4 sum q_i^4.
class QuarticPotential final : public Potential {
 public:
  QuarticPotential(Eigen::MatrixXd stiffness, double quartic) : stiffness_(std::move(stiffness)), quartic_(quartic) {}
  double value(const Eigen::VectorXd& q) const override {
    return 0.5 * q.dot(stiffness_ * q) + 0.25 * quartic_ * q.array().pow(4).sum();
  }
  void gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const override {
    gradient.noalias() = stiffness_ * q;
    gradient.array() += quartic_ * q.array().cube();
  }
  void hessian(const Eigen::VectorXd& q, Eigen::MatrixXd& hessian) const override {
    hessian = stiffness_;
    hessian.diagonal().array() += 3.0 * quartic_ * q.array().square();
  }

 private:
  Eigen::MatrixXd stiffness_;
  double quartic_;
};

}  // namespace bathline
