// Ever more poles until the kernel is as good as was asked for.
// Tested by tests/model/kernels/exponential_fit_test.cpp.
#include "model/kernels/exponential_fit.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "model/memory/passivity.hpp"
#include "model/kernels/kernel_error.hpp"
#include "model/kernels/adaptive_quadrature.hpp"

namespace bathline {

namespace {

using Complex = std::complex<double>;
using Eigen::Index;

/// More would be no short sum: two numbers each, and a star of as many oscillators has no less.
constexpr std::size_t max_pairs = 100;
/// Pairs without which a better one has to come.
constexpr std::size_t patience = 32;
/// Times per part of the time at which the kernel is measured.
constexpr int samples_per_part = 64;

/// Those that decay. A fit on the line cannot tell what grows more slowly than that from what lasts: in the place of
/// such a pole are three that decay as slowly. Poles further to the right are mirrored, with which the fit loses
/// nothing.
std::vector<Complex> decaying(const std::vector<Complex>& poles, double shift, double farthest) {
  std::vector<Complex> kept;
  for (const Complex& pole : poles) {
    if (std::abs(pole) > farthest) continue;
    const double angle = pole.imag() < 1e-12 * std::abs(pole) ? 0.0 : pole.imag();
    if (pole.real() < 0.0 || pole.real() >= shift) {
      kept.emplace_back(-std::abs(pole.real()), angle);
    } else {
      for (const double rate : {0.03, 0.2, 1.0}) kept.emplace_back(-rate * shift, angle);
    }
  }
  return kept;
}

/// The modes with these exponents that are closest to the samples.
std::vector<PronyTerm> closest_modes(const std::vector<Complex>& poles, double shift,
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
    const auto put = [&](Complex entry) {
      equations(row, column) = entry.real();
      equations(rows + row, column) = entry.imag();
      ++column;
    };
    for (const Complex& pole : poles) {
      if (pole.imag() > 0.0) {
        const Complex product = (s - pole) * (s - std::conj(pole));
        put((s - pole.real()) / product);
        put(pole.imag() / product);
      } else {
        put(1.0 / (s - pole));
      }
    }
  }
  const Eigen::RowVectorXd scale = equations.colwise().norm();
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(equations * scale.cwiseInverse().asDiagonal());
  qr.setThreshold(1e-15);
  const Eigen::VectorXd weights = qr.solve(right).cwiseQuotient(scale.transpose());
  std::vector<PronyTerm> modes;
  Index column = 0;
  for (const Complex& pole : poles) {
    PronyTerm mode{.k = weights[column++], .r = -pole.real(), .w = pole.imag()};
    if (pole.imag() > 0.0) mode.b = weights[column++];
    modes.push_back(mode);
  }
  return modes;
}

/// The same without what does not count: fits to round-off have pairs of poles and zeros that do nothing. What is left
/// is fitted again, and may then have nothing left to do either.
std::vector<PronyTerm> counting_modes(std::vector<Complex> poles, double shift,
                                      const std::vector<TransformSample>& samples, double least) {
  while (true) {
    std::vector<PronyTerm> modes = closest_modes(poles, shift, samples);
    std::vector<Complex> kept;
    for (std::size_t j = 0; j < modes.size(); ++j) {
      const double share = std::hypot(modes[j].k, modes[j].b) / modes[j].r;
      if (share > least / static_cast<double>(modes.size())) kept.push_back(poles[j]);
    }
    if (kept.size() == poles.size()) return modes;
    poles = std::move(kept);
  }
}

/// Where what `measure` then finds of the kernel is within the tolerance.
template <class Measure>
void add_damper(ExponentialSum& sum, double tolerance, const Measure& measure) {
  /// A little more than what the grid has seen.
  constexpr double reserve = 1.25;
  Passivity passivity = passivity_of(sum.modes);
  sum.lowest = passivity.lowest / sum.norm;
  passivity.damper.k *= reserve;
  const double damper = passivity.damper.k / (passivity.damper.r * sum.norm);
  if (damper == 0.0 || sum.error() + damper > tolerance) return;
  ExponentialSum with = sum;
  with.damper = damper;
  with.modes.push_back(passivity.damper);
  with.measured = measure(with.modes).error;
  if (with.error() <= tolerance) sum = std::move(with);
}

void require_passive(const std::vector<TransformSample>& samples, double tolerated) {
  for (const auto& [w, value] : samples) {
    if (value.real() >= -tolerated) continue;
    throw UnsuitableFunction(
        fmt::format("J is {:.4g} at w = {:.4g}: no passive environment has a density below 0", w * value.real(), w));
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
  double wanted = 0.3 * tolerated, worst = 0.0, least = std::numeric_limits<double>::infinity();
  // A fit that gets no better has come to round-off.
  std::size_t last = std::min(max_pairs, samples.size() / 3);
  while (fit.pairs() < last && best.error() > accuracy.tolerance) {
    while (fit.pairs() < last && fit.error() > wanted) {
      fit.add_support_point();
      if (fit.error() > 0.5 * least) continue;
      least = fit.error();
      last = std::min({max_pairs, samples.size() / 3, fit.pairs() + patience});
    }
    wanted = 0.3 * std::min(wanted, fit.error());
    const std::vector<PronyTerm> modes =
        counting_modes(decaying(fit.poles(), shift, farthest), shift, samples, 1e-2 * tolerated);
    const KernelError found = measure(modes);
    if (!(found.error < best.measured)) continue;
    best.modes = modes;
    best.exponentials = static_cast<int>(modes.size());
    best.measured = found.error;
    worst = found.worst;
  }
  if (best.error() > accuracy.tolerance) {
    throw TooManyExponentials(fmt::format(
        "it has no short sum of exponentials: {} leave an error of {:.1e}, more than the `tolerance`, and the largest "
        "at t = {:.4g}; what comes back after a time, as an echo or a second peak does, has none, nor have the corners "
        "of a coarse table",
        best.exponentials, best.error(), worst));
  }
  add_damper(best, accuracy.tolerance, measure);
  best.modes = rescaled_terms(best.modes);
  return best;
}

}  // namespace bathline
