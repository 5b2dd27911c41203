// Kernels of compositions against chains that are long enough, kick by kick.
#include "model/semi_infinite_line/multistage_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "method_cases.hpp"

namespace bathline::staged_kernel_test {
namespace {

constexpr const char* compositions[] = {"yoshida4", "suzuki4", "kahan-li6", "blanes-moan4", "blanes-moan-rkn6"};

KickDriftSequence turns(const std::string& name) {
  return *kick_drift_sequence_of(std::get<ExplicitScheme>(method_case(name).scheme));
}

/// Forces over lambda at all kicks of `steps` steps on a chain of M = lambda = 1 whose head moves by 1 in one drift of
/// the first step.
std::vector<double> forces_on_chain(const KickDriftSequence& turns, double courant, int drift, int steps) {
  const int sites = 3 + steps * (turns.stages() + 1);
  std::vector<double> w(static_cast<std::size_t>(sites) + 2), p(w);  // the head is site 0, the last one is held
  std::vector<double> forces;
  for (int step = 0; step < steps; ++step) {
    for (int stage = 0; stage < turns.stages(); ++stage) {
      const auto at = static_cast<std::size_t>(stage);
      for (std::size_t j = 1; j + 1 < w.size(); ++j) w[j] += turns.drifts[at] * courant * p[j];
      if (step == 0 && stage == drift) w[0] = 1.0;
      forces.push_back(w[1] - w[0]);
      for (std::size_t j = 1; j + 1 < w.size(); ++j) {
        p[j] += turns.kicks[at] * courant * (w[j - 1] - 2.0 * w[j] + w[j + 1]);
      }
    }
  }
  return forces;
}

TEST(MultistageKernel, IsThatOfALongChain) {
  constexpr int steps = 14;
  for (const char* name : compositions) {
    const KickDriftSequence of = turns(name);
    for (const double courant : {0.2, 0.9 * max_courant(of)}) {
      const std::vector<Eigen::MatrixXd> kernel = exact_multistage_kernel(of, courant, steps);
      for (int j = 0; j < of.stages(); ++j) {
        const std::vector<double> forces = forces_on_chain(of, courant, j, steps);
        for (int n = 0; n < steps; ++n) {
          for (int i = n == 0 ? j : 0; i < of.stages(); ++i) {
            const double expected = -forces[static_cast<std::size_t>(n * of.stages() + i)];
            ASSERT_NEAR(kernel[static_cast<std::size_t>(n)](i, j), expected, 1e-12)
                << name << " " << courant << " " << n;
          }
        }
      }
    }
  }
}

TEST(MultistageKernel, ExponentialsAreItWithinTheirCertificate) {
  constexpr int steps = 300;
  for (const char* name : compositions) {
    const KickDriftSequence of = turns(name);
    for (const double part : {0.1, 0.5, 0.996}) {
      const double courant = part * max_courant(of);
      const MultistageKernel found = make_multistage_kernel(of, courant, 1e-12, 1e7);
      EXPECT_LE(found.certificate.error, 1e-12) << name << " " << courant;
      const std::vector<Eigen::MatrixXd> exact = exact_multistage_kernel(of, courant, steps);
      double error = 0.0;
      for (int n = found.lag(); n < steps; ++n) {
        Eigen::MatrixXcd sum = Eigen::MatrixXcd::Zero(of.stages(), of.stages());
        for (Eigen::Index m = 0; m < found.drives.cols(); ++m) {
          sum += std::pow(found.bases[static_cast<std::size_t>(m)], n - found.lag()) * found.weights.col(m) *
                 found.drives.col(m).transpose();
        }
        error += (sum.real() - exact[static_cast<std::size_t>(n)]).cwiseAbs().maxCoeff();
      }
      // Of sums over all drifts the largest one is a third and more.
      EXPECT_LE(error, 3.0 * 1e-12 * found.certificate.norm) << name << " " << courant;
    }
  }
}

TEST(MultistageKernel, StoermerVerletIsKnownByLegendrePolynomials) {
  const KickDriftSequence of{{1.0}, {1.0}};
  EXPECT_NEAR(max_courant(of), 1.0, 1e-12);
  const std::vector<Eigen::MatrixXd> kernel = exact_multistage_kernel(of, 0.37, 300);
  const std::vector<double> legendre = exact_line_kernel(DiscreteLine(0.37, 0.0), 301);
  for (std::size_t n = 0; n < kernel.size(); ++n) EXPECT_NEAR(kernel[n](0, 0), legendre[n + 1], 1e-14) << n;
}

// tr A = 2 - e + ..., whose first minimum ends what is known of it, and -2 does.
TEST(MultistageKernel, EndsWhereFasterModesTurnLess) {
  EXPECT_NEAR(max_courant(turns("yoshida4")), 0.59247482695726, 1e-9);
  EXPECT_NEAR(max_courant(turns("suzuki4")), 1.36048, 3e-5);
  EXPECT_NEAR(max_courant(turns("suzuki4")), 0.5 * method_case("suzuki4").properties.imaginary_axis_limit, 1e-6);
}

TEST(MultistageKernel, KicksAndDriftsGoByTurnsWhereverAStepBegins) {
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
}  // namespace bathline::staged_kernel_test
