// The Kepler potential of unit strength, for tests that are independent of the catalogue.
#pragma once

#include <cmath>

#include "model/potential.hpp"

namespace bathline {

/// V = -1/|r| of one particle in the plane.
class AttractingCentre final : public Potential {
 public:
  double value(const Eigen::VectorXd& q) const override { return -1.0 / q.norm(); }
  void gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const override {
    gradient = q / std::pow(q.norm(), 3);
  }
  void hessian(const Eigen::VectorXd& q, Eigen::MatrixXd& hessian) const override {
    const double r = q.norm();
    hessian = Eigen::MatrixXd::Identity(2, 2) / std::pow(r, 3) - 3.0 * q * q.transpose() / std::pow(r, 5);
  }
};

}  // namespace bathline
