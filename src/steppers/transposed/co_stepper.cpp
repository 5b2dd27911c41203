// What the pull-backs of all schemes have in common.
// Tested by tests/costates/costates_test.cpp.
#include "steppers/transposed/co_stepper.hpp"

#include <algorithm>
#include <stdexcept>

#include "model/lumped/lumped.hpp"

namespace bathline {

ExplicitScheme reversed(const ExplicitScheme& splitting) {
  ExplicitScheme result = splitting;
  std::reverse(result.substeps.begin(), result.substeps.end());
  for (Substep& substep : result.substeps) {
    if (substep.kind == Substep::Kind::kick) substep.velocity_after = !substep.velocity_after;
  }
  return result;
}

PartitionedRungeKutta reversed(const PartitionedRungeKutta& pair) {
  const auto transposed = [&](const Eigen::MatrixXd& matrix) {
    return Eigen::MatrixXd((pair.b.cwiseInverse().asDiagonal() * matrix.transpose() * pair.b.asDiagonal()).reverse());
  };
  PartitionedRungeKutta result = pair;
  result.a = transposed(pair.a_hat);
  result.a_hat = transposed(pair.a);
  result.b = pair.b.reverse();
  // Without the round-off, so that environments recognise a symmetric scheme.
  const bool is_own =
      result.a.isApprox(pair.a, 1e-13) && result.a_hat.isApprox(pair.a_hat, 1e-13) && result.b.isApprox(pair.b, 1e-13);
  return is_own ? pair : result;
}

Scheme reversed(const Scheme& scheme) {
  if (const auto* splitting = std::get_if<ExplicitScheme>(&scheme)) return reversed(*splitting);
  return reversed(std::get<PartitionedRungeKutta>(scheme));
}

std::unique_ptr<Stepper> make_recording_stepper(const Scheme& scheme, Problem& problem, double h, RecordedPath& path) {
  if (const auto* splitting = std::get_if<ExplicitScheme>(&scheme)) {
    return make_explicit_stepper(*splitting, problem, h, path);
  }
  return make_implicit_stepper(std::get<PartitionedRungeKutta>(scheme), problem, h, path);
}

namespace {

/// The environments at rest, their heads at 0: those of costates that are zero. Lumped ones, which may decay, are
/// transposed; others are their own transposes.
void make_cold(Problem& environments) {
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(environments.q.size());
  for (Environment* environment : environments.stepped_environments()) {
    environment->begin_at(zero);
    for (const StateField& field : environment->fields()) std::fill(field.values.begin(), field.values.end(), 0.0);
    environment->fields_changed();
    if (auto* lumped = dynamic_cast<LumpedEnvironment*>(environment)) lumped->transpose();
  }
}

}  // namespace

TransposedForces::TransposedForces(const Problem& problem)
    : problem_(problem), has_jacobians_(problem.system().applied || problem.drag_force() != nullptr) {
  constexpr Eigen::Index small = 16;
  is_sparse_ = problem.q.size() > small;
  by_v_ = -problem.damping();
}

void TransposedForces::evaluate(const ForcePoint& point) {
  if (q_.size() == 0 || q_ != point.q) {
    q_ = point.q;
    if (is_sparse_) {
      problem_.system().potential->sparse_hessian(q_, sparse_hessian_);
    } else {
      problem_.system().potential->hessian(q_, hessian_);
    }
  }
  if (has_jacobians_) problem_.jacobians(point.q, point.v, point.t, by_q_, by_v_);
}

void TransposedForces::add_by_q(const Eigen::VectorXd& mu, Eigen::VectorXd& to) const {
  if (is_sparse_) {
    to -= sparse_hessian_ * mu;
  } else {
    to.noalias() -= hessian_.lazyProduct(mu);
  }
  if (has_jacobians_) to.noalias() += by_q_.transpose().lazyProduct(mu);
}

void TransposedForces::by_q(Eigen::MatrixXd& to) const {
  if (is_sparse_) {
    to = -sparse_hessian_;
  } else {
    to = -hessian_;
  }
  if (has_jacobians_) to += by_q_.transpose();
}

std::optional<std::string> why_no_pull_back(const Scheme& scheme) {
  if (std::holds_alternative<ExactFlow>(scheme)) return "has no steps that could be transposed";
  if (std::holds_alternative<HerglotzScheme>(scheme)) return "belongs to contact systems";
  if (const auto* splitting = std::get_if<ExplicitScheme>(&scheme)) {
    if (!splitting->b.empty()) return "has explicit stages, whose transpose is no step of this kind";
    if (splitting->has_ou_substeps()) return "has noise";
  }
  if (const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme)) {
    if (stages->b.cwiseAbs().minCoeff() == 0.0) return "has a stage of weight zero";
  }
  return std::nullopt;
}

std::vector<StepPoint> points_of_step(const Scheme& scheme) {
  std::vector<StepPoint> points;
  if (const auto* splitting = std::get_if<ExplicitScheme>(&scheme)) {
    const std::vector<double> nodes = splitting->nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Substep& substep = splitting->substeps[i];
      if (substep.kind == Substep::Kind::kick) points.push_back({nodes[i], substep.weight, substep.velocity_after});
    }
  } else if (const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme)) {
    const Eigen::VectorXd nodes = stages->nodes();
    for (Eigen::Index i = 0; i < nodes.size(); ++i) points.push_back({nodes[i], stages->b[i], true});
  }
  return points;
}

ForcePoint PathPoints::at(std::size_t point) {
  const std::size_t step = (point - 1) / points_.size();
  const StepPoint& in_step = points_[(point - 1) % points_.size()];
  q_ = run_.path.q(point);
  v_ = in_step.velocity_after ? run_.path.v(point) : run_.path.v_before(point);
  return {(static_cast<double>(step) + in_step.node) * run_.h, q_, v_};
}

Eigen::VectorXd forces_of_particles(const Problem& problem, const ForcePoint& point) {
  Eigen::VectorXd forces(point.q.size()), more(point.q.size());
  problem.system().potential->gradient(point.q, forces);
  forces = -forces;
  problem.drag(point.q, point.v, more);
  forces += more;
  if (!problem.system().is_driven()) return forces;
  problem.applied(point.q, point.v, point.t, more);
  return forces + more;
}

std::unique_ptr<CoStepper> make_co_stepper(const FinishedRun& run, Problem& environments, PathFunctional& functional) {
  make_cold(environments);
  if (const auto* splitting = std::get_if<ExplicitScheme>(&run.scheme)) {
    return make_explicit_co_stepper(*splitting, run, environments, functional);
  }
  if (const auto* stages = std::get_if<PartitionedRungeKutta>(&run.scheme)) {
    return make_implicit_co_stepper(*stages, run, environments, functional);
  }
  throw std::logic_error("this scheme has no pull-back");
}

}  // namespace bathline
