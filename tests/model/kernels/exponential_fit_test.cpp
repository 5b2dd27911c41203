// Short sums of exponentials: kernels and transforms known by formula, and kernels without such a sum.
#include "model/kernels/exponential_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "model/kernels/passive_fit.hpp"
#include "model/memory/passivity.hpp"
#include "model/kernels/piecewise_legendre.hpp"
#include "random_numbers.hpp"

namespace bathline::exponentials_test {
namespace {

using std::numbers::pi;
using Complex = std::complex<double>;
using Function = std::function<double(double)>;

double kernel_of(const ExponentialSum& sum, double t) {
  double all = 0.0;
  for (const PronyTerm& mode : sum.modes) {
    all += std::exp(-mode.r * t) * (mode.k * std::cos(mode.w * t) + mode.b * std::sin(mode.w * t));
  }
  return all;
}

ExponentialSum of_density(const Function& value, double highest, const BathAccuracy& accuracy) {
  return fit_exponentials(transform_kernel({.value = value, .highest = highest}, accuracy), accuracy);
}

ExponentialSum of_kernel(const Function& value, const BathAccuracy& accuracy, const std::vector<double>& kinks = {}) {
  return fit_exponentials(transform_kernel(value, kinks, accuracy), accuracy);
}

/// Compares the certificate with the error against `exact`, summed over `samples` equidistant times.
void expect_certified(const ExponentialSum& sum, const Function& exact, const BathAccuracy& accuracy, int samples) {
  EXPECT_LE(sum.error(), accuracy.tolerance);
  double area = 0.0, norm = 0.0;
  for (int i = 0; i < samples; ++i) {
    const double t = accuracy.horizon * (i + 0.5) / samples;
    area += std::abs(kernel_of(sum, t) - exact(t)) * accuracy.horizon / samples;
    norm += std::abs(exact(t)) * accuracy.horizon / samples;
  }
  EXPECT_LE(area, sum.error() * norm * 1.01);
  EXPECT_GT(area, 0.0);
  EXPECT_NEAR(sum.norm, norm, 0.1 * norm);
  for (const PronyTerm& mode : sum.modes) EXPECT_GT(mode.r, 0.0);
}

constexpr double infinite = std::numeric_limits<double>::infinity();

TEST(Exponentials, OfDrudesDensityAreOne) {
  const BathAccuracy accuracy{.tolerance = 1e-10, .horizon = 60.0};
  const auto density = [](double w) { return 0.7 * w * 9.0 / (9.0 + w * w); };
  const ExponentialSum sum = of_density(density, infinite, accuracy);
  ASSERT_EQ(sum.modes.size(), 1u);
  EXPECT_EQ(sum.exponentials, 1);
  EXPECT_NEAR(sum.modes[0].k, 2.1, 1e-9);
  EXPECT_NEAR(sum.modes[0].r, 3.0, 1e-9);
  EXPECT_EQ(sum.modes[0].w, 0.0);
  EXPECT_EQ(sum.lowest, 0.0);
  EXPECT_EQ(sum.damper, 0.0);
  EXPECT_NEAR(sum.damping, 0.7, 1e-9);
}

TEST(Exponentials, KeepDensitiesWithAnEdge) {
  for (const double horizon : {30.0, 3000.0}) {
    const BathAccuracy accuracy{.tolerance = 1e-10, .horizon = horizon};
    const ExponentialSum sum = of_density([](double w) { return 0.8 * w; }, 5.0, accuracy);
    expect_certified(
        sum, [](double t) { return 1.6 / pi * std::sin(5.0 * t) / t; }, accuracy, 200'000);
    EXPECT_LT(sum.exponentials, 60);
    EXPECT_LT(sum.lowest, 0.0);
    EXPECT_EQ(sum.damper, 0.0);
  }
}

// J = sqrt(w) up to W: with w = u^2 the kernel is (4/pi) times the integral of cos(u^2 t) from 0 to sqrt(W), here by
// Simpson's rule.
TEST(Exponentials, KeepSubOhmicDensities) {
  const BathAccuracy accuracy{.tolerance = 1e-9, .horizon = 40.0};
  const ExponentialSum sum = of_density([](double w) { return std::sqrt(w); }, 6.0, accuracy);
  const auto exact = [](double t) {
    constexpr int parts = 40'000;
    const double step = std::sqrt(6.0) / parts;
    double all = 0.0;
    for (int i = 0; i <= parts; ++i) {
      const double u = i * step, weight = i == 0 || i == parts ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
      all += weight * std::cos(u * u * t);
    }
    return 4.0 / pi * all * step / 3.0;
  };
  expect_certified(sum, exact, accuracy, 500);
  EXPECT_TRUE(std::isinf(sum.damping));
}

// J = D w exp(-w/c) has the kernel (2 D/pi) c/(1 + c^2 t^2), in any units.
TEST(Exponentials, FindWhereADensityEnds) {
  for (const double scale : {1e-9, 1.0, 1e12}) {
    SCOPED_TRACE(scale);
    const BathAccuracy accuracy{.tolerance = 1e-9, .horizon = 500.0 / scale};
    const ExponentialSum sum = of_density([=](double w) { return 0.7 * w * std::exp(-w / scale); }, infinite, accuracy);
    const auto exact = [=](double t) { return 1.4 / pi * scale / (1.0 + std::pow(scale * t, 2)); };
    expect_certified(sum, exact, accuracy, 100'000);
    EXPECT_GT(sum.damper, 0.0);
    EXPECT_LT(sum.damper, 1e-9);
    double lowest = 0.0;
    for (double w = 0.0; w < 300.0 * scale; w += 1e-3 * scale) lowest = std::min(lowest, resistance_at(sum.modes, w));
    EXPECT_GE(lowest, 0.0);
  }
}

TEST(Exponentials, KeepKernelsOfTime) {
  const BathAccuracy accuracy{.tolerance = 1e-9, .horizon = 25.0};
  const auto gaussian = [](double t) { return 3.0 * std::exp(-0.5 * t * t); };
  expect_certified(of_kernel(gaussian, accuracy), gaussian, accuracy, 50'000);
  const auto ringing = [](double t) { return std::exp(-0.4 * t) * (std::cos(3.0 * t) + 0.1 * std::sin(3.0 * t)); };
  const ExponentialSum one = of_kernel(ringing, accuracy);
  ASSERT_EQ(one.modes.size(), 1u);
  EXPECT_NEAR(one.modes[0].k, 1.0, 1e-8);
  EXPECT_NEAR(one.modes[0].b, 0.1, 1e-8);
  EXPECT_NEAR(one.modes[0].w, 3.0, 1e-8);
}

// A density of straight lines, (1, 0.3), (2, 0.6) and (3, 0), whose kinks are singular places of its transform: with
// J = 0.3 w up to 2 and 1.8 - 0.6 w from there on, by sums over even frequencies.
TEST(Exponentials, KeepDensitiesWithKinks) {
  const BathAccuracy accuracy{.tolerance = 1e-7, .horizon = 20.0};
  const auto density = [](double w) { return w < 2.0 ? 0.3 * w : std::max(0.0, 1.8 - 0.6 * w); };
  const ExponentialSum sum = fit_exponentials(
      transform_kernel({.value = density, .kinks = {1.0, 2.0, 3.0}, .highest = 3.0}, accuracy), accuracy);
  const auto exact = [&](double t) {
    constexpr int parts = 30'000;
    double all = 0.0;
    for (int i = 0; i < parts; ++i) {
      const double w = 3.0 * (i + 0.5) / parts;
      all += density(w) / w * std::cos(w * t);
    }
    return 2.0 / pi * all * 3.0 / parts;
  };
  expect_certified(sum, exact, accuracy, 500);
}

// Only times until the horizon matter: later the kernel need be neither small nor integrable.
TEST(Exponentials, KeepKernelsThatDieDownAsPowers) {
  for (const double horizon : {3.0, 200.0}) {
    const BathAccuracy accuracy{.tolerance = 1e-8, .horizon = horizon};
    const auto square = [](double t) { return 0.7 / std::pow(1.0 + 2.0 * t, 2); };
    const auto root = [](double t) { return 0.4 / std::sqrt(1.0 + t); };
    const ExponentialSum square_sum = of_kernel(square, accuracy), root_sum = of_kernel(root, accuracy);
    expect_certified(square_sum, square, accuracy, 200'000);
    expect_certified(root_sum, root, accuracy, 200'000);
    EXPECT_LT(root_sum.exponentials, 30);
    EXPECT_NEAR(square_sum.damping, 0.35, 1e-6);
    EXPECT_EQ(root_sum.damping, infinite);
  }
}

TEST(Exponentials, RefuseWhatHasNone) {
  const BathAccuracy accuracy{.tolerance = 1e-8, .horizon = 60.0};
  const auto echo = [](double t) { return std::exp(-t * t) + 0.3 * std::exp(-std::pow(t - 23.0, 2)); };
  try {
    of_kernel(echo, accuracy);
    FAIL();
  } catch (const TooManyExponentials& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("no short sum"));
  }
  EXPECT_THROW(of_kernel([](double t) { return 1.0 + std::exp(-t); }, accuracy), UnsuitableFunction);
  EXPECT_THROW(of_kernel([](double t) { return std::cos(t); }, accuracy), UnsuitableFunction);
  const auto negative = [](double t) { return std::exp(-t * t) - 0.5 * std::exp(-t * t / 16.0); };
  try {
    of_kernel(negative, accuracy);
    FAIL();
  } catch (const TooManyExponentials&) {
    FAIL() << "a kernel that is not passive must be reported as such";
  } catch (const UnsuitableFunction& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("passive environment is not negative"));
  }
}

/// The kernel of a table: lines between its rows, 0 beyond.
Function lines_between(const std::vector<double>& times, const std::vector<double>& values) {
  return [=](double t) {
    const auto next = std::upper_bound(times.begin(), times.end(), t);
    if (next == times.end()) return t == times.back() ? values.back() : 0.0;
    const auto i = static_cast<std::size_t>(next - times.begin());
    return values[i - 1] + (values[i] - values[i - 1]) * (t - times[i - 1]) / (times[i] - times[i - 1]);
  };
}

/// The distance of a sum from a kernel, by equidistant times.
double distance_of(const ExponentialSum& sum, const Function& kernel, double horizon) {
  constexpr int samples = 100'000;
  double difference = 0.0, norm = 0.0;
  for (int i = 0; i < samples; ++i) {
    const double t = horizon * (i + 0.5) / samples;
    difference += std::abs(kernel_of(sum, t) - kernel(t));
    norm += std::abs(kernel(t));
  }
  return difference / norm;
}

TEST(PassiveFit, FindsTheKernelBehindNoise) {
  // 1 % of noise, uniform between +-1.7 %, on two resonances, one of them overdamped.
  std::vector<double> times, values;
  RandomNumbers random(5);
  for (int i = 0; i <= 400; ++i) {
    const double t = 0.03 * i;
    times.push_back(t);
    values.push_back(3.0 * std::exp(-0.7 * t) * std::cos(2.5 * t) + std::exp(-3.0 * t) + 0.07 * random.uniform());
  }
  const Function kernel = lines_between(times, values);
  for (const double horizon : {12.0, 300.0}) {
    const ExponentialSum sum = fit_passive(kernel, times, {.tolerance = 0.14, .horizon = horizon});
    EXPECT_LE(sum.measured, 0.14);
    EXPECT_NEAR(sum.measured, distance_of(sum, kernel, horizon), 2e-3);
    EXPECT_LE(sum.modes.size(), 4u);
    for (const PronyTerm& mode : sum.modes) {
      EXPECT_GT(mode.k, 0.0);
      EXPECT_GT(mode.r, 0.0);
      EXPECT_EQ(mode.b, 0.0);
    }
    EXPECT_EQ(sum.lowest, 0.0);
    EXPECT_TRUE(has_termwise_noise(sum.modes));
    // The damper of the kernel without noise: 3 0.7/(0.7^2 + 2.5^2) + 1/3.
    EXPECT_NEAR(sum.damping, 0.645, 0.06);
  }
  // The tolerance that the refusal names is sufficient, and not much more than the nearest distance.
  try {
    fit_passive(kernel, times, {.tolerance = 1e-4, .horizon = 12.0});
    FAIL();
  } catch (const TooFarFromPassive& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("the nearest passive kernel is at a distance of 0."));
    const ExponentialSum sum = fit_passive(kernel, times, {.tolerance = error.sufficient_tolerance, .horizon = 12.0});
    EXPECT_LE(sum.measured, error.sufficient_tolerance);
    EXPECT_LT(error.sufficient_tolerance, 0.14);
  }
}

// Kernels that are such sums are found to the accuracy of the search, in any units.
TEST(PassiveFit, IsExactForSums) {
  for (const double scale : {1e-9, 1.0, 1e12}) {
    SCOPED_TRACE(scale);
    const auto one = [=](double t) { return 2.0 * std::exp(-2.0 * scale * t); };
    const ExponentialSum sum = fit_passive(one, {}, {.tolerance = 1e-5, .horizon = 30.0 / scale});
    EXPECT_LE(sum.measured, 1e-5);
    ASSERT_EQ(sum.modes.size(), 1u);
    EXPECT_NEAR(sum.modes[0].r / scale, 2.0, 1e-4);
    EXPECT_NEAR(sum.modes[0].k, 2.0, 1e-4);
  }
  const auto two = [](double t) { return std::exp(-t) * std::cos(4.0 * t) + 0.5 * std::exp(-0.3 * t); };
  EXPECT_LE(fit_passive(two, {}, {.tolerance = 1e-3, .horizon = 40.0}).modes.size(), 4u);
}

TEST(PassiveFit, RefusesWhatIsFarFromPassive) {
  const BathAccuracy accuracy{.tolerance = 0.1, .horizon = 20.0};
  EXPECT_THROW(fit_passive([](double t) { return std::exp(-t * t) - 0.7 * std::exp(-t * t / 9.0); }, {}, accuracy),
               TooFarFromPassive);
  EXPECT_THROW(fit_passive([](double t) { return -std::exp(-t); }, {}, accuracy), UnsuitableFunction);
}

// The minimum over all sets of free variables, by trying each: no other k >= 0 has a smaller sum of squares.
TEST(PassiveFit, HasNonnegativeLeastSquares) {
  RandomNumbers random(3);
  for (int repetition = 0; repetition < 50; ++repetition) {
    constexpr Eigen::Index n = 5;
    const Eigen::MatrixXd a = Eigen::MatrixXd::NullaryExpr(8, n, [&] { return random.uniform(); });
    const Eigen::VectorXd y = Eigen::VectorXd::NullaryExpr(8, [&] { return random.uniform(); });
    const Eigen::VectorXd k = nonnegative_least_squares(a.transpose() * a, a.transpose() * y);
    double least = y.squaredNorm();
    for (int set = 1; set < 1 << n; ++set) {
      std::vector<Eigen::Index> free;
      for (Eigen::Index j = 0; j < n; ++j) {
        if (set >> j & 1) free.push_back(j);
      }
      const Eigen::MatrixXd part = a(Eigen::all, free);
      const Eigen::VectorXd solution = part.colPivHouseholderQr().solve(y);
      if (solution.minCoeff() >= 0.0) least = std::min(least, (y - part * solution).squaredNorm());
    }
    EXPECT_GE(k.minCoeff(), 0.0);
    EXPECT_NEAR((y - a * k).squaredNorm(), least, 1e-12);
  }
}

// A sum of two resonances and a decay is rational: three pairs of support points give all poles.
TEST(AaaFit, FindsThePolesOfWhatIsRational) {
  const std::vector<Complex> exact = {{-0.3, 0.0}, {-1e-4, 2.0}, {-2.0, 1e3}};
  const double shift = 1e-3;
  std::vector<TransformSample> samples;
  for (double w = 1e-3; w < 1e5; w *= 1.1) {
    const Complex s(shift, w);
    Complex value = 1.0 / (s - exact[0]);
    for (const Complex& pole : {exact[1], exact[2]}) value += 1.0 / (s - pole) + 1.0 / (s - std::conj(pole));
    samples.push_back({w, value});
  }
  AaaFit fit(shift, samples);
  while (fit.pairs() < 3) fit.add_support_point();
  EXPECT_LT(fit.error(), 1e-10);
  const std::vector<Complex> poles = fit.poles();
  for (const Complex& pole : exact) {
    double nearest = infinite;
    for (const Complex& candidate : poles) nearest = std::min(nearest, std::abs(candidate - pole));
    EXPECT_LT(nearest, 1e-10 * std::abs(pole)) << pole;
  }
}

// exp(-a x) on [0, L] has the integral (1 - exp(-(a + i y) L))/(a + i y), at low and high frequencies.
TEST(PiecewiseLegendre, HasFourierIntegralsAtAnyFrequency) {
  const auto f = [](double x) { return std::exp(-0.3 * x); };
  const PiecewiseLegendre series(f, adaptive_panels(f, {0.0, 10.0}, {}));
  for (const double y : {0.0, 0.1, 4.0, 30.0, 1e3, 1e6}) {
    const Complex rate(0.3, y), exact = (1.0 - std::exp(-10.0 * rate)) / rate;
    EXPECT_LT(std::abs(series.fourier(y) - exact), 2e-15 * 10.0) << y;
  }
}

// The integral of s/(s^2 + x^2) from 0 to L is atan(L/s), at any distance from the axis.
TEST(PiecewiseLegendre, HasTransformsNextToTheAxis) {
  const auto one = [](double) { return 1.0; };
  const std::vector<Panel> panels = adaptive_panels(one, {0.0, 3.0}, {});
  for (const double re : {1.0, 1e-3, 1e-9}) {
    for (const double im : {0.0, 0.7, 2.999, 5.0}) {
      const Complex s(re, im), exact = std::atan(3.0 / s);
      // Near its branch point at 3 i the arctangent amplifies round-off.
      const double roundoff = 1e-15 * (1.0 + 3.0 / std::abs(s - Complex(0.0, 3.0)));
      EXPECT_LT(std::abs(laplace_transform(one, panels, s) - exact), 4.0 * roundoff) << s;
    }
  }
}

TEST(Passivity, FindsWhatIsBelowZeroAndTheLeastDamper) {
  // 1/(1 + i w) - 0.2/(0.5 + i w): 1/(1 + w^2) - 0.1/(0.25 + w^2), positive; with 0.6 it is 1 - 1.2 at w = 0.
  EXPECT_EQ(passivity_of({{.k = 1.0, .r = 1.0}, {.k = -0.2, .r = 0.5}}).lowest, 0.0);
  std::vector<PronyTerm> modes = {{.k = 1.0, .r = 1.0}, {.k = -0.6, .r = 0.5}};
  const Passivity passivity = passivity_of(modes);
  EXPECT_NEAR(passivity.lowest, -0.2, 1e-12);
  EXPECT_EQ(passivity.frequency, 0.0);
  EXPECT_GT(passivity.negative, 0.0);
  EXPECT_NEAR(passivity.damper.k / passivity.damper.r, 0.2, 1e-12);
  modes.push_back(passivity.damper);
  for (double w = 0.0; w < 100.0; w += 1e-3) EXPECT_GE(resistance_at(modes, w), -1e-12) << w;
}

}  // namespace
}  // namespace bathline::exponentials_test
