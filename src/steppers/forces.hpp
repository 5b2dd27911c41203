// What acts on the particles besides environments, white noise, a magnetic field and a Lagrangian, by the account of
// its work.
#pragma once

#include <Eigen/SparseCore>
#include <vector>

#include "model/problem.hpp"
#include "solve/size.hpp"

namespace bathline {

/// Time in s, and the coordinates and velocities of the particles.
struct Moment {
  double t;
  const double *q, *v;
};

/// An entry of a matrix.
struct Entry {
  int row, column;
  double value;
};

/// y_i = start(i, k) + factor sum_j weights_ij x_j, for component k of `rows` vectors y and `columns` vectors x, all
/// with n numbers one after the other.
template <class Start>
inline void set_sums(int n, int rows, int columns, double factor, const double* weights, const double* x, double* y,
                     Start start) {
  with_size(n, [&](auto size) {
    for (int i = 0; i < rows; ++i) {
      double* __restrict const sum = y + i * size;
      for (int k = 0; k < size; ++k) sum[k] = start(i, k);
      for (int j = 0; j < columns; ++j) {
        const double weight = factor * weights[i * columns + j];
        if (weight == 0.0) continue;  // half of the entries of Lobatto tableaus
        const double* __restrict const term = x + j * size;
        for (int k = 0; k < size; ++k) sum[k] += weight * term[k];
      }
    }
  });
}

/// The forces on the particles of a problem, all of which are arrays with a number for each coordinate. On rank 0.
class Forces {
 public:
  /// With this many coordinates or fewer, matrices are dense.
  static constexpr int few = 16;
  /// With these parts of the friction. `problem` must outlive it.
  explicit Forces(const Problem& problem, FrictionParts friction = {});

  /// -grad V.
  void of_potential(const double* q, double* force) const;
  /// Whether there is drag, and external force.
  bool is_damped() const { return is_damped_; }
  bool is_driven() const { return applied_ != nullptr || drive_ != nullptr; }
  /// f(q, v) - C v, whose work is counted as dissipated.
  void drag(const Moment& at, double* force) const;
  /// force -= C v.
  void subtract_damping(const double* v, double* force) const;
  /// a(q, v, t) + d(t), which do work.
  void applied(const Moment& at, double* force) const;
  /// The derivatives of all of them by q and v, whose entries are sums over the lists.
  void slopes(const Moment& at, std::vector<Entry>& by_q, std::vector<Entry>& by_v) const;
  /// Whether slopes are more than those of potential and damping matrix.
  bool has_typed_forces() const { return drag_ != nullptr || applied_ != nullptr; }

 private:
  /// to_i = start(i) - (matrix x)_i.
  template <class Start>
  void set_less_product(const std::vector<double>& matrix, const double* x, double* to, Start start) const {
    with_size(size_, [&](auto n) {
      for (int i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int j = 0; j < n; ++j) sum += matrix[static_cast<std::size_t>(i * n + j)] * x[j];
        to[i] = start(i) - sum;
      }
    });
  }

  int size_;
  const Potential& potential_;
  const Force *drag_, *applied_;  // nullptr where there is none
  const Drive* drive_;
  bool is_damped_, is_free_ = false;            // is_free_: without a potential
  std::vector<double> stiffness_, damping_;     // of few coordinates, row by row; empty where there is none
  Eigen::SparseMatrix<double> sparse_damping_;  // of many
  mutable Eigen::VectorXd q_, v_, force_;       // arguments and results of other classes
  mutable Eigen::MatrixXd by_q_, by_v_;
  mutable Eigen::SparseMatrix<double> hessian_;
};

}  // namespace bathline
