// Orders fitted to synthetic errors, with the expected warnings.
#include "study/theory/measured_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace bathline::measured_order_test {
namespace {

using testing::HasSubstr;

const std::vector<double> steps = {0.4, 0.2, 0.1, 0.05, 0.025};

MeasuredOrder fitted(const std::function<double(double)>& error) {
  MeasuredOrder errors;
  for (const double h : steps) {
    errors.begin_step();
    errors.add(error(h), 1.0, 1);
  }
  errors.fit(steps, 1.0);
  return errors;
}

TEST(MeasuredOrder, NothingSpeaksAgainstAPower) {
  const MeasuredOrder errors = fitted([](double h) { return 3.0 * std::pow(h, 4); });
  EXPECT_NEAR(errors.order(), 4.0, 1e-12);
  EXPECT_EQ(errors.points(), 5u);
  EXPECT_EQ(errors.fit_warning(), "");
}

TEST(MeasuredOrder, NeitherDoesASmallTermOfHigherOrder) {
  EXPECT_EQ(fitted([](double h) { return 3.0 * std::pow(h, 4) * (1.0 + h); }).fit_warning(), "");
}

TEST(MeasuredOrder, CountsPointsInRoundOff) {
  // 0.025^8 = 1.5e-13 lies below a hundred roundings of 40^0.75 = 16 steps; 0.05^8 = 3.9e-11 above.
  const MeasuredOrder errors = fitted([](double h) { return std::pow(h, 8); });
  EXPECT_NEAR(errors.order(), 8.0, 1e-12);
  EXPECT_EQ(errors.points(), 4u);
  EXPECT_EQ(errors.fit_warning(), "1 of 5 points not fitted (round-off)");
}

TEST(MeasuredOrder, SaysWhereErrorsStopFalling) {
  const MeasuredOrder errors = fitted([](double h) { return h > 0.07 ? h * h : 0.0101; });
  EXPECT_EQ(errors.points(), 3u);
  EXPECT_EQ(errors.fit_warning(), "2 of 5 points not fitted (error does not fall with the step)");
}

TEST(MeasuredOrder, LeavesOutWhatTheErrorOfTheReferenceCovers) {
  MeasuredOrder errors;
  for (const double h : steps) {
    errors.begin_step();
    errors.add(std::pow(h, 4) + 1e-6, 1.0, 1, 1e-6);
  }
  errors.fit(steps, 1.0);
  // 0.05^4 = 6.25e-6 is less than ten times the error of the reference.
  EXPECT_EQ(errors.used(), (std::vector<double>{1.0, 1.0, 1.0, 0.0, 0.0}));
  EXPECT_NEAR(errors.order(), 4.0, 0.01);
  EXPECT_EQ(errors.not_fitted(), "error of the reference");
  EXPECT_EQ(errors.fit_warning(), "2 of 5 points not fitted (error of the reference)");
}

TEST(MeasuredOrder, LeavesOutSaturatedErrorsOfLargeSteps) {
  const MeasuredOrder errors = fitted([](double h) { return h > 0.15 ? 2.0 - h : 3.0 * std::pow(h, 4); });
  EXPECT_EQ(errors.used(), (std::vector<double>{0.0, 1.0, 1.0, 1.0, 1.0}));
  EXPECT_EQ(errors.not_fitted(), "error does not fall with the step");
}

TEST(MeasuredOrder, SaysWhereSlopesAreNotThoseOfTheFit) {
  // The error has order 2 for small steps only.
  const MeasuredOrder errors = fitted([](double h) { return h * h + 2000.0 * std::pow(h, 7); });
  EXPECT_GT(errors.order(), 2.5);
  EXPECT_THAT(errors.fit_warning(), HasSubstr("not in the asymptotic range"));
}

TEST(MeasuredOrder, LeavesOutErrorsThatAreNotFinite) {
  for (const double wrong : {std::nan(""), HUGE_VAL}) {
    const MeasuredOrder errors = fitted([&](double h) { return h > 0.15 ? wrong : std::pow(h, 4); });
    EXPECT_EQ(errors.used(), (std::vector<double>{0.0, 0.0, 1.0, 1.0, 1.0})) << wrong;
    EXPECT_NEAR(errors.order(), 4.0, 1e-9) << wrong;
  }
}

TEST(MeasuredOrder, DoesNotTrustTwoPoints) {
  MeasuredOrder errors;
  for (const double error : {0.01, 0.0001}) {
    errors.begin_step();
    errors.add(error, 1.0, 1);
  }
  errors.fit({0.2, 0.1}, 1.0);
  EXPECT_EQ(errors.points(), 2u);
  EXPECT_THAT(errors.fit_warning(), HasSubstr("two points"));
}

}  // namespace
}  // namespace bathline::measured_order_test
