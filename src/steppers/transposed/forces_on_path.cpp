// Environments advanced alone, in lockstep with a path.
// Tested by tests/costates/gradient_test.cpp.
#include "steppers/transposed/forces_on_path.hpp"

#include <algorithm>

#include "solve/solver_error.hpp"
#include "steppers/time_blocking.hpp"

namespace bathline {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// An environment and the motion of its head.
class Follower {
 public:
  Follower(const Environment& environment, const VectorXd& weights, int stages)
      : x(static_cast<std::size_t>(environment.attachment().axes())),
        v(x),
        force(x),
        velocities(MatrixXd::Zero(stages, environment.attachment().axes())) {
    const Attachment& attachment = environment.attachment();
    std::vector<bool> has_term(x.size());
    for (const auto& [coordinate, axis, weight] : attachment.terms()) {
      terms_.push_back({coordinate, axis, weight, weight * weights[coordinate], attachment.start()[coordinate],
                        has_term[static_cast<std::size_t>(axis)] ? 1.0 : 0.0});
      has_term[static_cast<std::size_t>(axis)] = true;
    }
  }
  operator HeadMotion() const { return {x, v}; }

  void move_to(const VectorXd& q) {
    for (const Term& term : terms_) {
      x[term.axis] = term.of_others * x[term.axis] + term.weight * (q[term.coordinate] - term.start);
    }
  }
  void set_velocity(const RecordedPath::Vector& velocity) {
    for (const Term& term : terms_) {
      v[term.axis] = term.of_others * v[term.axis] + term.weight * velocity[term.coordinate];
    }
  }
  /// Adds the weighted force on the coordinates.
  void distribute(double* forces) const {
    for (const Term& term : terms_) forces[term.coordinate] += term.weight_of_force * force[term.axis];
  }

  std::vector<double> x, v, force;
  MatrixXd velocities;  // of stages, a row for each

 private:
  struct Term {
    int coordinate, axis;
    double weight, weight_of_force, start, of_others;  // of_others: 0 for the first term of an axis
  };
  std::vector<Term> terms_;
};

std::vector<Follower> followers_of(const Problem& problem, const VectorXd& weights, int stages) {
  std::vector<Follower> followers;
  for (const Environment* environment : problem.stepped_environments()) {
    followers.emplace_back(*environment, weights, stages);
  }
  return followers;
}

void follow_splitting(const ExplicitScheme& scheme, const FinishedRun& run, Problem& problem, const VectorXd& weights,
                      MatrixXd& forces) {
  ExplicitEnvironmentSteppers steppers;
  for (Environment* environment : problem.stepped_environments()) {
    steppers.push_back(environment->explicit_stepper(scheme, run.h));
  }
  std::vector<Follower> followers = followers_of(problem, weights, 0);
  const bool is_root = run.problem.communicator().is_root();
  VectorXd q = is_root ? VectorXd(run.path.q(0)) : VectorXd();
  for (Follower& head : followers) {
    if (is_root) head.set_velocity(run.path.v(0));
  }
  std::size_t point = 0;
  bool has_moved = true;  // since the heads were set
  const auto take_substep = [&](const Substep& substep) {
    const bool is_kick = substep.kind == Substep::Kind::kick;
    if (is_kick) q = run.path.q(++point);
    const RecordedPath::Vector v = run.path.v(point);
    for (std::size_t e = 0; e < followers.size(); ++e) {
      Follower& head = followers[e];
      if (has_moved) head.move_to(q);
      if (is_kick) {
        steppers[e]->force(head, head.force);
        head.distribute(forces.data() + static_cast<Index>(point - 1) * forces.rows());
      }
      steppers[e]->substep(substep, head);
      if (is_kick) head.set_velocity(v);
    }
    has_moved = !is_kick;
    if (!is_kick) q += (substep.weight * run.h) * v;
  };
  advance_in_blocks(steppers, run.steps, {}, [&](int block) {
    for (int step = 0; step < block && is_root; ++step) {
      for (const Substep& substep : scheme.substeps) take_substep(substep);
    }
  });
}

void follow_stages(const PartitionedRungeKutta& scheme, const FinishedRun& run, Problem& problem,
                   const VectorXd& weights, MatrixXd& forces) {
  const int stages = scheme.stages();
  std::vector<std::unique_ptr<ImplicitEnvironmentStepper>> steppers;
  int block = 64;  // steps, 0 where environments need all ranks in each
  for (Environment* environment : problem.stepped_environments()) {
    steppers.push_back(environment->implicit_stepper(scheme, run.h));
    block = std::min(block, steppers.back()->max_block_steps());
  }
  std::vector<Follower> followers = followers_of(problem, weights, stages);
  const Communicator& ranks = run.problem.communicator();
  StageResponse response;
  MatrixXd on_head;
  VectorXd q = ranks.is_root() ? VectorXd(run.path.q(0)) : VectorXd();
  const auto take_step = [&](std::int64_t step) {
    const std::size_t first = static_cast<std::size_t>(step * stages) + 1;
    for (std::size_t e = 0; e < steppers.size(); ++e) {
      Follower& head = followers[e];
      MatrixXd& velocities = head.velocities;
      if (ranks.is_root()) head.move_to(q);
      for (int i = 0; i < stages && ranks.is_root(); ++i) {
        head.set_velocity(run.path.v(first + static_cast<std::size_t>(i)));
        for (Index axis = 0; axis < velocities.cols(); ++axis) {
          velocities(i, axis) = head.v[static_cast<std::size_t>(axis)];
        }
      }
      if (block == 0) ranks.broadcast(std::span(velocities.data(), static_cast<std::size_t>(velocities.size())));
      if (!steppers[e]->condense(head.x, response)) throw SolverError(steppers[e]->failure());
      if (ranks.is_root()) on_head = response.constant - response.damping.lazyProduct(velocities);
      for (int i = 0; i < stages && ranks.is_root(); ++i) {
        for (Index axis = 0; axis < on_head.cols(); ++axis)
          head.force[static_cast<std::size_t>(axis)] = on_head(i, axis);
        head.distribute(forces.data() + static_cast<Index>(first - 1 + static_cast<std::size_t>(i)) * forces.rows());
      }
      steppers[e]->back_substitute(velocities);
    }
    for (int i = 0; i < stages && ranks.is_root(); ++i) {
      q += (run.h * scheme.b[i]) * run.path.v(first + static_cast<std::size_t>(i));
    }
  };
  for (std::int64_t step = 0; step < run.steps && block == 0; ++step) take_step(step);
  for (std::int64_t done = 0; done < run.steps && block > 0; done += block) {
    block = static_cast<int>(std::min<std::int64_t>(run.steps - done, block));
    for (const auto& stepper : steppers) stepper->begin_block({.steps = block});
    for (int step = 0; step < block && ranks.is_root(); ++step) take_step(done + step);
    for (const auto& stepper : steppers) stepper->end_block();
  }
}

}  // namespace

void add_forces_on_path(const FinishedRun& run, Problem& problem, const VectorXd& weights, MatrixXd& forces) {
  if (const auto* splitting = std::get_if<ExplicitScheme>(&run.scheme)) {
    return follow_splitting(*splitting, run, problem, weights, forces);
  }
  follow_stages(std::get<PartitionedRungeKutta>(run.scheme), run, problem, weights, forces);
}

}  // namespace bathline
