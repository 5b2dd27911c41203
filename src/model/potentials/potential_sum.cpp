// Sums of potentials, part by part.
// Tested by tests/model/pair_potential_test.cpp.
#include "model/potentials/potential_sum.hpp"

#include <algorithm>

namespace bathline {

double PotentialSum::value(const Eigen::VectorXd& q) const {
  double sum = all_->value(q);
  for (const Part& part : parts_) {
    at_ = q.segment(part.particle * axes_, axes_);
    sum += part.potential->value(at_);
  }
  return sum;
}

void PotentialSum::gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const {
  all_->gradient(q, gradient);
  for (const Part& part : parts_) {
    at_ = q.segment(part.particle * axes_, axes_);
    part.potential->gradient(at_, slope_);
    gradient.segment(part.particle * axes_, axes_) += slope_;
  }
}

void PotentialSum::hessian(const Eigen::VectorXd& q, Eigen::MatrixXd& hessian) const {
  all_->hessian(q, hessian);
  for (const Part& part : parts_) {
    at_ = q.segment(part.particle * axes_, axes_);
    part.potential->hessian(at_, block_);
    hessian.block(part.particle * axes_, part.particle * axes_, axes_, axes_) += block_;
  }
}

bool PotentialSum::is_quadratic() const {
  return all_->is_quadratic() &&
         std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.potential->is_quadratic(); });
}

}  // namespace bathline
