// Tested by tests/model/memory/minimum_phase_factor_test.cpp.
#include "model/memory/minimum_phase_factor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "model/kernels/piecewise_legendre.hpp"

namespace bathline {

namespace {

using Complex = std::complex<double>;

Complex exponent(const PronyTerm& mode) { return {-mode.r, mode.w}; }

/// One mode for each exponent.
std::vector<PronyTerm> merged(std::vector<PronyTerm> modes) {
  std::stable_sort(modes.begin(), modes.end(), [](const PronyTerm& one, const PronyTerm& other) {
    return std::pair(one.w, one.r) < std::pair(other.w, other.r);
  });
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

/// Where a panel has to end for its rule to see that something is there.
std::vector<double> places_of(const std::vector<PronyTerm>& modes) {
  // What lies beyond adds 1e-16 of log S to the logarithm at a pole.
  constexpr double beyond = 1e18;
  std::vector<double> places = {0.0};
  for (const PronyTerm& mode : modes) {
    for (const double place : {mode.w, mode.w - mode.r, mode.w + mode.r}) places.push_back(std::abs(place));
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  places.push_back(beyond * places.back());
  return places;
}

/// S, and what is known of it.
class PowerSpectrum {
 public:
  PowerSpectrum(const std::vector<PronyTerm>& modes, const std::vector<double>& places) : modes_(modes) {
    for (const double w : places) largest_ = std::max(largest_, value(w));
  }
  double value(double w) const { return 2.0 * resistance_at(modes_, w); }
  double largest() const { return largest_; }
  /// Of S over its largest value, or so: it stays below 0, as panels ask for relative accuracy.
  double log(double w) const {
    // What is less than that of the largest value is no error that anybody sees.
    constexpr double invisible = 1e-13;
    const double now = value(w), least = roundoff(w);
    if (now < -invisible * largest_) {
      throw UnsuitableFunction(fmt::format(
          "the real part of the transform is {:.4g} kg/s at w = {:.4g}, and below 0 there is no noise", 0.5 * now, w));
    }
    return std::log(std::max(least, now) / largest_) - 1.0;
  }
  double uncertainty(double w) const {
    const double least = roundoff(w);
    return least / std::max(least, value(w));
  }

 private:
  /// Of the sum.
  double roundoff(double w) const {
    constexpr double some = 16.0;
    double parts = 0.0;
    for (const auto& [k, r, frequency, b] : modes_) {
      const PronyTerm halves[] = {{k, r, frequency, 0.0}, {0.0, r, frequency, b}};
      for (const PronyTerm& half : halves) parts += std::abs(resistance_at(std::span(&half, 1), w));
    }
    return some * std::numeric_limits<double>::epsilon() * parts;
  }

  const std::vector<PronyTerm>& modes_;
  double largest_ = std::numeric_limits<double>::min();
};

}  // namespace

MinimumPhaseFactor minimum_phase_factor(const std::vector<PronyTerm>& modes) {
  MinimumPhaseFactor factor{merged(modes), {}, 0.0};
  const std::vector<double> places = places_of(factor.modes);
  const PowerSpectrum spectrum(factor.modes, places);
  const auto log_spectrum = [&](double w) { return spectrum.log(w); };
  const std::vector<Panel> panels =
      adaptive_panels(log_spectrum, places, {.uncertainty = [&](double w) { return spectrum.uncertainty(w); }});
  for (const PronyTerm& mode : factor.modes) {
    Complex mirrored = -exponent(mode);
    // B at conjugate places is conjugate.
    const bool is_below = mirrored.imag() < 0.0;
    if (is_below) mirrored = std::conj(mirrored);
    Complex root = laplace_transform(log_spectrum, panels, mirrored) / std::numbers::pi;
    if (is_below) root = std::conj(root);
    // The integral of s/(s^2 + w^2) is pi/2.
    root += 0.5 * (std::log(spectrum.largest()) + 1.0);
    factor.rho.push_back(Complex(mode.k, -mode.b) / std::exp(root));
  }
  for (const Panel& panel : panels) {
    for (const double w : {panel.begin, 0.5 * (panel.begin + panel.end)}) {
      Complex sum = 0.0;
      for (std::size_t j = 0; j < factor.modes.size(); ++j) {
        const Complex s = exponent(factor.modes[j]), rho = factor.rho[j];
        sum += 0.5 * (rho / (Complex(0.0, w) - s) + std::conj(rho) / (Complex(0.0, w) - std::conj(s)));
      }
      factor.error = std::max(factor.error, std::abs(std::norm(sum) - spectrum.value(w)) / spectrum.largest());
    }
  }
  return factor;
}

}  // namespace bathline
