// What a run shows of its progress.
#include "study/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace bathline {
namespace {

std::string shown(ProgressStyle style, bool is_root) {
  testing::internal::CaptureStderr();
  Progress progress(style, is_root);
  progress.begin("closed", 1000, 50);
  progress.update(1);  // too soon to be worth a line
  std::this_thread::sleep_for(std::chrono::milliseconds(220));
  progress.update(250);
  progress.end();
  return testing::internal::GetCapturedStderr();
}

TEST(Progress, BarShowsShareRateAndWhatIsLeft) {
  const std::string text = shown(ProgressStyle::bar, true);
  EXPECT_THAT(text, testing::AllOf(testing::HasSubstr("closed ["), testing::HasSubstr("25 %"),
                                   testing::HasSubstr("site-steps/s"), testing::HasSubstr("left"),
                                   testing::Not(testing::HasSubstr("\n"))));
  EXPECT_THAT(text, testing::EndsWith("\r\x1b[K"));  // and is gone at the end
}

TEST(Progress, NobodyShowsAnythingOnOtherRanksOrWhereItIsNotWanted) {
  EXPECT_EQ(shown(ProgressStyle::bar, false), "");
  EXPECT_EQ(shown(ProgressStyle::none, true), "");
  EXPECT_EQ(shown(ProgressStyle::lines, true), "");  // a line is worth ten seconds
}

}  // namespace
}  // namespace bathline
