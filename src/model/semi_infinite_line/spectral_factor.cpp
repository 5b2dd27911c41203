// The noise filter of a spectrum, by an integral for the logarithm of its outer function.
//
//   log B(1/z) = (1/2 pi) int_0^pi (1 - z^2) / ((1 - z e^{it}) (1 - z e^{-it})) log S(t) dt,   |z| < 1
//
// The poles z_j of S = sum C_n z^-n are known and determine B: if C_n = Re sum W_j z_j^{n - lag} behind the first
// terms, then b_n = Re sum W_j / B(1/z_j) z_j^{n - lag}. Riccati equations and polynomial roots are not applicable, as
// poles are as close to the circle as 1e-26. Between the angles of two poles the integral is over y = log(u/(length -
// u)), with u the distance from one of them, in which the integrand is smooth at all distances.
// Source: papoulis1977 for the integral; its use here is ours.
// Tested by tests/model/semi_infinite_line/line_noise_test.cpp.
#include "model/semi_infinite_line/spectral_factor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "model/kernels/adaptive_quadrature.hpp"

namespace bathline {

namespace {

using Complex = std::complex<double>;
using std::numbers::pi;
constexpr Complex i(0.0, 1.0);

/// t = angle + distance, and dt/dy.
struct Point {
  double angle, distance, derivative;
};

/// The largest |y|.
constexpr double max_y = 100.0;

/// The point at y = x - max_y between two angles.
Point point_between(double begin, double end, double x) {
  const bool is_below = x < max_y;
  const double small = std::exp(-std::abs(x - max_y)), nearer = (end - begin) * small / (1.0 + small);
  return {is_below ? begin : end, is_below ? nearer : -nearer, nearer / (1.0 + small)};
}

/// A node of the quadrature, and its weight times log S.
struct Node {
  double angle, distance, weighted_log;
};

/// Nodes of a quadrature from 0 to pi, and points between them.
struct Quadrature {
  std::vector<Node> nodes;
  std::vector<Point> between;
};

Quadrature make_quadrature(const DiscreteKernel& covariances, const Spectrum& spectrum) {
  std::vector<double> angles = {0.0, pi};
  for (const ExponentialTerm& term : covariances.exponential_terms) angles.push_back(term.angle);
  std::sort(angles.begin(), angles.end());
  angles.erase(std::unique(angles.begin(), angles.end()), angles.end());
  Quadrature result;
  for (std::size_t k = 0; k + 1 < angles.size(); ++k) {
    const double begin = angles[k], end = angles[k + 1];
    const auto spectrum_at = [&](double x) {
      const Point point = point_between(begin, end, x);
      const auto [value, roundoff] = spectrum(point.angle, point.distance);
      return SpectralValue{std::max(roundoff, value), roundoff};
    };
    const auto log_spectrum = [&](double x) { return std::log(spectrum_at(x).value); };
    const auto uncertainty = [&](double x) {
      const auto [value, roundoff] = spectrum_at(x);
      return roundoff / value;
    };
    // Panels that resolve the function where its round-off is large, too, so that this has no mean.
    bool is_noisy = false;
    for (int i = 1; i < 64; ++i) is_noisy = is_noisy || uncertainty(2.0 * max_y * i / 64.0) > 1e-10;
    const double width = is_noisy ? 2.0 : 0.5 * max_y;
    for (double from = 0.0; from < 2.0 * max_y; from += width) {
      // Cosines of the first terms oscillate in the middle.
      const bool is_middle = std::abs(from + 0.5 * width - max_y) < 0.5 * width + 12.0;
      const std::vector<Panel> panels =
          adaptive_panels(log_spectrum, {from, from + width},
                          {.scale = 1e6,
                           .oscillation = is_middle ? 0.25 * covariances.lag() * (end - begin) : 0.0,
                           .uncertainty = uncertainty});
      for (const auto& [x, weighted_log] : nodes_on(panels, log_spectrum)) {
        const auto [angle, distance, derivative] = point_between(begin, end, x);
        result.nodes.push_back({angle, distance, derivative * weighted_log});
      }
      for (const Panel& panel : panels) {
        for (const double x : {panel.begin, 0.5 * (panel.begin + panel.end)})
          result.between.push_back(point_between(begin, end, x));
      }
    }
  }
  return result;
}

/// log B(1/z) at the pole of an exponential.
Complex log_factor(const std::vector<Node>& nodes, const ExponentialTerm& term) {
  Complex sum = 0.0;
  for (const auto& [angle, distance, weighted_log] : nodes) {
    const double below = (term.angle - angle) - distance, above = term.angle + angle + distance;
    sum += weighted_log / (expm1(term.offset + i * below) * expm1(term.offset + i * above));
  }
  return -expm1(2.0 * term.exponent()) * sum / (2.0 * pi);
}

/// b_0, ... b_{count - 1}: log B = c_0/2 + sum c_n z^-n with c_n = (1/pi) int_0^pi cos(n t) log S dt.
std::vector<double> first_terms(const std::vector<Node>& nodes, int count) {
  std::vector<double> c(static_cast<std::size_t>(count)), b(c);
  for (std::size_t n = 0; n < c.size(); ++n) {
    for (const auto& [angle, distance, weighted_log] : nodes) {
      c[n] += weighted_log * std::cos(static_cast<double>(n) * (angle + distance)) / pi;
    }
  }
  b[0] = std::exp(0.5 * c[0]);
  for (std::size_t n = 1; n < b.size(); ++n) {
    for (std::size_t k = 1; k <= n; ++k) b[n] += static_cast<double>(k) / static_cast<double>(n) * c[k] * b[n - k];
  }
  return b;
}

}  // namespace

DiscreteKernel force_covariances(const DiscreteLine& line, const DiscreteKernel& on_stage) {
  DiscreteKernel scaled_kernel = velocity_kernel(line, on_stage);
  // The pole at -1 relates stages and velocities, and only the kernel of stages has it.
  std::erase_if(scaled_kernel.exponential_terms, [](const ExponentialTerm& term) { return term.angle == pi; });
  scaled_kernel.first[1] += scaled_kernel.first[0];
  scaled_kernel.first.erase(scaled_kernel.first.begin());
  DiscreteKernel covariances = divide_series(scaled_kernel, 1.0, 1.0, 0.0);
  for (double& value : covariances.first) value *= 2.0;
  for (ExponentialTerm& term : covariances.exponential_terms) term.weight *= 2.0;
  return covariances;
}

Spectrum spectrum_of(const DiscreteKernel& covariances) {
  // In the gap of a band the spectrum is as small as the kernel's damper, and a sum of terms of order C_0, whose
  // rounding may make it negative. NaN counts as round-off.
  double roundoff = std::numeric_limits<double>::min();
  for (const double value : covariances.first)
    roundoff += 16.0 * std::numeric_limits<double>::epsilon() * std::abs(value);
  if (std::isnan(roundoff)) roundoff = 1.0;
  return [&covariances, roundoff](double angle, double distance) {
    return SpectralValue{2.0 * transform(covariances, 0, angle, distance).real() - covariances.first.front(), roundoff};
  };
}

SpectralFactor spectral_factor(const DiscreteKernel& covariances, const Spectrum& spectrum) {
  const auto [nodes, between] = make_quadrature(covariances, spectrum);
  SpectralFactor factor{{first_terms(nodes, covariances.lag()), covariances.exponential_terms}, 0.0};
  for (ExponentialTerm& term : factor.filter.exponential_terms) term.weight /= std::exp(log_factor(nodes, term));
  double largest = 0.0;
  for (const auto& [angle, distance, derivative] : between) {
    const double expected = spectrum(angle, distance).value;
    largest = std::max(largest, expected);
    factor.error = std::max(factor.error, std::abs(std::norm(transform(factor.filter, 0, angle, distance)) - expected));
  }
  factor.error /= largest;
  return factor;
}

}  // namespace bathline
