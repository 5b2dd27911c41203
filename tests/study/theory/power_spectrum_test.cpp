// Spectra of waves and of noise.
#include "study/theory/power_spectrum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace bathline {
namespace {

TEST(PowerSpectrum, OfAWaveIsThatOfTheWindow) {
  constexpr std::size_t window = 64;
  PowerSpectrum spectrum(window);
  for (const double sign : {1.0, -1.0}) {
    // Three windows, and a part that does not count.
    for (std::size_t k = 0; k < 3 * window + 20; ++k)
      spectrum.add(std::polar(2.0, sign * 2.0 * std::numbers::pi * 5.0 * static_cast<double>(k) / window));
    const std::vector<double> power = spectrum.take();
    ASSERT_EQ(power.size(), spectrum.frequencies());
    for (std::size_t m = 0; m < power.size(); ++m) {
      // |sum w|^2/sum w^2 = (n/2)^2/(3 n/8), a quarter of it beside; half, as it is on one side only.
      const double expected = m == 5 ? 1.0 : m == 4 || m == 6 ? 0.25 : 0.0;
      EXPECT_NEAR(power[m], 4.0 * 0.5 * window / 1.5 * expected, 1e-10);
    }
  }
  EXPECT_TRUE(std::isnan(spectrum.take().front()));
}

}  // namespace
}  // namespace bathline
