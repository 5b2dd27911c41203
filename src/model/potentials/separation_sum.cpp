// The chain rule between separations and positions.
//
//   distance r, e = separation / r:  gradient V' e,  Hessian V'' e e^T + (V'/r) (1 - e e^T);  at r = 0, if V' = 0
//   there, the limits 0 and V'' 1
// Tested by tests/properties/potentials_test.cpp.
#include "model/potentials/separation_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bathline {

Eigen::Vector3d SeparationSum::separation(const Term& term, const Eigen::VectorXd& q) const {
  Eigen::Vector3d result = Eigen::Vector3d::Zero();
  for (int axis = 0; axis < axes_; ++axis) {
    const auto place = [&](int particle) { return particle == origin ? 0.0 : q[particle * axes_ + axis]; };
    result[axis] = place(term.to) - place(term.from);
  }
  return result;
}

double SeparationSum::argument(const Eigen::Vector3d& separation) const {
  // hypot neither overflows nor underflows, so that r = 0 means the same place.
  return axes_ == 1 ? separation[0] : std::hypot(separation[0], separation[1], separation[2]);
}

double SeparationSum::value(const Eigen::VectorXd& q) const {
  double sum = 0.0;
  for (const Term& term : terms_) sum += term.potential->value(argument(separation(term, q)));
  return sum;
}

namespace {

/// As std::hypot of three, which neither overflows nor underflows, so that r = 0 means the same place: to the bit, but
/// for axes that are not there nothing is divided.
template <int axes>
double length(const double* x) {
  double largest = std::abs(x[0]);
  for (int axis = 1; axis < axes; ++axis) largest = largest < std::abs(x[axis]) ? std::abs(x[axis]) : largest;
  if (largest == 0.0) return 0.0;
  double sum = 0.0;
  for (int axis = 0; axis < axes; ++axis) sum += (x[axis] / largest) * (x[axis] / largest);
  return largest * std::sqrt(sum);
}

}  // namespace

template <int axes>
void SeparationSum::add_slopes(const double* q, double* gradient) const {
  for (const Term& term : terms_) {
    const double* to = term.to == origin ? nullptr : q + term.to * axes;
    const double* from = term.from == origin ? nullptr : q + term.from * axes;
    double direction[axes];
    for (int axis = 0; axis < axes; ++axis) direction[axis] = (to ? to[axis] : 0.0) - (from ? from[axis] : 0.0);
    const double s = axes == 1 ? direction[0] : length<axes>(direction);
    const double slope = term.potential->slope(s);
    if (axes == 1) {
      direction[0] = 1.0;
    } else if (s > 0.0 || slope != 0.0) {
      for (double& component : direction) component /= s;  // NaN where a cone has its tip
    }
    for (int axis = 0; axis < axes; ++axis) {
      if (to) gradient[term.to * axes + axis] += slope * direction[axis];
      if (from) gradient[term.from * axes + axis] -= slope * direction[axis];
    }
  }
}

void SeparationSum::gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const {
  gradient.setZero(q.size());
  if (axes_ == 1) add_slopes<1>(q.data(), gradient.data());
  if (axes_ == 2) add_slopes<2>(q.data(), gradient.data());
  if (axes_ == 3) add_slopes<3>(q.data(), gradient.data());
}

template <class Add>
void SeparationSum::for_each_block(const Eigen::VectorXd& q, Add add) const {
  for (const Term& term : terms_) {
    const Eigen::Vector3d direction = separation(term, q);
    const double s = argument(direction);
    const double slope = term.potential->slope(s), curvature = term.potential->curvature(s);
    Eigen::Matrix3d block = Eigen::Matrix3d::Zero();
    if (axes_ == 1) {
      block(0, 0) = curvature;
    } else if (s == 0.0) {
      block.diagonal().setConstant(slope == 0.0 ? curvature : std::numeric_limits<double>::quiet_NaN());
    } else {
      const Eigen::Vector3d e = direction / s;
      block = (curvature - slope / s) * (e * e.transpose());
      block.diagonal().array() += slope / s;
    }
    const auto add_pair = [&](int a, int b, double sign) {
      if (a != origin && b != origin) add(a, b, sign * block);
    };
    add_pair(term.to, term.to, 1.0);
    add_pair(term.from, term.from, 1.0);
    add_pair(term.to, term.from, -1.0);
    add_pair(term.from, term.to, -1.0);
  }
}

void SeparationSum::hessian(const Eigen::VectorXd& q, Eigen::MatrixXd& hessian) const {
  hessian.setZero(q.size(), q.size());
  for_each_block(q, [&](int a, int b, const Eigen::Matrix3d& block) {
    hessian.block(a * axes_, b * axes_, axes_, axes_) += block.topLeftCorner(axes_, axes_);
  });
}

void SeparationSum::sparse_hessian(const Eigen::VectorXd& q, Eigen::SparseMatrix<double>& hessian) const {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(4 * terms_.size() * static_cast<std::size_t>(axes_ * axes_));
  for_each_block(q, [&](int a, int b, const Eigen::Matrix3d& block) {
    for (int j = 0; j < axes_; ++j) {
      for (int i = 0; i < axes_; ++i) entries.emplace_back(a * axes_ + i, b * axes_ + j, block(i, j));
    }
  });
  hessian.resize(q.size(), q.size());
  hessian.setFromTriplets(entries.begin(), entries.end());
}

bool SeparationSum::is_quadratic() const {
  return std::all_of(terms_.begin(), terms_.end(), [](const Term& term) { return term.potential->is_quadratic(); });
}

}  // namespace bathline
