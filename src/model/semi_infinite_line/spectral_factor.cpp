// The filter of a spectrum, by an integral for the logarithm of its outer function.
//
//   log B(1/z) = (1/2 pi) int_0^pi (1 - z^2) / ((1 - z e^{it}) (1 - z e^{-it})) log S(t) dt,   |z| < 1
//
// With the poles z_j of S = sum C_n z^-n known, B needs nothing else: where S has C_n = Re sum W_j z_j^{n - lag} behind
// its first terms, B has b_n = Re sum W_j / B(1/z_j) z_j^{n - lag}. Riccati's equation and roots of polynomials do not
// get there: poles lie as near to the circle as 1e-26.
// Tested by tests/model/semi_infinite_line/line_noise_test.cpp.
#include "model/semi_infinite_line/spectral_factor.hpp"

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

/// Where the trapezoidal rule has its points, in y = log(u/(length - u)) for the distance u from the angle on a side:
/// in the variable s with y = s or, where many first terms oscillate within a side and points next to the angle need
/// not be as dense as those in its midst, y = 2 sinh(s).
struct Rule {
  explicit Rule(int lag)
      : is_graded(lag > 60), spacing(is_graded ? std::min(0.0025, 0.3 / lag) : std::min(0.1, 0.6 / lag)) {}
  double begin() const { return is_graded ? std::asinh(0.5 * lowest) : lowest; }
  double end() const { return is_graded ? std::asinh(0.5 * highest) : highest; }
  double y(double s) const { return is_graded ? 2.0 * std::sinh(s) : s; }
  double slope(double s) const { return is_graded ? 2.0 * std::cosh(s) : 1.0; }

  static constexpr double lowest = -82.0, highest = 38.0;
  bool is_graded;
  double spacing;
};

/// Points on both sides of the angle: poles that are much nearer to the circle than round-off are still seen as wide.
/// `shift` is that of the points, in spacings.
std::vector<Point> points_of(const DiscreteKernel& covariances, double angle, const Rule& rule, double shift) {
  std::vector<Point> points;
  for (const double side : {-1.0, 1.0}) {
    const double length = side < 0.0 ? angle : pi - angle;
    if (!(length > 0.0)) continue;
    const auto count = static_cast<int>((rule.end() - rule.begin()) / rule.spacing);
    for (int k = 0; k < count; ++k) {
      const double s = rule.begin() + (k + shift) * rule.spacing, y = rule.y(s), u = length / (1.0 + std::exp(-y));
      points.push_back({side * u, rule.spacing * rule.slope(s) * u / (1.0 + std::exp(y)), 0.0});
    }
  }
  double largest = 0.0;
  for (Point& point : points) {
    point.log_spectrum = spectrum(covariances, angle, point.distance);
    largest = std::max(largest, point.log_spectrum);
  }
  // What the kernel's damper leaves in the gap is a sum of numbers near 1, and rounded as such, to below 0 too.
  const double least = std::numeric_limits<double>::epsilon() * largest;
  for (Point& point : points) point.log_spectrum = std::log(std::max(least, point.log_spectrum));
  return points;
}

/// log B(1/z) at the pole of a decay.
Complex log_factor(const std::vector<Point>& points, double angle, const ExponentialTerm& decay) {
  Complex sum = 0.0;
  for (const auto& [distance, weight, log_spectrum] : points) {
    const double below = (decay.angle - angle) - distance, above = decay.angle + angle + distance;
    sum += weight * log_spectrum / (expm1(decay.offset + i * below) * expm1(decay.offset + i * above));
  }
  return -expm1(2.0 * decay.exponent()) * sum / (2.0 * pi);
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
  DiscreteKernel sums = velocity_kernel(line, on_stage);
  // Between stages and velocities stands a pole that only the kernel of stages has.
  std::erase_if(sums.exponential_terms, [](const ExponentialTerm& decay) { return decay.angle == pi; });
  sums.first[1] += sums.first[0];
  sums.first.erase(sums.first.begin());
  DiscreteKernel covariances = divide_series(sums, 1.0, 1.0, 0.0);
  for (double& value : covariances.first) value *= 2.0;
  for (ExponentialTerm& decay : covariances.exponential_terms) decay.weight *= 2.0;
  return covariances;
}

double spectrum(const DiscreteKernel& covariances, double angle, double distance) {
  return 2.0 * transform(covariances, 0, angle, distance).real() - covariances.first.front();
}

namespace {

SpectralFactor factor_with(const DiscreteKernel& covariances, double angle, const Rule& rule) {
  const std::vector<Point> points = points_of(covariances, angle, rule, 0.0);
  SpectralFactor factor{{first_terms(points, angle, covariances.lag()), covariances.exponential_terms}, 0.0};
  for (ExponentialTerm& decay : factor.filter.exponential_terms)
    decay.weight /= std::exp(log_factor(points, angle, decay));
  double largest = 0.0;
  for (const auto& [distance, weight, log_spectrum] : points_of(covariances, angle, rule, 0.5)) {
    const double expected = std::exp(log_spectrum);
    largest = std::max(largest, expected);
    factor.error = std::max(factor.error, std::abs(std::norm(transform(factor.filter, 0, angle, distance)) - expected));
  }
  factor.error /= largest;
  return factor;
}

}  // namespace

SpectralFactor spectral_factor(const DiscreteKernel& covariances, double angle) {
  // The integrand is analytic for |Im y| < pi/2, which leaves exp(-pi^2/spacing), but for dips of the spectrum that the
  // damper only just keeps above 0.
  constexpr double good_enough = 1e-9;
  Rule rule(covariances.lag());
  SpectralFactor best = factor_with(covariances, angle, rule);
  for (int attempt = 0; attempt < (rule.is_graded ? 1 : 3) && best.error > good_enough; ++attempt) {
    rule.spacing *= 0.5;
    SpectralFactor next = factor_with(covariances, angle, rule);
    if (next.error < best.error) best = std::move(next);
  }
  return best;
}

}  // namespace bathline
