// Saving and restoring the state of a problem, its environments and its stepper in checkpoints.
// Tested by tests/command_line/resume_test.py.
#include "driver/state_io.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bathline {

void serialise_state(Archive archive, std::int64_t step, Problem& problem, Stepper& stepper) {
  const auto particles = [&](const char* name, std::span<double> values) {
    archive.group("particles").numbers(name, {&values, 1});
    if (archive.is_reading() && !std::ranges::all_of(values, [](double value) { return std::isfinite(value); }))
      throw FileError(fmt::format("the checkpoint is damaged: particles/{} is not finite", name));
  };
  particles("q", {problem.q.data(), static_cast<std::size_t>(problem.q.size())});
  particles("p", {problem.p.data(), static_cast<std::size_t>(problem.p.size())});
  if (problem.legendre() != nullptr) particles("v", {problem.v.data(), static_cast<std::size_t>(problem.v.size())});
  if (problem.heat.size() > 0) particles("heat", {problem.heat.data(), static_cast<std::size_t>(problem.heat.size())});
  particles("dissipated", {&problem.dissipated, 1});
  particles("work", {&problem.work, 1});
  particles("z", {&problem.z, 1});
  for (std::size_t e = 0; e < problem.environments().size(); ++e) {
    Environment& environment = *problem.environments()[e];
    for (const StateField& field : environment.fields()) {
      archive.distributed(fmt::format("environment-{}/{}_axis{}", e, field.name, field.axis), field.values, field.first,
                          field.total);
    }
    if (archive.is_reading()) environment.fields_changed();
  }
  std::vector<double> internal = stepper.internal_state();
  archive.numbers("stepper", internal);
  if (!archive.is_reading()) return;
  problem.clock.steps = step;
  stepper.set_internal_state(internal);
}

}  // namespace bathline
