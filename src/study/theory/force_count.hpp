// The number of force evaluations of a method: its work, in a unit that does not depend on the machine.
// Tested by tests/study/convergence_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "methods/scheme.hpp"
#include "model/force.hpp"
#include "model/lagrangian.hpp"
#include "model/kinks_in_time.hpp"
#include "model/particle_system.hpp"
#include "model/potential.hpp"

namespace bathline {

/// A potential that counts evaluated force components; an entry of a Hessian counts as one.
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

/// A force that counts evaluated components; its Jacobians with respect to positions and velocities count as one
/// Hessian.
class CountingForce final : public Force, public KinksInTime {
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
  std::vector<double> kinks(double from, double to) const override { return kinks_of(force_.get(), from, to); }

  std::int64_t count() const { return count_; }

 private:
  std::shared_ptr<const Force> force_;
  mutable std::int64_t count_ = 0;
};

/// A Lagrangian of n coordinates that counts evaluations: a gradient, which contains the forces, as n, a Hessian as
/// n^2.
class CountingLagrangian final : public Lagrangian, public KinksInTime {
 public:
  CountingLagrangian(std::shared_ptr<const Lagrangian> lagrangian, int coordinates)
      : lagrangian_(std::move(lagrangian)), n_(coordinates) {}
  double value(const double* x) const override { return lagrangian_->value(x); }
  void gradient(const double* x, double* gradient) const override {
    count_ += n_;
    lagrangian_->gradient(x, gradient);
  }
  void hessian(const double* x, double* hessian) const override {
    count_ += n_ * n_;
    lagrangian_->hessian(x, hessian);
  }
  void momentum_rates(const double* x, double* rates) const override { lagrangian_->momentum_rates(x, rates); }
  bool depends_on_position(int coordinate) const override { return lagrangian_->depends_on_position(coordinate); }
  bool depends_on_time() const override { return lagrangian_->depends_on_time(); }
  bool depends_on_action() const override { return lagrangian_->depends_on_action(); }
  std::vector<double> kinks(double from, double to) const override { return kinks_of(lagrangian_.get(), from, to); }

  std::int64_t count() const { return count_; }

 private:
  std::shared_ptr<const Lagrangian> lagrangian_;
  std::int64_t n_;
  mutable std::int64_t count_ = 0;
};

/// A system that counts force evaluations on its particles.
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
  /// Several forces at the same positions count once.
  std::int64_t count() const {
    std::int64_t max_count = potential_->count();
    for (const auto& force : forces_) max_count = std::max(max_count, force->count());
    return lagrangian_ ? std::max(max_count, lagrangian_->count()) : max_count;
  }

 private:
  ParticleSystem system_;
  std::shared_ptr<const CountingPotential> potential_;
  std::vector<std::shared_ptr<const CountingForce>> forces_;
  std::shared_ptr<const CountingLagrangian> lagrangian_;
};

/// Number of forces that a step needs, one for each kick, although a force at unchanged positions can be reused.
inline int forces_per_step(const ExplicitScheme& scheme) {
  int count = 0;
  for (const Substep& substep : scheme.substeps) count += substep.kind != Substep::Kind::drift;
  return count;
}

/// Number of forces on the sites of an environment that a step of `scheme` needs; 0 for the exact flow.
inline int site_forces_per_step(const Scheme& scheme) {
  if (const auto* explicit_scheme = std::get_if<ExplicitScheme>(&scheme)) {
    return forces_per_step(explicit_scheme->merged());
  }
  if (std::holds_alternative<PartitionedRungeKutta>(scheme)) return 2;  // before and after its solve
  return 0;
}

}  // namespace bathline
