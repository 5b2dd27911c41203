// Measured orders, and the exclusion of the round-off plateau.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "random/streams.hpp"
#include "run_study.hpp"

namespace bathline::convergence_test {
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
name = "case"
on = "open"
)" + integrator +
         "\n[study]\nkind = \"convergence\"\nstep_sizes = " + steps + "\n";
}

TEST(MpiConvergence, FindsTheOrderAndTheErrors) {
  const RunStudy run(recipe("method = \"gamma\"\ngamma = 0.5", "[0.05, 0.2, 0.1, 0.025]"));
  // In the order of falling steps, independent of that in the recipe.
  EXPECT_EQ(run.values("convergence/case/step"), (std::vector<double>{0.2, 0.1, 0.05, 0.025}));
  EXPECT_NEAR(run.value("convergence/case/order_q"), 2.0, 0.03);
  EXPECT_NEAR(run.value("convergence/case/order_p"), 2.0, 0.03);
  EXPECT_NEAR(run.value("convergence/case/order_energy"), 2.0, 0.1);
  EXPECT_EQ(run.values("convergence/case/used_q"), std::vector<double>(4, 1.0));

  // The error of the last position, from the closed form and the midpoint rule by hand.
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

TEST(MpiConvergence, HasAllLabelsSideBySide) {
  const std::string more = "method = \"gamma\"\ngamma = 0.5\n[[integrators]]\nmethod = \"rk4\"\non = \"open\"\n";
  const RunStudy run(recipe(more, "[0.2, 0.1, 0.05]"));
  EXPECT_EQ(run.values("convergence/step"), run.values("convergence/rk4/step"));
  for (const char* name : {"error_q", "error_energy", "used_p", "order_p", "work"}) {
    std::vector<double> both;
    for (const char* label : {"case", "rk4"}) {
      const std::vector<double> one = run.values(fmt::format("convergence/{}/{}", label, name));
      both.insert(both.end(), one.begin(), one.end());
    }
    EXPECT_EQ(run.values(fmt::format("convergence/{}", name)), both) << name;
  }
}

TEST(MpiConvergence, TakesErrorsBeforeTheEndWhereAskedTo) {
  const std::string rule = "method = \"gamma\"\ngamma = 0.5";
  const RunStudy whole(recipe(rule, "[0.2, 0.1]"));
  const RunStudy at(with(recipe(rule, "[0.2, 0.1]\nat = 4.0\ntrajectories = true"), "end = 4.0", "end = 6.0"));
  EXPECT_EQ(at.values("convergence/case/error_q"), whole.values("convergence/case/error_q"));
  EXPECT_EQ(at.value("convergence/end"), 4.0);
  // The recorded run continues to the end with its own step.
  EXPECT_EQ(at.values("case/time").size(), 13u);
  EXPECT_EQ(at.values("case/time").back(), 6.0);
  EXPECT_THAT(report_of(recipe(rule, "[0.2, 0.1]\nat = 4.1")),
              testing::AllOf(testing::HasSubstr("at = 4.1 is later than the end 4"), testing::HasSubstr("r.toml:")));
}

/// Two uncoupled particles, each with its own potential.
std::string pair(const std::string& start, const std::string& study) {
  return "title = \"t\"\nseed = 5\n[system]\nkind = \"pair-potential\"\nmasses = [1.0, 2.0]\nexternals = [{ kind = "
         "\"harmonic\", k = 2.0 }, { kind = \"quartic\", k = 1.0, beta = 0.5 }]\ndamping = [0.2, 0.4]\n" +
         start +
         "[time]\nstep = 0.1\nend = 2.0\n[[integrators]]\nmethod = \"stoermer-verlet\"\nname = \"case\"\non = "
         "\"open\"\n[study]\nkind = \"convergence\"\nstep_sizes = [0.1, 0.05]\n" +
         study;
}

TEST(MpiConvergence, TellsParticlesApart) {
  const RunStudy both(pair("q0 = [1.0, 0.7]\nv0 = [0.0, 0.3]\n", ""));
  const RunStudy first(pair("q0 = [1.0, 0.0]\nv0 = [0.0, 0.0]\n", ""));
  const RunStudy second(pair("q0 = [0.0, 0.7]\nv0 = [0.0, 0.3]\n", ""));
  for (std::size_t i = 0; i < 2; ++i) {
    const double error_of_first = first.values("convergence/case/error_q")[i];
    const double error_of_second = second.values("convergence/case/error_q")[i];
    EXPECT_NEAR(both.values("convergence/case/error_q_0")[i], error_of_first, 1e-12);
    EXPECT_NEAR(both.values("convergence/case/error_q_1")[i], error_of_second, 1e-12);
    EXPECT_EQ(both.values("convergence/case/error_q")[i],
              std::max(both.values("convergence/case/error_q_0")[i], both.values("convergence/case/error_q_1")[i]));
    EXPECT_NE(error_of_first, error_of_second);
  }
  EXPECT_NEAR(both.value("convergence/case/order_p_1"), 2.0, 0.1);
}

TEST(MpiConvergence, AveragesOverRandomStarts) {
  const std::string start = "q0 = [1.0, 0.5]\nv0 = [0.2, 0.0]\n";
  const RunStudy run(pair(start, "starts = 6\nspread_q = 0.5\nspread_v = 0.1\n"));
  // The same starts one by one, drawn as documented: Philox by (seed, start), an entry per degree of freedom.
  std::vector<double> mean(2, 0.0), least(2, 1e300), largest(2, 0.0);
  for (std::uint32_t i = 0; i < 6; ++i) {
    double q[2] = {1.0, 0.5}, v[2] = {0.2, 0.0};
    for (int j = 0; j < 2; ++j) {
      const auto [for_q, for_v] = uniform_pair(streams::convergence_starts.key(5, i), static_cast<std::uint64_t>(j));
      q[j] += 0.5 * (2.0 * for_q - 1.0);
      v[j] += 0.1 * (2.0 * for_v - 1.0);
      EXPECT_LE(std::abs(2.0 * for_q - 1.0), 1.0);
    }
    char text[200];
    std::snprintf(text, sizeof text, "q0 = [%.17g, %.17g]\nv0 = [%.17g, %.17g]\n", q[0], q[1], v[0], v[1]);
    const RunStudy one(pair(text, ""));
    for (std::size_t s = 0; s < 2; ++s) {
      const double error = one.values("convergence/case/error_q")[s];
      mean[s] += error / 6.0;
      least[s] = std::min(least[s], error);
      largest[s] = std::max(largest[s], error);
    }
  }
  for (std::size_t s = 0; s < 2; ++s) {
    EXPECT_NEAR(run.values("convergence/case/error_q")[s], mean[s], 1e-14);
    EXPECT_EQ(run.values("convergence/case/least_error_q")[s], least[s]);
    EXPECT_EQ(run.values("convergence/case/largest_error_q")[s], largest[s]);
    EXPECT_LT(least[s], largest[s]);
  }
  EXPECT_THAT(report_of(pair(start, "starts = 3\n")), testing::HasSubstr("all starts would be the same"));
  EXPECT_THAT(report_of(pair(start, "spread_v = 0.1\n")), testing::HasSubstr("give `starts`"));
  EXPECT_THAT(report_of(pair(start, "starts = 0\n")), testing::HasSubstr("must be at least 1"));
}

TEST(MpiConvergence, CountsTheWork) {
  // One kick a step, or four stages.
  const auto work = [](const std::string& text) { return RunStudy(text).values("convergence/case/work"); };
  EXPECT_EQ(work(recipe("method = \"gamma\"\ngamma = 0.0", "[0.1, 0.05]")), (std::vector<double>{40.0, 80.0}));
  EXPECT_EQ(work(recipe("method = \"rk4\"", "[0.1, 0.05]")), (std::vector<double>{160.0, 320.0}));
  // On a line the forces on all 90 sites count as well.
  std::string text = with(recipe("method = \"rk4\"", "[0.1, 0.05]"), "\"open\"", "\"closed\"", "[time]",
                          "[[environments]]\nkind = \"spring-mass-line\"\nsites = 90\nM = 0.2\nlambda = 1.0\n[time]");
  EXPECT_EQ(work(text), (std::vector<double>{160.0 * 91.0, 320.0 * 91.0}));
  // A force counts like that of a potential.
  const auto typed_as = [](const std::string& keys) {
    std::string all = recipe("method = \"gauss\"", "[0.1, 0.05]");
    const std::size_t at = all.find("kind = \"single");
    return all.replace(at, all.find("q0") - at, "kind = \"formula\"\ncoordinates = [\"x\"]\nmasses = [1.0]\n" + keys);
  };
  const std::vector<double> potential = work(typed_as("V = \"x^4/4\"\n"));
  EXPECT_GT(potential[0], 80.0);
  EXPECT_EQ(work(typed_as("V = \"0\"\nforce = [\"-x^3\"]\n")), potential);
  // Forces of a Lagrangian count as well, and the velocities of the momenta cost more.
  text = recipe("method = \"rk4\"", "[0.1, 0.05]");
  const std::size_t from = text.find("kind = \"single");
  text.replace(from, text.find("q0") - from,
               "kind = \"lagrangian\"\ncoordinates = [\"x\"]\nL = \"0.5*x_dot^2 - x^4/4\"\n");
  const std::vector<double> typed = work(text);
  EXPECT_GE(typed[0], 160.0);
  EXPECT_LE(typed[0], 8.0 * 160.0);
  EXPECT_NEAR(typed[1], 2.0 * typed[0], 8.0);
}

TEST(MpiConvergence, LeavesOutWhatRoundOffCovers) {
  const RunStudy run(
      recipe("method = \"rk4\"", "[0.2, 0.1, 0.05, 0.025, 0.0125, 0.004, 0.002, 0.001, 0.0005, 0.00025, 0.000125]"));
  const std::vector<double> used = run.values("convergence/case/used_q"),
                            errors = run.values("convergence/case/error_q");
  EXPECT_NEAR(run.value("convergence/case/order_q"), 4.0, 0.05);
  EXPECT_EQ(used.front(), 1.0);
  EXPECT_EQ(used.back(), 0.0);
  // No point after the plateau begins is used.
  for (std::size_t i = 1; i < used.size(); ++i) EXPECT_LE(used[i], used[i - 1]);
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i] == 0.0) {
      EXPECT_LT(errors[i], 1e-10);
    }
  }
}

