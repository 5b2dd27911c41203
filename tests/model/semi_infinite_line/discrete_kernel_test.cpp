// Kernels over steps against their definitions: power series, and integrals with positive weights.
#include "model/semi_infinite_line/discrete_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace bathline::discrete_kernel_test {
namespace {

/// The coefficients of s sqrt(z^2 - 2 x z + 1) - (z - 1) over 2 c^2 from the power series of R^2.
std::vector<double> by_squaring(double c, double g, int count) {
  const long double s = std::sqrt(1.0L + 4.0L * g * (1.0L - g) * c * c), x = 1.0L - 2.0L * c * c / (s * s);
  std::vector<long double> square(static_cast<std::size_t>(count)), root;
  square[0] = 1.0L;
  square[1] = -2.0L * x;
  square[2] = 1.0L;
  root.push_back(1.0L);
  for (std::size_t n = 1; n < square.size(); ++n) {
    long double rest = square[n];
    for (std::size_t k = 1; k < n; ++k) rest -= root[k] * root[n - k];
    root.push_back(0.5L * rest);
  }
  std::vector<double> kernel;
  for (std::size_t n = 0; n < root.size(); ++n) {
    const long double subtrahend = n == 0 ? 1.0L : n == 1 ? -1.0L : 0.0L;
    kernel.push_back(static_cast<double>((s * root[n] - subtrahend) / (2.0L * c * c)));
  }
  return kernel;
}

double value(const DiscreteKernel& kernel, int n) {
  if (n < kernel.lag()) return kernel.first[static_cast<std::size_t>(n)];
  double sum = 0.0;
  for (const ExponentialTerm& term : kernel.exponential_terms) {
    sum += (term.weight * std::exp(static_cast<double>(n - kernel.lag()) * term.exponent())).real();
  }
  return sum;
}

TEST(DiscreteKernel, RecurrenceIsThePowerSeries) {
  for (const double c : {0.2, 0.7, 1.4}) {
    for (const double g : {0.2, 0.5, 0.65}) {
      const std::vector<double> actual = exact_line_kernel(DiscreteLine(c, g), 60), expected = by_squaring(c, g, 60);
      for (std::size_t n = 0; n < actual.size(); ++n) EXPECT_NEAR(actual[n], expected[n], 1e-15) << c << " " << g;
    }
  }
}

// As for a bath, g_n is the integral over the band of w(t) cos((n + 1/2) t) with positive weights.
TEST(DiscreteKernel, RecurrenceIsThatOfABathAtLateSteps) {
  const double c = 0.43;
  const DiscreteLine line(c, 0.0);
  const std::vector<double> actual = exact_line_kernel(line, 4002);
  for (const int n : {0, 3, 200, 4000}) {
    // sin(t/2) = c sin(phi) removes the square root, and the midpoint rule over a period is exact up to its order.
    double sum = 0.0;
    constexpr int points = 20000;
    for (int k = 0; k < points; ++k) {
      const double phi = 0.5 * std::numbers::pi * (k + 0.5) / points;
      const double t = 2.0 * std::asin(c * std::sin(phi)), square = std::pow(c * std::cos(phi), 2);
      sum += square / std::cos(0.5 * t) * std::cos((n + 0.5) * t);
    }
    const double expected = 2.0 / (std::numbers::pi * c * c) * 2.0 * sum * 0.5 * std::numbers::pi / points;
    EXPECT_NEAR(actual[static_cast<std::size_t>(n) + 1], expected, 1e-14) << n;
  }
}

TEST(DiscreteKernel, EndsWhereTheGridIsCharacteristic) {
  for (const double g : {0.0, 0.1, 0.3, 0.7}) {
    const DiscreteLine line(1.0 / std::abs(1.0 - 2.0 * g), g);
    EXPECT_TRUE(line.is_finite);
    const std::vector<double> kernel = exact_line_kernel(line, 5);
    // G_{-1} : G_0 is g : 1-g for g < 1/2, and 1-g : g otherwise.
    const double first = g < 0.5 ? g : 1.0 - g;
    EXPECT_NEAR(kernel[0] * (1.0 - first), kernel[1] * first, 1e-15);
    EXPECT_NEAR(kernel[2], 0.0, 1e-15);
    EXPECT_TRUE(compressed_line_kernel(line, {}).exponential_terms.empty());
  }
}

TEST(DiscreteKernel, ExponentialsAreTheKernel) {
  for (const double c : {0.004, 0.08, 0.6, 0.97}) {
    const DiscreteLine line(c, 0.0);
    for (const double error : {1e-6, 1e-12}) {
      const KernelAccuracy finite{.error = error, .horizon = 20000.0},
          forever{.error = error, .horizon = finite.forever};
      const std::vector<double> exact = exact_line_kernel(line, 20002);
      for (const KernelAccuracy& accuracy : {finite, forever}) {
        const DiscreteKernel kernel = compressed_line_kernel(line, accuracy);
        EXPECT_LT(kernel.exponential_terms.size(), error < 1e-9 ? 190u : 85u);
        double largest = 0.0;
        for (const int n : {0, 1, 3, 4, 5, 30, 129, 700, 5000, 19999}) {
          largest = std::max(largest, std::abs(value(kernel, n) - exact[static_cast<std::size_t>(n) + 1]));
        }
        EXPECT_LT(largest, 5.0 * error) << c << " until " << accuracy.horizon;
      }
    }
  }
}

TEST(DiscreteKernel, QuotientsAreSolutionsOfTheirRecurrence) {
  const DiscreteLine line(0.8, 0.3);
  const DiscreteKernel series = compressed_line_kernel(line, {.error = 1e-13, .horizon = 1e4});
  const double start = 0.37;
  for (const auto& [alpha, beta] : {std::pair(0.3, 0.7), std::pair(0.0, 1.0)}) {
    const DiscreteKernel quotient = divide_series(series, alpha, beta, start);
    EXPECT_NEAR(value(quotient, 0), start, 1e-13);
    for (int n = 0; n < 50; ++n) {
      EXPECT_NEAR(alpha * value(quotient, n) + beta * value(quotient, n + 1), value(series, n), 1e-14) << n;
    }
  }
  // With alpha > beta the start is not free but determined by the series.
  const DiscreteKernel quotient = divide_series(series, 0.7, 0.3, 0.0);
  EXPECT_NEAR(0.3 * value(quotient, 0), exact_line_kernel(line, 1).front(), 1e-12);
  for (int n = 0; n < 50; ++n)
    EXPECT_NEAR(0.7 * value(quotient, n) + 0.3 * value(quotient, n + 1), value(series, n), 1e-14);
}

}  // namespace
}  // namespace bathline::discrete_kernel_test
