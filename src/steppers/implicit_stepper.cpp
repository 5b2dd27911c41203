// Implicit schemes: the stages of the particles, with the environments eliminated.
//
// An environment acts on the particles as a constant force F_ej at every stage and an s x s matrix of dashpots S_e
// between the stages: sum_e c_e (F_ej - sum_k S_ejk c_e.V_k) is added to their own forces at the stage velocities V.
// Where all environments allow it rank 0 advances blocks of steps alone, and messages are sent only between blocks;
// otherwise every step needs all ranks. A nonlinear line acts so near given velocities of the particles, in the steps
// of Newton's method. Source: farshi2018, eqs. (45) and (52) with one stage.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "model/line/implicit/nonlinear_stages.hpp"
#include "steppers/newton_failure.hpp"
#include "steppers/ornstein_uhlenbeck.hpp"
#include "steppers/stages.hpp"
#include "steppers/stepper.hpp"
#include "steppers/transposed/recorded_path.hpp"
#include "solve/dense.hpp"

namespace bathline {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

class ImplicitStepper final : public Stepper {
 public:
  /// `path` is nullptr where it is not recorded.
  ImplicitStepper(const PartitionedRungeKutta& scheme, Problem& problem, double h, RecordedPath* path);

  std::optional<Failure> advance(std::int64_t steps, const AdvanceHints& ahead) override;
  std::int64_t block_granularity() const override {
    return problem_.stepped_environments().empty() ? 1 : std::max(block_, 1);
  }
  bool observes_steps() const override { return block_ == 0 || has_forces_within_blocks(problem_); }
  std::vector<double> internal_state() const override {
    std::vector<double> state = internal_states_of(environment_steppers_);
    for (const CoupledHead& head : heads_) state.insert(state.end(), head.x.begin(), head.x.end());
    return state;
  }
  void set_internal_state(std::span<const double> state) override {
    for (auto head = heads_.rbegin(); head != heads_.rend(); ++head) {
      if (state.size() < head->x.size()) throw std::out_of_range("the state of the heads is too short");
      std::copy(state.end() - static_cast<std::ptrdiff_t>(head->x.size()), state.end(), head->x.begin());
      state = state.first(state.size() - head->x.size());
    }
    set_internal_states(state, environment_steppers_);
  }

 private:
  /// The head of an environment on a nonlinear coupling. Its sites see the stage values X = s(Q, t) alone, so any head
  /// x and stage velocities V with X = x + h A V are right; those that environments are told are the V of smallest
  /// norm. Where the environment stores displacements x is s(q, t); one that is given velocities has them add up to x.
  /// The head of white friction is given velocities under schemes of the gamma family for which that is a line on its
  /// characteristic grid; others have it in the drag.
  struct CoupledHead {
    std::size_t environment;  // no_environment for white friction
    const Attachment* attachment;
    double damping;  // of white friction
    bool is_summed;
    std::vector<double> x;  // at the start of the step, by axis
    MatrixXd velocities;    // stages x axes
  };

  /// A nonlinear line, and the stage velocities of its head by those of the particles.
  struct NonlinearHead {
    NonlinearResponse* line;
    MatrixXd velocities;
  };

  static constexpr std::size_t no_environment = std::numeric_limits<std::size_t>::max();

  /// Adds the heads of white friction where the scheme has them.
  void add_friction_heads();
  std::optional<Failure> step(const AdvanceHints& ahead);
  std::optional<Failure> advance_block(const BlockPlan& plan, const AdvanceHints& ahead);
  /// Computes the forces and dashpots of the environments in this step. Returns the reason where a linear solver
  /// failed. @note Collective outside of blocks.
  std::optional<std::string> eliminate_environments();
  /// The particles' part of a step, and that of nonlinear lines. Rank 0 only, collective with these.
  SnesSolver::Report step_particles();
  /// The stage velocities of the particles between nonlinear lines. @note Collective.
  SnesSolver::Report solve_with_lines();
  /// Q_i of the step that begins at `start_`.
  VectorXd stage_position(Index stage) const {
    VectorXd position = start_;
    for (Index j = 0; j < scheme_.stages(); ++j) {
      position += (problem_.clock.h * scheme_.a(stage, j)) * velocities_.segment(j * n_, n_);
    }
    return position;
  }
  /// Computes the stage velocities of heads on nonlinear couplings. Rank 0 only.
  [[gnu::noinline]] void find_coupled_velocities();
  /// Completes the environments' step with `velocities_`, the same on every rank. @note Collective outside of blocks.
  void complete_environments();

