// The forces on the particles and their derivatives.
// Tested by tests/steppers/stages_test.cpp.
#include "steppers/forces.hpp"

#include <algorithm>

namespace bathline {

namespace {

using Eigen::Map;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Row by row; empty where all entries are zero.
std::vector<double> rows_of(const MatrixXd& matrix) {
  if (matrix.isZero(0.0)) return {};
  const MatrixXd transposed = matrix.transpose();
  return {transposed.data(), transposed.data() + transposed.size()};
}

void append(const MatrixXd& matrix, double factor, std::vector<Entry>& entries) {
  for (int j = 0; j < matrix.cols(); ++j) {
    for (int i = 0; i < matrix.rows(); ++i) entries.push_back({i, j, factor * matrix(i, j)});
  }
}

void append(const Eigen::SparseMatrix<double>& matrix, double factor, std::vector<Entry>& entries) {
  for (int j = 0; j < matrix.outerSize(); ++j) {
    for (Eigen::SparseMatrix<double>::InnerIterator entry(matrix, j); entry; ++entry)
      entries.push_back({static_cast<int>(entry.row()), j, factor * entry.value()});
  }
}

}  // namespace

Forces::Forces(const Problem& problem, FrictionParts friction)
    : size_(static_cast<int>(problem.q.size())),
      potential_(*problem.system().potential),
      drag_(problem.drag_force(friction)),
      applied_(problem.system().applied.get()),
      drive_(problem.system().drive.get()),
      is_damped_(problem.is_damped(friction)),
      q_(size_),
      v_(size_),
      force_(size_) {
  const MatrixXd damping = (friction.matrix ? 1.0 : 0.0) * problem.damping();
  if (size_ > few) {
    sparse_damping_ = damping.sparseView(0.0, 0.0);
    return;
  }
  damping_ = rows_of(damping);
  if (!potential_.is_quadratic()) return;
  potential_.hessian(problem.q, by_q_);
  stiffness_ = rows_of(by_q_);
  is_free_ = stiffness_.empty();
}

void Forces::of_potential(const double* q, double* force) const {
  if (!stiffness_.empty()) return set_less_product(stiffness_, q, force, [](int) { return 0.0; });
  if (is_free_) {
    std::fill_n(force, size_, 0.0);
    return;
  }
  std::copy_n(q, size_, q_.data());
  potential_.gradient(q_, force_);
  for (int i = 0; i < size_; ++i) force[i] = -force_[i];
}

void Forces::drag(const Moment& at, double* force) const {
  if (drag_ == nullptr) {
    std::fill_n(force, size_, 0.0);
  } else {
    std::copy_n(at.q, size_, q_.data());
    std::copy_n(at.v, size_, v_.data());
    drag_->value(q_, v_, at.t, force_);
    std::copy_n(force_.data(), size_, force);
  }
  subtract_damping(at.v, force);
}

void Forces::subtract_damping(const double* v, double* force) const {
  if (!damping_.empty()) set_less_product(damping_, v, force, [force](int i) { return force[i]; });
  if (sparse_damping_.size() > 0) Map<VectorXd>(force, size_) -= sparse_damping_ * Map<const VectorXd>(v, size_);
}

void Forces::applied(const Moment& at, double* force) const {
  std::fill_n(force, size_, 0.0);
  if (applied_ != nullptr) {
    std::copy_n(at.q, size_, q_.data());
    std::copy_n(at.v, size_, v_.data());
    applied_->value(q_, v_, at.t, force_);
    std::copy_n(force_.data(), size_, force);
  }
  if (drive_ == nullptr) return;
  drive_->value(at.t, force_);
  for (int i = 0; i < size_; ++i) force[i] += force_[i];
}

void Forces::slopes(const Moment& at, std::vector<Entry>& by_q, std::vector<Entry>& by_v) const {
  by_q.clear();
  by_v.clear();
  std::copy_n(at.q, size_, q_.data());
  std::copy_n(at.v, size_, v_.data());
  if (size_ > few) {
    potential_.sparse_hessian(q_, hessian_);
    append(hessian_, -1.0, by_q);
    append(sparse_damping_, -1.0, by_v);
  } else {
    if (!is_free_) {
      potential_.hessian(q_, by_q_);
      append(by_q_, -1.0, by_q);
    }
    if (!damping_.empty()) append(Map<const MatrixXd>(damping_.data(), size_, size_).transpose(), -1.0, by_v);
  }
  for (const Force* force : {drag_, applied_}) {
    if (force == nullptr) continue;
    force->jacobians(q_, v_, at.t, by_q_, by_v_);
    append(by_q_, 1.0, by_q);
    append(by_v_, 1.0, by_v);
  }
}

}  // namespace bathline
