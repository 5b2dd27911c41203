// Adds poles until the error of the kernel is within the tolerance.
// Tested by tests/model/kernels/exponential_fit_test.cpp.
#include "model/kernels/exponential_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "model/memory/passivity.hpp"
#include "model/kernels/kernel_error.hpp"
#include "model/kernels/adaptive_quadrature.hpp"
#include "solve/dense.hpp"

namespace bathline {

namespace {

using Complex = std::complex<double>;
using Eigen::Index;

/// A longer sum has no advantage over a star: each pair has two numbers, as an oscillator has.
constexpr std::size_t max_pairs = 100;
/// Number of pairs without improvement after which the fit ends.
constexpr std::size_t patience = 32;
/// Number of times in each interval at which the error of the kernel is measured.
constexpr int samples_per_part = 64;

/// Decaying poles. A fit on the line cannot distinguish slow growth, with rates below `shift`, from undamped
/// oscillation: such a pole is replaced by three with slow decay. Poles further to the right are mirrored, which does
/// not increase the error of the fit.
std::vector<Complex> decaying_poles(const std::vector<Complex>& poles, double shift, double farthest) {
  std::vector<Complex> result;
  for (const Complex& pole : poles) {
    if (std::abs(pole) > farthest) continue;
    const double angle = pole.imag() < 1e-12 * std::abs(pole) ? 0.0 : pole.imag();
    if (pole.real() < 0.0 || pole.real() >= shift) {
      result.emplace_back(-std::abs(pole.real()), angle);
    } else {
      for (const double rate : {0.03, 0.2, 1.0}) result.emplace_back(-rate * shift, angle);
    }
  }
  return result;
}

/// The least-squares fit of exponentials with these poles to the samples.
std::vector<PronyTerm> fit_modes(const std::vector<Complex>& poles, double shift,
                                 const std::vector<TransformSample>& samples) {
  Index columns = 0;
  for (const Complex& pole : poles) columns += pole.imag() > 0.0 ? 2 : 1;
  const auto rows = static_cast<Index>(samples.size());
  Eigen::MatrixXd equations(2 * rows, columns);
  Eigen::VectorXd right(2 * rows);
  for (Index row = 0; row < rows; ++row) {
    const auto& [w, value] = samples[static_cast<std::size_t>(row)];
    const Complex s(shift, w);
    right[row] = value.real();
    right[rows + row] = value.imag();
    Index column = 0;
    const auto add_column = [&](Complex entry) {
      equations(row, column) = entry.real();
      equations(rows + row, column) = entry.imag();
      ++column;
    };
    for (const Complex& pole : poles) {
      if (pole.imag() > 0.0) {
        const Complex product = (s - pole) * (s - std::conj(pole));
        add_column((s - pole.real()) / product);
        add_column(pole.imag() / product);
      } else {
        add_column(1.0 / (s - pole));
      }
    }
  }
  const Eigen::RowVectorXd scale = equations.colwise().norm();
  const Eigen::VectorXd weights = linear_least_squares(equations * scale.cwiseInverse().asDiagonal(), right, 1e-15)
                                      .cwiseQuotient(scale.transpose());
  std::vector<PronyTerm> modes;
  Index column = 0;
  for (const Complex& pole : poles) {
    PronyTerm mode{.k = weights[column++], .r = -pole.real(), .w = pole.imag()};
    if (pole.imag() > 0.0) mode.b = weights[column++];
    modes.push_back(mode);
  }
  return modes;
}

/// The same without negligible terms: fits at round-off contain spurious pairs of poles and zeros. The rest is fitted
/// again until no term is negligible.
std::vector<PronyTerm> significant_modes(std::vector<Complex> poles, double shift,
                                         const std::vector<TransformSample>& samples, double min_size) {
  while (true) {
    std::vector<PronyTerm> modes = fit_modes(poles, shift, samples);
    std::vector<Complex> significant;
    for (std::size_t j = 0; j < modes.size(); ++j) {
      const double size = std::hypot(modes[j].k, modes[j].b) / modes[j].r;
      if (size > min_size / static_cast<double>(modes.size())) significant.push_back(poles[j]);
    }
    if (significant.size() == poles.size()) return modes;
    poles = std::move(significant);
  }
}

/// Adds the damper that makes the sum passive, if the error of the kernel stays within the tolerance.
template <class Measure>
void add_damper(ExponentialSum& sum, double tolerance, const Measure& measure) {
  /// Safety factor for minima between the grid points.
  constexpr double reserve = 1.25;
  Passivity passivity = passivity_of(sum.modes);
  sum.lowest = passivity.lowest / sum.norm;
  passivity.damper.k *= reserve;
  const double damper = passivity.damper.k / (passivity.damper.r * sum.norm);
  if (damper == 0.0 || !(sum.error() + damper <= tolerance)) return;
  ExponentialSum with_damper = sum;
  with_damper.damper = damper;
  with_damper.modes.push_back(passivity.damper);
  with_damper.measured = measure(with_damper.modes).error;
  if (with_damper.error() <= tolerance) sum = std::move(with_damper);
}

void require_passive(const std::vector<TransformSample>& samples, double tolerated) {
  for (const auto& [w, value] : samples) {
    if (value.real() >= -tolerated) continue;
    throw UnsuitableFunction(fmt::format(
        "J is {:.4g} at w = {:.4g}, but the density of a passive environment is not negative", w * value.real(), w));
  }
}

}  // namespace

ExponentialSum fit_exponentials(const KernelTransform& kernel, const BathAccuracy& accuracy) {
  const double shift = 1.0 / accuracy.horizon;
  const std::vector<TransformSample> samples = samples_of(kernel, shift);
  const auto measure = [&](const std::vector<PronyTerm>& modes) {
    return measure_kernel_error(
        kernel.value, [&](double t) { return kernel_at(modes, t); }, kernel.highest, accuracy.horizon,
        samples_per_part);
  };
  ExponentialSum best;
  best.kernel = kernel.value;
  best.damping = kernel.damping;
  best.norm = measure({}).norm;
  best.truncation_error = kernel.truncation_error / best.norm;
  best.measured = std::numeric_limits<double>::infinity();
  const double tolerated = accuracy.tolerance * best.norm;
  require_passive(samples, tolerated);
  AaaFit fit(shift, samples);
  const double farthest = 1e3 * samples.back().frequency;
  double target = 0.3 * tolerated, time_of_max = 0.0, min_error = std::numeric_limits<double>::infinity();
  // A fit that no longer improves has reached round-off.
  std::size_t last = std::min(max_pairs, samples.size() / 3);
  while (fit.pairs() < last && !(best.error() <= accuracy.tolerance)) {
    while (fit.pairs() < last && !(fit.error() <= target)) {
      fit.add_support_point();
      if (fit.error() > 0.5 * min_error) continue;
      min_error = fit.error();
      last = std::min({max_pairs, samples.size() / 3, fit.pairs() + patience});
    }
    target = 0.3 * std::min(target, fit.error());
    const std::vector<PronyTerm> modes =
        significant_modes(decaying_poles(fit.poles(), shift, farthest), shift, samples, 1e-2 * tolerated);
    const KernelError error = measure(modes);
    if (!(error.error < best.measured)) continue;
    best.modes = modes;
    best.exponentials = static_cast<int>(modes.size());
    best.measured = error.error;
    time_of_max = error.worst;
  }
  if (!(best.error() <= accuracy.tolerance)) {
    throw TooManyExponentials(fmt::format(
        "it has no short sum of exponentials: with {} the error is {:.1e}, more than the `tolerance`, and largest at t "
        "= {:.4g}; kernels with an echo or a second peak have none, nor have the kinks of a coarse table",
        best.exponentials, best.error(), time_of_max));
  }
  add_damper(best, accuracy.tolerance, measure);
  best.modes = rescaled_terms(best.modes);
  return best;
}

}  // namespace bathline
