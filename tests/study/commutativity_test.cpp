// Reduction and Legendre transform commute to round-off, and other schemes do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "run_study.hpp"
#include "study/theory/forced_lagrangian.hpp"
#include "study/theory/random_damping.hpp"

namespace bathline::commutativity_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string integrators = R"([[integrators]]
method = "gamma"
gamma = 0.0
name = "g0"
on = "open"
[[integrators]]
method = "gamma"
gamma = 0.3
name = "g30"
on = "open"
[[integrators]]
method = "gamma"
gamma = 1.0
name = "g100"
on = "open"
[[integrators]]
method = "rk4"
on = "open"
)";

/// Line 4 is the first of `system`.
std::string recipe(const std::string& system, const std::string& study, const std::string& methods = integrators) {
  return "title = \"t\"\n[system]\n" + system + "[time]\nstep = 0.05\nsteps = 60\n" + methods +
         "[study]\nkind = \"commutativity\"\n" + study;
}

const std::string chain =
    "kind = \"pair-potential\"\nmasses = [1.0, 2.0, 1.5]\npotential = { kind = \"quartic\", k = 1.0, beta = 3.0 }\n"
    "q0 = [-1.2, 0.1, 0.7]\nv0 = [0.3, 0.0, -0.4]\ndamping = [0.3, 0.1, 0.0]\n";
const std::string plane =
    "kind = \"pair-potential\"\nmasses = [1.0, 2.0]\npotential = { kind = \"morse\", depth = 1.0, width = 0.7, r0 = "
    "1.0 }\n"
    "external = { kind = \"harmonic\", k = 0.5 }\nq0 = [[0.5, 0.6], [-0.6, 0.0]]\nv0 = [[0.3, 0.0], [0.0, -0.4]]\n"
    "damping = [[0.3, -0.2], [-0.2, 0.2]]\n";

ParticleSystem system_of(const std::string& text) {
  const ReadRecipe read = valid_recipe(recipe(text, ""));
  return read.experiment->system();
}

TEST(MpiCommutativity, BranchesAgreeToRoundOff) {
  for (const std::string& system : {chain, plane}) {
    const RunStudy run(with(recipe(system, "random_dampings = 3\ndamping_scale = 0.4\n[output]\nevery = 7\n"),
                            "[system]", "seed = 5\n[system]"));
    for (const std::string label : {"g0", "g30", "g100"}) {
      SCOPED_TRACE(label);
      const std::string group = "commutativity/" + label + "/";
      EXPECT_GT(run.value(group + "amplitude_q"), 0.5);
      for (const std::string what : {"q", "p", "matching"}) {
        const std::vector<double> by_draw = run.values(group + "difference_" + what);
        const std::vector<double> by_time = run.values(group + "path_" + what);
        const double largest = run.value(group + "largest_" + what);
        // A difference of two independent computations is not 0.
        EXPECT_GT(largest, 0.0) << what;
        EXPECT_LT(largest, 1e-12) << what;
        EXPECT_EQ(by_draw.size(), 4u);
        EXPECT_EQ(by_time.size(), 9u);  // 7, 14, ..., 56, 60
        EXPECT_EQ(*std::max_element(by_draw.begin(), by_draw.end()), largest) << what;
        EXPECT_EQ(*std::max_element(by_time.begin(), by_time.end()), largest) << what;
      }
    }
    const std::vector<double> time = run.values("commutativity/g30/time");
    EXPECT_NEAR(time[0], 0.35, 1e-15);
    EXPECT_NEAR(time.back(), 3.0, 1e-15);
  }
}

/// Difference of q and p after `steps` steps of the integrator g and of the forced equations of `lagrangian`.
double difference(const ParticleSystem& system, const Eigen::MatrixXd& damping, double g, double h, int steps,
                  const ForcedLagrangian& lagrangian) {
  const Method& gamma = *methods().find("gamma");
  Section options;
  options.set("gamma", g, {});
  Problem problem(system, damping, {}, test_world());
  const std::unique_ptr<Stepper> stepper = make_stepper(gamma.scheme(options), problem, h);
  Eigen::VectorXd before = system.q0, q = *lagrangian.first(problem.q, problem.p);
  stepper->advance(1);
  for (int step = 1; step < steps; ++step) {
    const Eigen::VectorXd next = *lagrangian.next(before, q);
    before = q;
    q = next;
    stepper->advance(1);
  }
  problem.broadcast_particles();
  return (q - problem.q).cwiseAbs().maxCoeff() +
         (lagrangian.momentum_after(before, q) - problem.p).cwiseAbs().maxCoeff();
}

// Other schemes differ by far more than round-off: another member of the family by the order of the step, a discrete
// force of the wrong sign independently of the step.
TEST(MpiCommutativity, OtherSchemesAreSeen) {
  const ParticleSystem system = system_of(chain);
  const Eigen::MatrixXd damping = random_dampings(1, 3, 0.5, 9).front();
  for (const double h : {0.05, 0.025}) {
    const int steps = static_cast<int>(std::lround(1.0 / h));
    const auto against = [&](double g, const Eigen::MatrixXd& c) {
      return difference(system, damping, 0.25, h, steps, ForcedLagrangian(system, c, g, h));
    };
    EXPECT_LT(against(0.25, damping), 1e-12);
    EXPECT_GT(against(0.75, damping), 0.1 * h);
    EXPECT_GT(against(0.25, -damping), 0.1);
    EXPECT_GT(against(0.25, damping + 1e-6 * Eigen::MatrixXd::Identity(3, 3)), 1e-8);
  }
}

