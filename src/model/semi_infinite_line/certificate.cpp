// The errors of kernels and their transforms.
#include "model/semi_infinite_line/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "model/semi_infinite_line/continuous_kernel.hpp"
#include "solve/larger_or_nan.hpp"

namespace bathline {

namespace {

using Complex = std::complex<double>;
using std::numbers::pi;
constexpr Complex i(0.0, 1.0);

/// exp(-i n theta) times the analytic signal of G_n by its asymptotic series, which is that of the integral along the
/// cut: terms b_k Gamma(k + 3/2) / n^(k + 3/2) with sqrt(1 - exp(-x)) sqrt(1 - a^2 exp(-x)) = sqrt(x) sum b_k x^k.
class KernelEnvelope {
 public:
  explicit KernelEnvelope(const DiscreteLine& line) {
    const Complex a = std::polar(1.0, line.angle), gap = line.gap();
    std::vector<Complex> first(terms), second(terms);
    double factorial = 1.0;  // (k + 1)!
    for (std::size_t k = 0; k < terms; ++k) {
      factorial *= static_cast<double>(k + 1);
      const double sign = k % 2 == 0 ? 1.0 : -1.0;
      first[k] = sign / factorial;
      second[k] = k == 0 ? Complex(1.0) : -a * a / gap * sign * static_cast<double>(k + 1) / factorial;
    }
    const std::vector<Complex> first_root = root(first), second_root = root(second);
    const Complex scale =
        -i * std::sqrt(gap) / (pi * line.effective_courant * line.effective_courant * line.courant_correction);
    for (std::size_t k = 0; k < terms; ++k) {
      Complex sum = 0.0;
      for (std::size_t l = 0; l <= k; ++l) sum += first_root[l] * second_root[k - l];
      coefficients_[k] = scale * sum * std::tgamma(static_cast<double>(k) + 1.5);
    }
    // The series is accurate to round-off if the nearest singularity of the sum, at |x| = gap, is 45 decay lengths
    // away.
    begin_ = 45.0 / (2.0 * std::min(line.angle, pi - line.angle));
  }

  /// From this n on the series is accurate to round-off.
  double begin() const { return begin_; }
  Complex operator()(double n) const {
    Complex sum = 0.0;
    double last = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < terms; ++k) {
      const Complex term = coefficients_[k] * std::pow(n, -static_cast<double>(k) - 1.5);
      if (std::abs(term) > last) break;
      sum += term;
      last = std::abs(term);
    }
    return sum;
  }

 private:
  static constexpr std::size_t terms = 30;

  /// Square root of a power series that begins with 1.
  static std::vector<Complex> root(const std::vector<Complex>& series) {
    std::vector<Complex> result = {1.0};
    for (std::size_t k = 1; k < series.size(); ++k) {
      Complex rest = series[k];
      for (std::size_t l = 1; l < k; ++l) rest -= result[l] * result[k - l];
      result.push_back(0.5 * rest);
    }
    return result;
  }

