// The sum of pair potentials between particles, and between particles and the origin.
#pragma once

#include <memory>
#include <vector>

#include "model/batched_derivatives.hpp"
#include "model/potential.hpp"
#include "model/potentials/pair_potential.hpp"

namespace bathline {

/// V(q) = sum over terms of V_term(s). With one axis s = q_to - q_from, so that the sum is as smooth as its terms; with
/// two or three s is the distance, and at s = 0 a term has derivatives only if V'(0) = 0 (else NaN).
class PairPotentialSum final : public Potential, public BatchedGradient {
 public:
  static constexpr int origin = -1;
  struct Term {
    int from;  ///< a particle or the `origin`
    int to;    ///< a particle or the `origin`
    std::shared_ptr<const PairPotential> potential;
  };
  /// `axes` is 1, 2 or 3.
  PairPotentialSum(std::vector<Term> terms, int axes) : terms_(std::move(terms)), axes_(axes) {}

  double value(const Eigen::VectorXd& q) const override;
  void gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const override;
  void hessian(const Eigen::VectorXd& q, Eigen::MatrixXd& hessian) const override;
  void sparse_hessian(const Eigen::VectorXd& q, Eigen::SparseMatrix<double>& hessian) const override;
  bool is_quadratic() const override;
  void gradients(int coordinates, int points, const double* q, double* gradients) const override;

  const std::vector<Term>& terms() const { return terms_; }
  /// The vector from `term.from` to `term.to`; absent axes are zero.
  Eigen::Vector3d separation(const Term& term, const Eigen::VectorXd& q) const;
  /// The argument s of a pair potential: signed with one axis, else the distance.
  double argument(const Eigen::Vector3d& separation) const;

 private:
  /// Adds the gradient of all terms, with the number of axes known at compile time.
  template <int axes>
  void add_gradient(const double* q, double* gradient) const;
  /// The same at many points, in the layout of BatchedGradient.
  template <int axes>
  void add_gradients(int points, const double* q, double* gradients) const;
  /// Calls add(a, b, block) with every term's second derivatives with respect to the positions of the particles a and
  /// b.
  template <class Add>
  void for_each_block(const Eigen::VectorXd& q, Add add) const;

  std::vector<Term> terms_;
  int axes_;
};

}  // namespace bathline
