// The errors of kernels and their transforms.
#include "model/semi_infinite_line/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "model/semi_infinite_line/continuous_kernel.hpp"

namespace bathline {

namespace {

using Complex = std::complex<double>;
using std::numbers::pi;
constexpr Complex i(0.0, 1.0);

/// exp(-i n theta) times the analytic signal of G_n by its asymptotic series, which is that of the integral along the
/// cut: terms b_k Gamma(k + 3/2) / n^(k + 3/2) with sqrt(1 - exp(-x)) sqrt(1 - a^2 exp(-x)) = sqrt(x) sum b_k x^k.
class StepsEnvelope {
 public:
  explicit StepsEnvelope(const DiscreteLine& line) {
    const Complex a = std::polar(1.0, line.angle), gap = line.gap();
    std::vector<Complex> first(terms), second(terms);
    double factorial = 1.0;  // (k + 1)!
    for (std::size_t k = 0; k < terms; ++k) {
      factorial *= static_cast<double>(k + 1);
      const double sign = k % 2 == 0 ? 1.0 : -1.0;
      first[k] = sign / factorial;
      second[k] = k == 0 ? Complex(1.0) : -a * a / gap * sign * static_cast<double>(k + 1) / factorial;
    }
    const std::vector<Complex> one = root(first), other = root(second);
    const Complex scale =
        -i * std::sqrt(gap) / (pi * line.effective_courant * line.effective_courant * line.courant_correction);
    for (std::size_t k = 0; k < terms; ++k) {
      Complex sum = 0.0;
      for (std::size_t l = 0; l <= k; ++l) sum += one[l] * other[k - l];
      coefficients_[k] = scale * sum * std::tgamma(static_cast<double>(k) + 1.5);
    }
    // The series is good to round-off where the nearest singularity of the sum, at |x| = gap, is 45 decays away.
    begin_ = 45.0 / (2.0 * std::min(line.angle, pi - line.angle));
  }