  std::vector<Complex> coefficients_ = std::vector<Complex>(terms);
  double begin_;
};

/// exp(-2 i t) times the analytic signal of J_1(2 t)/t, for t from 20 on. Source: DLMF 10.17.5.
Complex bessel_envelope(double t) {
  Complex sum = 0.0, term = 1.0;
  for (int k = 1; k < 30; ++k) {
    sum += term;
    const double odd = 2.0 * k - 1.0;
    const Complex next = term * i * (4.0 - odd * odd) / (16.0 * k * t);
    if (std::abs(next) > std::abs(term)) break;
    term = next;
  }
  return sum * std::polar(1.0 / (t * std::sqrt(pi * t)), -0.75 * pi);
}

/// Adds the contributions to error and norm from `begin` to `end`, for amplitudes that change slowly on a logarithmic
/// scale.
void add_amplitudes(double begin, double end, const std::function<Complex(double)>& exact,
                    const std::function<Complex(double)>& approximate, KernelCertificate& certificate) {
  constexpr double ratio = 1.04;
  for (double from = begin; from < end; from *= ratio) {
    const double to = std::min(end, ratio * from);
    const double error =
        larger_or_nan(std::abs(approximate(from) - exact(from)), std::abs(approximate(to) - exact(to)));
    certificate.error += (to - from) * error;
    certificate.norm += (to - from) * 2.0 / pi * std::abs(exact(to));  // the mean of |cos| is 2/pi
  }
}

/// Amplitude at the frequency of the branch point `angle`; other terms contribute their absolute values.
std::function<Complex(double)> amplitude(const std::vector<ExponentialTerm>& exponential_terms, double angle,
                                         double lag) {
  return [&exponential_terms, angle, lag](double t) {
    Complex sum = 0.0;
    for (const ExponentialTerm& term : exponential_terms) {
      const Complex value = term.weight * std::exp((t - lag) * term.offset);
      sum += term.angle == angle ? value * std::polar(1.0, -lag * angle) : Complex(std::abs(value));
    }
    return sum;
  };
}

/// Distances from a branch point at which transforms are compared: accumulating at 0, and evenly between `low` and
/// `high`.
std::vector<double> distances(double low, double high) {
  std::vector<double> all;
  for (double exponent = 0.5; exponent > -17.0; exponent -= 0.025) {
    for (const double distance : {std::pow(10.0, exponent), -std::pow(10.0, exponent)}) {
      if (distance > low && distance < high) all.push_back(distance);
    }
  }
  constexpr int evenly = 600;
  for (int k = 0; k < evenly; ++k) all.push_back(low + (high - low) * (k + 0.5) / evenly);
  return all;
}

void check_transform(const DiscreteLine& line, const DiscreteKernel& velocity_form, KernelCertificate& certificate) {
  for (const double distance : distances(-line.angle, pi - line.angle)) {
    const double t = line.angle + distance, c = line.courant;
    const double square = -4.0 * std::sin(line.angle + 0.5 * distance) * std::sin(0.5 * distance);
    const Complex root = square > 0.0 ? Complex(std::sqrt(square)) : i * std::sqrt(-square);
    const Complex middle = std::polar(1.0, 0.5 * t);
    const Complex exact = middle * (line.courant_correction * root - 2.0 * i * std::sin(0.5 * t)) / (2.0 * c * c);
    const Complex actual = transform(velocity_form, 1, line.angle, distance);
    certificate.uniform_error = larger_or_nan(certificate.uniform_error, std::abs(actual - exact));
    const double resistance = (std::conj(middle) * actual).real();
    certificate.lowest = std::min(certificate.lowest, c * resistance);
    if (std::cos(0.5 * t) > 1e-9) {
      certificate.damper = std::max(certificate.damper, -c * resistance / std::cos(0.5 * t));
    }
  }
}

/// Tightens the requested accuracy until the certified error meets the tolerance or no longer decreases.
template <class Make>
auto refine_until(double tolerance, double norm, double horizon, const Make& make) {
  const auto error = [&](const KernelCertificate& certificate) {
    return horizon == KernelAccuracy::forever ? larger_or_nan(certificate.uniform_error, certificate.error)
                                              : certificate.error;
  };
  KernelAccuracy accuracy{.error = 0.5 * tolerance * norm, .horizon = horizon};
  auto best = make(accuracy);
  for (int attempt = 0; attempt < 8 && error(best.certificate) > tolerance; ++attempt) {
    accuracy.error *= 0.3;
    auto next = make(accuracy);
    if (!(error(next.certificate) < error(best.certificate))) break;
    best = std::move(next);
  }
  return best;
}

/// Sets the damper to 0 for a finite horizon, and adds it to the errors otherwise; `unit` is D as a sum of the kernel.
void apply_damper(KernelCertificate& certificate, double horizon, double unit) {
  /// Safety factor for the finite grid of frequencies.
  constexpr double safety = 1.25;
  certificate.damper *= horizon == KernelAccuracy::forever ? safety : 0.0;
  const double added_error = certificate.damper * unit / certificate.norm;
  certificate.error += added_error;
  certificate.uniform_error += added_error;
}

}  // namespace

KernelCertificate certify(const DiscreteLine& line, const DiscreteKernel& kernel, double horizon) {
  KernelCertificate certificate{.exponentials = static_cast<int>(kernel.exponential_terms.size()), .horizon = horizon};
  const DiscreteKernel velocity_form = velocity_kernel(line, kernel);
  constexpr double max_steps = 1 << 17;
  const KernelEnvelope envelope(line);
  const double direct_end = std::min({horizon, max_steps, std::max(256.0, envelope.begin())});
  const std::vector<double> exact = exact_line_kernel(line, static_cast<int>(direct_end) + 1);
  std::vector<Complex> bases, values;
  for (const ExponentialTerm& term : velocity_form.exponential_terms) {
    bases.push_back(std::exp(term.exponent()));
    values.push_back(term.weight);
  }
  for (std::size_t n = 0; n < exact.size(); ++n) {
    double actual = 0.0;
    if (n < velocity_form.first.size()) {
      actual = velocity_form.first[n];
    } else {
      for (std::size_t j = 0; j < values.size(); ++j) {
        actual += values[j].real();
        values[j] *= bases[j];
      }
    }
    certificate.error += std::abs(actual - exact[n]);
    certificate.norm += std::abs(exact[n]);
  }
  if (!line.is_finite && direct_end < horizon) {
    add_amplitudes(direct_end, horizon, envelope,
                   amplitude(velocity_form.exponential_terms, line.angle, velocity_form.lag() - 1.0), certificate);
  }
  check_transform(line, velocity_form, certificate);
  certificate.error /= certificate.norm;
  certificate.uniform_error /= certificate.norm;
  return certificate;
}

