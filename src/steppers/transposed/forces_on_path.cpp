// Environments advanced alone, in lockstep with a path.
// Tested by tests/costates/gradient_test.cpp.
#include "steppers/transposed/forces_on_path.hpp"

#include <algorithm>
#include <stdexcept>

#include "solve/solver_error.hpp"
#include "steppers/time_blocking.hpp"

namespace bathline {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Head {
  std::vector<double> x, v, force;
  operator HeadMotion() const { return {x, v}; }
};

std::vector<Head> heads_of(const Problem& problem) {
  std::vector<Head> heads;
  for (const Environment* environment : problem.stepped_environments()) {
    const std::vector<double> zeros(static_cast<std::size_t>(environment->attachment().axes()));
    heads.push_back({zeros, zeros, zeros});
  }
  return heads;
}

MatrixXd forces_of_splitting(const ExplicitScheme& scheme, Problem& problem, const RecordedPath& path,
                             std::int64_t steps, double h) {
  ExplicitEnvironmentSteppers steppers;
  for (Environment* environment : problem.stepped_environments()) {
    steppers.push_back(environment->explicit_stepper(scheme, h));
  }
  std::vector<Head> heads = heads_of(problem);
  const bool is_root = problem.communicator().is_root();
  const Index n = problem.q.size();
  MatrixXd forces = MatrixXd::Zero(n, is_root ? static_cast<Index>(path.points()) - 1 : 0);
  VectorXd q, v, force(n);
  if (is_root) q = path.q(0);
  std::size_t point = 0;
  const auto substep = [&](const Substep& part) {
    const bool is_kick = part.kind == Substep::Kind::kick;
    v = path.v(point);
    if (is_kick) q = path.q(++point);
    force.setZero();
    for (std::size_t e = 0; e < heads.size(); ++e) {
      const Attachment& attachment = problem.stepped_environments()[e]->attachment();
      attachment.position(q, 0.0, heads[e].x);
      attachment.project(v, heads[e].v);
      if (is_kick) {
        steppers[e]->force(heads[e], heads[e].force);
        attachment.distribute(heads[e].force, force);
      }
      steppers[e]->substep(part, heads[e]);
    }
    if (is_kick) {
      forces.col(static_cast<Index>(point) - 1) = force;
    } else {
      q += (part.weight * h) * v;
    }
  };
  advance_in_blocks(steppers, steps, {}, [&](int block) {
    for (int step = 0; step < block && is_root; ++step) {
      for (const Substep& part : scheme.substeps) substep(part);
    }
  });
  return forces;
}

MatrixXd forces_of_stages(const PartitionedRungeKutta& scheme, Problem& problem, const RecordedPath& path,
                          std::int64_t steps, double h) {
  const int stages = scheme.stages();
  std::vector<std::unique_ptr<ImplicitEnvironmentStepper>> steppers;
  int most = 64;
  for (Environment* environment : problem.stepped_environments()) {
    steppers.push_back(environment->implicit_stepper(scheme, h));
    most = std::min(most, steppers.back()->max_block_steps());
  }
  const bool is_root = problem.communicator().is_root();
  const Index n = problem.q.size();
  MatrixXd forces = MatrixXd::Zero(n, is_root ? static_cast<Index>(path.points()) - 1 : 0);
  std::vector<Head> heads = heads_of(problem);
  StageResponse response;
  VectorXd q, force(n);
  if (is_root) q = path.q(0);
  const auto take_step = [&](std::int64_t step) {
    const std::size_t first = static_cast<std::size_t>(step * stages) + 1;
    for (std::size_t e = 0; e < steppers.size(); ++e) {
      const Attachment& attachment = problem.stepped_environments()[e]->attachment();
      MatrixXd velocities(stages, attachment.axes());
      if (is_root) {
        attachment.position(q, 0.0, heads[e].x);
        for (int i = 0; i < stages; ++i) {
          const VectorXd v = path.v(first + static_cast<std::size_t>(i));
          attachment.project(v, heads[e].v);
          velocities.row(i) = Eigen::Map<const Eigen::RowVectorXd>(heads[e].v.data(), attachment.axes());
        }
      }
      if (most == 0) {
        problem.communicator().broadcast(
            std::span<double>(velocities.data(), static_cast<std::size_t>(velocities.size())));
      }
      if (!steppers[e]->condense(heads[e].x, response)) throw SolverError(steppers[e]->failure());
      if (is_root) {
        const MatrixXd on_head = response.constant - response.damping * velocities;
        for (int i = 0; i < stages; ++i) {
          force.setZero();
          const VectorXd row = on_head.row(i).transpose();
          attachment.distribute({row.data(), static_cast<std::size_t>(row.size())}, force);
          forces.col(static_cast<Index>(first) - 1 + i) += force;
        }
      }
      steppers[e]->back_substitute(velocities);
    }
    for (int i = 0; i < stages && is_root; ++i) q += (h * scheme.b[i]) * path.v(first + static_cast<std::size_t>(i));
  };
  for (std::int64_t step = 0; step < steps && most == 0; ++step) take_step(step);
  for (std::int64_t done = 0; done < steps && most > 0;) {
    const int block = static_cast<int>(std::min<std::int64_t>(steps - done, most));
    for (const auto& stepper : steppers) stepper->begin_block({.steps = block});
    for (int step = 0; step < block && is_root; ++step) take_step(done + step);
    for (const auto& stepper : steppers) stepper->end_block();
    done += block;
  }
  return forces;
}

}  // namespace

MatrixXd forces_on_path(const Scheme& scheme, Problem& problem, const RecordedPath& path, std::int64_t steps,
                        double h) {
  if (const auto* splitting = std::get_if<ExplicitScheme>(&scheme)) {
    return forces_of_splitting(*splitting, problem, path, steps, h);
  }
  return forces_of_stages(std::get<PartitionedRungeKutta>(scheme), problem, path, steps, h);
}

}  // namespace bathline
