// Tests of single values, through recipes that hold them: types, bounds, choices and the messages about them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_recipe.hpp"

namespace bathline::value_reader_test {

namespace {

// What is reported when `line` is added to the table that `header` of the sample recipe begins.
std::string report_with(const std::string& header, const std::string& line) {
  return parse(sample_with(header + "\n", header + "\n" + line + "\n")).report;
}

}  // namespace

TEST(ValueReader, AcceptsIntegersAsNumbers) {
  EXPECT_EQ(report_with("[system]", "m = 3"), "");
  EXPECT_EQ(parse(sample_with("[system]\n", "[system]\nm = 9007199254740993\n")).report, "");
}

TEST(ValueReader, ReportsWrongTypes) {
  EXPECT_EQ(report_with("[system]", "m = \"s\""),
            "r.toml:3:1: m = \"s\": must be a number, not a text; as an expression: unknown name `s`; known are `pi`");
  EXPECT_EQ(report_with("[system]", "m = true"), "r.toml:3:1: m = true: must be a number, not a boolean");
  EXPECT_EQ(report_with("[system]", "m = 2020-01-01"),
            "r.toml:3:1: m = 2020-01-01: must be a number, not a date or time");
  EXPECT_EQ(report_with("[system]", "m = [1]"), "r.toml:3:1: m = [...]: must be a number, not a list");
  EXPECT_EQ(report_with("[system]", "m = {a = 1}"), "r.toml:3:1: m = {...}: must be a number, not a table");
  EXPECT_EQ(report_with("[system]", "damped = 1"), "r.toml:3:1: damped = 1: must be true or false, not an integer");
  EXPECT_EQ(report_with("[[environments]]", "name = 3"),
            "r.toml:6:1: name = 3: must be a text, not an integer; write \"3\"");
}

TEST(ValueReader, AcceptsOnlyIntegersForIntegers) {
  const auto report = [](const std::string& value) {
    return parse(sample_with("sites = 10", "sites = " + value)).report;
  };
  EXPECT_EQ(report("3.0"), "r.toml:7:1: sites = 3.0: must be an integer, not a number with a fraction; write 3");
  EXPECT_EQ(report("3.5"), "r.toml:7:1: sites = 3.5: must be an integer, not a number with a fraction");
  EXPECT_EQ(report("1e300"), "r.toml:7:1: sites = 1e+300: must be an integer, not a number with a fraction");
  EXPECT_EQ(
      report("\"s\""),
      "r.toml:7:1: sites = \"s\": must be an integer, not a text; as an expression: unknown name `s`; known are `pi`");
}

TEST(ValueReader, ReportsBrokenBounds) {
  EXPECT_EQ(report_with("[system]", "m = -0.5"), "r.toml:3:1: m = -0.5: must be positive");
  EXPECT_EQ(report_with("[system]", "m = 0"), "r.toml:3:1: m = 0: must be positive");
  EXPECT_EQ(report_with("[system]", "v0 = [0, -1]"), "r.toml:3:10: v0[1] = -1: must not be negative");
  EXPECT_EQ(report_with("[[integrators]]", "gamma = 1.5"), "r.toml:12:1: gamma = 1.5: must lie between 0 and 1");
  EXPECT_EQ(report_with("[[integrators]]", "gamma = -0.1"), "r.toml:12:1: gamma = -0.1: must lie between 0 and 1");
  EXPECT_EQ(report_with("[[integrators]]", "gamma = 0"), "");
  EXPECT_EQ(report_with("[[integrators]]", "gamma = 1"), "");
  EXPECT_EQ(parse(sample_with("sites = 10", "sites = 0")).report, "r.toml:7:1: sites = 0: must be positive");
}

TEST(ValueReader, AcceptsOnlyFiniteNumbers) {
  EXPECT_EQ(report_with("[system]", "m = inf"), "r.toml:3:1: m = inf: must be finite");
  EXPECT_EQ(report_with("[[environments]]", "M = nan"), "r.toml:6:1: M = nan: must be finite");
  EXPECT_EQ(report_with("[system]", "v0 = [1, -inf]"), "r.toml:3:10: v0[1] = -inf: must be finite");
}

TEST(ValueReader, ReportsWrongChoices) {
  EXPECT_EQ(parse(sample_with("on = \"closed\"", "on = \"closd\"")).report,
            "r.toml:13:1: on = \"closd\": not one of the choices; did you mean \"closed\"?");
  EXPECT_EQ(parse(sample_with("on = \"closed\"", "on = \"both\"")).report,
            "r.toml:13:1: on = \"both\": not one of the choices; known are \"closed\", \"open\"");
}

TEST(ValueReader, ShortensAndEscapesWhatItQuotes) {
  const std::string report = report_with("[system]", "m = \"\\u001b[31m" + std::string(10'000, 'x') + "\"");
  EXPECT_THAT(report, testing::HasSubstr("\\x1b[31mxxx"));
  EXPECT_LT(report.size(), 200u);
}

}  // namespace bathline::value_reader_test