  PartitionedRungeKutta scheme_;
  Problem& problem_;
  RecordedPath* path_;
  Index n_;         // degrees of freedom of the particles
  Index unknowns_;  // n_ times the stages
  VectorXd nodes_;
  std::vector<std::unique_ptr<ImplicitEnvironmentStepper>> environment_steppers_;
  std::unique_ptr<OrnsteinUhlenbeck> ou_;   // on rank 0, of a scheme with `ou_outside`
  std::unique_ptr<StageSolver> particles_;  // on rank 0
  std::vector<NonlinearHead> lines_;
  int block_ = 64;  // steps of a block, 0 where every step needs all ranks
  StageForces environment_forces_;
  VectorXd velocities_, message_, velocity_;  // velocities_: of all stages
  MatrixXd head_velocities_;
  StageResponse environment_response_;
  std::vector<double> head_;
  MatrixXd inverse_;                // the pseudo-inverse of h A
  std::vector<CoupledHead> heads_;  // on every rank
  VectorXd start_;                  // the particles' positions at the start of the step
};

ImplicitStepper::ImplicitStepper(const PartitionedRungeKutta& scheme, Problem& problem, double h, RecordedPath* path)
    : scheme_(scheme),
      problem_(problem),
      path_(path),
      n_(problem.q.size()),
      unknowns_(n_ * scheme.stages()),
      nodes_(scheme.nodes()),
      velocities_(unknowns_) {
  problem.clock.h = h;
  for (const auto& environment : problem.stepped_environments()) {
    environment_steppers_.push_back(environment->implicit_stepper(scheme, h));
    block_ = std::min(block_, environment_steppers_.back()->max_block_steps());
    const Attachment& attachment = environment->attachment();
    if (auto* line = dynamic_cast<NonlinearResponse*>(environment_steppers_.back().get())) {
      lines_.push_back({line, MatrixXd::Zero(attachment.axes() * scheme.stages(), unknowns_)});
      for (const auto& [coordinate, axis, weight] : attachment.terms()) {
        for (int i = 0; i < scheme.stages(); ++i)
          lines_.back().velocities(axis * scheme.stages() + i, i * n_ + coordinate) = weight;
      }
    }
    if (attachment.nonlinear() == nullptr) continue;
    const auto axes = static_cast<std::size_t>(attachment.axes());
    heads_.push_back({environment_steppers_.size() - 1, &attachment, 0.0, environment->properties().sites == 0,
                      std::vector<double>(axes), MatrixXd::Zero(scheme.stages(), attachment.axes())});
  }
  add_friction_heads();
  if (!heads_.empty()) inverse_ = pseudo_inverse(h * scheme.a);
  if (problem.communicator().is_root()) {
    if (scheme.ou_outside) ou_ = std::make_unique<OrnsteinUhlenbeck>(problem, 0.5 * h);
    particles_ = std::make_unique<StageSolver>(scheme, problem, h);
  }
}

// One stage at q + h (1 - g) V with the force g h F, 0 < g < 1/2: x + h V grows by g/(1 - g) in a step.
void ImplicitStepper::add_friction_heads() {
  if (scheme_.ou_outside || friction_in_stages(scheme_).couplings) return;
  for (const auto& [attachment, damping, temperature, in_time] : problem_.coupled_friction().dampers()) {
    heads_.push_back({no_environment, &attachment, damping, true,
                      std::vector<double>(static_cast<std::size_t>(attachment.axes())),
                      MatrixXd::Zero(1, attachment.axes())});
  }
}

std::optional<Failure> ImplicitStepper::advance(std::int64_t steps, const AdvanceHints& ahead) {
  while (steps > 0) {
    const auto block = static_cast<int>(std::min<std::int64_t>(steps, std::max(block_, 1)));
    steps -= block;
    std::optional<Failure> failure = block_ > 0 ? advance_block(ahead.plan(block, steps), ahead) : step(ahead);
    if (failure) return failure;
  }
  return std::nullopt;
}

std::optional<Failure> ImplicitStepper::step(const AdvanceHints& ahead) {
  if (std::optional<std::string> reason = eliminate_environments()) {
    return Failure{problem_.clock.steps + 1, 0.0, *reason};
  }
  SnesSolver::Report report;
  if (!lines_.empty() || problem_.communicator().is_root()) report = step_particles();
  // One message has the stage velocities and whether Newton's method converged.
  message_.resize(unknowns_ + 1);
  message_ << velocities_, report.converged ? 1.0 : 0.0;
  for (CoupledHead& head : heads_) {
    problem_.communicator().broadcast(
        std::span<double>(head.velocities.data(), static_cast<std::size_t>(head.velocities.size())));
  }
  problem_.communicator().broadcast(std::span<double>(message_.data(), static_cast<std::size_t>(message_.size())));
  velocities_ = message_.head(unknowns_);
  if (message_[unknowns_] == 0.0) return newton_failure(problem_.communicator(), problem_.clock.steps + 1, report);
  complete_environments();
  ++problem_.clock.steps;
  if (ahead.after_step != nullptr && problem_.communicator().is_root()) (*ahead.after_step)();
  return std::nullopt;
}

SnesSolver::Report ImplicitStepper::step_particles() {
  if (ou_) ou_->advance(0);
  if (!heads_.empty() || path_ != nullptr) start_ = problem_.q;
  const SnesSolver::Report report =
      lines_.empty() ? particles_->step(environment_forces_, velocities_) : solve_with_lines();
  if (!problem_.communicator().is_root()) return report;
  if (!heads_.empty()) find_coupled_velocities();
  if (path_ != nullptr && report.converged) {
    for (Index i = 0; i < scheme_.stages(); ++i) {
      velocity_ = velocities_.segment(i * n_, n_);
      path_->add(stage_position(i), velocity_);
    }
  }
  if (ou_) ou_->advance(1);
  return report;
}

// The particles are solved for with the lines' linear responses near the last velocities, and the error of these is of
// the second order in the change.
SnesSolver::Report ImplicitStepper::solve_with_lines() {
  constexpr int max_iterations = 50;
  constexpr double max_change = 1e-9;
  const StageForces of_others = environment_forces_;
  SnesSolver::Report report;
  if (particles_) velocities_ = problem_.velocity().replicate(scheme_.stages(), 1);
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    problem_.communicator().broadcast({velocities_.data(), static_cast<std::size_t>(unknowns_)});
    environment_forces_ = of_others;
    for (const auto& [line, head] : lines_) {
      const VectorXd at = head * velocities_;
      const NonlinearResponse::NearVelocities near =
          line->respond(at.reshaped(scheme_.stages(), at.size() / scheme_.stages()));
      if (!near.report.converged) return near.report;
      if (!particles_) continue;
      environment_forces_.constant += head.transpose() * (near.forces.reshaped() + near.damping * at);
      environment_forces_.damping += head.transpose() * near.damping * head;
    }
    bool is_last = false;
    if (particles_) {
      const VectorXd before = velocities_;
      report = particles_->solve(environment_forces_, velocities_);
      const double scale = velocities_.norm() +
                           problem_.clock.h * environment_forces_.constant.norm() / problem_.system().mass.minCoeff();
      // Beside large places at rest, velocities are round-off of the forces: a change that moves none of them is none.
      const double least = 8.0 * std::numeric_limits<double>::epsilon() * problem_.q.norm() / problem_.clock.h;
      is_last = !report.converged || (velocities_ - before).norm() <= max_change * scale + least;
    }
    if (!problem_.communicator().broadcast(is_last)) continue;
    if (particles_) particles_->finish(report);
    return report;
  }
  report.converged = false;
  report.reason = "the velocities of the particles at the ends of a nonlinear line do not converge";
  return report;
}

