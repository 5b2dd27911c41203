// Energy transfer by Lyapunov equations against the energies of the runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_study.hpp"

namespace bathline::lyapunov_test {
namespace {

std::string recipe(const std::string& damping = "damping = 126.49110640673517") {
  return R"(title = "t"
[system]
kind = "dual-oscillator"
m0 = 300.0
M0 = 200.0
k0 = 1000.0
K0 = 1000.0
q0 = [150.0, 0.0]
v0 = [0.0, 50.0]
)" + damping +
         R"(
[time]
step = 0.01
end = 5.0
[[integrators]]
method = "gamma"
name = "variational"
on = "open"
[[integrators]]
method = "implicit-euler"
name = "implicit"
on = "open"
[[integrators]]
method = "explicit-euler"
name = "explicit"
on = "open"
[[integrators]]
method = "exact"
name = "exact"
on = "open"
[[integrators]]
method = "gamma"
gamma = 0.5
name = "midpoint"
on = "open"
[output]
every = 10
[study]
kind = "energy-transfer"
)";
}

TEST(MpiLyapunov, NormsAreThoseOfThePaper) {
  const RunStudy run(recipe());
  EXPECT_NEAR(run.value("energy-transfer/variational/norm_difference"), 2.8816, 5e-5);
  EXPECT_NEAR(run.value("energy-transfer/implicit/norm_difference"), 135.85, 5e-3);
  EXPECT_NEAR(run.value("energy-transfer/explicit/norm_difference"), 223.67, 5e-3);
  EXPECT_NEAR(run.value("energy-transfer/variational/norm_theory"), 500.0, 1e-9);  // diag(K0, M0, k0, m0) / 2
  // The sum of the paper has an error for the exact flow, too. The numbers are from an independent implementation.
  EXPECT_NEAR(run.value("energy-transfer/exact/norm_difference"), 1.2694188, 1e-6);
  EXPECT_NEAR(run.value("energy-transfer/midpoint/norm_difference"), 1.2808918, 1e-6);
  // With displacements the midpoint rule has W itself (footnote 8), and the exact flow does not.
  EXPECT_LT(run.value("energy-transfer/midpoint/norm_difference_displacements"), 1e-9);
  EXPECT_NEAR(run.value("energy-transfer/exact/norm_difference_displacements"), 0.0217201, 1e-6);
}

TEST(MpiLyapunov, TheoryIsWhatTheExactRunDissipates) {
  // Trajectories and theory are recorded at the same times: the last interval may be shorter, or the only one.
  for (const char* every : {"every = 10", "every = 300", "every = 1000"}) {
    SCOPED_TRACE(every);
    std::string text = recipe();
    const RunStudy run(text.replace(text.find("every = 10"), 10, every));
    const std::vector<double> transferred = run.values("energy-transfer/exact/energy_transferred");
    const std::vector<double> stored = run.values("energy-transfer/exact/energy_stored");
    const std::vector<double> dissipated = run.values("exact/energy_dissipated"),
                              particles = run.values("exact/energy_particles");
    ASSERT_EQ(transferred.size(), dissipated.size());
    ASSERT_EQ(run.values("energy-transfer/variational/energy_stored").size(), dissipated.size());
    ASSERT_EQ(run.values("energy-transfer/variational/energy_symmetry").size(), dissipated.size());
    const double start = particles.front();
    for (std::size_t i = 0; i < dissipated.size(); ++i) {
      EXPECT_NEAR(transferred[i], dissipated[i], 1e-9 * start);
      EXPECT_NEAR(stored[i], particles[i], 1e-9 * start);
    }
    EXPECT_GT(dissipated.back(), 0.3 * start);
  }
}

TEST(MpiLyapunov, DiscreteTransferAddsUpTheStepsOfTheRun) {
  const RunStudy run(recipe());
  // Transferred in a step: h v^T C v with the velocities at its start, from the recorded run at its records.
  const std::vector<double> transferred = run.values("energy-transfer/variational/energy_transferred");
  const std::vector<double> stored = run.values("energy-transfer/variational/energy_stored");
  for (std::size_t i = 0; i < stored.size(); ++i) {
    EXPECT_NEAR(transferred[i] + stored[i], stored[0], 1e-9 * stored[0]);
    if (i > 0) {
      EXPECT_LE(stored[i], stored[i - 1]);
    }
  }
  EXPECT_NEAR(transferred.back(), run.values("variational/energy_dissipated").back(), 1e-9 * stored[0]);
  const std::vector<double> error = run.values("energy-transfer/variational/error_stored");
  const std::vector<double> theory = run.values("energy-transfer/exact/energy_stored");
  for (std::size_t i = 0; i < error.size(); ++i) EXPECT_NEAR(error[i], stored[i] - theory[i], 1e-9 * stored[0]);
}

// The invariant that every integrator has in place of the energy, from its own run.
TEST(MpiLyapunov, StoredAndTransferredAddUpToAConstant) {
  const RunStudy run(recipe() + "[[integrators]]\nmethod = \"stoermer-verlet\"\nname = \"verlet\"\non = \"open\"\n");
  for (const std::string label : {"variational", "implicit", "explicit", "midpoint", "verlet", "exact"}) {
    const std::vector<double> symmetry = run.values("energy-transfer/" + label + "/energy_symmetry");
    ASSERT_EQ(symmetry.size(), 51u);
    for (double value : symmetry) EXPECT_NEAR(value, symmetry.front(), 1e-11 * symmetry.front()) << label;
  }
  // That of the variational scheme is the paper's W_d, those of midpoint rule and exact flow are the energy.
  EXPECT_NEAR(run.value("energy-transfer/variational/symmetry_difference"), 2.8816, 5e-5);
  EXPECT_LT(run.value("energy-transfer/midpoint/symmetry_difference"), 1e-7);
  EXPECT_LT(run.value("energy-transfer/exact/symmetry_difference"), 1e-7);
  EXPECT_GT(run.value("energy-transfer/implicit/symmetry_difference"), 1.0);
  EXPECT_NEAR(run.values("energy-transfer/midpoint/energy_symmetry").front(),
              run.values("midpoint/energy_particles").front(), 1e-9 * run.values("midpoint/energy_particles").front());
}

TEST(MpiLyapunov, WantsALinearSystemThatComesToRest) {
  EXPECT_THAT(report_of(recipe("damping = 0.0")),
              testing::AllOf(testing::HasSubstr("r.toml:"), testing::HasSubstr("has an undamped mode")));
  EXPECT_THAT(report_of(R"(title = "t"
[system]
kind = "kepler"
M = 1.0
mu = 1.0
alpha = 0.1
q0 = [[1.0, 0.0]]
[time]
step = 0.01
end = 1.0
[[integrators]]
method = "gamma"
on = "open"
[study]
kind = "energy-transfer"
)"),
              testing::AllOf(testing::HasSubstr("r.toml:15:"), testing::HasSubstr("not quadratic")));
}

}  // namespace
}  // namespace bathline::lyapunov_test
