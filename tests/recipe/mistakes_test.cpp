// Tests of the report of all mistakes.
#include "recipe/mistakes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bathline::mistakes_test {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(Mistakes, ReportsInTheOrderOfTheLines) {
  Mistakes mistakes;
  EXPECT_TRUE(mistakes.empty());
  mistakes.add({"r", 10, 1}, "d");
  mistakes.add({"r", 9, 7}, "c");
  mistakes.add({"r", 9, 2}, "b");
  mistakes.add({"--set x=1", 0, 0}, "a");
  EXPECT_FALSE(mistakes.empty());
  EXPECT_EQ(mistakes.report(), "--set x=1: a\nr:9:2: b\nr:9:7: c\nr:10:1: d");
}

TEST(Mistakes, KeepsTheOrderOfThoseAtOneLocation) {
  Mistakes mistakes;
  for (const char* message : {"z", "a", "m"}) mistakes.add({"r", 1, 1}, message);
  EXPECT_EQ(mistakes.report(), "r:1:1: z\nr:1:1: a\nr:1:1: m");
}

TEST(Mistakes, ReportsTwentyAndCountsTheRest) {
  Mistakes mistakes;
  for (int line = 1; line <= 20; ++line) mistakes.add({"r", line, 1}, "x");
  EXPECT_THAT(mistakes.report(), Not(HasSubstr("more")));
  for (int line = 21; line <= 5000; ++line) mistakes.add({"r", line, 1}, "x");
  EXPECT_THAT(mistakes.report(), EndsWith("r:20:1: x\n... and 4980 more"));
  EXPECT_EQ(mistakes.kept().size(), 1000u);
}

}  // namespace bathline::mistakes_test
