// Certificates of kernels against sums over all steps and transforms of long sequences.
#include "model/semi_infinite_line/certificate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

namespace bathline::certificate_test {
namespace {

/// The kernel of velocities for a kernel of stage velocities.
std::vector<double> velocity_kernel(const DiscreteKernel& kernel, double g, int count) {
  std::vector<double> all = kernel.first;
  std::vector<std::complex<double>> values, bases;
  for (const ExponentialTerm& term : kernel.exponential_terms) {
    values.push_back(term.weight);
    bases.push_back(std::exp(term.exponent()));
  }
  while (static_cast<int>(all.size()) < count + 1) {
    double sum = 0.0;
    for (std::size_t j = 0; j < values.size(); ++j) {
      sum += values[j].real();
      values[j] *= bases[j];
    }
    all.push_back(sum);
  }
  std::vector<double> velocity_form = {g * all[0]};
  for (int n = 0; n < count - 1; ++n) {
    const auto k = static_cast<std::size_t>(n);
    velocity_form.push_back((1.0 - g) * all[k] + g * all[k + 1]);
  }
  return velocity_form;
}

TEST(Certificate, ErrorIsTheSumOverAllSteps) {
  constexpr int steps = 30000;
  for (const double g : {0.0, 0.3, 0.8}) {
    // The kernel of the second has a damper, which is part of its error.
    for (const double horizon : {static_cast<double>(steps), KernelAccuracy::forever}) {
      const DiscreteLine line(0.4, g);
      const LineKernel made = make_line_kernel(line, 1e-7, horizon, steps);
      const std::vector<double> actual = velocity_kernel(made.on_stage, g, steps),
                                exact = exact_line_kernel(line, steps);
      double error = 0.0, norm = 0.0;
      for (std::size_t n = 0; n < exact.size(); ++n) {
        error += std::abs(actual[n] - exact[n]);
        norm += std::abs(exact[n]);
      }
      EXPECT_NEAR(made.certificate.norm, norm, 0.02 * norm) << g;
      EXPECT_GE(made.certificate.error, 0.99 * error / norm) << g << " " << horizon;
      EXPECT_LE(made.certificate.error, 2.0 * error / norm) << g << " " << horizon << ": a tight bound";
      EXPECT_LE(made.certificate.error, 1e-7);
    }
  }
}

TEST(Certificate, ToleranceIsMetForManyLines) {
  for (const double c : {0.01, 0.126, 0.9, 1.7}) {
    for (const double g : {0.0, 0.2, 0.5, 0.77}) {
      const DiscreteLine line(c, g);
      if (!(line.effective_courant <= 1.0)) continue;
      for (const double tolerance : {1e-5, 1e-12, 1e-13}) {
        const KernelCertificate finite = make_line_kernel(line, tolerance, 1e7, 1e7).certificate;
        EXPECT_LE(finite.error, tolerance) << c << " " << g;
        EXPECT_EQ(finite.damper, 0.0);
        const KernelCertificate forever = make_line_kernel(line, tolerance, KernelAccuracy::forever, 1e7).certificate;
        EXPECT_LE(forever.uniform_error, tolerance) << c << " " << g;
        // Round-off of the amplitudes up to 1e7 steps sums up to some 1e-13.
        if (tolerance > 1e-13) {
          EXPECT_LE(forever.error, tolerance) << c << " " << g;
        }
      }
    }
  }
  EXPECT_LE(make_bessel_kernel(1e-12, 1e6, 1e6).certificate.error, 1e-12);
  const KernelCertificate forever = make_bessel_kernel(1e-12, KernelAccuracy::forever, 1e6).certificate;
  EXPECT_LE(forever.uniform_error, 1e-12);
  EXPECT_LE(forever.error, 1e-12);
}

// Runs that end before anything has returned from the second site are certified, too.
TEST(Certificate, ShortHorizonsAreCertified) {
  for (const double horizon : {1e-9, 1e-3, 0.3}) {
    EXPECT_LE(make_bessel_kernel(1e-12, KernelAccuracy::forever, horizon).certificate.error, 1e-12) << horizon;
    const BesselKernel made = make_bessel_kernel(1e-12, horizon, horizon);
    EXPECT_LE(made.certificate.error, 1e-12) << horizon;
    // The error of a sum without frequencies above 2 sqrt(2) is at most some times its mean.
    for (const double t : {0.0, 0.5 * horizon, horizon}) {
      double actual = 0.0;
      for (const ExponentialTerm& term : made.exponential_terms)
        actual += (term.weight * std::exp(t * term.exponent())).real();
      EXPECT_NEAR(actual, t == 0.0 ? 1.0 : ::j1(2.0 * t) / t, 1e-11) << horizon << " " << t;
    }
  }
}

// With the damper the line returns no energy at any frequency; the transform is a sum over many steps.
TEST(Certificate, DamperMakesTheLinePassive) {
  for (const double g : {0.0, 0.25, 0.75}) {
    const DiscreteLine line(0.6, g);
    const LineKernel made = make_line_kernel(line, 1e-5, KernelAccuracy::forever, 1e6);
    EXPECT_LT(made.certificate.lowest, 0.0);
    EXPECT_GT(made.certificate.damper, 0.0);
    EXPECT_LT(made.certificate.damper, 1e-3);
    // The damper is part of the kernel, and so of its errors.
    const KernelCertificate with_damper = certify(line, made.on_stage, 1e6);
    EXPECT_GE(made.certificate.error, 0.999 * with_damper.error) << g;
    EXPECT_GE(made.certificate.uniform_error, 0.999 * with_damper.uniform_error) << g;
    EXPECT_GE(made.certificate.uniform_error, 0.999 * made.certificate.damper / (line.courant * with_damper.norm)) << g;
    const std::vector<double> velocity_form = velocity_kernel(made.on_stage, g, 4000);
    // Only exponentials at the band edge decay slowly, so frequencies close to it are left out.
    for (double t = 0.03; t < std::numbers::pi; t += 0.0517) {
      if (std::abs(t - line.angle) < 0.05) continue;
      std::complex<double> sum = 0.0;
      for (std::size_t n = 0; n < velocity_form.size(); ++n)
        sum += velocity_form[n] * std::polar(1.0, -(static_cast<double>(n) - 1.0) * t);
      EXPECT_GT((sum * std::polar(1.0, -0.5 * t)).real(), -2e-5) << g << " at " << t;
    }
  }
}

}  // namespace
}  // namespace bathline::certificate_test
