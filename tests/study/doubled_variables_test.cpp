// Doubled variables give the forced equations to round-off, and other forces do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "methods/catalogue.hpp"
#include "random_numbers.hpp"
#include "rank_subset.hpp"
#include "run_study.hpp"
#include "scene.hpp"
#include "study/theory/doubled_lagrangian.hpp"

namespace bathline::duplication_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::AllOf;
using testing::HasSubstr;

const std::string integrators = R"([[integrators]]
method = "gamma"
gamma = 0.5
name = "midpoint"
on = "open"
[[integrators]]
method = "gamma"
gamma = 0.0
name = "explicit"
on = "open"
[[integrators]]
method = "lobatto"
stages = 2
name = "lobatto-2"
on = "open"
[[integrators]]
method = "lobatto"
stages = 3
name = "lobatto-3"
on = "open"
[[integrators]]
method = "lobatto"
stages = 4
name = "lobatto-4"
on = "open"
[[integrators]]
method = "rk4"
on = "open"
)";
const std::vector<std::string> labels = {"midpoint", "explicit", "lobatto-2", "lobatto-3", "lobatto-4"};

/// Line 5 is the first of `system`.
std::string recipe(const std::string& system, const std::string& study, const std::string& methods = integrators) {
  return "title = \"t\"\nseed = 5\n[system]\n" + system + "[time]\nstep = 0.05\nsteps = 60\n" + methods +
         "[output]\nevery = 7\n[study]\nkind = \"doubled-variables\"\n" + study;
}

const std::string van_der_pol =
    "kind = \"coupled-van-der-pol\"\nepsilon = 0.5\nrho = 0.1\nlambda = 0.3\nq0 = [1.0, 0.5]\nv0 = [0.0, 0.5]\n";
const std::string plane =
    "kind = \"pair-potential\"\nmasses = [1.0, 2.0]\npotential = { kind = \"morse\", depth = 1.0, width = 0.7, r0 = "
    "1.0 }\n"
    "external = { kind = \"harmonic\", k = 0.5 }\nq0 = [[0.5, 0.6], [-0.6, 0.0]]\nv0 = [[0.3, 0.0], [0.0, -0.4]]\n"
    "damping = [[0.3, -0.2], [-0.2, 0.2]]\n";

/// Masses that depend on positions, friction that is not a gradient, and time in L, in the force and in the drive.
const std::string pendulum =
    "kind = \"lagrangian\"\ncoordinates = [\"a\", \"b\"]\nL = \"a_dot^2 + b_dot^2/2 + a_dot*b_dot*cos(a - b) + (2 + "
    "0.3*sin(t))*(2*cos(a) + cos(b))\"\nforce = [\"-0.2*a_dot - 0.1*a_dot^3*cos(b)\", \"0.1*(a_dot - b_dot) + "
    "0.5*sin(3*t)\"]\ndrive = [\"0.3*cos(2*t)\", \"0\"]\ndamping = [0.1, 0.2]\nq0 = [0.8, -0.5]\nv0 = [0.2, 0.4]\n";
const std::string driven =
    "kind = \"formula\"\ncoordinates = [\"x\"]\nmasses = [1.5]\nV = \"x^2/2 + x^4/4\"\nforce = [\"-0.2*x_dot^3 + "
    "0.5*cos(1.3*t)\"]\ndamping = [0.1]\nq0 = [0.7]\nv0 = [0.2]\n";

