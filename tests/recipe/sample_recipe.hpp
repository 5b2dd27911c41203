// A small catalogue schema and a valid recipe, each of whose keys the tests of this folder make invalid in turn.
#pragma once

#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "recipe/recipe.hpp"

namespace bathline {

inline CatalogueSchema sample_schema() {
  using enum ValueType;
  CatalogueSchema catalogue_schema;
  catalogue_schema.systems = {
      {.name = "oscillator",
       .summary = "A mass on a spring.",
       .parameters =
           {{.name = "m", .units = "kg", .doc = "Mass.", .default_value = "1", .bound = Bound::positive},
            {.name = "damped", .type = boolean, .doc = "Whether it is damped.", .default_value = "false"},
            {.name = "q0", .type = rows, .doc = "Positions."},
            {.name = "v0", .type = numbers, .doc = "Velocities.", .bound = Bound::nonnegative},
            {.name = "axes", .type = integers, .doc = "Axes."},
            {.name = "potential",
             .type = table,
             .doc = "Potential.",
             .members =
                 {{.name = "kind", .type = text, .doc = "Form.", .required = true, .choices = {"quartic", "harmonic"}},
                  {.name = "c", .doc = "Strength.", .default_value = "2.5"}}}}},
      {.name = "kepler", .summary = "Two axes."}};
  catalogue_schema.environments = {
      {.name = "line",
       .parameters = {{.name = "sites", .type = integer, .doc = "Sites.", .required = true, .bound = Bound::positive},
                      {.name = "M", .units = "kg", .doc = "Mass of a site.", .bound = Bound::positive}}},
      {.name = "bath", .parameters = {{.name = "kT", .doc = "Temperature.", .default_value = "0.0"}}}};
  catalogue_schema.integrators = {
      {.name = "gamma",
       .parameters = {{.name = "gamma", .doc = "Weight.", .default_value = "0.5", .bound = Bound::unit_interval}}},
      {.name = "verlet",
       .aliases = {{"leapfrog"}, {"position-verlet", {{"order", "\"drift\""}}}},
       .keywords = {"Strang splitting"},
       .parameters = {{.name = "order", .type = text, .doc = "Order of substeps.", .default_value = "\"kick\""}}}};
  catalogue_schema.studies = {
      {.name = "trajectory"},
      {.name = "ensemble",
       .parameters = {{.name = "members", .type = integer, .doc = "Members.", .default_value = "10"}}}};
  return catalogue_schema;
}

// Line numbers of this text are used by the tests.
inline const std::string sample_recipe = R"(title = "Sample"
[system]
kind = "oscillator"
q0 = [1.0]
[[environments]]
kind = "line"
sites = 10
[time]
step = 0.1
end = 2
[[integrators]]
method = "gamma"
on = "closed"
)";

struct Parsed {
  Recipe recipe;
  std::string report;  // "" without mistakes
};

inline Parsed parse(const std::string& text, const std::vector<std::string>& settings = {}) {
  Mistakes mistakes;
  Recipe recipe = parse_recipe(text, "r.toml", settings, sample_schema(), mistakes);
  return {std::move(recipe), mistakes.report()};
}

/// The report has these mistakes and no others: each the place at which its line begins, and a word that it contains.
inline void expect_mistakes(const std::string& report,
                            const std::vector<std::pair<std::string, std::string>>& expected) {
  std::vector<std::string> lines;
  std::istringstream stream(report);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), expected.size()) << report;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_TRUE(lines[i].starts_with(expected[i].first)) << lines[i] << "\nis not at " << expected[i].first;
    EXPECT_NE(lines[i].find(expected[i].second), std::string::npos) << lines[i] << "\nlacks " << expected[i].second;
  }
}

// The sample recipe with the first occurrence of `old` replaced.
inline std::string sample_with(const std::string& old, const std::string& now) {
  std::string text = sample_recipe;
  return text.replace(text.find(old), old.size(), now);
}

}  // namespace bathline