TEST(MpiConvergence, HasNoOrderWhereAllIsRoundOff) {
  const RunStudy run(recipe("method = \"rk4\"", "[0.0005, 0.00025]"));
  EXPECT_TRUE(std::isnan(run.value("convergence/case/order_q")));
}

TEST(MpiConvergence, MeasuresClosedSystemsAgainstTheirOwnFlow) {
  const RunStudy run(with(recipe("method = \"stoermer-verlet\"", "[0.1, 0.05, 0.025]"), "\"open\"", "\"closed\"",
                          "[time]",
                          "[[environments]]\nkind = \"spring-mass-line\"\nsites = 90\nM = 0.2\nlambda = 1.0\n[time]"));
  EXPECT_NEAR(run.value("convergence/case/order_q"), 2.0, 0.05);
}

TEST(MpiConvergence, WantsStepsWithinTheStabilityLimit) {
  // The step of [time] is not used, so that it may be any; the limit is 2 / omega.
  const std::string text = recipe("method = \"stoermer-verlet\"", "[4.0, 2.0, 0.5]");
  const std::string far = text.substr(0, text.find("step = 0.5")) + "step = 4.0" + text.substr(text.find("\nend"));
  EXPECT_THAT(report_of(far),
              testing::AllOf(testing::HasSubstr("r.toml:17:1: case: step = 4 is beyond the stability limit"),
                             testing::Not(testing::HasSubstr("\n"))));
  const RunStudy within(recipe("method = \"stoermer-verlet\"", "[1.0, 0.5]"));
  EXPECT_THAT(within.warnings(), testing::IsEmpty());
  // Unstable steps are allowed, with a warning for each.
  const RunStudy allowed(recipe("method = \"stoermer-verlet\"\nallow_unstable = true", "[4.0, 2.5, 0.5]"),
                         RunStudy::May::fail);
  EXPECT_THAT(allowed.report, testing::HasSubstr("2.5 does not divide"));
  EXPECT_THAT(allowed.warnings(), testing::ElementsAre(testing::HasSubstr("step = 4 is beyond"),
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
[[environments]]
kind = "spring-mass-line"
sites = 100
M = 0.1
lambda = 10.0
[time]
step = 0.1
end = 4.0
[[integrators]]
method = "rk4"
on = "closed"
[study]
kind = "convergence"
step_sizes = [0.2, 0.02]
)");
  EXPECT_THAT(run.warnings(), testing::ElementsAre(testing::HasSubstr("step = 0.2 is beyond the stability limit")));
}

/// Gauss' method on a particle of energy 0.5 in front of a wall of height 5 and width 0.17.
std::string wall(const std::string& steps, const std::string& more = "") {
  return R"recipe(title = "t"
[system]
kind = "formula"
coordinates = ["x"]
masses = [1.0]
V = "5*exp(-100*(x - 10)^2)"
q0 = [0.0]
v0 = [1.0]
[time]
step = 0.02
end = 20.0
[[integrators]]
method = "gauss"
stages = 2
name = "case"
on = "open"
[study]
kind = "convergence"
step_sizes = )recipe" +
         steps + "\n" + more;
}

