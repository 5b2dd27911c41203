// All that the properties know of making and advancing a problem: a redesign of it changes this file alone.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "steppers/step_matrix.hpp"
#include "steppers/stepper.hpp"
#include "particle_in_well.hpp"
#include "scene.hpp"
#include "test_world.hpp"

namespace bathline {

/// A problem and the method that advances it. All members are collective; what they return is known on every rank.
class Simulation {
 public:
  Simulation(Problem problem, const Scheme& scheme, double h)
      : problem_(std::make_unique<Problem>(std::move(problem))), stepper_(make_stepper(scheme, *problem_, h)) {}
  Simulation(const Scene& scene, const Scheme& scheme, double h, const Communicator& world = test_world())
      : Simulation(make_problem(scene, world), scheme, h) {}

  /// Advances by steps, of which none may fail.
  void advance(std::int64_t steps) { EXPECT_FALSE(stepper_->advance(steps)); }
  /// The same where one may fail.
  std::optional<Failure> try_to_advance(std::int64_t steps) { return stepper_->advance(steps); }
  std::int64_t steps() const { return problem_->clock.steps; }
  /// Numbers of steps of which multiples may be taken without a change of a bit.
  std::int64_t block_granularity() const { return stepper_->block_granularity(); }

  const Eigen::VectorXd& q() { return particles().q; }
  const Eigen::VectorXd& p() { return particles().p; }
  double z() { return particles().z; }
  /// Of particles and sites.
  PhasePoint state() { return get_state(*problem_); }
  void set_state(const PhasePoint& point) { bathline::set_state(*problem_, point); }
  /// Of particles with an action.
  void set_particles(const Eigen::VectorXd& q, const Eigen::VectorXd& p, double z = 0.0) {
    problem_->q = q;
    problem_->p = p;
    problem_->z = z;
  }
  EnergyLedger energies() { return problem_->energies(); }
  double total_energy() { return energies().total(); }

  Environment& environment() { return *problem_->environments()[0]; }
  /// Continues another simulation of the same problem from its state, as from a checkpoint.
  void resume(Simulation& other) {
    copy_state(*problem_, *other.problem_);
    problem_->clock = other.problem_->clock;
    stepper_->set_internal_state(other.stepper_->internal_state());
  }

 private:
  Problem& particles() {
    problem_->broadcast_particles();
    return *problem_;
  }

  std::unique_ptr<Problem> problem_;
  std::unique_ptr<Stepper> stepper_;
};

/// The matrix of a step of a linear scene.
inline Eigen::MatrixXd step_matrix_of(const Scene& scene, const Scheme& scheme, double h) {
  Problem problem = make_problem(scene, test_world());
  return step_matrix(scheme, problem, h);
}

}  // namespace bathline
