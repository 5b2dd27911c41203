// The complete state of a problem between two steps, in a checkpoint.
// Tested by tests/command_line/resume_test.py.
// Tested by tests/command_line/restart_test.py.
#include "driver/serialise_state.hpp"

#include <algorithm>
#include <cmath>

namespace bathline {

void serialise_state(Archive archive, std::int64_t step, Problem& problem, Stepper& stepper, const Communicator& world,
                     bool is_own) {
  const bool is_writer = is_own && problem.communicator().is_root() && !archive.is_reading();
  // Rank 0 writes what one rank has.
  const auto particles = [&](const char* name, std::span<double> values) {
    std::vector<double> numbers = world.gather(is_writer ? values : std::span<double>());
    archive.group("particles").numbers(name, numbers, values.size());
    if (!archive.is_reading()) return;
    if (!std::ranges::all_of(numbers, [](double value) { return std::isfinite(value); }))
      throw FileError("the checkpoint is damaged: particles/{} is not finite", name);
    if (is_own) std::ranges::copy(numbers, values.begin());
  };
  const auto all = [](Eigen::VectorXd& x) { return std::span(x.data(), static_cast<std::size_t>(x.size())); };
  particles("q", all(problem.q));
  particles("p", all(problem.p));
  if (problem.legendre() != nullptr) particles("v", all(problem.v));
  if (problem.heat.size() > 0) particles("heat", all(problem.heat));
  particles("dissipated", {&problem.dissipated, 1});
  particles("work", {&problem.work, 1});
  particles("z", {&problem.z, 1});
  for (std::size_t e = 0; e < problem.environments().size(); ++e) {
    for (const StateField& field : problem.environments()[e]->fields()) {
      archive.distributed(fmt::format("environment-{}/{}_axis{}", e, field.name, field.axis),
                          is_own ? field.values : std::span<double>(), is_own ? field.first : 0, field.total);
    }
    if (archive.is_reading() && is_own) problem.environments()[e]->fields_changed();
  }
  std::vector<double> internal = world.gather(is_writer ? stepper.internal_state() : std::vector<double>());
  archive.numbers("stepper", internal);
  if (!archive.is_reading() || !is_own) return;
  problem.clock.steps = step;
  stepper.set_internal_state(internal);
}

}  // namespace bathline
