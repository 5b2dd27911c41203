// Means, variances, autocorrelations and the comparison of halves, against long double sums and closed forms.
#include "study/theory/averages.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "study/theory/stationarity.hpp"

namespace bathline::averages_test {
namespace {

std::vector<double> normals(std::mt19937_64& random, std::size_t count, double mean = 0.0, double spread = 1.0) {
  // The polar method of Box and Muller, whose numbers do not depend on the standard library.
  const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(mean +
                     spread * std::sqrt(-2.0 * std::log(uniform())) * std::cos(2.0 * std::numbers::pi * uniform()));
  }
  return values;
}

long double exact_mean(const std::vector<double>& values) {
  long double sum = 0.0L;
  for (const double value : values) sum += value;
  return sum / static_cast<long double>(values.size());
}

long double exact_variance(const std::vector<double>& values) {
  const long double mean = exact_mean(values);
  long double sum = 0.0L;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<long double>(values.size() - 1);
}

// The condition number of a variance is about the mean over the spread, not its square.
TEST(Moments, KeepTheDigitsOfAVarianceFarFromZero) {
  std::mt19937_64 random(1);
  for (const double mean : {0.0, 1.0, 1e6, -1e10}) {
    for (const std::size_t parts : {1u, 3u, 10u}) {
      const std::vector<double> values = normals(random, 1000, mean, 1e-3);
      Moments all(1);
      for (std::size_t part = 0; part < parts; ++part) {
        Moments some(1);
        for (std::size_t i = part * 1000 / parts; i < (part + 1) * 1000 / parts; ++i) some.add({&values[i], 1});
        all.merge(some.numbers());
      }
      const auto expected = static_cast<double>(exact_variance(values));
      EXPECT_EQ(all.count(), 1000.0);
      EXPECT_NEAR(all.mean(0), static_cast<double>(exact_mean(values)), 1e-14 * std::abs(mean) + 1e-18);
      EXPECT_NEAR(all.variance(0), expected, expected * (1e-13 + 1e-15 * std::abs(mean) / 1e-3)) << mean << parts;
      EXPECT_NEAR(all.estimate(0, 1).error[0], std::sqrt(all.variance(0) / 1000.0), 1e-18);
    }
  }
}

TEST(Autocorrelation, IsThatOfTheSum) {
  std::mt19937_64 random(2);
  Autocorrelation autocorrelation;
  for (const double mean : {0.0, 3.0, 1e6}) {
    for (const std::size_t count : {1u, 2u, 3u, 17u, 256u, 1000u}) {
      for (const std::size_t lags : {std::size_t{1}, (count + 1) / 2, count}) {
        const std::vector<double> x = normals(random, count, mean, 2.0);
        const std::vector<double> found = autocorrelation(x, lags);
        ASSERT_EQ(found.size(), lags);
        for (std::size_t lag = 0; lag < lags; ++lag) {
          long double sum = 0.0L;
          for (std::size_t k = 0; k + lag < count; ++k) sum += static_cast<long double>(x[k]) * x[k + lag];
          // The error of the transform is that of the largest product, over the number of products of this lag.
          const double tolerance = 4e-15 * (mean * mean + std::abs(mean)) +
                                   1e-14 * static_cast<double>(count) / static_cast<double>(count - lag);
          EXPECT_NEAR(found[lag], static_cast<double>(sum / static_cast<long double>(count - lag)), tolerance)
              << mean << ' ' << count << ' ' << lag;
        }
      }
    }
  }
  EXPECT_TRUE(autocorrelation(std::vector<double>{1.0}, 0).empty());
}

// Closed forms for 1, 2 and 3 degrees of freedom; many are a normal distribution.
TEST(Stationarity, ProbabilitiesAreStudents) {
  for (const double t : {0.01, 0.5, 1.0, 3.0, 20.0, 1e4}) {
    const double angle = std::atan2(1.0, t);  // of the complement, which is small
    EXPECT_NEAR(students_probability(t, 1.0) / (2.0 / std::numbers::pi * angle), 1.0, 1e-12) << t;
    const double root = std::sqrt(2.0 + t * t), two = 2.0 / (root * (root + t));
    EXPECT_NEAR(students_probability(-t, 2.0) / two, 1.0, 1e-12) << t;
    if (t < 10.0) {
      const double a = std::atan(t / std::sqrt(3.0)),
                   three = 1.0 - 2.0 / std::numbers::pi * (a + 0.5 * std::sin(2 * a));
      EXPECT_NEAR(students_probability(t, 3.0), three, 1e-13) << t;
      EXPECT_NEAR(students_probability(t, 1e6), std::erfc(t / std::numbers::sqrt2), 1e-6) << t;
    }
  }
  EXPECT_EQ(students_probability(0.0, 5.0), 1.0);
  EXPECT_EQ(students_probability(HUGE_VAL, 5.0), 0.0);
}

// The probability of a false alarm is 1 - (1 - a/m)^m for m independent averages, just below a; five standard errors.
TEST(Stationarity, FalseAlarmsAreAsRareAsStated) {
  std::mt19937_64 random(3);
  constexpr int trials = 20000;
  constexpr double stated = 0.02;
  for (const std::size_t samples : {2u, 3u, 20u}) {
    for (const std::size_t averages : {1u, 6u}) {
      int alarms = 0;
      for (int trial = 0; trial < trials; ++trial) {
        Moments differences(averages);
        for (std::size_t i = 0; i < samples; ++i) differences.add(normals(random, averages));
        alarms += find_half_difference(differences, std::vector<double>(averages), stated).has_value();
      }
      const double expected = trials * (1.0 - std::pow(1.0 - stated / static_cast<double>(averages), averages));
      EXPECT_NEAR(alarms, expected, 5.0 * std::sqrt(expected)) << samples << ' ' << averages;
    }
  }
}

TEST(Stationarity, FindsAMeanThatIsNotANumber) {
  for (const double wrong : {std::nan(""), HUGE_VAL}) {
    Moments differences(2);
    for (const double x : {-1.0, 1.0, wrong}) differences.add(std::vector<double>{1e-3 * x, x});
    EXPECT_TRUE(find_half_difference(differences, std::vector<double>(2), 1e-3)) << wrong;
  }
}

TEST(Stationarity, FindsTheMostSignificantDifference) {
  Moments differences(4);
  for (const double x : {-1.0, 1.0, -1.0, 1.0}) {
    // The second lies 5 errors away, the third has no error; the fourth is round-off of a mean of 1.
    const double small = 0.1 * x;
    differences.add(std::vector<double>{x, 0.3 + small, 2.0, 1e-16});
  }
  const std::vector<double> none(4), round_off{0.0, 0.0, 3.0, 1e-15};
  EXPECT_EQ(find_half_difference(differences, none, 0.1)->index, 2u);
  const std::optional<HalfDifference> second = find_half_difference(differences, round_off, 0.1);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->index, 1u);
  EXPECT_NEAR(second->difference, 0.3, 1e-15);
  EXPECT_NEAR(second->error, 0.1 / std::sqrt(3.0), 1e-15);
  EXPECT_FALSE(find_half_difference(differences, round_off, 0.001));
}

}  // namespace
}  // namespace bathline::averages_test
