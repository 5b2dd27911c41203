// Kernels over steps: Legendre polynomials and the quadrature along the branch cuts.
#include "model/semi_infinite_line/discrete_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace bathline {

using Complex = std::complex<double>;

DiscreteLine::DiscreteLine(double courant_number, double gamma_of_scheme)
    : courant(courant_number),
      gamma(gamma_of_scheme),
      courant_correction(std::sqrt(1.0 + 4.0 * gamma * (1.0 - gamma) * courant * courant)),
      effective_courant(courant / courant_correction),
      is_finite(std::abs(effective_courant - 1.0) < 8.0 * std::numeric_limits<double>::epsilon()) {
  if (is_finite) effective_courant = 1.0;
  angle = 2.0 * std::asin(effective_courant);
}

Complex DiscreteLine::gap() const {
  const double sine = 2.0 * effective_courant * std::sqrt((1.0 - effective_courant) * (1.0 + effective_courant));
  return Complex(0.0, -2.0 * sine) * std::polar(1.0, angle);
}

std::vector<double> exact_line_kernel(const DiscreteLine& line, int count) {
  // Extended precision, as the polynomials cancel for small Courant numbers.
  const long double square = static_cast<long double>(line.effective_courant) * line.effective_courant,
                    x = 1.0L - 2.0L * square;
  // (s - 1) / (2 c^2) and (1 - s x) / (2 c^2).
  const double ahead = 2.0 * line.gamma * (1.0 - line.gamma) / (1.0 + line.courant_correction);
  std::vector<double> g = {ahead, 1.0 / line.courant_correction - ahead};
  // m C_m = (2m - 3) x C_{m-1} - (m - 3) C_{m-2} for R = -sum C_m z^{1-m}, and G_n = C_{n+1} / (2 c_e^2 s).
  long double before = -x, now = 2.0L * square * (1.0L - square);
  for (int n = 1; n + 1 < count; ++n) {
    g.push_back(static_cast<double>(now / (2.0L * square * line.courant_correction)));
    const long double m = n + 2, next = ((2.0L * m - 3.0L) * x * now - (m - 3.0L) * before) / m;
    before = now;
    now = next;
  }
  g.resize(static_cast<std::size_t>(count));
  return g;
}

DiscreteKernel compressed_line_kernel(const DiscreteLine& line, const KernelAccuracy& accuracy) {
  // For waves that need many steps from site to site the weights of the first lags would cancel.
  const int lag = line.is_finite ? 1 : std::max(4, static_cast<int>(std::ceil(0.5 / line.effective_courant)));
  DiscreteKernel kernel;
  const std::vector<double> exact = exact_line_kernel(line, lag + 1);
  kernel.first.assign(exact.begin() + 1, exact.end());
  if (line.is_finite || !(line.effective_courant < 1.0)) return kernel;
  const Complex a = std::polar(1.0, line.angle), phase_at_lag = std::polar(1.0, line.angle * lag);
  const Complex gap = line.gap();
  const double scale =
      1.0 / (std::numbers::pi * line.effective_courant * line.effective_courant * line.courant_correction);
  for (const auto& [x, weight] : branch_cut_quadrature(line.effective_courant, lag, accuracy)) {
    const double rise = -std::expm1(-x);
    const Complex cut = std::sqrt(rise) * std::sqrt(gap + a * a * rise) * scale;
    const Complex total = Complex(0.0, -weight) * cut * phase_at_lag * std::exp(-lag * x);
    if (std::abs(total) > 0.0) kernel.exponential_terms.push_back({line.angle, -x, total});
  }
  return kernel;
}

DiscreteKernel velocity_kernel(const DiscreteLine& line, const DiscreteKernel& kernel) {
  const double g = line.gamma;
  DiscreteKernel velocity_form{{g * kernel.first.front()}, kernel.exponential_terms};
  double tail = 0.0;
  for (ExponentialTerm& term : velocity_form.exponential_terms) {
    tail += term.weight.real();
    term.weight *= (1.0 - g) + g * std::exp(term.exponent());
  }
  for (std::size_t n = 0; n < kernel.first.size(); ++n) {
    const double next = n + 1 < kernel.first.size() ? kernel.first[n + 1] : tail;
    velocity_form.first.push_back((1.0 - g) * kernel.first[n] + g * next);
  }
  return velocity_form;
}

Complex transform(const DiscreteKernel& kernel, int ahead, double angle, double distance) {
  const double t = angle + distance;
  constexpr Complex i(0.0, 1.0);
  Complex sum = 0.0, tail = 0.0;
  for (int n = 0; n < kernel.lag(); ++n)
    sum += kernel.first[static_cast<std::size_t>(n)] * std::polar(1.0, -(n - ahead) * t);
  for (const ExponentialTerm& term : kernel.exponential_terms) {
    const double difference = (term.angle - angle) - distance;
    tail -= 0.5 * term.weight / expm1(term.offset + i * difference);
    tail -= 0.5 * std::conj(term.weight) / expm1(std::conj(term.offset) - i * (term.angle + t));
  }
  return sum + tail * std::polar(1.0, -(kernel.lag() - ahead) * t);
}

DiscreteKernel divide_series(const DiscreteKernel& series, double alpha, double beta, double start) {
  DiscreteKernel quotient{series.first, series.exponential_terms};
  if (alpha == 0.0) {
    quotient.first.insert(quotient.first.begin(), start);
    return quotient;
  }
  Complex tail = 0.0;
  for (ExponentialTerm& term : quotient.exponential_terms) {
    term.weight /= alpha + beta * std::exp(term.exponent());
    tail += term.weight;
  }
  // The recurrence is evaluated in the direction in which errors decay.
  const int lag = series.lag();
  if (std::abs(alpha) >= std::abs(beta)) {
    double next = tail.real();
    for (int n = lag - 1; n >= 0; --n) {
      next = (series.first[static_cast<std::size_t>(n)] - beta * next) / alpha;
      quotient.first[static_cast<std::size_t>(n)] = next;
    }
    return quotient;
  }
  double now = start;
  for (int n = 0; n < lag; ++n) {
    quotient.first[static_cast<std::size_t>(n)] = now;
    now = (series.first[static_cast<std::size_t>(n)] - alpha * now) / beta;
  }
  // The remainder is the pole at -alpha/beta, which may be close to the cut.
  quotient.exponential_terms.push_back({std::numbers::pi, std::log(alpha / beta), now - tail.real()});
  return quotient;
}

}  // namespace bathline
