// Runs code on rank 0 and broadcasts its result or error.
// Tested by tests/command_line/commands_test.py.
#include "driver/on_root.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "parallel/text_file.hpp"
#include "recipe/extended_recipe.hpp"
#include "recipe/mistakes.hpp"

namespace bathline {

std::string read_recipe_text(const std::string& path, const Communicator& communicator) {
  std::string text;
  check_on_root(communicator, [&] {
    std::error_code ignored;
    std::ifstream file(path, std::ios::binary);
    if (std::filesystem::is_directory(path, ignored))
      throw UsageError(fmt::format("{} is a directory, not a recipe (a .toml file)", path));
    if (!file)
      throw UsageError(fmt::format("cannot read the recipe {}: {}", path, std::generic_category().message(errno)));
    text = without_byte_order_mark({std::istreambuf_iterator<char>(file), {}});
  });
  return with_extended_recipes(communicator.broadcast(text), path, communicator);
}

std::string with_extended_recipes(const std::string& text, const std::string& path, const Communicator& communicator) {
  return communicator.broadcast(communicator.is_root() ? with_extended_recipes(text, path, read_text_file) : "");
}

void check_on_root(const Communicator& communicator, const std::function<void()>& check) {
  std::string reason;
  if (communicator.is_root()) {
    try {
      check();
    } catch (const std::exception& error) {
      reason = error.what();
    }
  }
  reason = communicator.broadcast(reason);
  if (!reason.empty()) throw UsageError(reason);
}

int run_on_root(const Communicator& communicator, int failure_code, const std::function<int()>& work) {
  std::int64_t code[] = {0};
  if (communicator.is_root()) {
    try {
      code[0] = work();
    } catch (const std::exception& error) {
      spdlog::error("{}", error.what());
      code[0] = failure_code;
    }
  }
  communicator.broadcast(std::span<std::int64_t>(code));
  return static_cast<int>(code[0]);
}

std::optional<Failure> any_rank_failure(const Communicator& world, const std::optional<Failure>& failure) {
  const double highest = world.max(failure ? world.rank() : -1.0);
  if (highest < 0.0) return std::nullopt;
  const int from = static_cast<int>(highest);
  std::int64_t step[] = {failure ? failure->step : 0};
  double residual[] = {failure ? failure->residual : 0.0};
  world.broadcast(std::span<std::int64_t>(step), from);
  world.broadcast(std::span<double>(residual), from);
  return Failure{step[0], residual[0], world.broadcast(failure ? failure->reason : std::string(), from)};
}

}  // namespace bathline
