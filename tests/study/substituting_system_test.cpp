// A damped time-centred step is a symplectic step of its substituting system; steps without one are counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "steppers/step_matrix.hpp"
#include "run_study.hpp"
#include "scene.hpp"
#include "study/theory/substituting_system.hpp"

namespace bathline::substitution_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::AllOf;
using testing::HasSubstr;

ParticleSystem linear_system(const VectorXd& mass, const MatrixXd& stiffness) {
  return make_particles(mass, std::make_shared<QuadraticPotential>(stiffness));
}

ParticleSystem single(double m, double k) {
  return linear_system(VectorXd::Constant(1, m), MatrixXd::Constant(1, 1, k));
}

MatrixXd defect(const MatrixXd& matrix) {
  const Eigen::Index n = matrix.rows() / 2;
  MatrixXd j = MatrixXd::Zero(2 * n, 2 * n);
  j.topRightCorner(n, n).setIdentity();
  j.bottomLeftCorner(n, n) = -MatrixXd::Identity(n, n);
  return matrix.transpose() * j * matrix - j;
}

// With one particle F^T J F - J = (det F - 1) J, and det F1 = (1 + tau^2 K/4m - tau C/2m) / (1 + tau^2 K/4m + tau
// C/2m).
TEST(MpiSubstitution, OneParticleByHand) {
  const double m = 2.0, k = 3.0, c = 0.25, tau = 0.5;
  const SubstitutingSystem system(single(m, k), MatrixXd::Constant(1, 1, c), tau);
  const double stiff = tau * tau * k / (4.0 * m), drag = tau * c / (2.0 * m);
  const double determinant = (1.0 + stiff - drag) / (1.0 + stiff + drag);
  EXPECT_NEAR(system.damped_matrix().determinant(), determinant, 1e-15);
  EXPECT_NEAR(system.damped_defect(), 1.0 - determinant, 1e-15);
  const VectorXd q = VectorXd::Constant(1, 0.75), p = VectorXd::Constant(1, -0.5);
  // (1 + stiff + drag) q+ = (1 - stiff + drag) q + tau p / m.
  const double next = ((1.0 - stiff + drag) * 0.75 + tau * -0.5 / m) / (1.0 + stiff + drag);
  EXPECT_NEAR(system.damped_step(q, p)[0], next, 1e-15);
  const SubstitutingSystem::Substitute step = system.substitute(q, p);
  ASSERT_TRUE(step.is_defined);
  const double spring = 2.0 * c * (next - 0.75) / (tau * (next + 0.75));
  EXPECT_NEAR(step.stiffness[0], spring, 1e-14);
  // The undamped step with k + spring.
  const double x = tau * tau * (k + spring) / (4.0 * m);
  const MatrixXd expected = MatrixXd{{1.0 - x, tau / m}, {-tau * (k + spring), 1.0 - x}} / (1.0 + x);
  EXPECT_LT((step.matrix - expected).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_LT(std::abs(step.difference[0]), 1e-15);
}

// F1 is the step of the integrator, which does not use these matrices.
TEST(MpiSubstitution, DampedMatrixIsTheIntegratorsStep) {
  RandomNumbers random(31);
  const MatrixXd half = random_matrix(3, 3, random), other = random_matrix(3, 3, random);
  const MatrixXd damping = 0.3 * other * other.transpose();
  const VectorXd mass{{1.0, 2.0, 0.5}};
  const ParticleSystem system = linear_system(mass, half * half.transpose());
  Problem problem(system, damping, {}, test_world());
  const MatrixXd in_velocities = step_matrix(methods().find("time-centred")->scheme(Section()), problem, 0.3);
  VectorXd scale(6);
  scale << VectorXd::Ones(3), mass;
  const MatrixXd step = scale.asDiagonal() * in_velocities * scale.cwiseInverse().asDiagonal();
  EXPECT_LT((SubstitutingSystem(system, damping, 0.3).damped_matrix() - step).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(MpiSubstitution, SubstituteIsSymplecticAndLeadsToTheSameState) {
  RandomNumbers random(32);
  for (int sample = 0; sample < 50; ++sample) {
    const MatrixXd half = random_matrix(3, 3, random), other = random_matrix(3, 2, random);
    const VectorXd mass{{1.0, 2.0, 0.5}}, q = random_matrix(3, 1, random), p = random_matrix(3, 1, random);
    const SubstitutingSystem system(linear_system(mass, half + half.transpose()), other * other.transpose(), 0.2);
    EXPECT_GT(system.damped_defect(), 1e-3);
    const SubstitutingSystem::Substitute step = system.substitute(q, p);
    ASSERT_TRUE(step.is_defined);
    VectorXd z(6);
    z << q, p;
    const VectorXd difference = step.matrix * z - system.damped_matrix() * z;
    const double size = step.matrix.squaredNorm() * (1.0 + z.norm());
    EXPECT_LT(difference.cwiseAbs().maxCoeff(), 1e-14 * size);
    EXPECT_LT(step.difference.cwiseAbs().maxCoeff(), 1e-14 * size);
    EXPECT_NEAR(step.defect, defect(step.matrix).cwiseAbs().maxCoeff(), 1e-15 * step.matrix.squaredNorm());
    EXPECT_LT(step.defect, 1e-14 * step.matrix.squaredNorm());
  }
}

// m = 1, K = 16, C = 4, tau = 1/2 from q = 1, p = -8: 12 q+ = 4 q + 2 p, all without rounding, so q+ = -1 = -q.
const double tau = 0.5;

TEST(MpiSubstitution, NoSpringGivesAForceAtTheOrigin) {
  const SubstitutingSystem system(single(1.0, 16.0), MatrixXd::Constant(1, 1, 4.0), tau);
  const VectorXd q = VectorXd::Constant(1, 1.0), p = VectorXd::Constant(1, -8.0);
  ASSERT_EQ(system.damped_step(q, p)[0], -1.0);
  const SubstitutingSystem::Substitute step = system.substitute(q, p);
  EXPECT_EQ(step.undefined, 1);
  EXPECT_FALSE(step.is_defined);
  EXPECT_EQ(step.stiffness[0], -std::numeric_limits<double>::infinity());
  // Another component stays defined, but the step has no F2.
  const ParticleSystem two = linear_system(VectorXd{{1.0, 1.0}}, 16.0 * MatrixXd::Identity(2, 2));
  const SubstitutingSystem pair(two, 4.0 * MatrixXd::Identity(2, 2), tau);
  const SubstitutingSystem::Substitute both = pair.substitute(VectorXd{{1.0, 2.0}}, VectorXd{{-8.0, 0.0}});
  EXPECT_EQ(both.undefined, 1);
  EXPECT_FALSE(both.is_defined);
  EXPECT_TRUE(std::isfinite(both.stiffness[1]));
  // A nearby step has a very stiff spring, whose force is about that of the damping.
  const SubstitutingSystem::Substitute near = system.substitute(q, VectorXd::Constant(1, -8.0 * (1.0 + 1e-9)));
  ASSERT_TRUE(near.is_defined);
  EXPECT_GT(std::abs(near.stiffness[0]), 1e9);
  EXPECT_LT(near.defect, 1e-14 * near.matrix.squaredNorm());
  EXPECT_LT(near.difference.cwiseAbs().maxCoeff(), 1e-6);
}

TEST(MpiSubstitution, QuotientsBeyondTheRangeOfNumbersAreNone) {
  // The second particle pulls the first, which is so heavy that q + q+ is about 1e-298: the quotient with a force of
  // 1e10 overflows.
  const ParticleSystem heavy = linear_system(VectorXd{{1e306, 1.0}}, MatrixXd::Zero(2, 2));
  const SubstitutingSystem system(heavy, MatrixXd{{1.0, -1.0}, {-1.0, 1.0}}, 0.1);
  const VectorXd q = VectorXd::Zero(2), p{{0.0, 1e10}};
  const double position = system.damped_step(q, p)[0];
  ASSERT_GT(std::abs(position), 0.0);
  ASSERT_LT(std::abs(position), 1e-297);
  const SubstitutingSystem::Substitute step = system.substitute(q, p);
  EXPECT_EQ(step.undefined, 1);
  EXPECT_FALSE(step.is_defined);
}

TEST(MpiSubstitution, WhereThereIsNoForceNoSpringIsNeeded) {
  const SubstitutingSystem system(linear_system(VectorXd{{1.0, 1.0}}, MatrixXd::Zero(2, 2)),
                                  MatrixXd{{1.0, -1.0}, {-1.0, 1.0}}, tau);
  const SubstitutingSystem::Substitute rest = system.substitute(VectorXd{{0.0, 1.0}}, VectorXd::Zero(2));
  EXPECT_EQ(rest.undefined, 0);
  ASSERT_TRUE(rest.is_defined);
  EXPECT_EQ(rest.stiffness, VectorXd::Zero(2));
  EXPECT_EQ(rest.difference, VectorXd::Zero(4));
}

// If q + tau p / 2 = 0, the spring is defined with 1 + tau^2 (K + K~)/4 = 0, and its equations are singular.
TEST(MpiSubstitution, SpringsWhoseStepDoesNotExistHaveNoMatrix) {
  const SubstitutingSystem system(single(1.0, 16.0), MatrixXd::Constant(1, 1, 4.0), tau);
  const SubstitutingSystem::Substitute step =
      system.substitute(VectorXd::Constant(1, 1.0), VectorXd::Constant(1, -4.0));
  // 12 q+ = 4 - 8: q+ = -1/3, K~ = 8 (-4/3) / (1/2 x 2/3) = -32, 1 + (16 - 32)/16 = 0 up to rounding.
  EXPECT_NEAR(step.stiffness[0], -32.0, 1e-12);
  EXPECT_EQ(step.undefined, 0);
  if (!step.is_defined) return;
  EXPECT_GT(step.matrix.norm(), 1e13);
}

std::string recipe(const std::string& system, const std::string& rest, const std::string& methods, int steps = 20) {
  return "title = \"t\"\n[system]\n" + system + "[time]\nstep = 0.5\nsteps = " + std::to_string(steps) + "\n" +
         methods + "[study]\nkind = \"substituting-system\"\n" + rest;
}
const std::string time_centred = "[[integrators]]\nmethod = \"time-centred\"\non = \"open\"\n";
const std::string two =
    "kind = \"linear\"\nM = [1.0, 2.0]\nK = [[3.0, -1.0], [-1.0, 2.0]]\nC = [[0.3, -0.1], [-0.1, 0.2]]\n"
    "q0 = [1.0, -0.5]\nv0 = [0.2, 0.3]\n";

TEST(MpiSubstitution, FollowsARunAndKeepsItsLedger) {
  const RunStudy run(recipe(two, "[output]\nevery = 3\n", time_centred));
  const std::string group = "substituting-system/time-centred/";
  EXPECT_GT(run.value(group + "damped_defect"), 1e-2);
  EXPECT_LT(run.value(group + "run_difference_q"), 1e-14);
  EXPECT_LT(run.value(group + "run_difference_p"), 1e-14);
  EXPECT_EQ(run.value(group + "undefined_steps"), 0.0);
  const std::vector<double> time = run.values(group + "time");
  ASSERT_EQ(time.size(), 7u);  // 3, 6, ..., 18, 20
  EXPECT_EQ(time.front(), 1.5);
  EXPECT_EQ(time.back(), 10.0);
  EXPECT_EQ(run.values(group + "stiffness").size(), 14u);
  for (const std::string name : {"defect", "difference_q", "difference_p"}) {
    const std::vector<double> values = run.values(group + name);
    ASSERT_EQ(values.size(), 7u);
    EXPECT_EQ(*std::max_element(values.begin(), values.end()), run.value(group + "largest_" + name));
  }
  const std::vector<double> ledger = run.values("time-centred/energy_total");
  const std::vector<double> dissipated = run.values("time-centred/energy_dissipated");
  for (double total : ledger) EXPECT_NEAR(total, ledger.front(), 1e-14 * ledger.front());
  EXPECT_GT(dissipated.back(), 0.2 * ledger.front());
}

TEST(MpiSubstitution, StepsWithoutSubstituteAreLeftOutAndCounted) {
  const RunStudy run(recipe("kind = \"linear\"\nM = [1.0]\nK = [4.0]\nC = [4.0]\nq0 = [1.0]\nv0 = [-8.0]\n",
                            "[output]\nevery = 1\n", time_centred, 10));
  const std::string group = "substituting-system/time-centred/";
  EXPECT_EQ(run.value(group + "undefined_steps"), 1.0);
  EXPECT_EQ(run.value(group + "undefined_components"), 1.0);
  EXPECT_EQ(run.value(group + "first_undefined_step"), 1.0);
  const std::vector<double> defects = run.values(group + "defect"), undefined = run.values(group + "undefined");
  ASSERT_EQ(defects.size(), 10u);
  EXPECT_TRUE(std::isnan(defects[0]));
  EXPECT_EQ(undefined[0], 1.0);
  for (std::size_t i = 1; i < defects.size(); ++i) {
    EXPECT_FALSE(std::isnan(defects[i])) << i;
    EXPECT_EQ(undefined[i], 0.0);
  }
  // Maxima do not include them.
  EXPECT_EQ(*std::max_element(defects.begin() + 1, defects.end()), run.value(group + "largest_defect"));
}

// One particle with an offset: the area is invariant for the substitute, and is multiplied by det F1 = 1.015/1.025 in
// each step of the damped system.
TEST(MpiSubstitution, BesideTheCurve) {
  std::string text = recipe("kind = \"linear\"\nM = [1.0]\nK = [2.0]\nC = [0.05]\nq0 = [0.1]\nv0 = [0.2]\n",
                            "offset = 0.01\n", time_centred, 200);
  const RunStudy run(text.replace(text.find("step = 0.5"), 10, "step = 0.2"));
  const std::string group = "substituting-system/time-centred/";
  const std::vector<double> area = run.values(group + "area"), damped = run.values(group + "damped_area");
  const std::vector<double> offset_q = run.values(group + "offset_q"),
                            offset_damped_q = run.values(group + "offset_damped_q");
  ASSERT_EQ(area.size(), 200u);
  ASSERT_EQ(offset_q.size(), 200u);
  double expected = -0.01 * 0.2;
  for (std::size_t k = 0; k < area.size(); ++k) {
    expected *= 1.015 / 1.025;
    EXPECT_NEAR(area[k], -0.002, 1e-13);
    EXPECT_NEAR(damped[k], expected, 1e-14);
  }
  // The first step by hand, with the stiffness of the curve.
  const double stiffness = run.values(group + "stiffness").front(), x = 0.25 * 0.04 * (2.0 + stiffness);
  EXPECT_NEAR(offset_q.front(), ((1.0 - x) * 0.11 + 0.2 * 0.2) / (1.0 + x), 1e-15);
  EXPECT_NEAR(offset_damped_q.front(), ((1.0 - 0.02 + 0.005) * 0.11 + 0.2 * 0.2) / 1.025, 1e-15);
  EXPECT_GT(run.value(group + "largest_growth"), 1.0);
  EXPECT_FALSE(RunStudy(recipe(two, "", time_centred)).has(group + "area"));
}

TEST(MpiSubstitution, SaysWhatItLacks) {
  EXPECT_THAT(report_of(recipe(two, "", "[[integrators]]\nmethod = \"rk4\"\non = \"open\"\n")),
              AllOf(HasSubstr("r.toml:16:"), HasSubstr("method = \"time-centred\"")));
  EXPECT_THAT(report_of(recipe("kind = \"pair-potential\"\nmasses = [1.0]\nexternal = { kind = \"quartic\", k = 1.0, "
                               "beta = 1.0 }\nq0 = [1.5]\ndamping = [0.1]\n",
                               "", time_centred)),
              AllOf(HasSubstr("r.toml:15:"), HasSubstr("not quadratic")));
  EXPECT_THAT(
      report_of(recipe(two, "",
                       "[[integrators]]\nmethod = \"time-centred\"\nname = \"substituting-system\"\non = \"open\"\n")),
      HasSubstr("reserved for the program"));
}

}  // namespace
}  // namespace bathline::substitution_test