TEST(MpiDuplication, DoubledVariablesAgreeWithForcedEquationsAndIntegrators) {
  RankSubset subset(3);
  for (const std::string& system : {van_der_pol, plane, pendulum, driven}) {
    if (!subset.takes_next()) continue;
    SCOPED_TRACE(system);
    const RunStudy run(recipe(
        system, system == pendulum || system == driven ? "draws = 20\nspread = 0.1\n" : "draws = 20\nspread = 0.4\n"));
    for (const std::string& label : labels) {
      SCOPED_TRACE(label);
      const std::string group = "doubled-variables/" + label + "/";
      for (const std::string what : {"equations", "antisymmetry", "q", "p"}) {
        SCOPED_TRACE(what);
        const bool at_random = what == "equations" || what == "antisymmetry";
        const std::vector<double> differences = run.values(group + "difference_" + what);
        EXPECT_EQ(differences.size(), at_random ? 20u : 9u);  // 7, 14, ..., 56, 60
        EXPECT_EQ(*std::max_element(differences.begin(), differences.end()), run.value(group + "largest_" + what));
        EXPECT_LT(run.value(group + "largest_" + what), 1e-12);
        EXPECT_GT(run.value(group + "amplitude_" + what), 0.3);
        // A difference of two independent computations is not 0; exchanging x and y may be exact.
        if (what != "antisymmetry") {
          EXPECT_GT(run.value(group + "largest_" + what), 0.0);
        }
      }
    }
    const std::vector<double> time = run.values("doubled-variables/lobatto-3/time");
    EXPECT_NEAR(time[0], 0.35, 1e-15);
    EXPECT_NEAR(time.back(), 3.0, 1e-15);
  }
}

/// V = q^2/2 + 3 q^4/4, mass 2.
class Duffing final : public Potential {
 public:
  double value(const VectorXd& q) const override { return 0.5 * q[0] * q[0] + 0.75 * std::pow(q[0], 4.0); }
  void gradient(const VectorXd& q, VectorXd& gradient) const override { gradient = VectorXd::Constant(1, slope(q[0])); }
  void hessian(const VectorXd& q, MatrixXd& hessian) const override {
    hessian = MatrixXd::Constant(1, 1, 1.0 + 9.0 * q[0] * q[0]);
  }
  static double slope(double q) { return q + 3.0 * q * q * q; }
};

/// f = -s q^2 v.
class Drag final : public Force {
 public:
  explicit Drag(double strength) : strength_(strength) {}
  void value(const VectorXd& q, const VectorXd& v, double, VectorXd& force) const override {
    force = VectorXd::Constant(1, -strength_ * q[0] * q[0] * v[0]);
  }
  void jacobians(const VectorXd& q, const VectorXd& v, double, MatrixXd& by_q, MatrixXd& by_v) const override {
    by_q = MatrixXd::Constant(1, 1, -2.0 * strength_ * q[0] * v[0]);
    by_v = MatrixXd::Constant(1, 1, -strength_ * q[0] * q[0]);
  }

 private:
  double strength_;
};

constexpr double mass = 2.0, damping = 0.3, drag = 0.7, h = 0.2;

/// 2 q'' + q + 3 q^3 + 0.3 q' + strength q^2 q' = 0.
ParticleSystem oscillator(double strength = drag) {
  ParticleSystem system = make_particles(VectorXd::Constant(1, mass), std::make_shared<Duffing>(),
                                         VectorXd::Constant(1, 0.8), VectorXd::Constant(1, -0.5));
  system.force = std::make_shared<Drag>(strength);
  return system;
}

const MatrixXd c = MatrixXd::Constant(1, 1, damping);

double potential(double q) { return 0.5 * q * q + 0.75 * q * q * q * q; }
double friction(double q, double v) { return -(damping + drag * q * q) * v; }
double force(double q, double v) { return -Duffing::slope(q) + friction(q, v); }

MatrixXd row(std::initializer_list<double> values) {
  MatrixXd all(1, static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), all.data());
  return all;
}

