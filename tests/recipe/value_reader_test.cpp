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
  expect_mistakes(report_with("[system]", "m = \"s\""), {{"r.toml:3:1: ", "number"}});
  expect_mistakes(report_with("[system]", "m = true"), {{"r.toml:3:1: ", "number"}});
  expect_mistakes(report_with("[system]", "m = 2020-01-01"), {{"r.toml:3:1: ", "number"}});
  expect_mistakes(report_with("[system]", "m = [1]"), {{"r.toml:3:1: ", "number"}});
  expect_mistakes(report_with("[system]", "m = {a = 1}"), {{"r.toml:3:1: ", "number"}});
  expect_mistakes(report_with("[system]", "damped = 1"), {{"r.toml:3:1: ", "true or false"}});
  expect_mistakes(report_with("[[environments]]", "name = 3"), {{"r.toml:6:1: ", "write \"3\""}});
}

TEST(ValueReader, AcceptsOnlyIntegersForIntegers) {
  const auto report = [](const std::string& value) {
    return parse(sample_with("sites = 10", "sites = " + value)).report;
  };
  expect_mistakes(report("3.0"), {{"r.toml:7:1: ", "write 3"}});
  expect_mistakes(report("3.5"), {{"r.toml:7:1: ", "integer"}});
  expect_mistakes(report("1e300"), {{"r.toml:7:1: ", "integer"}});
  expect_mistakes(report("\"s\""), {{"r.toml:7:1: ", "integer"}});
}

TEST(ValueReader, ReportsBrokenBounds) {
  expect_mistakes(report_with("[system]", "m = -0.5"), {{"r.toml:3:1: ", "positive"}});
  expect_mistakes(report_with("[system]", "m = 0"), {{"r.toml:3:1: ", "positive"}});
  expect_mistakes(report_with("[system]", "v0 = [0, -1]"), {{"r.toml:3:10: ", "negative"}});
  expect_mistakes(report_with("[[integrators]]", "gamma = 1.5"), {{"r.toml:12:1: ", "between 0 and 1"}});
  expect_mistakes(report_with("[[integrators]]", "gamma = -0.1"), {{"r.toml:12:1: ", "between 0 and 1"}});
  EXPECT_EQ(report_with("[[integrators]]", "gamma = 0"), "");
  EXPECT_EQ(report_with("[[integrators]]", "gamma = 1"), "");
  expect_mistakes(parse(sample_with("sites = 10", "sites = 0")).report, {{"r.toml:7:1: ", "positive"}});
}

TEST(ValueReader, AcceptsOnlyFiniteNumbers) {
  expect_mistakes(report_with("[system]", "m = inf"), {{"r.toml:3:1: ", "finite"}});
  expect_mistakes(report_with("[[environments]]", "M = nan"), {{"r.toml:6:1: ", "finite"}});
  expect_mistakes(report_with("[system]", "v0 = [1, -inf]"), {{"r.toml:3:10: ", "finite"}});
}

TEST(ValueReader, ReportsWrongChoices) {
  expect_mistakes(parse(sample_with("on = \"closed\"", "on = \"closd\"")).report, {{"r.toml:13:1: ", "\"closed\""}});
  expect_mistakes(parse(sample_with("on = \"closed\"", "on = \"both\"")).report,
                  {{"r.toml:13:1: ", "not one of the choices"}});
}

TEST(ValueReader, ShortensAndEscapesWhatItQuotes) {
  const std::string report = report_with("[system]", "m = \"\\u001b[31m" + std::string(10'000, 'x') + "\"");
  EXPECT_THAT(report, testing::HasSubstr("\\x1b[31mxxx"));
  EXPECT_LT(report.size(), 200u);
}

}  // namespace bathline::value_reader_test
