// How often a method asks for forces: its work, in a unit that depends on no machine.
// Tested by tests/study/convergence_test.cpp.
#pragma once

#include <cstdint>
#include <memory>

#include "integrate/scheme.hpp"
#include "model/potential.hpp"

namespace bathline {

/// A potential that counts the components of forces it was asked for; an entry of a Hessian counts as one.
class CountingPotential final : public Potential {
 public:
  explicit CountingPotential(std::shared_ptr<const Potential> potential) : potential_(std::move(potential)) {}
  double value(const Eigen::VectorXd& q) const override { return potential_->value(q); }
  void gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const override {
    count_ += q.size();
    potential_->gradient(q, gradient);
  }
  void hessian(const Eigen::VectorXd& q, Eigen::MatrixXd& hessian) const override {
    count_ += q.size() * q.size();
    potential_->hessian(q, hessian);
  }
  void sparse_hessian(const Eigen::VectorXd& q, Eigen::SparseMatrix<double>& hessian) const override {
    potential_->sparse_hessian(q, hessian);
    count_ += hessian.nonZeros();
  }
  bool is_quadratic() const override { return potential_->is_quadratic(); }

  std::int64_t count() const { return count_; }

 private:
  std::shared_ptr<const Potential> potential_;
  mutable std::int64_t count_ = 0;
};

/// How often a step needs forces: in every kick and stage, although a force at a place that has not changed need not be
/// computed again.
inline int forces_per_step(const ExplicitScheme& scheme) {
  int count = 0;
  for (const Substep& substep : scheme.substeps) count += substep.kind != Substep::Kind::drift;
  return count;
}

/// How often a step of `scheme` needs the forces on the sites of an environment; 0 for the exact flow.
inline int site_forces_per_step(const Scheme& scheme) {
  if (const auto* explicit_scheme = std::get_if<ExplicitScheme>(&scheme)) {
    return forces_per_step(explicit_scheme->merged());
  }
  if (std::holds_alternative<CollocationScheme>(scheme)) return 2;  // before and after its solve
  return 0;
}

}  // namespace bathline
