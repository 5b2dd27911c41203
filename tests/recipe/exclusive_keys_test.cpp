// Tests of mutually exclusive keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_recipe.hpp"

namespace bathline::exclusive_keys_test {

using testing::HasSubstr;

namespace {

std::string report_with_end(const std::string& lines) { return parse(sample_with("end = 2", lines)).report; }

std::string report_with_claim(const std::string& lines) {
  return parse(sample_recipe + "[[claims]]\nname = \"a\"\nquantity = \"b\"\n" + lines).report;
}

}  // namespace

TEST(ExclusiveKeys, NeedOneOfEndAndSteps) {
  EXPECT_EQ(report_with_end("steps = 0"), "");
  expect_mistakes(report_with_end(""), {{"r.toml:8:1: ", "needs one of"}});
  expect_mistakes(report_with_end("steps = 3\nend = 2"), {{"r.toml:10:1: ", "not more"}});
}

TEST(ExclusiveKeys, CountKeysWithWrongValuesAsGiven) {
  expect_mistakes(report_with_end("end = -1"), {{"r.toml:10:1: ", "positive"}});
  expect_mistakes(report_with_end("steps = 1.5"), {{"r.toml:10:1: ", "integer"}});
}

TEST(ExclusiveKeys, AreNotMissingIfOneIsMisspelt) {
  expect_mistakes(report_with_end("stesp = 3"), {{"r.toml:10:1: ", "`steps`"}});
  expect_mistakes(report_with_claim("exepct = 1\ntolerance = 0"), {{"r.toml:17:1: ", "`expect`"}});
  expect_mistakes(report_with_claim("expect = 1\ntolerence = 0"), {{"r.toml:18:1: ", "`tolerance`"}});
  expect_mistakes(report_with_claim("boundz = [0, 1]"), {{"r.toml:17:1: ", "`bounds`"}});
}

TEST(ExclusiveKeys, AllowTheFormsOfAClaim) {
  for (const char* lines : {"expect = 1\ntolerance = 0", "expect = 1\nrelative_tolerance = 0.1", "bounds = [1, 1]"}) {
    EXPECT_EQ(report_with_claim(lines), "") << lines;
  }
}

TEST(ExclusiveKeys, RejectMixedFormsOfAClaim) {
  EXPECT_THAT(report_with_claim(""), HasSubstr("r.toml:14:1: [[claims]] needs one of the keys `expect`, `bounds`"));
  EXPECT_THAT(
      report_with_claim("expect = 1"),
      HasSubstr("r.toml:14:1: [[claims]] needs one of the keys `tolerance`, `relative_tolerance` beside `expect`"));
  EXPECT_THAT(report_with_claim("expect = 1\ntolerance = 1\nrelative_tolerance = 1"),
              HasSubstr("r.toml:19:1: [[claims]] must have one of `tolerance`, `relative_tolerance`, not more"));
  EXPECT_THAT(report_with_claim("bounds = [0, 1]\ntolerance = 1"),
              HasSubstr("r.toml:18:1: [[claims]] must have `tolerance`, `relative_tolerance` only beside `expect`"));
  EXPECT_THAT(report_with_claim("bounds = [0, 1]\nexpect = 1\ntolerance = 1"),
              HasSubstr("[[claims]] must have one of `expect`, `bounds`, not more"));
}

}  // namespace bathline::exclusive_keys_test