// D1 L_d + f- and D2 L_d + f+ of a damped Duffing oscillator, derived by hand for every rule.
TEST(Duplication, DerivativesOnTheDiagonalAreTheForcedOnesByHand) {
  const double q0 = 0.8, q1 = 0.55, v = (q1 - q0) / h;
  const auto expect = [](const GalerkinRule& rule, const MatrixXd& nodes, const std::vector<double>& expected) {
    const DoubledLagrangian doubled(oscillator(), c, rule, h);
    const ForcedGalerkinPath forced(oscillator(), c, rule, h);
    const DoubledLagrangian::Action action = doubled.action(nodes, nodes);
    EXPECT_EQ(action.value, 0.0) << "nothing is left on the diagonal";
    for (Eigen::Index j = 0; j < nodes.cols(); ++j) {
      EXPECT_NEAR(action.by_x(0, j), expected[static_cast<std::size_t>(j)], 1e-14) << j;
      EXPECT_NEAR(action.by_y(0, j), -expected[static_cast<std::size_t>(j)], 1e-14) << j;
      EXPECT_NEAR(forced.impulses(nodes)(0, j), expected[static_cast<std::size_t>(j)], 1e-14) << j;
    }
  };
  const double middle = h / 2.0 * force((q0 + q1) / 2.0, v);
  expect(gamma_rule(0.5), row({q0, q1}), {-mass * v + middle, mass * v + middle});
  // The trapezoidal rule.
  expect(lobatto_rule(2), row({q0, q1}), {-mass * v + h / 2.0 * force(q0, v), mass * v + h / 2.0 * force(q1, v)});
  // Simpson's rule on the parabola through three positions.
  double inner = (q0 + q1) / 2.0;
  for (int i = 0; i < 60; ++i) inner = (q0 + q1) / 2.0 - h * h / (8.0 * mass) * force(inner, v);
  const double v0 = (-3.0 * q0 + 4.0 * inner - q1) / h, v1 = (q0 - 4.0 * inner + 3.0 * q1) / h;
  expect(lobatto_rule(3), row({q0, inner, q1}),
         {h / 6.0 * force(q0, v0) + mass * (-3.0 * v0 - 4.0 * v + v1) / 6.0, 0.0,
          h / 6.0 * force(q1, v1) + mass * (-v0 + 4.0 * v + 3.0 * v1) / 6.0});
}

// L~_d of the midpoint rule at any two pairs of positions, as an explicit formula.
TEST(Duplication, DoubledLagrangianIsThatOfThePaper) {
  RandomNumbers random(3);
  const DoubledLagrangian doubled(oscillator(), c, gamma_rule(0.5), h);
  for (int draw = 0; draw < 20; ++draw) {
    const double x0 = random.uniform(), x1 = random.uniform(), y0 = random.uniform(), y1 = random.uniform();
    const double x = (x0 + x1) / 2.0, y = (y0 + y1) / 2.0, u = (x1 - x0) / h, w = (y1 - y0) / h;
    const double expected = h * (mass * u * u / 2.0 - potential(x) - mass * w * w / 2.0 + potential(y) +
                                 (friction(x, u) + friction(y, w)) * (x - y) / 2.0);
    EXPECT_NEAR(doubled.action(row({x0, x1}), row({y0, y1})).value, expected, 1e-13);
  }
}

TEST(Duplication, DoubledLagrangianIsAntisymmetricAtItsStationaryPaths) {
  RandomNumbers random(4);
  for (const int stages : {2, 3, 4, 5}) {
    const DoubledLagrangian doubled(oscillator(), c, lobatto_rule(stages), h);
    for (int draw = 0; draw < 20; ++draw) {
      const MatrixXd x = row({random.uniform(), random.uniform()}), y = row({random.uniform(), random.uniform()});
      const auto there = doubled.stationary(x, y), back = doubled.stationary(y, x);
      ASSERT_TRUE(there && back);
      const DoubledLagrangian::Action action = doubled.action(there->x, there->y);
      for (Eigen::Index j = 1; j + 1 < stages; ++j) {
        EXPECT_NEAR(action.by_x(0, j), 0.0, 1e-12);
        EXPECT_NEAR(action.by_y(0, j), 0.0, 1e-12);
      }
      EXPECT_NEAR(action.value, -doubled.action(back->x, back->y).value, 1e-14);
      EXPECT_GT(std::abs(action.value), 1e-8);
      // Displacing the inner nodes by 1e-5 changes the value only to second order.
      MatrixXd moved = there->x;
      if (stages == 2) continue;
      moved.middleCols(1, stages - 2).array() += 1e-5;
      EXPECT_LT(std::abs(doubled.action(moved, there->y).value - action.value), 1e-7);
    }
  }
}

