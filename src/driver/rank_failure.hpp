// Failures of some ranks, which work on problems of their own.
#pragma once

#include <optional>

#include "parallel/communicator.hpp"
#include "steppers/stepper.hpp"

namespace bathline {

/// The failure of any rank, on every rank. @note Collective.
std::optional<Failure> any_rank_failure(const Communicator& world, const std::optional<Failure>& failure);

}  // namespace bathline