std::optional<Failure> ImplicitStepper::advance_block(const BlockPlan& plan, const AdvanceHints& ahead) {
  for (const auto& stepper : environment_steppers_) stepper->begin_block(plan);
  SnesSolver::Report report;
  report.converged = true;
  const bool is_root = problem_.communicator().is_root();
  for (int step = 0; step < plan.steps && is_root; ++step) {
    eliminate_environments();
    report = step_particles();
    if (!report.converged) break;
    complete_environments();
    ++problem_.clock.steps;
    if (ahead.after_step != nullptr) (*ahead.after_step)();
  }
  if (!problem_.communicator().broadcast(report.converged)) {
    return newton_failure(problem_.communicator(), problem_.clock.steps + 1, report);
  }
  if (!is_root) problem_.clock.steps += plan.steps;
  for (const auto& stepper : environment_steppers_) stepper->end_block();
  return std::nullopt;
}

std::optional<std::string> ImplicitStepper::eliminate_environments() {
  const int stages = scheme_.stages();
  if (environment_steppers_.empty() && heads_.empty() && path_ == nullptr) return std::nullopt;
  environment_forces_.constant.setZero(unknowns_);
  environment_forces_.damping.setZero(unknowns_, unknowns_);
  environment_forces_.coupled.clear();
  std::size_t next = 0;
  for (std::size_t e = 0; e < environment_steppers_.size(); ++e) {
    const Environment& environment = *problem_.stepped_environments()[e];
    const int axes = environment.attachment().axes();
    head_.resize(static_cast<std::size_t>(axes));
    problem_.head(environment, problem_.q, head_);
    CoupledHead* const coupled = next < heads_.size() && heads_[next].environment == e ? &heads_[next++] : nullptr;
    if (coupled != nullptr && coupled->is_summed) head_ = coupled->x;
    if (!environment_steppers_[e]->condense(head_, environment_response_)) return environment_steppers_[e]->failure();
    if (!problem_.communicator().is_root()) continue;
    if (coupled != nullptr) {
      coupled->x = head_;
      environment_forces_.coupled.push_back(
          {&environment.attachment(), environment_response_.constant, environment_response_.damping * inverse_, head_});
      continue;
    }
    for (int i = 0; i < stages; ++i) {
      for (int axis = 0; axis < axes; ++axis)
        head_[static_cast<std::size_t>(axis)] = environment_response_.constant(i, axis);
      environment.attachment().distribute(head_, environment_forces_.constant.segment(i * n_, n_));
      for (int j = 0; j < stages; ++j) {
        environment.attachment().add_outer(environment_response_.damping(i, j),
                                           environment_forces_.damping.block(i * n_, j * n_, n_, n_));
      }
    }
  }
  for (; next < heads_.size(); ++next) {
    environment_forces_.coupled.push_back({heads_[next].attachment,
                                           MatrixXd::Zero(stages, heads_[next].attachment->axes()),
                                           heads_[next].damping * inverse_, heads_[next].x});
  }
  return std::nullopt;
}

