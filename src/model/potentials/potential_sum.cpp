// Values and derivatives of a sum of potentials.
// Tested by tests/model/systems/pair_potential_test.cpp.
#include "model/potentials/potential_sum.hpp"

#include <algorithm>

namespace bathline {

double PotentialSum::value(const Eigen::VectorXd& q) const {
  double sum = all_->value(q);
  for (const Part& part : parts_) {
    position_ = q.segment(part.particle * axes_, axes_);
    sum += part.potential->value(position_);
  }
  return sum;
}

void PotentialSum::gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const {
  all_->gradient(q, gradient);
  for (const Part& part : parts_) {
    position_ = q.segment(part.particle * axes_, axes_);
    part.potential->gradient(position_, gradient_);
    gradient.segment(part.particle * axes_, axes_) += gradient_;
  }
}

void PotentialSum::hessian(const Eigen::VectorXd& q, Eigen::MatrixXd& hessian) const {
  all_->hessian(q, hessian);
  for (const Part& part : parts_) {
    position_ = q.segment(part.particle * axes_, axes_);
    part.potential->hessian(position_, block_);
    hessian.block(part.particle * axes_, part.particle * axes_, axes_, axes_) += block_;
  }
}

void PotentialSum::sparse_hessian(const Eigen::VectorXd& q, Eigen::SparseMatrix<double>& hessian) const {
  all_->sparse_hessian(q, hessian);
  std::vector<Eigen::Triplet<double>> entries;
  for (const Part& part : parts_) {
    const int first = part.particle * axes_;
    position_ = q.segment(first, axes_);
    part.potential->hessian(position_, block_);
    for (int j = 0; j < axes_; ++j) {
      for (int i = 0; i < axes_; ++i) entries.emplace_back(first + i, first + j, block_(i, j));
    }
  }
  Eigen::SparseMatrix<double> parts_hessian(q.size(), q.size());
  parts_hessian.setFromTriplets(entries.begin(), entries.end());
  hessian += parts_hessian;
}

bool PotentialSum::is_quadratic() const {
  return all_->is_quadratic() &&
         std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.potential->is_quadratic(); });
}

}  // namespace bathline
