// Whether what a study keeps in memory fits.
// Tested by tests/command_line/mistakes_test.py.
#include "study/memory_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "driver/output_times.hpp"
#include "parallel/memory_budget.hpp"

namespace bathline {

std::string format_bytes(double bytes) {
  constexpr double kibibyte = 1024.0;
  if (bytes < kibibyte * kibibyte) return fmt::format("{:.0f} KiB", std::ceil(bytes / kibibyte));
  return fmt::format("{:.0f} MiB", std::ceil(bytes / (kibibyte * kibibyte)));
}

void check_memory(double bytes, const std::string& what, const char* key, const char* advice, const Recipe& recipe,
                  const Experiment& experiment, Mistakes& mistakes) {
  const MemoryBudget memory = memory_budget(experiment.communicator(), bytes);
  if (memory.needed <= memory.available) return;
  mistakes.add(recipe.study.where(key),
               fmt::format("{} need {} on a {} with {} free; {}", what, format_bytes(memory.needed),
                           memory.is_rank_limit ? "rank" : "node", format_bytes(memory.available), advice));
}

void check_memory_of_records(double numbers, bool gathers_sites, const Recipe& recipe, const Experiment& experiment,
                             Mistakes& mistakes) {
  constexpr double fits_anywhere = 1e6;
  double records = 0.0, sites = 0.0;
  for (const Case& this_case : experiment.cases()) {
    records += static_cast<double>(record_count(this_case, experiment.output().every));
    if (!gathers_sites || !this_case.closed) continue;
    const Problem problem = experiment.make_problem(this_case);
    for (const auto& environment : problem.environments()) {
      // Displacements, momenta, and a field on its way.
      const double all =
          (2.0 * environment->attachment().axes() + 2.0) * static_cast<double>(environment->properties().sites);
      sites = std::max(sites, all);
    }
  }
  if (numbers * records + sites <= fits_anywhere) return;
  const double on_root = experiment.communicator().is_root() ? sites : 0.0;
  check_memory(static_cast<double>(sizeof(double)) * (numbers * records + on_root),
               fmt::format("{:.0f} records of a study of the kind `{}`", records, recipe.study.text("kind")), "kind",
               "a larger `every` in [output] reduces their number", recipe, experiment, mistakes);
}

}  // namespace bathline