KernelCertificate certify_bessel(const std::vector<ExponentialTerm>& exponential_terms, double horizon) {
  KernelCertificate certificate{.exponentials = static_cast<int>(exponential_terms.size()), .horizon = horizon};
  constexpr double direct_end = 20.0, step = 1.0 / 64.0;
  const auto approximate = amplitude(exponential_terms, 2.0, 0.0);
  for (double t = 0.5 * step; t < std::min(direct_end, horizon); t += step) {
    const double exact = ::j1(2.0 * t) / t;
    certificate.error += step * std::abs((approximate(t) * std::polar(1.0, 2.0 * t)).real() - exact);
    certificate.norm += step * std::abs(exact);
  }
  if (direct_end < horizon) add_amplitudes(direct_end, horizon, bessel_envelope, approximate, certificate);
  std::vector<double> all = distances(-2.0, 20.0);
  // Far above the band the transform is as small as round-off, and its sign matters.
  for (double distance = 20.0; distance < 1e4; distance *= 1.01) all.push_back(distance);
  for (const double distance : all) {
    const double w = 2.0 + distance, square = -distance * (2.0 + w);  // 4 - w^2
    const Complex exact = 0.5 * ((square > 0.0 ? Complex(std::sqrt(square)) : i * std::sqrt(-square)) - i * w);
    Complex sum = 0.0;
    for (const ExponentialTerm& term : exponential_terms) {
      sum += 0.5 * term.weight / (i * distance - term.offset);
      sum += 0.5 * std::conj(term.weight) / (i * (w + term.angle) - std::conj(term.offset));
    }
    certificate.uniform_error = larger_or_nan(certificate.uniform_error, std::abs(sum - exact));
    certificate.lowest = std::min(certificate.lowest, sum.real());
  }
  certificate.damper = -certificate.lowest;
  certificate.error /= certificate.norm;
  certificate.uniform_error /= certificate.norm;
  return certificate;
}

LineKernel make_line_kernel(const DiscreteLine& line, double tolerance, double horizon, double run) {
  const double g = line.gamma;
  const double certified_horizon = horizon == KernelAccuracy::forever ? run : horizon;
  const auto make = [&](const KernelAccuracy& accuracy) {
    LineKernel made{.on_stage = compressed_line_kernel(line, accuracy), .between_steps = {}, .certificate = {}};
    // Beyond the stability limit there is no kernel; NaN makes a run fail.
    if (!(line.effective_courant <= 1.0)) made.on_stage.first.front() = std::numeric_limits<double>::quiet_NaN();
    if (g > 0.0) made.on_stage = divide_series(made.on_stage, 1.0 - g, g, exact_line_kernel(line, 1).front() / g);
    made.certificate = certify(line, made.on_stage, certified_horizon);
    apply_damper(made.certificate, horizon, 1.0 / line.courant);
    return made;
  };
  // The sum of the kernel's absolute values is near 1.6/c.
  LineKernel made = refine_until(tolerance, 1.6 / line.courant, horizon, make);
  made.on_stage.first.front() += made.certificate.damper / line.courant;
  made.between_steps = divide_series(made.on_stage, g, 1.0 - g, 0.0);
  return made;
}

BesselKernel make_bessel_kernel(double tolerance, double horizon, double run) {
  // For shorter horizons the quadrature has no fewer nodes and is less accurate, and the kernel would not be sampled.
  constexpr double min_horizon = 10.0;
  horizon = std::max(horizon, min_horizon);
  const double certified_horizon = horizon == KernelAccuracy::forever ? std::max(run, min_horizon) : horizon;
  const auto make = [&](const KernelAccuracy& accuracy) {
    BesselKernel made{.exponential_terms = compressed_bessel_kernel(accuracy), .certificate = {}};
    made.certificate = certify_bessel(made.exponential_terms, certified_horizon);
    apply_damper(made.certificate, horizon, 1.0);
    return made;
  };
  BesselKernel made = refine_until(tolerance, 1.5, horizon, make);
  made.damper = made.certificate.damper;
  return made;
}

}  // namespace bathline
