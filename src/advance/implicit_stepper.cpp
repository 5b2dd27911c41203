// Implicit schemes step by step, or in blocks of steps.
#include "advance/implicit_stepper.hpp"

#include <algorithm>

#include "advance/newton_failure.hpp"

namespace bathline {

ImplicitStepper::ImplicitStepper(Problem& problem, double h)
    : problem_(problem), h_(h), head_(static_cast<std::size_t>(problem.system().axes)) {}

void ImplicitStepper::lay_blocks() {
  for (const auto& environment : problem_.environments()) {
    block_ = std::min(block_, environment->implicit_block_limit());
  }
}

std::optional<Failure> ImplicitStepper::advance(std::int64_t steps) {
  while (steps > 0) {
    const auto block = static_cast<int>(std::min<std::int64_t>(steps, std::max(block_, 1)));
    if (std::optional<Failure> failure = block_ > 0 ? advance_block(block) : step()) return failure;
    done_ += block;
    steps -= block;
  }
  return std::nullopt;
}

std::int64_t ImplicitStepper::portion() const { return problem_.environments().empty() ? 1 : std::max(block_, 1); }

std::optional<Failure> ImplicitStepper::step() {
  if (std::optional<std::string> reason = eliminate_environments()) return Failure{done_ + 1, 0.0, *reason};
  ParticleNewton::Report report;
  if (problem_.communicator().is_root()) report = advance_particles();
  // One message says whether it went well and how the heads move.
  message_.resize(solution_.size() + 1);
  message_ << solution_, report.converged ? 1.0 : 0.0;
  problem_.communicator().broadcast(std::span<double>(message_.data(), static_cast<std::size_t>(message_.size())));
  solution_ = message_.head(solution_.size());
  if (message_[solution_.size()] == 0.0) return newton_failure(problem_.communicator(), done_ + 1, report);
  complete_environments();
  return std::nullopt;
}

std::optional<Failure> ImplicitStepper::advance_block(int steps) {
  for (const auto& environment : problem_.environments()) environment->open_implicit_block(steps);
  ParticleNewton::Report report;
  report.converged = true;
  int done = 0;
  if (problem_.communicator().is_root()) {
    for (; done < steps; ++done) {
      eliminate_environments();
      report = advance_particles();
      if (!report.converged) break;
      complete_environments();
    }
  }
  if (!problem_.communicator().broadcast(report.converged)) {
    return newton_failure(problem_.communicator(), done_ + done + 1, report);
  }
  for (const auto& environment : problem_.environments()) environment->close_implicit_block();
  return std::nullopt;
}

}  // namespace bathline
