// Least-squares lines, against numbers by hand.
#include "study/theory/line_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

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

TEST(LineFit, TakesIndependentValuesForWhatTheyAre) {
  // Neighbouring residuals are anticorrelated.
  const std::vector<double> x = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}, y = {1.0, -1.0, 1.0, -1.0, 1.0, -1.0};
  EXPECT_DOUBLE_EQ(fit_trend(x, y).error, fit_line(x, y).error);
}

// The estimated error of a trend is its standard deviation, also for residuals with a correlation of 0.7. The deviation
// of 2000 slopes is known to 1.6 %; the estimated correlation of 200 values is smaller by (1 + 4 r)/200 for their mean
// and about as much for their slope, which makes errors too small by about 8 %. Without the correlation they would be
// too small by a factor of 2.4.
TEST(LineFit, CountsWhatNeighboursHaveInCommon) {
  std::mt19937_64 generator(7);
  std::normal_distribution<double> normal;
  const int trends = 2000, length = 200;
  std::vector<double> x(length), y(length);
  double spread = 0.0, error = 0.0;
  for (int trend = 0; trend < trends; ++trend) {
    double value = normal(generator) / std::sqrt(1.0 - 0.7 * 0.7);
    for (int i = 0; i < length; ++i) {
      x[static_cast<std::size_t>(i)] = 0.5 * i;
      y[static_cast<std::size_t>(i)] = 3.0 * i + value;
      value = 0.7 * value + normal(generator);
    }
    const LineFit fit = fit_trend(x, y);
    spread += (fit.slope - 6.0) * (fit.slope - 6.0) / trends;
    error += fit.error * fit.error / trends;
  }
  EXPECT_NEAR(std::sqrt(error / spread), 1.0, 0.15);
}

}  // namespace
}  // namespace bathline::line_fit_test
