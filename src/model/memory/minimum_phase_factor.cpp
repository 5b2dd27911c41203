// Tested by tests/model/memory/minimum_phase_factor_test.cpp.
#include "model/memory/minimum_phase_factor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "model/kernels/piecewise_legendre.hpp"
#include "solve/larger_or_nan.hpp"

namespace bathline {

namespace {

using Complex = std::complex<double>;

Complex exponent(const PronyTerm& mode) { return {-mode.r, mode.w}; }

/// Merges modes of equal exponents.
std::vector<PronyTerm> merged(std::vector<PronyTerm> modes) {
  std::stable_sort(modes.begin(), modes.end(),
                   [](const PronyTerm& a, const PronyTerm& b) { return std::pair(a.w, a.r) < std::pair(b.w, b.r); });
  std::vector<PronyTerm> all;
  for (const PronyTerm& mode : modes) {
    if (!all.empty() && all.back().w == mode.w && all.back().r == mode.r) {
      all.back().k += mode.k;
      all.back().b += mode.b;
    } else {
      all.push_back(mode);
    }
  }
  return all;
}

/// Ends of panels, so that the quadrature resolves every resonance.
std::vector<double> breakpoints_of(const std::vector<PronyTerm>& modes) {
  // The integral beyond adds 1e-16 of log S to the logarithm at a pole.
  constexpr double beyond = 1e18;
  std::vector<double> breakpoints = {0.0};
  for (const PronyTerm& mode : modes) {
    for (const double w : {mode.w, mode.w - mode.r, mode.w + mode.r}) breakpoints.push_back(std::abs(w));
  }
  std::sort(breakpoints.begin(), breakpoints.end());
  breakpoints.erase(std::unique(breakpoints.begin(), breakpoints.end()), breakpoints.end());
  breakpoints.push_back(beyond * breakpoints.back());
  return breakpoints;
}

/// S, with its round-off.
class PowerSpectrum {
 public:
  PowerSpectrum(const std::vector<PronyTerm>& modes, double damping, const std::vector<double>& breakpoints)
      : modes_(modes), damping_(damping) {
    for (const double w : breakpoints) largest_ = std::max(largest_, value(w));
  }
  double value(double w) const { return 2.0 * (damping_ + resistance_at(modes_, w)); }
  double largest() const { return largest_; }
  /// log(S/max S) - 1, which stays below 0 because panels have a relative tolerance.
  double log(double w) const {
    // Negative values below this fraction of the largest value are errors without effect.
    constexpr double negligible = 1e-13;
    const double value = this->value(w), floor = roundoff(w);
    if (value < -negligible * largest_) {
      throw UnsuitableFunction(
          fmt::format("the sum of the modes is not passive and has no noise: the real part of its transform is {:.4g} "
                      "kg/s at w = {:.4g}",
                      0.5 * value, w));
    }
    return std::log(std::max(floor, value) / largest_) - 1.0;
  }
  double uncertainty(double w) const {
    const double floor = roundoff(w);
    return floor / std::max(floor, value(w));
  }

 private:
  /// Round-off of the sum.
  double roundoff(double w) const {
    constexpr double safety_factor = 16.0;
    double parts = damping_;
    for (const auto& [k, r, frequency, b] : modes_) {
      const PronyTerm halves[] = {{k, r, frequency, 0.0}, {0.0, r, frequency, b}};
      for (const PronyTerm& half : halves) parts += std::abs(resistance_at(std::span(&half, 1), w));
    }
    return safety_factor * std::numeric_limits<double>::epsilon() * parts;
  }

  const std::vector<PronyTerm>& modes_;
  double damping_;
  double largest_ = std::numeric_limits<double>::min();
};

}  // namespace

MinimumPhaseFactor minimum_phase_factor(const std::vector<PronyTerm>& modes, double damping) {
  MinimumPhaseFactor factor{merged(modes), {}, 0.0};
  const std::vector<double> breakpoints = breakpoints_of(factor.modes);
  const PowerSpectrum spectrum(factor.modes, damping, breakpoints);
  const auto log_spectrum = [&](double w) { return spectrum.log(w); };
  const std::vector<Panel> panels =
      adaptive_panels(log_spectrum, breakpoints, {.uncertainty = [&](double w) { return spectrum.uncertainty(w); }});
  for (const PronyTerm& mode : factor.modes) {
    Complex mirrored = -exponent(mode);
    // B(conj s) = conj B(s).
    const bool is_below = mirrored.imag() < 0.0;
    if (is_below) mirrored = std::conj(mirrored);
    Complex log_factor = laplace_transform(log_spectrum, panels, mirrored) / std::numbers::pi;
    if (is_below) log_factor = std::conj(log_factor);
    // The integral of s/(s^2 + w^2) is pi/2.
    log_factor += 0.5 * (std::log(spectrum.largest()) + 1.0);
    factor.rho.push_back(Complex(mode.k, -mode.b) / std::exp(log_factor));
  }
  for (const Panel& panel : panels) {
    for (const double w : {panel.begin, 0.5 * (panel.begin + panel.end)}) {
      Complex sum = std::sqrt(2.0 * damping);
      for (std::size_t j = 0; j < factor.modes.size(); ++j) {
        const Complex s = exponent(factor.modes[j]), rho = factor.rho[j];
        sum += 0.5 * (rho / (Complex(0.0, w) - s) + std::conj(rho) / (Complex(0.0, w) - std::conj(s)));
      }
      factor.error = larger_or_nan(factor.error, std::abs(std::norm(sum) - spectrum.value(w)) / spectrum.largest());
    }
  }
  return factor;
}

}  // namespace bathline
