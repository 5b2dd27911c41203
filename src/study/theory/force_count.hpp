// How often a method asks for forces: its work, in a unit that depends on no machine.
#pragma once

#include <cstdint>
#include <memory>

#include "integrate/scheme.hpp"
#include "model/potential.hpp"

namespace bathline {

/// A potential that counts the components of forces it was asked for; a Hessian counts as a force per degree of
/// freedom.
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
  bool is_quadratic() const override { return potential_->is_quadratic(); }

  std::int64_t count() const { return count_; }

 private:
  std::shared_ptr<const Potential> potential_;
  mutable std::int64_t count_ = 0;
};

/// How often a step of `scheme` needs the forces on the sites of an environment; 0 for the exact flow.
inline int site_forces_per_step(const Scheme& scheme) {
  if (const auto* explicit_scheme = std::get_if<ExplicitScheme>(&scheme)) {
    int count = 0;
    for (const Substep& substep : explicit_scheme->merged().substeps) count += substep.kind != Substep::Kind::drift;
    return count;
  }
  if (std::holds_alternative<CollocationScheme>(scheme)) return 2;  // before and after its solve
  return 0;
}

}  // namespace bathline
