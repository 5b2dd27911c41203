// The transform of a density is (2/pi) integral J(w)/w s/(s^2 + w^2) dw; that of a kernel is an integral over time.
// Tested by tests/model/kernels/exponential_fit_test.cpp.
#include "model/kernels/kernel_transform.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "model/kernels/piecewise_legendre.hpp"

namespace bathline {

namespace {

using Complex = std::complex<double>;

/// Frequencies within every panel that is not narrower than `width`, the resolution of the transform.
std::vector<double> frequencies_within(const std::vector<Panel>& panels, double width) {
  constexpr int per_panel = 6;
  std::vector<double> all;
  for (const Panel& panel : panels) {
    if (panel.end - panel.begin < width) continue;
    for (int k = 0; k < per_panel; ++k) all.push_back(panel.begin + (panel.end - panel.begin) * (k + 0.5) / per_panel);
  }
  return all;
}

}  // namespace

KernelTransform transform_kernel(const SpectralDensity& density, const BathAccuracy& accuracy) {
  // Limit of the kinks around which samples are clustered; with more, only the samples on panels are used.
  constexpr std::size_t max_singular = 12;
  const DensityScan scan(density);
  KernelTransform kernel;
  const bool is_unbounded = !std::isfinite(density.highest);
  kernel.highest = is_unbounded ? scan.highest(accuracy.horizon, 0.1 * accuracy.tolerance * scan.norm(accuracy.horizon))
                                : density.highest;
  kernel.truncation_error = is_unbounded ? scan.truncation_error_above(kernel.highest, accuracy.horizon) : 0.0;
  kernel.damping = damping_of(density, scan.peak_frequency());
  const auto weight = [density](double w) { return checked_weight(density, w); };
  std::vector<double> kinks = density.kinks;
  kinks.push_back(scan.peak_frequency());
  const std::vector<double> pieces = breakpoints_until(kernel.highest, kinks);
  const auto panels =
      std::make_shared<const std::vector<Panel>>(adaptive_panels(weight, pieces, {.scale = scan.value()}));
  const auto series = std::make_shared<const PiecewiseLegendre>(weight, *panels);
  kernel.value = [series](double t) { return series->fourier(t).real(); };
  kernel.transform = [weight, panels](Complex s) { return laplace_transform(weight, *panels, s); };
  kernel.singular = {0.0};
  if (!is_unbounded) kernel.singular.push_back(kernel.highest);
  if (density.kinks.size() <= max_singular) {
    for (const double kink : density.kinks) kernel.singular.push_back(kink);
  }
  kernel.further = frequencies_within(*panels, 0.5 / accuracy.horizon);
  return kernel;
}

KernelTransform transform_kernel(const std::function<double(double)>& value, const std::vector<double>& kinks,
                                 const BathAccuracy& accuracy) {
  // Samples lie at Re s = 1/horizon, where later times are suppressed by exp(-t/horizon).
  const double longest = 40.0 * accuracy.horizon;
  const KernelScan scan(value, accuracy.tolerance, longest);
  const double end = kinks.empty() ? scan.end : std::min(scan.end, kinks.back());
  const auto damped = [value](double rate) { return [=](double t) { return value(t) * std::exp(-rate * t); }; };
  // A kernel that decays more slowly is damped by exp(-t/horizon).
  const std::vector<Panel> panels = adaptive_panels(end < longest ? value : damped(1.0 / accuracy.horizon),
                                                    breakpoints_until(end, kinks), {.scale = scan.norm});
  KernelTransform kernel;
  kernel.value = [value, end](double t) { return t <= end ? value(t) : 0.0; };
  // The highest frequency has a phase of 8 in the shortest panel that matters.
  double shortest = end;
  for (const Panel& panel : panels) {
    const double width = panel.end - panel.begin;
    if (width > 1e-6 * end) shortest = std::min(shortest, width);
  }
  kernel.highest = 8.0 / shortest;
  // Fourier integrals of the kernel times exp(-Re s t); consecutive calls have the same Re s.
  struct Damped {
    double rate;
    PiecewiseLegendre series;
  };
  const auto previous = std::make_shared<std::unique_ptr<Damped>>();
  kernel.transform = [damped, panels, previous](Complex s) {
    if (!*previous || (*previous)->rate != s.real()) {
      *previous = std::make_unique<Damped>(Damped{s.real(), PiecewiseLegendre(damped(s.real()), panels)});
    }
    return (*previous)->series.fourier(s.imag());
  };
  kernel.singular = {0.0};
  constexpr int evenly = 400;
  for (int k = 0; k < evenly; ++k) kernel.further.push_back(kernel.highest * (k + 0.5) / evenly);
  kernel.damping = end < longest ? kernel.transform(0.0).real() : scan.damping;
  return kernel;
}

std::vector<TransformSample> samples_of(const KernelTransform& kernel, double shift) {
  constexpr double ratio = 1.18, beyond = 100.0;
  std::set<double> frequencies(kernel.further.begin(), kernel.further.end());
  const double farthest = beyond * kernel.highest;
  for (const double singular : kernel.singular) {
    for (double distance = 0.25 * shift; distance < farthest; distance *= ratio) {
      frequencies.insert(singular + distance);
      frequencies.insert(singular - distance);
    }
  }
  std::vector<TransformSample> samples;
  double previous = 0.0;
  for (const double w : frequencies) {
    // The transform does not vary on shorter distances.
    if (!(w > 0.0) || w - previous < 0.02 * shift) continue;
    samples.push_back({w, kernel.transform({shift, w})});
    previous = w;
  }
  return samples;
}

}  // namespace bathline
