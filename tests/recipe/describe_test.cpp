// Tests of the text that `bathline describe` prints.
#include "recipe/describe.hpp"

#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipe/recipe_schema.hpp"

namespace bathline::describe_test {

using enum ValueType;
using testing::HasSubstr;

namespace {

void expect_within_page(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100u) << line;
    EXPECT_TRUE(line.empty() || line.back() != ' ') << '|' << line << '|';
  }
}

}  // namespace

TEST(ValueKind, NamesTypeBoundAndChoices) {
  EXPECT_EQ(value_kind({.name = "m", .bound = Bound::positive}), "number > 0");
  EXPECT_EQ(value_kind({.name = "n", .type = integer, .bound = Bound::nonnegative}), "integer >= 0");
  EXPECT_EQ(value_kind({.name = "x", .bound = Bound::negative}), "number < 0");
  EXPECT_EQ(value_kind({.name = "gamma", .bound = Bound::unit_interval}), "number in [0, 1]");
  EXPECT_EQ(value_kind({.name = "on", .type = text, .choices = {"closed", "open"}}), "\"closed\" | \"open\"");
  EXPECT_EQ(value_kind({.name = "q0", .type = rows}), "list of numbers or of rows");
}

TEST(Describe, PrintsAnEntry) {
  const CatalogueEntry entry = {
      .name = "single-oscillator",
      .summary = "A mass on a spring.",
      .equation = "m q'' = -k q\nE = p^2/2m + k q^2/2",
      .source = "limebeer2020, eq. (1)",
      .parameters = {{.name = "m", .units = "kg", .doc = "Mass.", .required = true},
                     {.name = "potential",
                      .type = table,
                      .doc = "What holds it.",
                      .members = {{.name = "c", .units = "N/m", .doc = "Stiffness.", .default_value = "2"}}},
                     {.name = "name", .type = text, .doc = "Its name."}},
      .notes = "Solved exactly."};
  EXPECT_EQ(describe(entry, "system"), R"(single-oscillator (system)
  A mass on a spring.

    m q'' = -k q
    E = p^2/2m + k q^2/2

Parameters
  m          number  kg   required   Mass.
  potential  table        optional   What holds it.
    c        number  N/m  default 2  Stiffness.
  name       text         optional   Its name.

Notes
  Solved exactly.

Source
  limebeer2020, eq. (1)
)");
}

TEST(Describe, RefersToTheListOfKindsOfATable) {
  const CatalogueEntry entry = {
      .name = "particles",
      .parameters = {{.name = "bond", .type = table, .doc = "What ties them.", .catalogue_name = "bonds"}}};
  EXPECT_THAT(describe(entry, "system"), HasSubstr("What ties them. Its `kind`: `bathline list bonds`."));
}

TEST(Describe, OmitsEmptyParts) {
  EXPECT_EQ(describe({.name = "rk4", .summary = "Runge-Kutta."}, "integrator"),
            "rk4 (integrator)\n  Runge-Kutta.\n\nParameters\n  none\n");
}

TEST(Describe, WrapsAtTheEdgeOfThePage) {
  std::string sentence = "Sentence";
  for (int i = 0; i < 40; ++i) sentence += " of many words";
  const CatalogueEntry entry = {
      .name = "long",
      .summary = sentence,
      .parameters = {{.name = "short", .doc = sentence},
                     {.name = "choice",
                      .type = text,
                      .doc = sentence,
                      .choices = {"one of them", "another of them", "the last of them"}},
                     {.name = "list",
                      .type = numbers,
                      .doc = sentence,
                      .default_value = "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]"}},
      .notes = sentence + "\n\n" + sentence};
  const std::string described = describe(entry, "system");
  expect_within_page(described);
  EXPECT_THAT(described, HasSubstr("One of \"one of them\" |"));
  EXPECT_THAT(described, HasSubstr("Default: [1.0, 2.0,"));
}

TEST(Describe, PutsSentencesOnTheirOwnLinesBesideWideColumns) {
  const CatalogueEntry entry = {.name = "wide",
                                .parameters = {{.name = "a-parameter-with-a-very-long-name-indeed",
                                                .type = rows,
                                                .units = "kg",
                                                .doc = "Sentence.",
                                                .required = true}}};
  EXPECT_THAT(describe(entry, "system"), HasSubstr("required\n      Sentence.\n"));
}

TEST(DescribeRecipe, NamesEverySectionAndKey) {
  const std::string text = describe_recipe();
  expect_within_page(text);
  for (const SectionSchema& section : recipe_sections()) {
    EXPECT_THAT(text, HasSubstr(fmt::format("\n{} (", section.header())));
    for (const Parameter& key : section.parameters) EXPECT_THAT(text, HasSubstr(fmt::format("\n  {} ", key.name)));
  }
  EXPECT_THAT(text, HasSubstr("`bathline list integrators`"));
}

}  // namespace bathline::describe_test