TEST(MpiCommutativity, FirstStepsOfAFreeParticleAreThoseByHand) {
  ParticleSystem system = system_of("kind = \"single-oscillator\"\nm = 2.0\nk = 8.0\ndamping = 0.5\nq0 = [1.0]\n");
  // g = 1/2, h = 1/2, V' at the middle, from rest:
  // p- = m (q1-q0)/h + h g k (q0+q1)/2 + g C (q1-q0) = 4 (q1 - 1) + 1 (q1 + 1) + 0.25 (q1 - 1) = 0, q1 = 3.25/5.25.
  const ForcedLagrangian lagrangian(system, *system.damping, 0.5, 0.5);
  const Eigen::VectorXd q0 = system.q0, q1 = *lagrangian.first(q0, Eigen::VectorXd::Zero(1));
  EXPECT_NEAR(q1[0], 3.25 / 5.25, 1e-15);
  EXPECT_NEAR(lagrangian.momentum_before(q0, q1)[0], 0.0, 1e-15);
  // p+ = 4 (q1 - 1) - (q1 + 1) - 0.25 (q1 - 1).
  EXPECT_NEAR(lagrangian.momentum_after(q0, q1)[0], 3.75 * (q1[0] - 1.0) - (q1[0] + 1.0), 1e-15);
  const Eigen::VectorXd q2 = *lagrangian.next(q0, q1);
  EXPECT_NEAR(lagrangian.momentum_before(q1, q2)[0], lagrangian.momentum_after(q0, q1)[0], 1e-14);
}

TEST(MpiCommutativity, RandomDampingsAreFullSymmetricAndPositiveSemiDefinite) {
  const std::vector<Eigen::MatrixXd> draws = random_dampings(5, 4, 0.7, 11);
  ASSERT_EQ(draws.size(), 5u);
  for (const Eigen::MatrixXd& c : draws) {
    EXPECT_EQ((c - c.transpose()).norm(), 0.0);
    EXPECT_NEAR(c.trace() / 4.0, 0.7, 1e-14);
    EXPECT_GT(c.cwiseAbs().minCoeff(), 0.0);
    for (const double x : {-1.0, 0.3, 2.0}) {
      const Eigen::VectorXd v = Eigen::VectorXd{{1.0, x, x * x, -x}};
      EXPECT_GE(v.dot(c * v), 0.0);
    }
  }
  EXPECT_NE(draws[0], draws[1]);
  EXPECT_EQ(random_dampings(2, 4, 0.7, 11)[1], draws[1]);
  EXPECT_NE(random_dampings(1, 4, 0.7, 12)[0], draws[0]);
  // The same on every machine: these are the first outputs of mt19937_64 with the default seed of the standard.
  const auto entry = [](std::uint64_t output) { return 2.0 * (static_cast<double>(output >> 11) * 0x1p-53) - 1.0; };
  const Eigen::Matrix2d a{{entry(14514284786278117030u), entry(4620546740167642908u)},
                          {entry(13109570281517897720u), entry(17462938647148434322u)}};
  const Eigen::Matrix2d gram = a * a.transpose();
  EXPECT_LT((random_dampings(1, 2, 0.5, 5489)[0] - gram / gram.trace()).norm(), 1e-15);
}

TEST(MpiCommutativity, SaysWhatItLacks) {
  EXPECT_THAT(report_of(recipe(chain, "random_dampings = 2\n")),
              AllOf(HasSubstr("r.toml:"), HasSubstr("`damping_scale`")));
  EXPECT_THAT(report_of(recipe(chain, "", "[[integrators]]\nmethod = \"rk4\"\non = \"open\"\n")),
              AllOf(HasSubstr("r.toml:"), HasSubstr("on = \"open\"")));
  EXPECT_THAT(
      report_of(recipe(chain, "", "[[integrators]]\nmethod = \"gamma\"\nname = \"commutativity\"\non = \"open\"\n")),
      HasSubstr("reserved for the program"));
}

TEST(MpiCommutativity, ADampingThatTheStepCannotFollowIsAFailure) {
  // The run with the system's own damping is stable; with the random one the explicit scheme diverges.
  const RunStudy run(recipe(chain, "random_dampings = 1\ndamping_scale = 1e4\n",
                            "[[integrators]]\nmethod = \"gamma\"\nname = \"g0\"\non = \"open\"\n"),
                     RunStudy::May::fail);
  ASSERT_TRUE(run.failure);
  EXPECT_EQ(run.failure->name, "g0");
  EXPECT_GT(run.failure->failure.step, 1);
  EXPECT_THAT(run.failure->failure.reason, HasSubstr("damping 1"));
}

}  // namespace
}  // namespace bathline::commutativity_test
