// Straight lines through points, against numbers by hand.
#include "study/theory/line_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace bathline::line_fit_test {
namespace {

TEST(LineFit, GoesThroughPointsOnALine) {
  const LineFit fit = fit_line({1.0, 2.0, 4.0}, {5.0, 3.0, -1.0});
  EXPECT_DOUBLE_EQ(fit.slope, -2.0);
  EXPECT_NEAR(fit.error, 0.0, 1e-15);
}

TEST(LineFit, KnowsTheErrorOfItsSlope) {
  // x = -1, 0, 1 and y = 0, 1, 0 about their mean 1/3: slope 0, residuals -1/3, 2/3, -1/3 with the squares' sum 2/3,
  // error sqrt((2/3) / 1 / 2).
  const LineFit fit = fit_line({9.0, 10.0, 11.0}, {0.0, 1.0, 0.0});
  EXPECT_NEAR(fit.slope, 0.0, 1e-15);
  EXPECT_NEAR(fit.error, std::sqrt(1.0 / 3.0), 1e-15);
}

TEST(LineFit, HasNoSlopeThroughOnePoint) {
  EXPECT_TRUE(std::isnan(fit_line({}, {}).slope));
  EXPECT_TRUE(std::isnan(fit_line({1.0}, {2.0}).slope));
}

}  // namespace
}  // namespace bathline::line_fit_test
