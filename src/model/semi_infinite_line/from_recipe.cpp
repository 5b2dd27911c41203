// What a recipe says of a line without end, and what it must not say.
// Tested by tests/command_line/infinite_test.py.
#include "model/semi_infinite_line/from_recipe.hpp"

#include <fmt/format.h>

#include "model/semi_infinite_line/semi_infinite_line.hpp"

namespace bathline {

std::unique_ptr<Environment> build_semi_infinite_line(const Section& section, const SiteValues& values,
                                                      const RunTimes& run, Attachment attachment,
                                                      const Communicator& communicator, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  const auto refuse = [&](const char* key, const std::string& why) { mistakes.add(section.where(key), why); };
  if (section.has("far_end")) refuse("far_end", "a line without end has no `far_end`: leave it out");
  if (section.has("file")) refuse("file", "a line without end has equal sites: leave out `file`");
  // Sums of so many terms are known no better than that.
  constexpr double least = 1e-13;
  const double tolerance = section.number("tolerance");
  if (tolerance < least || tolerance > 1e-2) {
    refuse("tolerance",
           fmt::format("tolerance = {}: double precision can certify {} and more, and more than 0.01 would "
                       "be no line; take a number between these",
                       tolerance, least));
  }
  const bool is_for_ever = section.has("horizon") && section.holds<std::string>("horizon");
  double horizon = is_for_ever ? KernelAccuracy::forever : run.end;
  if (!is_for_ever && section.has("horizon")) {
    horizon = section.number("horizon");
    if (horizon < run.end * (1.0 - 1e-12)) {
      refuse("horizon",
             fmt::format("horizon = {}: the run ends at {}, and what the line does later than its horizon is "
                         "not known; take {} or more, \"forever\", or leave it out",
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
