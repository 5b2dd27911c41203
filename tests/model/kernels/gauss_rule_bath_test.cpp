// Baths of few oscillators: chains and kernels known by formula, and densities without a bath.
#include "model/kernels/gauss_rule_bath.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "model/kernels/adaptive_quadrature.hpp"

namespace bathline::bath_test {
namespace {

using std::numbers::pi;

double kernel_of(const GaussRuleBath& bath, double t) {
  double sum = 0.0;
  for (const BathOscillator& oscillator : bath.star) sum += oscillator.stiffness * std::cos(oscillator.frequency * t);
  return sum;
}

SpectralDensity power(double exponent, double highest) {
  return {.value = [=](double w) { return 0.8 * std::pow(w, exponent); }, .highest = highest};
}

// In y = (w/W)^2 the weight of a power is y^b, b = s/2 - 1, on [0, 1], a Jacobi weight, whose recursion coefficients
// are known: lambda_1/(M_1 W^2) = (b+1)(b+1)/((b+1)(b+2)), ...
TEST(GaussRuleBath, ChainsOfPowersAreThoseOfJacobiPolynomials) {
  constexpr double highest = 3.0;
  for (const double exponent : {0.3, 1.0, 3.0}) {
    SCOPED_TRACE(exponent);
    const GaussRuleBath bath = make_bath(power(exponent, highest), {.tolerance = 1e-10, .horizon = 200.0});
    const double b = 0.5 * exponent - 1.0;
    EXPECT_GE(bath.chain.size(), 150u);
    double stiffness = 2.0 / pi * 0.8 * std::pow(highest, exponent) / exponent;
    for (std::size_t j = 0; j < bath.chain.size(); ++j) {
      const double m = static_cast<double>(j);
      const double q = (m + b + 1.0) * (m + b + 1.0) / ((2.0 * m + b + 1.0) * (2.0 * m + b + 2.0));
      const double mass = stiffness / (q * highest * highest);
      EXPECT_NEAR(bath.chain[j].stiffness, stiffness, 1e-11 * stiffness) << j;
      EXPECT_NEAR(bath.chain[j].mass, mass, 1e-11 * mass) << j;
      const double n = m + 1.0;
      stiffness = n * n / ((2.0 * n + b) * (2.0 * n + b + 1.0)) * highest * highest * mass;
    }
  }
}

// An Ohmic density with a sharp edge W: gamma = (2 D/pi) sin(W t)/t.
TEST(GaussRuleBath, HasTheKernelOfAnOhmicDensityUntilItsTime) {
  constexpr double highest = 5.0, horizon = 60.0;
  const GaussRuleBath bath = make_bath(power(1.0, highest), {.tolerance = 1e-9, .horizon = horizon});
  EXPECT_LE(bath.error(), 1e-9);
  EXPECT_NEAR(bath.damping, 0.8, 1e-12);
  double area = 0.0, norm = 0.0;
  constexpr int samples = 20'000;
  for (int i = 0; i < samples; ++i) {
    const double t = horizon * (i + 0.5) / samples, exact = 1.6 / pi * std::sin(highest * t) / t;
    area += std::abs(kernel_of(bath, t) - exact) * horizon / samples;
    norm += std::abs(exact) * horizon / samples;
    if (i % 1000 != 0) continue;
    EXPECT_NEAR(bath.kernel(t), exact, 1e-13);
  }
  EXPECT_LE(area, bath.error() * norm);
  EXPECT_NEAR(bath.norm, norm, 0.1 * norm);
  // At least W T/4 = 75 oscillators are needed, and a few more.
  EXPECT_GE(bath.star.size(), 75u);
  EXPECT_LE(bath.star.size(), 100u);
  EXPECT_GT(std::abs(kernel_of(bath, 90.0) - 1.6 / pi * std::sin(450.0) / 90.0), 1e-3);
}

// J = D w exp(-w/c) has gamma = (2 D/pi) c/(1 + c^2 t^2); the bath determines the highest frequency.
TEST(GaussRuleBath, FindsWhereADensityEnds) {
  for (const double scale : {1e-12, 1.0, 1e13}) {
    SCOPED_TRACE(scale);
    const double horizon = 12.0 / scale;
    const GaussRuleBath bath = make_bath({.value = [=](double w) { return 0.7 * w * std::exp(-w / scale); }},
                                         {.tolerance = 1e-8, .horizon = horizon});
    EXPECT_LE(bath.error(), 1e-8);
    EXPECT_NEAR(bath.damping, 0.7, 1e-7);
    double area = 0.0, norm = 0.0;
    for (int i = 0; i < 5000; ++i) {
      const double t = horizon * (i + 0.5) / 5000, exact = 1.4 / pi * scale / (1.0 + std::pow(scale * t, 2));
      area += std::abs(kernel_of(bath, t) - exact);
      norm += exact;
    }
    EXPECT_LE(area, bath.error() * norm);
  }
}

// A Lorentzian that is much narrower than its frequency, and an edge at an unknown frequency.
TEST(GaussRuleBath, FindsPeaksAndEdges) {
  const GaussRuleBath peak = make_bath(
      {.value = [](double w) { return 1e-3 * w / (std::pow(w * w - 4.0, 2) + 1e-6 * w * w); }, .highest = 10.0},
      {.tolerance = 1e-8, .horizon = 30.0});
  // The kernel is (2/pi) (pi/2) (1e-3/(1e-3 4)) cos 2t with slow decay, up to corrections of 1e-3.
  EXPECT_NEAR(peak.kernel(5.0), 0.25 * std::cos(10.0) * std::exp(-0.0025), 1e-3);
  EXPECT_LE(peak.error(), 1e-8);
  const GaussRuleBath edge =
      make_bath({.value = [](double w) { return w < 3.3 ? 0.8 * w : 0.0; }}, {.tolerance = 1e-8, .horizon = 9.0});
  EXPECT_LE(edge.error(), 1e-8);
  for (const double t : {0.5, 4.0, 8.9}) EXPECT_NEAR(kernel_of(edge, t), 1.6 / pi * std::sin(3.3 * t) / t, 1e-8);
}

TEST(GaussRuleBath, DampsByWhatItsDensityBeginsWith) {
  EXPECT_TRUE(std::isinf(make_bath(power(0.5, 1.0), {.tolerance = 1e-6, .horizon = 5.0}).damping));
  EXPECT_EQ(make_bath(power(3.0, 1.0), {.tolerance = 1e-6, .horizon = 5.0}).damping, 0.0);
}

std::string why_not(const SpectralDensity& density, double horizon = 10.0, double tolerance = 1e-8) {
  try {
    make_bath(density, {.tolerance = tolerance, .horizon = horizon});
  } catch (const UnsuitableFunction& error) {
    return error.what();
  }
  return "";
}

TEST(GaussRuleBath, SaysWhyADensityIsNone) {
  using testing::HasSubstr;
  EXPECT_THAT(why_not({.value = [](double w) { return w * std::exp(-w) * (1.0 - w); }}), HasSubstr("is not negative"));
  EXPECT_THAT(why_not({.value = [](double) { return 0.0; }}), HasSubstr("it is 0 at all of"));
  EXPECT_THAT(why_not({.value = [](double w) { return w; }}), HasSubstr("no integral at high frequencies"));
  EXPECT_THAT(why_not({.value = [](double w) { return std::exp(-w); }}), HasSubstr("no integral at low frequencies"));
  EXPECT_THAT(why_not({.value = [](double w) { return w / (1.0 - std::pow(w, 2)) / 0.0; }}),
              HasSubstr("no finite value"));
  EXPECT_THAT(why_not({.value = [](double w) { return w / (1.0 + w * w); }}, 100.0, 1e-10), HasSubstr("it needs"));
  EXPECT_EQ(why_not({.value = [](double w) { return w / (1.0 + w * w); }}, 10.0, 1e-3), "");
}

}  // namespace
}  // namespace bathline::bath_test
