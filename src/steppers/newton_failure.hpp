// The failure of a Newton iteration of the particles, broadcast to every rank.
// Tested by tests/steppers/implicit_stepper_test.cpp.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "steppers/stepper.hpp"
#include "parallel/communicator.hpp"
#include "solve/snes_solver.hpp"

namespace bathline {

/// The failure in rank 0's `step` with rank 0's `report`, the same on every rank. @note Collective.
inline Failure newton_failure(const Communicator& communicator, std::int64_t step, const SnesSolver::Report& report) {
  double residual = report.residual;
  communicator.broadcast(std::span<std::int64_t>(&step, 1));
  communicator.broadcast(std::span<double>(&residual, 1));
  if (!report.is_iteration_failure) return {step, residual, communicator.broadcast(report.reason)};
  const std::string size = std::isfinite(residual) ? fmt::format(" with residual {:.3e}", residual) : "";
  return {step, residual,
          communicator.broadcast(fmt::format("Newton's method stopped after {} iterations{}: {}", report.iterations,
                                             size, report.reason))};
}

}  // namespace bathline
