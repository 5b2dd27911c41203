// Measured orders, and the round-off plateau that must not spoil them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "run_study.hpp"

namespace bathline {
namespace {

std::string recipe(const std::string& integrator, const std::string& steps) {
  return R"(title = "t"
[system]
kind = "single-oscillator"
m = 1.0
k = 1.0
damping = 0.2
q0 = [1.0]
[time]
step = 0.5
end = 4.0
[[integrators]]
label = "case"
on = "open"
)" + integrator +
         "\n[study]\nkind = \"convergence\"\nstep_sizes = " + steps + "\n";
}

TEST(MpiConvergence, FindsTheOrderAndTheErrors) {
  const RunStudy run(recipe("name = \"gamma\"\ngamma = 0.5", "[0.05, 0.2, 0.1, 0.025]"));
  ASSERT_EQ(run.report, "");
  // In the order of falling steps, whatever the recipe's.
  EXPECT_EQ(run.values("convergence/case/step"), (std::vector<double>{0.2, 0.1, 0.05, 0.025}));
  EXPECT_NEAR(run.value("convergence/case/order_q"), 2.0, 0.03);
  EXPECT_NEAR(run.value("convergence/case/order_p"), 2.0, 0.03);
  EXPECT_NEAR(run.value("convergence/case/order_energy"), 2.0, 0.1);
  EXPECT_EQ(run.values("convergence/case/used_q"), std::vector<double>(4, 1.0));

  // The error is that of the last position: the closed form and the midpoint rule by hand.
  const double omega = std::sqrt(1.0 - 0.01);
  const double exact = std::exp(-0.4) * (std::cos(4.0 * omega) + 0.1 / omega * std::sin(4.0 * omega));
  double q = 1.0, p = 0.0;
  for (int k = 0; k < 20; ++k) {
    const double h = 0.2;
    // p+ = p - h (q + q+)/2 - 0.2 (q+ - q), q+ = q + h (p + p+)/2.
    const double end = (p * (1.0 - 0.1 * h - 0.25 * h * h) - h * q) / (1.0 + 0.1 * h + 0.25 * h * h);
    q += h * (p + end) / 2.0;
    p = end;
  }
  EXPECT_NEAR(run.value("convergence/case/error_q"), std::abs(q - exact), 1e-12);
}

TEST(MpiConvergence, LeavesOutWhatRoundOffCovers) {
  const RunStudy run(
      recipe("name = \"rk4\"", "[0.2, 0.1, 0.05, 0.025, 0.0125, 0.004, 0.002, 0.001, 0.0005, 0.00025, 0.000125]"));
  ASSERT_EQ(run.report, "");
  const std::vector<double> used = run.values("convergence/case/used_q"),
                            errors = run.values("convergence/case/error_q");
  EXPECT_NEAR(run.value("convergence/case/order_q"), 4.0, 0.05);
  EXPECT_EQ(used.front(), 1.0);
  EXPECT_EQ(used.back(), 0.0);
  // Once on the plateau there is no way back.
  for (std::size_t i = 1; i < used.size(); ++i) EXPECT_LE(used[i], used[i - 1]);
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i] == 0.0) {
      EXPECT_LT(errors[i], 1e-10);
    }
  }
}

TEST(MpiConvergence, HasNoOrderWhereAllIsRoundOff) {
  const RunStudy run(recipe("name = \"rk4\"", "[0.0005, 0.00025]"));
  ASSERT_EQ(run.report, "");
  EXPECT_TRUE(std::isnan(run.value("convergence/case/order_q")));
}

TEST(MpiConvergence, MeasuresClosedSystemsAgainstTheirOwnFlow) {
  std::string text = recipe("name = \"stoermer-verlet\"", "[0.1, 0.05, 0.025]");
  text.replace(text.find("\"open\""), 6, "\"closed\"");
  text.insert(text.find("[time]"), "[[environment]]\nkind = \"spring-mass-line\"\nsites = 90\nM = 0.2\nlambda = 1.0\n");
  const RunStudy run(text);
  ASSERT_EQ(run.report, "");
  EXPECT_NEAR(run.value("convergence/case/order_q"), 2.0, 0.05);
}

TEST(MpiConvergence, WantsStepsWithinTheStabilityLimit) {
  // The step of [time] is not taken, so that it may be anything; the limit is 2 / omega.
  const std::string text = recipe("name = \"stoermer-verlet\"", "[4.0, 2.0, 0.5]");
  const std::string far = text.substr(0, text.find("step = 0.5")) + "step = 4.0" + text.substr(text.find("\nend"));
  EXPECT_THAT(RunStudy(far).report,
              testing::AllOf(testing::HasSubstr("r.toml:17:1: case: step = 4 is beyond the stability limit"),
                             testing::Not(testing::HasSubstr("\n"))));
  const RunStudy within(recipe("name = \"stoermer-verlet\"", "[1.0, 0.5]"));
  EXPECT_EQ(within.report, "");
  EXPECT_THAT(within.experiment().warnings(), testing::IsEmpty());
  // Refused no longer, but spoken of, each step.
  const RunStudy allowed(recipe("name = \"stoermer-verlet\"\nallow_unstable = true", "[4.0, 2.5, 0.5]"));
  EXPECT_THAT(allowed.report, testing::HasSubstr("2.5 does not divide"));
  EXPECT_THAT(allowed.experiment().warnings(), testing::ElementsAre(testing::HasSubstr("step = 4 is beyond"),
                                                                    testing::HasSubstr("step = 2.5 is beyond")));
}

TEST(MpiConvergence, WarnsOfStepsBeyondTheLimitOfANonlinearSystem) {
  const RunStudy run(R"(title = "t"
[system]
kind = "kepler"
M = 1.0
mu = 1.0
q0 = [[1.0, 0.0]]
v0 = [[0.0, 1.0]]
[[environment]]
kind = "spring-mass-line"
sites = 100
M = 0.1
lambda = 10.0
[time]
step = 0.1
end = 4.0
[[integrators]]
name = "rk4"
on = "closed"
[study]
kind = "convergence"
step_sizes = [0.2, 0.02]
)");
  EXPECT_EQ(run.report, "");
  EXPECT_THAT(run.experiment().warnings(),
              testing::ElementsAre(testing::HasSubstr("step = 0.2 is beyond the stability limit")));
}

TEST(MpiConvergence, WantsStepsThatDivideTheEnd) {
  EXPECT_THAT(RunStudy(recipe("name = \"rk4\"", "[0.3, 0.1]")).report,
              testing::AllOf(testing::HasSubstr("r.toml:"), testing::HasSubstr("0.3")));
}

}  // namespace
}  // namespace bathline