void ImplicitStepper::find_coupled_velocities() {
  for (CoupledHead& head : heads_) {
    const Attachment& attachment = *head.attachment;
    MatrixXd stretch(scheme_.stages(), attachment.axes());
    head_.resize(head.x.size());
    for (Index i = 0; i < scheme_.stages(); ++i) {
      attachment.position(stage_position(i), problem_.clock.at(nodes_[i]), head_);
      for (Index axis = 0; axis < attachment.axes(); ++axis) {
        stretch(i, axis) = head_[static_cast<std::size_t>(axis)] - head.x[static_cast<std::size_t>(axis)];
      }
    }
    head.velocities = inverse_ * stretch;
    const double squares = scheme_.b.dot(head.velocities.rowwise().squaredNorm());
    problem_.dissipated += problem_.clock.h * head.damping * squares;
    for (Index axis = 0; axis < attachment.axes() && head.is_summed; ++axis) {
      head.x[static_cast<std::size_t>(axis)] += problem_.clock.h * scheme_.b.dot(head.velocities.col(axis));
    }
  }
}

void ImplicitStepper::complete_environments() {
  if (environment_steppers_.empty()) return;
  const int stages = scheme_.stages();
  std::size_t next = 0;
  for (std::size_t e = 0; e < environment_steppers_.size(); ++e) {
    if (next < heads_.size() && heads_[next].environment == e) {
      environment_steppers_[e]->back_substitute(heads_[next++].velocities);
      continue;
    }
    const int axes = problem_.stepped_environments()[e]->attachment().axes();
    head_.resize(static_cast<std::size_t>(axes));
    head_velocities_.resize(stages, axes);
    for (int i = 0; i < stages; ++i) {
      velocity_ = velocities_.segment(i * n_, n_);
      problem_.stepped_environments()[e]->attachment().project(velocity_, head_);
      for (int axis = 0; axis < axes; ++axis) head_velocities_(i, axis) = head_[static_cast<std::size_t>(axis)];
    }
    environment_steppers_[e]->back_substitute(head_velocities_);
  }
}

}  // namespace

std::unique_ptr<Stepper> make_implicit_stepper(const PartitionedRungeKutta& scheme, Problem& problem, double h) {
  return std::make_unique<ImplicitStepper>(scheme, problem, h, nullptr);
}

std::unique_ptr<Stepper> make_implicit_stepper(const PartitionedRungeKutta& scheme, Problem& problem, double h,
                                               RecordedPath& path) {
  return std::make_unique<ImplicitStepper>(scheme, problem, h, &path);
}

}  // namespace bathline
