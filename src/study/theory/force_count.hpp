// How often a method asks for forces: its work, in a unit that depends on no machine.
// Tested by tests/study/convergence_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "methods/scheme.hpp"
#include "model/force.hpp"
#include "model/lagrangian.hpp"
#include "model/particle_system.hpp"
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

/// A force that does the same; its derivatives by positions and velocities count as one Hessian.
class CountingForce final : public Force {
 public:
  explicit CountingForce(std::shared_ptr<const Force> force) : force_(std::move(force)) {}
  void value(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::VectorXd& force) const override {
    count_ += q.size();
    force_->value(q, v, t, force);
  }
  void jacobians(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::MatrixXd& by_q,
                 Eigen::MatrixXd& by_v) const override {
    count_ += q.size() * q.size();
    force_->jacobians(q, v, t, by_q, by_v);
  }
  bool depends_on_velocity() const override { return force_->depends_on_velocity(); }

  std::int64_t count() const { return count_; }

 private:
  std::shared_ptr<const Force> force_;
  mutable std::int64_t count_ = 0;
};

/// A Lagrangian of n coordinates that does the same: slopes count as n, the forces among them, and second derivatives
/// as n^2.
class CountingLagrangian final : public Lagrangian {
 public:
  CountingLagrangian(std::shared_ptr<const Lagrangian> lagrangian, int coordinates)
      : lagrangian_(std::move(lagrangian)), n_(coordinates) {}
  double value(const double* x) const override { return lagrangian_->value(x); }
  void gradient(const double* x, double* slopes) const override {
    count_ += n_;
    lagrangian_->gradient(x, slopes);
  }
  void hessian(const double* x, double* curvatures) const override {
    count_ += n_ * n_;
    lagrangian_->hessian(x, curvatures);
  }
  void momentum_rates(const double* x, double* rates) const override { lagrangian_->momentum_rates(x, rates); }
  bool depends_on_position(int coordinate) const override { return lagrangian_->depends_on_position(coordinate); }
  bool depends_on_time() const override { return lagrangian_->depends_on_time(); }
  bool depends_on_action() const override { return lagrangian_->depends_on_action(); }

  std::int64_t count() const { return count_; }

 private:
  std::shared_ptr<const Lagrangian> lagrangian_;
  std::int64_t n_;
  mutable std::int64_t count_ = 0;
};

/// A system that counts the forces of its particles, whatever makes them.
class CountedSystem {
 public:
  explicit CountedSystem(const ParticleSystem& system)
      : system_(system), potential_(std::make_shared<CountingPotential>(system.potential)) {
    system_.potential = potential_;
    for (std::shared_ptr<const Force>* force : {&system_.force, &system_.applied}) {
      if (!*force) continue;
      forces_.push_back(std::make_shared<CountingForce>(*force));
      *force = forces_.back();
    }
    if (!system.lagrangian) return;
    lagrangian_ = std::make_shared<CountingLagrangian>(system.lagrangian, system.size());
    system_.lagrangian = lagrangian_;
  }

  const ParticleSystem& system() const { return system_; }
  /// Several forces at one place are one.
  std::int64_t count() const {
    std::int64_t most = potential_->count();
    for (const auto& force : forces_) most = std::max(most, force->count());
    return lagrangian_ ? std::max(most, lagrangian_->count()) : most;
  }

 private:
  ParticleSystem system_;
  std::shared_ptr<const CountingPotential> potential_;
  std::vector<std::shared_ptr<const CountingForce>> forces_;
  std::shared_ptr<const CountingLagrangian> lagrangian_;
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
  if (std::holds_alternative<PartitionedRungeKutta>(scheme)) return 2;  // before and after its solve
  return 0;
}

}  // namespace bathline