  /// From where it gives all digits.
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

/// Adds up what amplitudes that change slowly on a logarithmic scale contribute from `begin` to `end`.
void add_amplitudes(double begin, double end, const std::function<Complex(double)>& exact,
                    const std::function<Complex(double)>& found, KernelCertificate& certificate) {
  constexpr double ratio = 1.04;
  for (double from = begin; from < end; from *= ratio) {
    const double to = std::min(end, ratio * from);
    const double error = std::max(std::abs(found(from) - exact(from)), std::abs(found(to) - exact(to)));
    certificate.error += (to - from) * error;
    certificate.norm += (to - from) * 2.0 / pi * std::abs(exact(to));  // the mean of |cos| is 2/pi
  }
}

/// Amplitude at the branch point's own frequency; what else there is counts with its size.
std::function<Complex(double)> amplitude(const std::vector<ExponentialTerm>& exponential_terms, double angle,
                                         double lag) {
  return [&exponential_terms, angle, lag](double t) {
    Complex sum = 0.0;
    for (const ExponentialTerm& decay : exponential_terms) {
      const Complex share = decay.weight * std::exp((t - lag) * decay.offset);
      sum += decay.angle == angle ? share * std::polar(1.0, -lag * angle) : Complex(std::abs(share));
    }
    return sum;
  };
}

/// Distances from a branch point at which transforms are looked at: ever closer, and evenly between `low` and `high`.
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

void look_at_transform(const DiscreteLine& line, const DiscreteKernel& of_v, KernelCertificate& certificate) {
  for (const double distance : distances(-line.angle, pi - line.angle)) {
    const double t = line.angle + distance, c = line.courant;
    const double square = -4.0 * std::sin(line.angle + 0.5 * distance) * std::sin(0.5 * distance);
    const Complex root = square > 0.0 ? Complex(std::sqrt(square)) : i * std::sqrt(-square);
    const Complex middle = std::polar(1.0, 0.5 * t);
    const Complex exact = middle * (line.courant_correction * root - 2.0 * i * std::sin(0.5 * t)) / (2.0 * c * c);
    const Complex found = transform(of_v, 1, line.angle, distance);
    certificate.uniform_error = std::max(certificate.uniform_error, std::abs(found - exact));
    const double resistance = (std::conj(middle) * found).real();
    certificate.lowest = std::min(certificate.lowest, c * resistance);
    if (std::cos(0.5 * t) > 1e-9) {
      certificate.damper = std::max(certificate.damper, -c * resistance / std::cos(0.5 * t));
    }
  }
}

/// Asks for ever more until the certificate says that it is enough, or that it gets no better.
template <class Make>
auto make_until(double tolerance, double norm, double horizon, const Make& make) {
  const auto error = [&](const KernelCertificate& found) {
    return horizon == KernelAccuracy::forever ? std::max(found.uniform_error, found.error) : found.error;
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

/// Leaves the damper out where the horizon does not ask for one, and counts it among the errors where it does; `unit`
/// is what D is as a sum of the kernel.
void take_damper(KernelCertificate& certificate, double horizon, double unit) {
  /// A little more than what the grid has seen.
  constexpr double reserve = 1.25;
  certificate.damper *= horizon == KernelAccuracy::forever ? reserve : 0.0;
  const double share = certificate.damper * unit / certificate.norm;
  certificate.error += share;
  certificate.uniform_error += share;
}

}  // namespace

KernelCertificate certify(const DiscreteLine& line, const DiscreteKernel& kernel, double horizon) {
  KernelCertificate certificate{.exponentials = static_cast<int>(kernel.exponential_terms.size()), .horizon = horizon};
  const DiscreteKernel of_v = velocity_kernel(line, kernel);
  constexpr double longest = 1 << 17;
  const StepsEnvelope envelope(line);
  const double whole = std::min({horizon, longest, std::max(256.0, envelope.begin())});
  const std::vector<double> exact = exact_line_kernel(line, static_cast<int>(whole) + 1);
  std::vector<Complex> bases, values;
  for (const ExponentialTerm& decay : of_v.exponential_terms) {
    bases.push_back(std::exp(decay.exponent()));
    values.push_back(decay.weight);
  }
  for (std::size_t n = 0; n < exact.size(); ++n) {
    double found = 0.0;
    if (n < of_v.first.size()) {
      found = of_v.first[n];
    } else {
      for (std::size_t j = 0; j < values.size(); ++j) {
        found += values[j].real();
        values[j] *= bases[j];
      }
    }
    certificate.error += std::abs(found - exact[n]);
    certificate.norm += std::abs(exact[n]);
  }
  if (!line.is_finite && whole < horizon) {
    add_amplitudes(whole, horizon, envelope, amplitude(of_v.exponential_terms, line.angle, of_v.lag() - 1.0),
                   certificate);
  }
  look_at_transform(line, of_v, certificate);
  certificate.error /= certificate.norm;
  certificate.uniform_error /= certificate.norm;
  return certificate;
}

KernelCertificate certify_bessel(const std::vector<ExponentialTerm>& exponential_terms, double horizon) {
  KernelCertificate certificate{.exponentials = static_cast<int>(exponential_terms.size()), .horizon = horizon};
  constexpr double whole = 20.0, step = 1.0 / 64.0;
  const auto found = amplitude(exponential_terms, 2.0, 0.0);
  for (double t = 0.5 * step; t < std::min(whole, horizon); t += step) {
    const double exact = ::j1(2.0 * t) / t;
    certificate.error += step * std::abs((found(t) * std::polar(1.0, 2.0 * t)).real() - exact);
    certificate.norm += step * std::abs(exact);
  }
  if (whole < horizon) add_amplitudes(whole, horizon, bessel_envelope, found, certificate);
  std::vector<double> all = distances(-2.0, 20.0);
  // What is left of the transform far above the band is as small as round-off, and has a sign.
  for (double distance = 20.0; distance < 1e4; distance *= 1.01) all.push_back(distance);
  for (const double distance : all) {
    const double w = 2.0 + distance, square = -distance * (2.0 + w);  // 4 - w^2
    const Complex exact = 0.5 * ((square > 0.0 ? Complex(std::sqrt(square)) : i * std::sqrt(-square)) - i * w);
    Complex sum = 0.0;
    for (const ExponentialTerm& decay : exponential_terms) {
      sum += 0.5 * decay.weight / (i * distance - decay.offset);
      sum += 0.5 * std::conj(decay.weight) / (i * (w + decay.angle) - std::conj(decay.offset));
    }
    certificate.uniform_error = std::max(certificate.uniform_error, std::abs(sum - exact));
    certificate.lowest = std::min(certificate.lowest, sum.real());
  }
  certificate.damper = -certificate.lowest;
  certificate.error /= certificate.norm;
  certificate.uniform_error /= certificate.norm;
  return certificate;
}

LineKernel make_line_kernel(const DiscreteLine& line, double tolerance, double horizon, double run) {
  const double g = line.gamma;
  const double until = horizon == KernelAccuracy::forever ? run : horizon;
  const auto make = [&](const KernelAccuracy& accuracy) {
    LineKernel made{.on_stage = compressed_line_kernel(line, accuracy), .between_steps = {}, .certificate = {}};
    // Beyond stability there is no kernel, and the run has to notice.
    if (!(line.effective_courant <= 1.0)) made.on_stage.first.front() = std::numeric_limits<double>::quiet_NaN();
    if (g > 0.0) made.on_stage = divide_series(made.on_stage, 1.0 - g, g, exact_line_kernel(line, 1).front() / g);
    made.certificate = certify(line, made.on_stage, until);
    take_damper(made.certificate, horizon, 1.0 / line.courant);
    return made;
  };
  // The sum of the kernel's absolute values is near 1.6/c.
  LineKernel made = make_until(tolerance, 1.6 / line.courant, horizon, make);
  made.on_stage.first.front() += made.certificate.damper / line.courant;
  made.between_steps = divide_series(made.on_stage, g, 1.0 - g, 0.0);
  return made;
}

BesselKernel make_bessel_kernel(double tolerance, double horizon, double run) {
  // For less time the rule is no shorter, and worse, and in the end there would be no samples of the kernel.
  constexpr double shortest = 10.0;
  horizon = std::max(horizon, shortest);
  const double until = horizon == KernelAccuracy::forever ? std::max(run, shortest) : horizon;
  const auto make = [&](const KernelAccuracy& accuracy) {
    BesselKernel made{.exponential_terms = compressed_bessel_kernel(accuracy), .certificate = {}};
    made.certificate = certify_bessel(made.exponential_terms, until);
    take_damper(made.certificate, horizon, 1.0);
    return made;
  };
  BesselKernel made = make_until(tolerance, 1.5, horizon, make);
  made.damper = made.certificate.damper;
  return made;
}

}  // namespace bathline
