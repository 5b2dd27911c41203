// Kernels of compositions against sufficiently long chains, kick by kick.
#include "model/semi_infinite_line/multistage_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "method_cases.hpp"

namespace bathline::multistage_kernel_test {
namespace {

constexpr const char* compositions[] = {"yoshida4", "suzuki4", "kahan-li6", "blanes-moan4", "blanes-moan-rkn6"};

KickDriftSequence sequence_of(const std::string& name) {
  return *kick_drift_sequence_of(std::get<ExplicitScheme>(method_case(name).scheme));
}

/// Forces over lambda at all kicks of `steps` steps on a chain of M = lambda = 1 whose head moves by 1 in
/// one drift of the first step.
std::vector<double> forces_on_chain(const KickDriftSequence& sequence, double courant, int drift, int steps) {
  const int sites = 3 + steps * (sequence.stages() + 1);
  std::vector<double> w(static_cast<std::size_t>(sites) + 2), p(w);  // site 0 is the head, the last one is clamped
  std::vector<double> forces;
  for (int step = 0; step < steps; ++step) {
    for (int stage = 0; stage < sequence.stages(); ++stage) {
      const auto index = static_cast<std::size_t>(stage);
      for (std::size_t j = 1; j + 1 < w.size(); ++j) w[j] += sequence.drifts[index] * courant * p[j];
      if (step == 0 && stage == drift) w[0] = 1.0;
      forces.push_back(w[1] - w[0]);
      for (std::size_t j = 1; j + 1 < w.size(); ++j) {
        p[j] += sequence.kicks[index] * courant * (w[j - 1] - 2.0 * w[j] + w[j + 1]);
      }
    }
  }
  return forces;
}

TEST(MultistageKernel, EqualsALongChain) {
  constexpr int steps = 14;
  for (const char* name : compositions) {
    const KickDriftSequence sequence = sequence_of(name);
    for (const double courant : {0.2, 0.9 * max_courant(sequence)}) {
      const std::vector<Eigen::MatrixXd> kernel = exact_multistage_kernel(sequence, courant, steps);
      for (int j = 0; j < sequence.stages(); ++j) {
        const std::vector<double> forces = forces_on_chain(sequence, courant, j, steps);
        for (int n = 0; n < steps; ++n) {
          for (int i = n == 0 ? j : 0; i < sequence.stages(); ++i) {
            const double expected = -forces[static_cast<std::size_t>(n * sequence.stages() + i)];
            ASSERT_NEAR(kernel[static_cast<std::size_t>(n)](i, j), expected, 1e-12)
                << name << " " << courant << " " << n;
          }
        }
      }
    }
  }
}

TEST(MultistageKernel, ExponentialsAreAccurateToTheirCertificate) {
  constexpr int steps = 300;
  for (const char* name : compositions) {
    const KickDriftSequence sequence = sequence_of(name);
    for (const double fraction : {0.1, 0.5, 0.996}) {
      const double courant = fraction * max_courant(sequence);
      const MultistageKernel kernel = make_multistage_kernel(sequence, courant, 1e-12, 1e7);
      EXPECT_LE(kernel.certificate.error, 1e-12) << name << " " << courant;
      const std::vector<Eigen::MatrixXd> exact = exact_multistage_kernel(sequence, courant, steps);
      double error = 0.0;
      for (int n = kernel.lag(); n < steps; ++n) {
        Eigen::MatrixXcd sum = Eigen::MatrixXcd::Zero(sequence.stages(), sequence.stages());
        for (Eigen::Index m = 0; m < kernel.drives.cols(); ++m) {
          sum += std::pow(kernel.bases[static_cast<std::size_t>(m)], n - kernel.lag()) * kernel.weights.col(m) *
                 kernel.drives.col(m).transpose();
        }
        error += (sum.real() - exact[static_cast<std::size_t>(n)]).cwiseAbs().maxCoeff();
      }
      // The largest entry is at least a third of the sum over all drifts.
      EXPECT_LE(error, 3.0 * 1e-12 * kernel.certificate.norm) << name << " " << courant;
    }
  }
}

TEST(MultistageKernel, StoermerVerletHasLegendrePolynomials) {
  const KickDriftSequence sequence{{1.0}, {1.0}};
  EXPECT_NEAR(max_courant(sequence), 1.0, 1e-12);
  const std::vector<Eigen::MatrixXd> kernel = exact_multistage_kernel(sequence, 0.37, 300);
  const std::vector<double> legendre = exact_line_kernel(DiscreteLine(0.37, 0.0), 301);
  for (std::size_t n = 0; n < kernel.size(); ++n) EXPECT_NEAR(kernel[n](0, 0), legendre[n + 1], 1e-14) << n;
}

// tr A = 2 - e + ...: the limit is its first minimum, or where it reaches -2.
TEST(MultistageKernel, EndsWhereThePhaseDecreases) {
  EXPECT_NEAR(max_courant(sequence_of("yoshida4")), 0.59247482695726, 1e-9);
  EXPECT_NEAR(max_courant(sequence_of("suzuki4")), 1.36048, 3e-5);
  EXPECT_NEAR(max_courant(sequence_of("suzuki4")), 0.5 * method_case("suzuki4").properties.imaginary_axis_limit, 1e-6);
}

TEST(MultistageKernel, SequencesAlternateWhereverAStepBegins) {
  const auto kick = [](double weight) { return Substep{Substep::Kind::kick, weight}; };
  const auto drift = [](double weight) { return Substep{Substep::Kind::drift, weight}; };
  const KickDriftSequence inside =
      *kick_drift_sequence_of(splitting({kick(0.1), drift(0.4), kick(0.5), drift(0.6), kick(0.2), kick(0.2)}));
  EXPECT_EQ(inside.drifts, (std::vector<double>{0.4, 0.6}));
  EXPECT_EQ(inside.kicks, (std::vector<double>{0.5, 0.2 + 0.2 + 0.1}));
  const KickDriftSequence outside =
      *kick_drift_sequence_of(splitting({drift(0.1), kick(0.5), drift(0.6), kick(0.5), drift(0.3)}));
  EXPECT_EQ(outside.drifts, (std::vector<double>{0.3 + 0.1, 0.6}));
  EXPECT_EQ(outside.kicks, (std::vector<double>{0.5, 0.5}));
  EXPECT_FALSE(kick_drift_sequence_of(std::get<ExplicitScheme>(method_case("rk4").scheme)));
}

}  // namespace
}  // namespace bathline::multistage_kernel_test
