// Spectra of heat baths against closed formulas, and those of tables.
#include "model/discrete_spectrum.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace bathline::discrete_spectrum_test {
namespace {

using std::numbers::pi;

constexpr double damping = 0.3;

/// farshi2018, eq. (36), summed in extended precision.
double kernel_of(const DiscreteSpectrum& spectrum, double t) {
  long double sum = 0.0L;
  for (std::int64_t j = 0; j < spectrum.size; ++j) {
    const auto [frequency, stiffness] = spectrum.oscillator(j);
    sum += stiffness * std::cos(static_cast<long double>(frequency) * static_cast<long double>(t));
  }
  return static_cast<double>(sum);
}

TEST(DiscreteSpectrum, OhmicIsEvenInFrequencyAndStiffness) {
  const DiscreteSpectrum spectrum = ohmic_spectrum(50, damping, 10.0);
  EXPECT_EQ(spectrum.size, 50);
  EXPECT_EQ(spectrum.damping, damping);
  EXPECT_NEAR(spectrum.recurrence, 2.0 * pi / 0.2, 1e-12);
  for (std::int64_t j = 0; j < 50; ++j) {
    EXPECT_NEAR(spectrum.oscillator(j).frequency, 0.2 * (static_cast<double>(j) + 0.5), 1e-14);
    EXPECT_NEAR(spectrum.oscillator(j).stiffness, 2.0 * damping * 0.2 / pi, 1e-16);
  }
}

// The cosines of evenly spaced frequencies add up to sin(omega_max t) / sin(dw t/2) / 2.
TEST(DiscreteSpectrum, OhmicKernelIsThatOfItsSumAndTendsToItsLimit) {
  const DiscreteSpectrum spectrum = ohmic_spectrum(2000, damping, 10.0);
  const double spacing = 10.0 / 2000;
  for (const double t : {0.001, 0.5, 1.0, 7.7, 30.0}) {
    const double sum = damping * spacing / pi * std::sin(10.0 * t) / std::sin(0.5 * spacing * t);
    EXPECT_NEAR(kernel_of(spectrum, t), sum, 1e-13);
    // x / sin x = 1 + x^2/6 + ..., x = dw t/2
    const double limit = spectrum.kernel_limit(t), x = 0.5 * spacing * t;
    EXPECT_NEAR(limit, sum, std::abs(sum) * x * x / 5.0 + 1e-15);
  }
  EXPECT_NEAR(kernel_of(spectrum, 0.0), 2.0 * damping * 10.0 / pi, 1e-13);
  EXPECT_NEAR(spectrum.kernel_limit(0.0), 2.0 * damping * 10.0 / pi, 1e-14);
  // At the recurrence time all cosines are -1.
  EXPECT_NEAR(kernel_of(spectrum, spectrum.recurrence), -kernel_of(spectrum, 0.0), 1e-9);
}

// The sum is the midpoint rule for 2D/pi int_0^omega_max g(w) cos(wt) dw, g = wc^2/(wc^2 + w^2), in error by at most
// dw^2/24 int |(g cos)''|, with int g = pi wc/2, int |g'| = 1, int |g''| < 1.3/wc. What lies above omega_max is at most
// wc^2/omega_max.
TEST(DiscreteSpectrum, DrudeKernelDecaysAtTheRateOfItsCutoff) {
  for (const double cutoff : {0.5, 2.0}) {
    const double highest = 400.0;
    const DiscreteSpectrum spectrum = drude_spectrum(40000, damping, highest, cutoff);
    const double spacing = highest / 40000;
    for (const double t : {0.0, 0.1, 1.0, 3.0, 10.0}) {
      const double midpoint = spacing * spacing / 24.0 * (t * t * pi * cutoff / 2.0 + 2.0 * t + 1.3 / cutoff);
      const double tolerance = 2.0 * damping / pi * (midpoint + cutoff * cutoff / highest);
      const double limit = damping * cutoff * std::exp(-cutoff * t);
      EXPECT_NEAR(kernel_of(spectrum, t), limit, tolerance) << "cutoff " << cutoff << ", t = " << t;
      EXPECT_NEAR(spectrum.kernel_limit(t), limit, 1e-15);
      EXPECT_LT(tolerance, 0.02 * damping * cutoff);
    }
    EXPECT_EQ(spectrum.damping, damping);
  }
}

TEST(DiscreteSpectrum, PowerIsTheOhmicOneTimesAPower) {
  const DiscreteSpectrum ohmic = ohmic_spectrum(20, damping, 10.0);
  const DiscreteSpectrum linear = power_spectrum(20, damping, 10.0, 1.0, 3.0);
  for (std::int64_t j = 0; j < 20; ++j) {
    EXPECT_EQ(linear.oscillator(j).frequency, ohmic.oscillator(j).frequency);
    EXPECT_EQ(linear.oscillator(j).stiffness, ohmic.oscillator(j).stiffness);
  }
  // Oscillator 5 has the frequency 2.75.
  for (const double exponent : {0.5, 3.0}) {
    const DiscreteSpectrum spectrum = power_spectrum(20, damping, 10.0, exponent, 2.75);
    EXPECT_NEAR(spectrum.oscillator(5).stiffness, ohmic.oscillator(5).stiffness, 1e-16);
    EXPECT_NEAR(spectrum.oscillator(11).stiffness / spectrum.oscillator(5).stiffness,
                std::pow(5.75 / 2.75, exponent - 1.0), 1e-14);
    EXPECT_FALSE(spectrum.kernel_limit);
  }
}

TEST(DiscreteSpectrum, TableRepresentsTheDamperOfItsMeanDensity) {
  const DiscreteSpectrum spectrum = table_spectrum({{1.0, 0.2}, {1.5, 0.3}, {4.0, 0.1}});
  EXPECT_EQ(spectrum.size, 3);
  EXPECT_EQ(spectrum.oscillator(1).frequency, 1.5);
  EXPECT_EQ(spectrum.oscillator(2).stiffness, 0.1);
  EXPECT_NEAR(spectrum.damping, 0.5 * pi * 0.6 / 4.0, 1e-15);
  EXPECT_NEAR(spectrum.recurrence, 2.0 * pi / 2.5, 1e-15);
  EXPECT_NEAR(table_spectrum({{2.0, 0.2}, {2.5, 0.3}}).recurrence, 2.0 * pi / 2.0, 1e-15);
  // An Ohmic bath as a table: its highest frequency is half an interval below omega_max.
  std::vector<BathOscillator> all;
  for (std::int64_t j = 0; j < 1000; ++j) all.push_back(ohmic_spectrum(1000, damping, 5.0).oscillator(j));
  EXPECT_NEAR(table_spectrum(all).damping, damping, damping * 0.6 / 1000);
}

}  // namespace
}  // namespace bathline::discrete_spectrum_test