// By the reference the particle is reflected, as by all steps that resolve the wall.
TEST(MpiConvergence, TakesNoStepOfTheReferenceBeyondTheSmallestOfTheList) {
  const RunStudy run(wall("[0.02, 0.01, 0.005]"));
  EXPECT_LT(run.values("convergence/case/error_q").back(), 1e-3);
  EXPECT_NEAR(run.value("convergence/case/order_q"), 4.0, 0.3);
}

TEST(MpiConvergence, EstimatesTheErrorOfTheReference) {
  const RunStudy fine(wall("[0.02, 0.01, 0.005]")), coarse(wall("[0.02, 0.01, 0.005]", "reference_tolerance = 1e-5\n"));
  const double estimate = coarse.value("convergence/case/reference_error_q"),
               error = std::abs(coarse.value("convergence/case/error_q") - fine.value("convergence/case/error_q"));
  EXPECT_GE(estimate, 0.2 * error);
  EXPECT_GE(estimate, fine.value("convergence/case/reference_error_q"));
  EXPECT_LT(estimate, 1e-3);
  EXPECT_GT(fine.value("convergence/case/reference_error_q"), 0.0);
  EXPECT_LT(fine.value("convergence/case/reference_error_q"), 1e-10);
  const std::vector<double> errors = coarse.values("convergence/case/error_q"),
                            used = coarse.values("convergence/case/used_q");
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (errors[i] < 10.0 * estimate) {
      EXPECT_EQ(used[i], 0.0) << i;
    }
  }
  EXPECT_THAT(report_of(wall("[0.02, 0.01]", "reference_tolerance = 0.1\n")),
              testing::HasSubstr("`reference_tolerance` must lie between 1e-15, round-off, and 1e-3"));
}

// Velocities approach 1, so that Newton's method must start from those of the step before.
TEST(MpiConvergence, HasAReferenceForARelativisticParticle) {
  std::string text = wall("[0.2, 0.1, 0.05]");
  const std::size_t from = text.find("kind = \"formula\"");
  text.replace(from, text.find("[time]") - from,
               "kind = \"lagrangian\"\ncoordinates = [\"x\"]\nL = \"-sqrt(1 - x_dot^2) + x\"\nq0 = [0.0]\nv0 = "
               "[0.0]\n");
  const RunStudy run(text);
  EXPECT_LT(run.values("convergence/case/error_q").back(), 1e-3);
}

TEST(MpiConvergence, WantsStepsThatDivideTheEnd) {
  EXPECT_THAT(report_of(recipe("method = \"rk4\"", "[0.3, 0.1]")),
              testing::AllOf(testing::HasSubstr("r.toml:"), testing::HasSubstr("0.3")));
}

}  // namespace
}  // namespace bathline::convergence_test