TEST(Duplication, PathsAreDifferentiatedAsThePolynomialsTheyAre) {
  for (const int stages : {2, 3, 4, 5}) {
    const GalerkinRule rule = lobatto_rule(stages);
    for (int power = 0; power < stages; ++power) {
      const VectorXd values = rule.nodes.array().pow(power);
      const VectorXd slopes = power * rule.nodes.array().pow(std::max(power - 1, 0));
      EXPECT_LT((rule.velocities * values - slopes).norm(), 1e-13);
      EXPECT_NEAR(rule.weights.dot(values), 1.0 / (power + 1.0), 1e-15);
    }
    // The path with one node more, evaluated at the nodes of the other one.
    const GalerkinRule pair = lobatto_pair_rule(stages);
    ASSERT_EQ(pair.nodes.size(), stages + 1);
    for (int power = 0; power <= stages; ++power) {
      const VectorXd values = pair.nodes.array().pow(power);
      const VectorXd slopes = power * rule.nodes.array().pow(std::max(power - 1, 0));
      EXPECT_LT((pair.positions * values - VectorXd(rule.nodes.array().pow(power))).norm(), 1e-14);
      EXPECT_LT((pair.velocities * values - slopes).norm(), 1e-13);
    }
    EXPECT_EQ(pair.weights, rule.weights);
  }
}

// A coupling without the factor 1/2 or with another sign doubles or reverses the force. Both, and a force that is wrong
// in its tenth digit, differ by more than round-off; the correct one does not.
TEST(Duplication, WrongForcesDifferByMoreThanRoundOff) {
  for (const int stages : {2, 3, 4}) {
    SCOPED_TRACE(stages);
    const ForcedGalerkinPath forced(oscillator(), c, lobatto_rule(stages), h);
    const auto difference = [&](double factor) {
      const DoubledLagrangian doubled(oscillator(factor * drag), factor * c, lobatto_rule(stages), h);
      RandomNumbers random(6);
      double largest = 0.0;
      for (int draw = 0; draw < 10; ++draw) {
        const VectorXd from = row({random.uniform()}), to = row({random.uniform()});
        const auto nodes = forced.between([&](const MatrixXd& at) { return doubled.action(at, at).by_x; }, from, to);
        const auto by_hand = forced.between([&](const MatrixXd& at) { return forced.impulses(at); }, from, to);
        const MatrixXd all = doubled.action(*nodes, *nodes).by_x - forced.impulses(*by_hand);
        largest = std::max({largest, std::abs(all(0, 0)), std::abs(all(0, stages - 1))});
      }
      return largest;
    };
    EXPECT_LT(difference(1.0), 1e-13);
    EXPECT_GT(difference(1.0), 0.0);
    EXPECT_GT(difference(1.0 + 1e-10), 1e-12);
    EXPECT_GT(difference(2.0), 1e-3);
    EXPECT_GT(difference(-1.0), 1e-3);
  }
}

/// The largest difference of positions and momenta if the doubled force is `factor` times the other.
double motion_difference(const std::string& name, double option, const GalerkinRule& rule, double factor) {
  Section options;
  if (name == "gamma") {
    options.set("gamma", option, {});
  } else {
    options.set("stages", static_cast<std::int64_t>(option), {});
  }
  Problem problem(oscillator(), c, {}, test_world());
  const std::unique_ptr<Stepper> stepper = make_stepper(methods().find(name)->scheme(options), problem, h);
  const DoubledLagrangian doubled(oscillator(factor * drag), factor * c, rule, h);
  const ForcedGalerkinPath forced(oscillator(), c, rule, h);
  VectorXd q = problem.q, p = problem.p;
  double largest = 0.0;
  for (int step = 0; step < 40; ++step) {
    EXPECT_FALSE(stepper->advance(1));
    problem.broadcast_particles();
    const auto by_doubling = [&](const MatrixXd& at) -> MatrixXd { return doubled.action(at, at).by_x; };
    const MatrixXd nodes = forced.leaving(by_doubling, q, p, p.cwiseQuotient(problem.system().mass)).value();
    p = by_doubling(nodes).rightCols(1);
    q = nodes.rightCols(1);
    largest = std::max({largest, std::abs(q[0] - problem.q[0]), std::abs(p[0] - problem.p[0])});
  }
  return largest;
}

