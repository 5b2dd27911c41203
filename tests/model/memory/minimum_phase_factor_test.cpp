// Spectral factors against the filters without zeros in Re s > 0 from which the spectra were computed.
#include "model/memory/minimum_phase_factor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/kernels/adaptive_quadrature.hpp"

namespace bathline::minimum_phase_factor_test {
namespace {

using Complex = std::complex<double>;

/// B(s) = sum over all poles of rho/(s - pole), poles with Im < 0 left out.
struct Filter {
  std::vector<Complex> poles, rho;

  Complex operator()(Complex s) const {
    Complex sum = 0.0;
    for (std::size_t j = 0; j < poles.size(); ++j) {
      sum += 0.5 * (rho[j] / (s - poles[j]) + std::conj(rho[j]) / (s - std::conj(poles[j])));
    }
    return sum;
  }
  /// The modes of the kernel with the spectrum |B|^2.
  std::vector<PronyTerm> modes() const {
    std::vector<PronyTerm> all;
    for (std::size_t j = 0; j < poles.size(); ++j) {
      const Complex weight = rho[j] * (*this)(-poles[j]);
      all.push_back({weight.real(), -poles[j].real(), poles[j].imag(), -weight.imag()});
    }
    return all;
  }
};

/// gain times the product of s - zero over those of s - pole, where those with Im > 0 stand for a conjugate pair.
Filter filter(double gain, const std::vector<Complex>& zeros, const std::vector<Complex>& poles) {
  const auto product = [](const std::vector<Complex>& roots, Complex s, std::size_t without) {
    Complex all = 1.0;
    for (std::size_t j = 0; j < roots.size(); ++j) {
      if (j != without) all *= s - roots[j];
      if (roots[j].imag() > 0.0) all *= s - std::conj(roots[j]);
    }
    return all;
  };
  Filter result{poles, {}};
  for (std::size_t j = 0; j < poles.size(); ++j) {
    const Complex at_pole = gain * product(zeros, poles[j], zeros.size()) / product(poles, poles[j], j);
    result.rho.push_back(poles[j].imag() > 0.0 ? 2.0 * at_pole : at_pole);
  }
  return result;
}

void expect_factor(const Filter& expected, double tolerance) {
  const MinimumPhaseFactor factor = minimum_phase_factor(expected.modes());
  EXPECT_LT(factor.error, tolerance);
  ASSERT_EQ(factor.rho.size(), expected.poles.size());
  double largest = 0.0;
  for (const Complex rho : expected.rho) largest = std::max(largest, std::abs(rho));
  for (std::size_t j = 0; j < factor.modes.size(); ++j) {
    // The modes may be in another order.
    for (std::size_t i = 0; i < expected.poles.size(); ++i) {
      const Complex pole(-factor.modes[j].r, factor.modes[j].w);
      if (pole != expected.poles[i]) continue;
      EXPECT_LT(std::abs(factor.rho[j] - expected.rho[i]), tolerance * largest) << i;
    }
  }
}

TEST(MinimumPhaseFactor, IsTheFilterWithoutZerosInTheRightHalfPlane) {
  expect_factor(filter(1.7, {}, {-5.0}), 1e-14);
  expect_factor(filter(0.4, {-0.3}, {-1.0, -2.5}), 1e-13);
  // A pair whose cosine is below 0.
  expect_factor(filter(2.0, {-0.01, Complex(-0.2, 3.0)}, {-4.0, -0.5, Complex(-0.3, 1.5)}), 1e-12);
  // Rates over twelve powers of ten, and zeros as slow.
  expect_factor(filter(1.0, {-3e-7, -1e-3, -40.0}, {-1e-6, -2e-4, -1.0, -1e6}), 1e-12);
  // A sharp resonance, in the units of molecules.
  expect_factor(filter(3.0, {-2e13, -5e12}, {Complex(-1e10, 3e13), -8e12}), 1e-11);
}

TEST(MinimumPhaseFactor, MergesModesOfEqualExponents) {
  const std::vector<PronyTerm> once = {{2.0, 0.5, 3.0, 0.2}}, twice = {{2.5, 0.5, 3.0, 0.2}, {-0.5, 0.5, 3.0, 0.0}};
  EXPECT_EQ(minimum_phase_factor(once).rho, minimum_phase_factor(twice).rho);
}

TEST(MinimumPhaseFactor, RefusesWhatIsNotPassive) {
  try {
    minimum_phase_factor({{3.0, 0.5, 0.0}, {-14.0, 2.0, 0.0}});
    FAIL();
  } catch (const UnsuitableFunction& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("is not passive and has no noise"));
  }
}

}  // namespace
}  // namespace bathline::minimum_phase_factor_test
