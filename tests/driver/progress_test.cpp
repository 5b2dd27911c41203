// The progress display.
#include "driver/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace bathline::progress_test {
namespace {

std::string shown(ProgressStyle style, bool is_root, const ProgressUnit& unit = {.sites = 50}) {
  testing::internal::CaptureStderr();
  Progress progress(style, is_root);
  progress.begin("closed", 1000, unit);
  progress.update(1);  // too early to be shown
  std::this_thread::sleep_for(std::chrono::milliseconds(220));
  progress.update(250);
  progress.end();
  return testing::internal::GetCapturedStderr();
}

TEST(Progress, BarShowsFractionRateAndRemainingTime) {
  const std::string text = shown(ProgressStyle::bar, true);
  EXPECT_THAT(text, testing::AllOf(testing::HasSubstr("closed ["), testing::HasSubstr("25 %"),
                                   testing::HasSubstr("site-steps/s"), testing::HasSubstr("left"),
                                   testing::Not(testing::HasSubstr("\n"))));
  EXPECT_THAT(text, testing::EndsWith("\r\x1b[K"));  // erased at the end
}

TEST(Progress, NamesTheUnit) {
  const std::string realisations = shown(ProgressStyle::bar, true, {.name = "realisation"});
  EXPECT_THAT(realisations, testing::HasSubstr(" realisations/s"));
  EXPECT_THAT(realisations, testing::Not(testing::HasSubstr("step")));
  const std::string bath = shown(ProgressStyle::bar, true, {.sites = 50, .site_name = "oscillator"});
  EXPECT_THAT(bath, testing::HasSubstr(" oscillator-steps/s"));
}

TEST(Progress, PaceCountsOnlyOwnSteps) {
  // Resumed at 900 of 2000, 100 steps were done in 10 s.
  const Pace pace(900, 1000, 2000, 10.0);
  EXPECT_DOUBLE_EQ(pace.per_second, 10.0);
  EXPECT_DOUBLE_EQ(pace.seconds_left, 100.0);
  EXPECT_EQ(Pace(900, 900, 2000, 10.0).seconds_left, 0.0);
}

TEST(Progress, SkippedUnitsCountForTheFractionButNotForThePace) {
  testing::internal::CaptureStderr();
  Progress progress(ProgressStyle::bar, true);
  progress.begin("closed", 1000000000);
  progress.skip(500000000);
  std::this_thread::sleep_for(std::chrono::milliseconds(220));
  progress.update(500000001);
  const std::string text = testing::internal::GetCapturedStderr();
  // One own step in at least 0.22 s: fewer than five per second.
  EXPECT_THAT(text, testing::ContainsRegex("50 %  ([0-4](\\.[0-9]+)?|[0-9.]+e-[0-9]+) steps/s"));
}

TEST(Progress, IsEmptyOnOtherRanksAndWithoutAStyle) {
  EXPECT_EQ(shown(ProgressStyle::bar, false), "");
  EXPECT_EQ(shown(ProgressStyle::none, true), "");
  EXPECT_EQ(shown(ProgressStyle::lines, true), "");  // the first line is after ten seconds
}

}  // namespace
}  // namespace bathline::progress_test
