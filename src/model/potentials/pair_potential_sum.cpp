// The chain rule between separations and positions.
//
//   distance r, e = separation / r:  gradient V' e,  Hessian V'' e e^T + (V'/r) (1 - e e^T);  at r = 0, if V' = 0
//   there, the limits 0 and V'' 1
// Tested by tests/properties/potentials_test.cpp.
#include "model/potentials/pair_potential_sum.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "simd/simd_double.hpp"

namespace bathline {

Eigen::Vector3d PairPotentialSum::separation(const Term& term, const Eigen::VectorXd& q) const {
  Eigen::Vector3d result = Eigen::Vector3d::Zero();
  for (int axis = 0; axis < axes_; ++axis) {
    const auto place = [&](int particle) { return particle == origin ? 0.0 : q[particle * axes_ + axis]; };
    result[axis] = place(term.to) - place(term.from);
  }
  return result;
}

double PairPotentialSum::argument(const Eigen::Vector3d& separation) const {
  // hypot neither overflows nor underflows, so that r = 0 means the same place.
  return axes_ == 1 ? separation[0] : std::hypot(separation[0], separation[1], separation[2]);
}

double PairPotentialSum::value(const Eigen::VectorXd& q) const {
  double sum = 0.0;
  for (const Term& term : terms_) sum += term.potential->value(argument(separation(term, q)));
  return sum;
}

namespace {

double magnitude(double x) { return std::abs(x); }
SimdDouble magnitude(SimdDouble x) { return x < 0.0 ? -x : x; }
double root(double x) { return std::sqrt(x); }
SimdDouble root(SimdDouble x) {
  double numbers[simd_width];
  store(x, numbers);
  for (double& number : numbers) number = std::sqrt(number);
  return load(numbers);
}

/// The way between two particles at one place, or at as many as a register has lanes, and how long it is.
template <int axes, class Number>
struct PairVector {
  Number direction[axes];
  Number s;  ///< signed with one axis

  /// Axes of a particle are `stride` apart; the origin is nullptr.
  PairVector(const double* to, const double* from, int stride) {
    const auto place = [&](const double* of, int axis) { return of ? read<Number>(of + axis * stride) : Number{}; };
    for (int axis = 0; axis < axes; ++axis) direction[axis] = place(to, axis) - place(from, axis);
    s = axes == 1 ? direction[0] : length();
  }

  /// Adds the slope along it to the gradients of both.
  void pull(Number slope, double* to, double* from, int stride) const {
    const auto add = [](Number x, double* number) {
      x += read<Number>(number);
      std::memcpy(number, &x, sizeof x);
    };
    for (int axis = 0; axis < axes; ++axis) {
      Number part = slope;
      // NaN where a cone has its tip.
      if (axes > 1) part *= (s > 0.0) | (slope != 0.0) ? direction[axis] / s : direction[axis];
      if (to) add(part, to + axis * stride);
      if (from) add(-part, from + axis * stride);
    }
  }

 private:
  /// As std::hypot of three, which neither overflows nor underflows, so that r = 0 means the same place: to the bit,
  /// but for axes that are not there nothing is divided.
  Number length() const {
    Number largest = magnitude(direction[0]), sum{};
    for (int axis = 1; axis < axes; ++axis) {
      const Number other = magnitude(direction[axis]);
      largest = largest < other ? other : largest;
    }
    for (int axis = 0; axis < axes; ++axis) sum += (direction[axis] / largest) * (direction[axis] / largest);
    return largest == 0.0 ? Number{} : largest * root(sum);
  }
};

}  // namespace

template <int axes>
void PairPotentialSum::add_gradient(const double* q, double* gradient) const {
  for (const Term& term : terms_) {
    const auto of = [&](auto* numbers, int particle) {
      return particle == origin ? nullptr : numbers + particle * axes;
    };
    const PairVector<axes, double> stretch(of(q, term.to), of(q, term.from), 1);
    stretch.pull(term.potential->derivative(stretch.s), of(gradient, term.to), of(gradient, term.from), 1);
  }
}

void PairPotentialSum::gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const {
  gradient.setZero(q.size());
  if (axes_ == 1) add_gradient<1>(q.data(), gradient.data());
  if (axes_ == 2) add_gradient<2>(q.data(), gradient.data());
  if (axes_ == 3) add_gradient<3>(q.data(), gradient.data());
}

/// Of as many places at a time as a call for their slopes is worth.
template <int axes>
void PairPotentialSum::add_gradient(int places, const double* q, double* gradients) const {
  constexpr int at_once = 64;
  static_assert(at_once % simd_width == 0);
  alignas(sizeof(SimdDouble)) double s[at_once], slopes[at_once];
  for (const Term& term : terms_) {
    const auto of = [&](auto* numbers, int particle) {
      return particle == origin ? nullptr : numbers + particle * axes * places;
    };
    for (int first = 0; first < places; first += at_once) {
      const int count = std::min(places - first, at_once);
      const auto stretch = [&](int place) {
        const double *to = of(q + place, term.to), *from = of(q + place, term.from);
        return PairVector<axes, SimdDouble>(to, from, places);
      };
      for (int i = 0; i < count; i += simd_width) store(stretch(first + i).s, s + i);
      const auto size = static_cast<std::size_t>(count);
      term.potential->derivatives({s, size}, {slopes, size});
      for (int i = 0; i < count; i += simd_width) {
        double* const here = gradients + first + i;
        stretch(first + i).pull(load(slopes + i), of(here, term.to), of(here, term.from), places);
      }
    }
  }
}

void PairPotentialSum::gradients(int coordinates, int places, const double* q, double* gradients) const {
  std::fill_n(gradients, coordinates * places, 0.0);
  if (axes_ == 1) add_gradient<1>(places, q, gradients);
  if (axes_ == 2) add_gradient<2>(places, q, gradients);
  if (axes_ == 3) add_gradient<3>(places, q, gradients);
}

template <class Add>
void PairPotentialSum::for_each_block(const Eigen::VectorXd& q, Add add) const {
  for (const Term& term : terms_) {
    const Eigen::Vector3d direction = separation(term, q);
    const double s = argument(direction);
    const double slope = term.potential->derivative(s), curvature = term.potential->second_derivative(s);
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

void PairPotentialSum::hessian(const Eigen::VectorXd& q, Eigen::MatrixXd& hessian) const {
  hessian.setZero(q.size(), q.size());
  for_each_block(q, [&](int a, int b, const Eigen::Matrix3d& block) {
    hessian.block(a * axes_, b * axes_, axes_, axes_) += block.topLeftCorner(axes_, axes_);
  });
}

void PairPotentialSum::sparse_hessian(const Eigen::VectorXd& q, Eigen::SparseMatrix<double>& hessian) const {
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

bool PairPotentialSum::is_quadratic() const {
  return std::all_of(terms_.begin(), terms_.end(), [](const Term& term) { return term.potential->is_quadratic(); });
}

}  // namespace bathline
