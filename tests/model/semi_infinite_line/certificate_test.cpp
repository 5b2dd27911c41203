// Certificates against sums over all steps and transforms of long sequences.
#include "model/semi_infinite_line/certificate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

namespace bathline::certificate_test {
namespace {

/// The kernel of velocities that a kernel of stage velocities is, without its term ahead of time.
std::vector<double> velocity_kernel(const DiscreteKernel& kernel, double g, int count) {
  std::vector<double> all = kernel.first;
  std::vector<std::complex<double>> values, bases;
  for (const ExponentialTerm& decay : kernel.exponential_terms) {
    values.push_back(decay.weight);
    bases.push_back(std::exp(decay.exponent()));
  }
  while (static_cast<int>(all.size()) < count + 1) {
    double sum = 0.0;
    for (std::size_t j = 0; j < values.size(); ++j) {
      sum += values[j].real();
      values[j] *= bases[j];
    }
    all.push_back(sum);
  }
  std::vector<double> of_v = {g * all[0]};
  for (int n = 0; n < count - 1; ++n) {
    const auto k = static_cast<std::size_t>(n);
    of_v.push_back((1.0 - g) * all[k] + g * all[k + 1]);
  }
  return of_v;
}

TEST(Certificate, ErrorIsTheSumOverAllSteps) {
  constexpr int steps = 30000;
  for (const double g : {0.0, 0.3, 0.8}) {
    // With the damper of the second, which is an error like any other.
    for (const double horizon : {static_cast<double>(steps), KernelAccuracy::forever}) {
      const DiscreteLine line(0.4, g);
      const LineKernel made = make_line_kernel(line, 1e-7, horizon, steps);
      const std::vector<double> found = velocity_kernel(made.on_stage, g, steps),
                                exact = exact_line_kernel(line, steps);
      double error = 0.0, norm = 0.0;
      for (std::size_t n = 0; n < exact.size(); ++n) {
        error += std::abs(found[n] - exact[n]);
        norm += std::abs(exact[n]);
      }
      EXPECT_NEAR(made.certificate.norm, norm, 0.02 * norm) << g;
      EXPECT_GE(made.certificate.error, 0.99 * error / norm) << g << " " << horizon;
      EXPECT_LE(made.certificate.error, 2.0 * error / norm) << g << " " << horizon << ": a bound, not a guess";
      EXPECT_LE(made.certificate.error, 1e-7);
    }
  }
}

TEST(Certificate, ToleranceIsKeptOverManyLinesAndTolerances) {
  for (const double c : {0.01, 0.126, 0.9, 1.7}) {
    for (const double g : {0.0, 0.2, 0.5, 0.77}) {
      const DiscreteLine line(c, g);
      if (!(line.effective_courant <= 1.0)) continue;
      for (const double tolerance : {1e-5, 1e-12, 1e-13}) {
        const KernelCertificate until = make_line_kernel(line, tolerance, 1e7, 1e7).certificate;
        EXPECT_LE(until.error, tolerance) << c << " " << g;
        EXPECT_EQ(until.damper, 0.0);
        const KernelCertificate ever = make_line_kernel(line, tolerance, KernelAccuracy::forever, 1e7).certificate;
        EXPECT_LE(ever.uniform_error, tolerance) << c << " " << g;
        // Amplitudes until 1e7 steps add up to some 1e-13 of round-off.
        if (tolerance > 1e-13) {
          EXPECT_LE(ever.error, tolerance) << c << " " << g;
        }
      }
    }
  }
  EXPECT_LE(make_bessel_kernel(1e-12, 1e6, 1e6).certificate.error, 1e-12);
  const KernelCertificate ever = make_bessel_kernel(1e-12, KernelAccuracy::forever, 1e6).certificate;
  EXPECT_LE(ever.uniform_error, 1e-12);
  EXPECT_LE(ever.error, 1e-12);
}

// A run that is over before anything has come back from the second site is certified, too.
TEST(Certificate, ShortHorizonsAreKept) {
  for (const double horizon : {1e-9, 1e-3, 0.3}) {
    EXPECT_LE(make_bessel_kernel(1e-12, KernelAccuracy::forever, horizon).certificate.error, 1e-12) << horizon;
    const BesselKernel made = make_bessel_kernel(1e-12, horizon, horizon);
    EXPECT_LE(made.certificate.error, 1e-12) << horizon;
    // A sum in which nothing is faster than 2 sqrt(2) is off by no more than some times its mean.
    for (const double t : {0.0, 0.5 * horizon, horizon}) {
      double found = 0.0;
      for (const ExponentialTerm& decay : made.exponential_terms)
        found += (decay.weight * std::exp(t * decay.exponent())).real();
      EXPECT_NEAR(found, t == 0.0 ? 1.0 : ::j1(2.0 * t) / t, 1e-11) << horizon << " " << t;
    }
  }
}

// With the damper no frequency gives energy; the sum over many steps stands for the transform.
TEST(Certificate, DamperMakesTheLinePassive) {
  for (const double g : {0.0, 0.25, 0.75}) {
    const DiscreteLine line(0.6, g);
    const LineKernel made = make_line_kernel(line, 1e-5, KernelAccuracy::forever, 1e6);
    EXPECT_LT(made.certificate.lowest, 0.0);
    EXPECT_GT(made.certificate.damper, 0.0);
    EXPECT_LT(made.certificate.damper, 1e-3);
    // It is in the kernel, and so in its errors.
    const KernelCertificate with_damper = certify(line, made.on_stage, 1e6);
    EXPECT_GE(made.certificate.error, 0.999 * with_damper.error) << g;
    EXPECT_GE(made.certificate.uniform_error, 0.999 * with_damper.uniform_error) << g;
    EXPECT_GE(made.certificate.uniform_error, 0.999 * made.certificate.damper / (line.courant * with_damper.norm)) << g;
    const std::vector<double> of_v = velocity_kernel(made.on_stage, g, 4000);
    // Behind the first steps decays are slow at the band's edge only: one keeps away from it.
    for (double t = 0.03; t < std::numbers::pi; t += 0.0517) {
      if (std::abs(t - line.angle) < 0.05) continue;
      std::complex<double> sum = 0.0;
      for (std::size_t n = 0; n < of_v.size(); ++n)
        sum += of_v[n] * std::polar(1.0, -(static_cast<double>(n) - 1.0) * t);
      EXPECT_GT((sum * std::polar(1.0, -0.5 * t)).real(), -2e-5) << g << " at " << t;
    }
  }
}

}  // namespace
}  // namespace bathline::certificate_test
