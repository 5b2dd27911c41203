// Runs code on rank 0 and broadcasts its result or error; failures of single ranks.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "parallel/communicator.hpp"
#include "steppers/stepper.hpp"

namespace bathline {

/// The text of a recipe with those that it extends, read by rank 0, as `parse_recipe` expects it. Throws UsageError if
/// the recipe cannot be read. @note Collective.
std::string read_recipe_text(const std::string& path, const Communicator& communicator);

/// The same for a recipe whose own text is known. @note Collective.
std::string with_extended_recipes(const std::string& text, const std::string& path, const Communicator& communicator);

/// Calls `check` on rank 0; what it throws becomes a UsageError on every rank. @note Collective.
void check_on_root(const Communicator& communicator, const std::function<void()>& check);

/// Calls `work` on rank 0 and returns its exit code on every rank; if it throws, rank 0 logs the error and
/// `failure_code` is returned. @note Collective.
int run_on_root(const Communicator& communicator, int failure_code, const std::function<int()>& work);

/// The failure of any rank, on every rank. @note Collective.
std::optional<Failure> any_rank_failure(const Communicator& world, const std::optional<Failure>& failure);

}  // namespace bathline