TEST(MpiDuplication, MotionOfAnotherForceOrSchemeDiffersByMoreThanRoundOff) {
  for (const double g : {0.25, 0.5, 1.0}) {
    EXPECT_LT(motion_difference("gamma", g, gamma_rule(g), 1.0), 1e-13) << g;
    EXPECT_GT(motion_difference("gamma", g, gamma_rule(g), 1.0 + 1e-8), 1e-11) << g;
    EXPECT_GT(motion_difference("gamma", g, gamma_rule(1.1 - g), 1.0), 1e-5) << g;
  }
  for (const int stages : {2, 3, 4, 5}) {
    EXPECT_LT(motion_difference("lobatto", stages, lobatto_rule(stages), 1.0), 1e-13) << stages;
    EXPECT_GT(motion_difference("lobatto", stages, lobatto_rule(stages), 1.0 + 1e-8), 1e-11) << stages;
    EXPECT_GT(motion_difference("lobatto", stages, lobatto_rule(stages), -1.0), 1e-5) << stages;
  }
}

TEST(MpiDuplication, SaysWhatItLacks) {
  const std::string study = "spread = 0.4\n";
  const std::string line =
      "[[environments]]\nkind = \"spring-mass-line\"\nattach = 0\nsites = 5\nM = 1.0\nlambda = 1.0\n";
  const auto method = [](const std::string& rest) { return "[[integrators]]\n" + rest; };
  const auto named =
      AllOf(HasSubstr("r.toml:"),
            HasSubstr("`doubled-variables` examines [[integrators]] with method = \"gamma\" or \"lobatto\""));
  EXPECT_THAT(report_of(recipe(van_der_pol, study, method("method = \"rk4\"\non = \"open\"\n"))), named);
  EXPECT_THAT(report_of(recipe(van_der_pol, study, line + method("method = \"gamma\"\non = \"closed\"\n"))), named);
  EXPECT_THAT(report_of(recipe("kind = \"contact\"\ngamma = -0.2\nq0 = [1.0]\nv0 = [0.0]\n", study,
                               method("method = \"herglotz\"\non = \"open\"\n"))),
              AllOf(HasSubstr("r.toml:4:"), HasSubstr("depends on its action")));
  EXPECT_THAT(report_of(recipe(van_der_pol, "")), HasSubstr("`spread`"));
  EXPECT_THAT(report_of(recipe(van_der_pol, "spread = 0.4\ndraws = 0\n")), HasSubstr("draws = 0: must be positive"));
  EXPECT_THAT(report_of(recipe(van_der_pol, study,
                               method("method = \"lobatto\"\nname = \"doubled-variables\"\non = \"open\"\n"))),
              HasSubstr("reserved for the program"));
}

// A fit over two halvings is changed by the next term by b h / ln 2, with b about 2 and h about 0.06.
TEST(MpiDuplication, DiscreteLagrangiansHaveTheOrdersOfTheirMethods) {
  const RunStudy run(recipe(van_der_pol, "spread = 0.4\ndraws = 5\norder_steps = [0.06, 0.12, 0.03]\n"));
  const std::vector<double> orders = {2.0, 1.0, 2.0, 4.0, 6.0};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::string group = "doubled-variables/" + labels[i] + "/";
    EXPECT_NEAR(run.value(group + "order_lagrangian"), orders[i], 0.2) << labels[i];
    EXPECT_EQ(run.values(group + "step"), (std::vector<double>{0.12, 0.06, 0.03}));
    EXPECT_EQ(run.values(group + "error_lagrangian").size(), 3u);
  }
  EXPECT_FALSE(RunStudy(recipe(van_der_pol, "spread = 0.4\ndraws = 2\n")).has("doubled-variables/midpoint/step"));
}

TEST(MpiDuplication, PositionsThatNoPathJoinsAreAFailure) {
  const RunStudy run(recipe(van_der_pol, "spread = 1e4\n", "[[integrators]]\nmethod = \"lobatto\"\non = \"open\"\n"),
                     RunStudy::May::fail);
  ASSERT_TRUE(run.failure);
  EXPECT_EQ(run.failure->name, "lobatto");
  EXPECT_THAT(run.failure->failure.reason, AllOf(HasSubstr("draw"), HasSubstr("spread")));
}

}  // namespace
}  // namespace bathline::duplication_test
