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
    const auto coordinate = [&](int particle) { return particle == origin ? 0.0 : q[particle * axes_ + axis]; };
    result[axis] = coordinate(term.to) - coordinate(term.from);
  }
  return result;
}

double PairPotentialSum::argument(const Eigen::Vector3d& separation) const {
  // hypot neither overflows nor underflows, so that r = 0 means equal positions.
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

/// The vector from one particle to another and its length, at one point of configuration space or at simd_width points.
template <int axes, class Number>
struct PairVector {
  Number direction[axes];
  Number s;  ///< signed with one axis

  /// The coordinates of a particle are `stride` numbers apart; the origin is nullptr.
  PairVector(const double* to, const double* from, int stride) {
    const auto coordinate = [&](const double* particle, int axis) {
      return particle ? read<Number>(particle + axis * stride) : Number{};
    };
    for (int axis = 0; axis < axes; ++axis) direction[axis] = coordinate(to, axis) - coordinate(from, axis);
    s = axes == 1 ? direction[0] : length();
  }

  /// Adds V'(s) = derivative along the vector to the gradients of both particles.
  void add_to_gradients(Number derivative, double* to, double* from, int stride) const {
    const auto add = [](Number x, double* number) {
      x += read<Number>(number);
      std::memcpy(number, &x, sizeof x);
    };
    for (int axis = 0; axis < axes; ++axis) {
      Number part = derivative;
      // 0/0 = NaN where s = 0 and V' is not 0: there the potential has the tip of a cone, and no gradient.
      if (axes > 1) part *= ((s > 0.0) | (derivative != 0.0)) ? direction[axis] / s : direction[axis];
      if (to) add(part, to + axis * stride);
      if (from) add(-part, from + axis * stride);
    }
  }

 private:
  /// The algorithm of std::hypot with three arguments, with the same bits, but without the divisions of absent axes. It
  /// neither overflows nor underflows, so that r = 0 means equal positions.
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
    const auto particle_part = [&](auto* numbers, int particle) {
      return particle == origin ? nullptr : numbers + particle * axes;
    };
    const PairVector<axes, double> vector(particle_part(q, term.to), particle_part(q, term.from), 1);
    vector.add_to_gradients(term.potential->derivative(vector.s), particle_part(gradient, term.to),
                            particle_part(gradient, term.from), 1);
  }
}

void PairPotentialSum::gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const {
  gradient.setZero(q.size());
  if (axes_ == 1) add_gradient<1>(q.data(), gradient.data());
  if (axes_ == 2) add_gradient<2>(q.data(), gradient.data());
  if (axes_ == 3) add_gradient<3>(q.data(), gradient.data());
}

/// Works on blocks of points, so that the cost of a virtual call of `derivatives` is shared by many.
template <int axes>
void PairPotentialSum::add_gradients(int points, const double* q, double* gradients) const {
  constexpr int block_size = 64;
  static_assert(block_size % simd_width == 0);
  alignas(sizeof(SimdDouble)) double s[block_size], derivatives[block_size];
  for (const Term& term : terms_) {
    const auto particle_part = [&](auto* numbers, int particle) {
      return particle == origin ? nullptr : numbers + particle * axes * points;
    };
    for (int first = 0; first < points; first += block_size) {
      const int count = std::min(points - first, block_size);
      const auto vector_at = [&](int point) {
        const double *to = particle_part(q + point, term.to), *from = particle_part(q + point, term.from);
        return PairVector<axes, SimdDouble>(to, from, points);
      };
      for (int i = 0; i < count; i += simd_width) store(vector_at(first + i).s, s + i);
      const auto size = static_cast<std::size_t>(count);
      term.potential->derivatives({s, size}, {derivatives, size});
      for (int i = 0; i < count; i += simd_width) {
        double* const target = gradients + first + i;
        vector_at(first + i).add_to_gradients(load(derivatives + i), particle_part(target, term.to),
                                              particle_part(target, term.from), points);
      }
    }
  }
}

void PairPotentialSum::gradients(int coordinates, int points, const double* q, double* gradients) const {
  std::fill_n(gradients, coordinates * points, 0.0);
  if (axes_ == 1) add_gradients<1>(points, q, gradients);
  if (axes_ == 2) add_gradients<2>(points, q, gradients);
  if (axes_ == 3) add_gradients<3>(points, q, gradients);
}

template <class Add>
void PairPotentialSum::for_each_block(const Eigen::VectorXd& q, Add add) const {
  for (const Term& term : terms_) {
    const Eigen::Vector3d direction = separation(term, q);
    const double s = argument(direction);
    const double first = term.potential->derivative(s), second = term.potential->second_derivative(s);
    Eigen::Matrix3d block = Eigen::Matrix3d::Zero();
    if (axes_ == 1) {
      block(0, 0) = second;
    } else if (s == 0.0) {
      block.diagonal().setConstant(first == 0.0 ? second : std::numeric_limits<double>::quiet_NaN());
    } else {
      const Eigen::Vector3d e = direction / s;
      block = (second - first / s) * (e * e.transpose());
      block.diagonal().array() += first / s;
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
