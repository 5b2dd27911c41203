// The noise filter of a spectrum, by an integral for the logarithm of its outer function.
//
//   log B(1/z) = (1/2 pi) int_0^pi (1 - z^2) / ((1 - z e^{it}) (1 - z e^{-it})) log S(t) dt,   |z| < 1
//
// The poles z_j of S = sum C_n z^-n are known and determine B: if C_n = Re sum W_j z_j^{n - lag} behind the first
// terms, then b_n = Re sum W_j / B(1/z_j) z_j^{n - lag}. Riccati equations and polynomial roots are not applicable, as
// poles are as close to the circle as 1e-26.
// Tested by tests/model/semi_infinite_line/line_noise_test.cpp.
#include "model/semi_infinite_line/spectral_factor.hpp"
#include "solve/larger_or_nan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace bathline {

namespace {

using Complex = std::complex<double>;
using std::numbers::pi;
constexpr Complex i(0.0, 1.0);

struct Point {
  double distance;  // of t from the angle
  double weight;
  double log_spectrum;
};

/// Points of the trapezoidal rule in y = log(u/(length - u)), with u the distance from the angle on one side: uniform
/// in s with y = s or, if many first terms oscillate within a side, so that points close to the angle may be sparser
/// than in the middle, y = 2 sinh(s).
struct Rule {
  explicit Rule(int lag)
      : is_graded(lag > 60), spacing(is_graded ? std::min(0.0025, 0.3 / lag) : std::min(0.1, 0.6 / lag)) {}
  double begin() const { return is_graded ? std::asinh(0.5 * min_y) : min_y; }
  double end() const { return is_graded ? std::asinh(0.5 * max_y) : max_y; }
  double y(double s) const { return is_graded ? 2.0 * std::sinh(s) : s; }
  double derivative(double s) const { return is_graded ? 2.0 * std::cosh(s) : 1.0; }

  static constexpr double min_y = -82.0, max_y = 38.0;
  bool is_graded;
  double spacing;
};

/// Points on both sides of the angle; distances from it resolve poles that are closer to the circle than round-off.
/// `shift` offsets the points, in spacings.
std::vector<Point> make_points(const DiscreteKernel& covariances, double angle, const Rule& rule, double shift) {
  std::vector<Point> points;
  for (const double side : {-1.0, 1.0}) {
    const double length = side < 0.0 ? angle : pi - angle;
    if (!(length > 0.0)) continue;
    const auto count = static_cast<int>((rule.end() - rule.begin()) / rule.spacing);
    for (int k = 0; k < count; ++k) {
      const double s = rule.begin() + (k + shift) * rule.spacing, y = rule.y(s), u = length / (1.0 + std::exp(-y));
      points.push_back({side * u, rule.spacing * rule.derivative(s) * u / (1.0 + std::exp(y)), 0.0});
    }
  }
  double largest = 0.0;
  for (Point& point : points) {
    point.log_spectrum = spectrum(covariances, angle, point.distance);
    largest = std::max(largest, point.log_spectrum);
  }
  // In the gap the spectrum is as small as the kernel's damper, and a sum of terms of order 1, whose rounding may make
  // it negative.
  const double floor = std::numeric_limits<double>::epsilon() * largest;
  for (Point& point : points) point.log_spectrum = std::log(std::max(floor, point.log_spectrum));
  return points;
}

/// log B(1/z) at the pole of an exponential.
Complex log_factor(const std::vector<Point>& points, double angle, const ExponentialTerm& term) {
  Complex sum = 0.0;
  for (const auto& [distance, weight, log_spectrum] : points) {
    const double below = (term.angle - angle) - distance, above = term.angle + angle + distance;
    sum += weight * log_spectrum / (expm1(term.offset + i * below) * expm1(term.offset + i * above));
  }
  return -expm1(2.0 * term.exponent()) * sum / (2.0 * pi);
}

/// b_0, ... b_{count - 1}: log B = c_0/2 + sum c_n z^-n with c_n = (1/pi) int_0^pi cos(n t) log S dt.
std::vector<double> first_terms(const std::vector<Point>& points, double angle, int count) {
  std::vector<double> c(static_cast<std::size_t>(count)), b(c);
  for (std::size_t n = 0; n < c.size(); ++n) {
    for (const auto& [distance, weight, log_spectrum] : points) {
      c[n] += weight * log_spectrum * std::cos(static_cast<double>(n) * (angle + distance)) / pi;
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

double spectrum(const DiscreteKernel& covariances, double angle, double distance) {
  return 2.0 * transform(covariances, 0, angle, distance).real() - covariances.first.front();
}

namespace {

SpectralFactor factor_by(const DiscreteKernel& covariances, double angle, const Rule& rule) {
  const std::vector<Point> points = make_points(covariances, angle, rule, 0.0);
  SpectralFactor factor{{first_terms(points, angle, covariances.lag()), covariances.exponential_terms}, 0.0};
  for (ExponentialTerm& term : factor.filter.exponential_terms)
    term.weight /= std::exp(log_factor(points, angle, term));
  double largest = 0.0;
  for (const auto& [distance, weight, log_spectrum] : make_points(covariances, angle, rule, 0.5)) {
    const double expected = std::exp(log_spectrum);
    largest = std::max(largest, expected);
    factor.error =
        larger_or_nan(factor.error, std::abs(std::norm(transform(factor.filter, 0, angle, distance)) - expected));
  }
  factor.error /= largest;
  return factor;
}

}  // namespace

SpectralFactor spectral_factor(const DiscreteKernel& covariances, double angle) {
  // The integrand is analytic for |Im y| < pi/2, with an error of exp(-pi^2/spacing), except for minima of the spectrum
  // that the damper only just keeps above 0.
  constexpr double sufficient_error = 1e-9;
  Rule rule(covariances.lag());
  SpectralFactor best = factor_by(covariances, angle, rule);
  for (int attempt = 0; attempt < (rule.is_graded ? 1 : 3) && !(best.error <= sufficient_error); ++attempt) {
    rule.spacing *= 0.5;
    SpectralFactor next = factor_by(covariances, angle, rule);
    if (next.error < best.error) best = std::move(next);
  }
  return best;
}

}  // namespace bathline
