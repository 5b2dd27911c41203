// Reads and checks the keys of a semi-infinite line in a recipe.
// Tested by tests/command_line/infinite_test.py.
#include "model/semi_infinite_line/from_recipe.hpp"

#include <fmt/format.h>

#include "model/semi_infinite_line/semi_infinite_line.hpp"

namespace bathline {

std::unique_ptr<Environment> build_semi_infinite_line(const Section& section, const SiteValues& values,
                                                      const RunTimes& run, Attachment attachment,
                                                      const Communicator& communicator, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  const auto refuse = [&](const char* key, const std::string& reason) { mistakes.add(section.where(key), reason); };
  if (section.has("far_end")) refuse("far_end", "a semi-infinite line has no `far_end`: remove the key");
  if (section.has("file")) refuse("file", "a semi-infinite line is uniform: remove `file`");
  // Round-off of sums of some hundred terms.
  constexpr double min_tolerance = 1e-13;
  const double tolerance = section.number("tolerance");
  if (tolerance < min_tolerance || tolerance > 1e-2) {
    refuse("tolerance", fmt::format("tolerance = {}: must lie between {}, which double precision can certify, and 0.01",
                                    tolerance, min_tolerance));
  }
  const bool is_forever = section.has("horizon") && section.holds<std::string>("horizon");
  double horizon = is_forever ? KernelAccuracy::forever : run.end;
  if (!is_forever && section.has("horizon")) {
    horizon = section.number("horizon");
    if (horizon < run.end * (1.0 - 1e-12)) {
      refuse("horizon",
             fmt::format("horizon = {}: the run ends at {}, and the kernel is valid until its horizon only; use {} or "
                         "more, \"forever\", or remove the key",
                         horizon, run.end, run.end));
    }
  }
  if (mistakes.count() > before) return nullptr;
  return std::make_unique<SemiInfiniteLine>(section.text("name"), std::move(attachment),
                                            SemiInfiniteLineOptions{.mass = values.mass,
                                                                    .stiffness = values.stiffness,
                                                                    .tolerance = tolerance,
                                                                    .horizon = horizon,
                                                                    .temperature = section.number("kT"),
                                                                    .step = run.step,
                                                                    .end = run.end,
                                                                    .matched_gamma = values.matched_gamma},
                                            communicator);
}

}  // namespace bathline
