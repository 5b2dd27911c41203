// Saving and restoring the state of a problem, its environments and its stepper in checkpoints.
// Tested by tests/command_line/resume_test.py.
#include "driver/state_io.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bathline {

namespace {

/// The path in a checkpoint of a field of environment `environment`.
std::string path_of(std::size_t environment, const StateField& field) {
  return fmt::format("environment-{}/{}_axis{}", environment, field.name, field.axis);
}

}  // namespace

void restore_state(const CheckpointReader& from, Problem& problem, Stepper& stepper) {
  const auto vector = [&](const char* path, Eigen::Index size) {
    const std::vector<double> values = from.numbers(path);
    if (static_cast<Eigen::Index>(values.size()) != size) throw std::out_of_range(path);
    const auto is_finite = [](double value) { return std::isfinite(value); };
    if (!std::all_of(values.begin(), values.end(), is_finite)) {
      throw FileError(fmt::format("{}: {} is not finite", from.path(), path));
    }
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(values.data(), size));
  };
  problem.q = vector("particles/q", problem.q.size());
  problem.p = vector("particles/p", problem.p.size());
  if (problem.legendre() != nullptr) problem.v = vector("particles/v", problem.v.size());
  problem.dissipated = vector("particles/dissipated", 1)[0];
  if (problem.heat.size() > 0) problem.heat = vector("particles/heat", problem.heat.size());
  problem.work = vector("particles/work", 1)[0];
  problem.clock.steps = from.count("step");
  problem.z = vector("particles/z", 1)[0];
  for (std::size_t e = 0; e < problem.environments().size(); ++e) {
    Environment& environment = *problem.environments()[e];
    for (const StateField& field : environment.fields()) {
      const auto count = static_cast<std::int64_t>(field.values.size());
      const std::vector<double> values = from.piece(path_of(e, field), field.first, count);
      std::copy(values.begin(), values.end(), field.values.begin());
    }
    environment.fields_changed();
  }
  stepper.set_internal_state(from.numbers("stepper"));
}

void save_state(CheckpointWriter& checkpoint, const Problem& problem, const Stepper& stepper) {
  const auto size = static_cast<std::size_t>(problem.q.size());
  checkpoint.numbers("particles/q", {problem.q.data(), size});
  checkpoint.numbers("particles/p", {problem.p.data(), size});
  if (problem.legendre() != nullptr) checkpoint.numbers("particles/v", {problem.v.data(), size});
  checkpoint.numbers("particles/dissipated", {&problem.dissipated, 1});
  if (problem.heat.size() > 0) checkpoint.numbers("particles/heat", {problem.heat.data(), size});
  checkpoint.numbers("particles/work", {&problem.work, 1});
  checkpoint.numbers("particles/z", {&problem.z, 1});
  for (std::size_t e = 0; e < problem.environments().size(); ++e) {
    for (const StateField& field : problem.environments()[e]->fields()) {
      checkpoint.file().write_distributed(path_of(e, field), field.values, field.first, field.total);
    }
  }
  checkpoint.numbers("stepper", stepper.internal_state());
}

}  // namespace bathline
