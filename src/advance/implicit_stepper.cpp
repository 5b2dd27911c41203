// Implicit schemes: the stages of the particles, with the environments eliminated.
//
// To the particles an environment is a constant force F_ej at every stage and an s x s matrix of dashpots S_e between
// the stages: sum_e c_e (F_ej - sum_k S_ejk c_e.V_k) is added to their own forces at the stage velocities V. Where all
// environments allow it rank 0 goes through blocks of steps on its own, and no message is sent but between blocks;
// elsewhere every step needs all ranks. Source: farshi2018, eqs. (45) and (52) with one stage.
#include <algorithm>

#include "advance/newton_failure.hpp"
#include "advance/ornstein_uhlenbeck.hpp"
#include "advance/particle_stages.hpp"
#include "advance/stepper.hpp"

namespace bathline {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

class ImplicitStepper final : public Stepper {
 public:
  ImplicitStepper(const CollocationScheme& scheme, Problem& problem, double h);

  std::optional<Failure> advance(std::int64_t steps, const Foresight& ahead) override;
  std::int64_t portion() const override { return problem_.environments().empty() ? 1 : std::max(block_, 1); }
  std::vector<double> memory() const override { return memory_of(marches_); }
  void remember(std::span<const double> memory) override { hand_out_memory(memory, marches_); }

 private:
  std::optional<Failure> step();
  std::optional<Failure> advance_block(const BlockPlan& plan);
  /// Takes what the environments are to the particles in this step. Says why where a linear solver failed.
  /// @note Collective outside of blocks.
  std::optional<std::string> eliminate_environments();
  /// The particles' part of a step. Rank 0 only.
  ParticleNewton::Report step_particles();
  /// Ends the environments' step with `velocities_`, the same on every rank. @note Collective outside of blocks.
  void complete_environments();

  CollocationScheme scheme_;
  Problem& problem_;
  Index n_;    // degrees of freedom of the particles
  Index all_;  // n_ times the stages
  std::vector<std::unique_ptr<ImplicitMarch>> marches_;
  std::unique_ptr<OrnsteinUhlenbeck> heat_;    // on rank 0, of a scheme that has damping and noise apart
  std::unique_ptr<ParticleStages> particles_;  // on rank 0
  int block_ = 64;                             // steps of a block, 0 where every step needs all ranks
  StageForces of_environments_;
  VectorXd velocities_, message_, velocity_;  // velocities: of all stages
  MatrixXd heads_;
  StageResponse of_environment_;
  std::vector<double> head_;
};

ImplicitStepper::ImplicitStepper(const CollocationScheme& scheme, Problem& problem, double h)
    : scheme_(scheme),
      problem_(problem),
      n_(problem.q.size()),
      all_(n_ * scheme.stages()),
      velocities_(all_),
      head_(static_cast<std::size_t>(problem.system().axes)) {
  problem.clock.h = h;
  for (const auto& environment : problem.environments()) {
    marches_.push_back(environment->implicit_march(scheme, h));
    block_ = std::min(block_, marches_.back()->limit());
  }
  if (!problem.communicator().is_root()) return;
  if (scheme.heat_apart) heat_ = std::make_unique<OrnsteinUhlenbeck>(problem, 0.5 * h);
  particles_ = make_particle_stages(scheme, problem, h);
}

std::optional<Failure> ImplicitStepper::advance(std::int64_t steps, const Foresight& ahead) {
  while (steps > 0) {
    const auto block = static_cast<int>(std::min<std::int64_t>(steps, std::max(block_, 1)));
    steps -= block;
    if (std::optional<Failure> failure = block_ > 0 ? advance_block(ahead.plan(block, steps)) : step()) return failure;
  }
  return std::nullopt;
}

std::optional<Failure> ImplicitStepper::step() {
  if (std::optional<std::string> reason = eliminate_environments()) {
    return Failure{problem_.clock.steps + 1, 0.0, *reason};
  }
  ParticleNewton::Report report;
  if (problem_.communicator().is_root()) report = step_particles();
  // One message says whether it went well and how the heads move.
  message_.resize(all_ + 1);
  message_ << velocities_, report.converged ? 1.0 : 0.0;
  problem_.communicator().broadcast(std::span<double>(message_.data(), static_cast<std::size_t>(message_.size())));
  velocities_ = message_.head(all_);
  if (message_[all_] == 0.0) return newton_failure(problem_.communicator(), problem_.clock.steps + 1, report);
  complete_environments();
  ++problem_.clock.steps;
  return std::nullopt;
}

ParticleNewton::Report ImplicitStepper::step_particles() {
  if (heat_) heat_->advance(0);
  const ParticleNewton::Report report = particles_->step(of_environments_, velocities_);
  if (heat_) heat_->advance(1);
  return report;
}

std::optional<Failure> ImplicitStepper::advance_block(const BlockPlan& plan) {
  for (const auto& march : marches_) march->open(plan);
  ParticleNewton::Report report;
  report.converged = true;
  const bool is_root = problem_.communicator().is_root();
  for (int step = 0; step < plan.steps && is_root; ++step) {
    eliminate_environments();
    report = step_particles();
    if (!report.converged) break;
    complete_environments();
    ++problem_.clock.steps;
  }
  if (!problem_.communicator().broadcast(report.converged)) {
    return newton_failure(problem_.communicator(), problem_.clock.steps + 1, report);
  }
  if (!is_root) problem_.clock.steps += plan.steps;
  for (const auto& march : marches_) march->close();
  return std::nullopt;
}

std::optional<std::string> ImplicitStepper::eliminate_environments() {
  const int stages = scheme_.stages(), axes = problem_.system().axes;
  if (marches_.empty()) return std::nullopt;
  of_environments_.constant.setZero(all_);
  of_environments_.response.setZero(all_, all_);
  for (std::size_t e = 0; e < marches_.size(); ++e) {
    const Environment& environment = *problem_.environments()[e];
    problem_.head(environment, problem_.q, head_);
    if (!marches_[e]->respond(head_, of_environment_)) return marches_[e]->failure();
    if (!problem_.communicator().is_root()) continue;
    for (int i = 0; i < stages; ++i) {
      for (int axis = 0; axis < axes; ++axis) head_[static_cast<std::size_t>(axis)] = of_environment_.constant(i, axis);
      environment.attachment().spread(head_, of_environments_.constant.segment(i * n_, n_));
      for (int j = 0; j < stages; ++j) {
        environment.attachment().add_outer(of_environment_.damping(i, j),
                                           of_environments_.response.block(i * n_, j * n_, n_, n_));
      }
    }
  }
  return std::nullopt;
}

void ImplicitStepper::complete_environments() {
  if (marches_.empty()) return;
  const int stages = scheme_.stages(), axes = problem_.system().axes;
  heads_.resize(stages, axes);
  for (std::size_t e = 0; e < marches_.size(); ++e) {
    for (int i = 0; i < stages; ++i) {
      velocity_ = velocities_.segment(i * n_, n_);
      problem_.environments()[e]->attachment().gather(velocity_, head_);
      for (int axis = 0; axis < axes; ++axis) heads_(i, axis) = head_[static_cast<std::size_t>(axis)];
    }
    marches_[e]->complete(heads_);
  }
}

}  // namespace

std::unique_ptr<Stepper> make_implicit_stepper(const CollocationScheme& scheme, Problem& problem, double h) {
  return std::make_unique<ImplicitStepper>(scheme, problem, h);
}

}  // namespace bathline
