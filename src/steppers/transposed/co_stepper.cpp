// What the pull-backs of all schemes have in common.
// Tested by tests/costates/costates_test.cpp.
#include "steppers/transposed/co_stepper.hpp"

#include <algorithm>
#include <stdexcept>

#include "model/lumped/lumped.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::VectorXd;

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
    : problem_(problem),
      n_(problem.q.size()),
      has_jacobians_(problem.system().applied || problem.drag_force() != nullptr),
      by_v_(-problem.damping().transpose()) {
  constexpr Index small = 16;
  is_sparse_ = n_ > small;
  batched_ = is_sparse_ ? nullptr : dynamic_cast<const BatchedHessian*>(problem.system().potential.get());
}

void TransposedForces::begin(const ForcePoints& points) {
  points_ = &points;
  if (is_sparse_) return;
  if (batched_ != nullptr) {
    batched_->hessians(points.q, by_q_);
    by_q_ = -by_q_;
    if (!has_jacobians_) return;
  }
  by_q_.resize(n_, n_ * points.q.cols());
  if (has_jacobians_) by_v_.resize(n_, n_ * points.q.cols());
  for (Index point = 0; point < points.q.cols(); ++point) evaluate(point, point);
}

void TransposedForces::go_to(Index point) {
  if (is_sparse_) {
    evaluate(point, 0);
  } else {
    place_ = point;
  }
}

void TransposedForces::evaluate(Index point, Index place) {
  // Kicks that follow each other see the same positions.
  const double* const q = points_->q.data() + point * n_;
  bool is_new = q_.size() == 0;
  for (Index i = 0; i < q_.size(); ++i) is_new = is_new || q_[i] != q[i];
  if (is_new) {
    q_ = points_->q.col(point);
    if (is_sparse_) {
      problem_.system().potential->sparse_hessian(q_, sparse_hessian_);
    } else if (batched_ == nullptr) {
      problem_.system().potential->hessian(q_, hessian_);
    }
  }
  if (!is_sparse_ && batched_ == nullptr) {
    double* const by_q = by_q_.data() + place * n_ * n_;
    for (Index i = 0; i < n_ * n_; ++i) by_q[i] = -hessian_.data()[i];
  } else if (is_sparse_ && has_jacobians_) {
    by_q_.setZero(n_, n_);
  }
  if (!has_jacobians_) return;
  if (is_sparse_) by_v_.resize(n_, n_);
  v_ = points_->v.col(point);
  problem_.jacobians(q_, v_, points_->t[point], force_by_q_, force_by_v_);
  by_q_.middleCols(place * n_, n_) += force_by_q_.transpose();
  by_v_.middleCols(place * n_, n_) = force_by_v_.transpose();
}

void TransposedForces::make_dense() {
  dense_ = -sparse_hessian_;
  if (has_jacobians_) dense_ += by_q_;
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

std::int64_t PathPoints::steps_at_once() const {
  constexpr Index numbers = 256;
  return std::max<Index>(1, numbers / (run_.problem.q.size() * count()));
}

const ForcePoints& PathPoints::of_steps(std::int64_t first, std::int64_t steps) {
  const Index n = run_.problem.q.size(), total = steps * count();
  points_.t.resize(total);
  points_.weight.resize(total);
  points_.q.resize(n, total);
  points_.v.resize(n, total);
  double *q = points_.q.data(), *v = points_.v.data();
  const auto copy = [n](const RecordedPath::Vector& from, double*& to) {
    for (Index i = 0; i < n; ++i) *to++ = from[i];
  };
  Index index = 0;
  for (std::int64_t step = first; step < first + steps; ++step) {
    for (const StepPoint& in_step : in_step_) {
      const std::size_t point = static_cast<std::size_t>(first * count() + index) + 1;
      points_.t[index] = (static_cast<double>(step) + in_step.node) * run_.h;
      points_.weight[index] = in_step.weight * run_.h;
      copy(run_.path.q(point), q);
      copy(in_step.velocity_after ? run_.path.v(point) : run_.path.v_before(point), v);
      ++index;
    }
  }
  return points_;
}

const VectorXd& ForceOfParticles::at(const Problem& problem, const ForcePoints& points, Index point) {
  q_ = points.q.col(point);
  v_ = points.v.col(point);
  problem.system().potential->gradient(q_, force_);
  force_ = -force_;
  more_.resize(q_.size());
  problem.drag(q_, v_, more_);
  force_ += more_;
  if (!problem.system().is_driven()) return force_;
  problem.applied(q_, v_, points.t[point], more_);
  force_ += more_;
  return force_;
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
