// Contact systems of any order: Lagrangians that depend on their action, typed and built in.
//
// End points and errors are those of a prototype in another language; its references come from an integration of the
// equations of Herglotz of order 8 with tolerances of 2e-14. Symplectic defects of contact systems are those of the
// contact form, tests/study/contact_form_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "steppers/stepper.hpp"
#include "differences.hpp"
#include "driven.hpp"
#include "lagrangian_steps.hpp"
#include "model/natural_lagrangian.hpp"
#include "petsc_options.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"
#include "typed_lagrangian.hpp"

namespace bathline::contact_stages_test {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// q, p and z after `steps` steps up to `end`; fails the test where the steps do.
VectorXd advanced(Problem& problem, const Scheme& scheme, double end, std::int64_t steps) {
  const std::optional<Failure> failure =
      make_stepper(scheme, problem, end / static_cast<double>(steps))->advance(steps);
  EXPECT_FALSE(failure) << failure->reason;
  VectorXd x(2 * problem.q.size() + 1);
  x << problem.q, problem.p, problem.z;
  return x;
}

/// One coordinate with q = 1, v = 0.3 and z = 0.4 at the start.
ParticleSystem system_of(const std::string& L) {
  return typed_system(L, {"x"}, VectorXd::Constant(1, 1.0), VectorXd::Constant(1, 0.3), 0.4);
}

struct Subject {
  std::string L;
  Vector3d end;  // q, p and z at the time 2
};

const std::string rich = "(1 + x^2/2)*x_dot^2/2 + cos(x) - 0.3*z^2/2 - x_dot*z/5";
const std::vector<Subject> subjects = {
    {"x_dot^2/2 - x^2/2 - 0.3*z", {0.01672729781566, -0.80707371212381, 0.13045282785256}},
    {"x_dot^2/2 - x^2/2 + 0.3*z", {-0.34572289006289, -1.35772357999399, 0.69022776008865}},
    {"x_dot^2/2 + cos(x) - 0.3*z", {0.16315036027150, -0.79627461077001, 1.54574525022550}},
    {"x_dot^2/2 + cos(x) - 0.3*z^2/2", {0.17745913538355, -0.74082754944180, 1.72594537700844}},
    {rich, {0.64316313716753, -0.96323400002798, 1.48922315501622}}};

struct Row {
  std::string method;
  int per_second;
  std::vector<double> errors;  // by subject
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.method << " with h = 1/" << row.per_second; }

class ContactTable : public testing::TestWithParam<Row> {};

TEST_P(ContactTable, HasTheErrorsOfThePrototype) {
  const Row& row = GetParam();
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    Problem problem = problem_of(system_of(subjects[i].L));
    const VectorXd x = advanced(problem, scheme_of(row.method), 2.0, 2 * row.per_second);
    // Printed with three figures, those below 1e-10 with two, and the reference with fourteen.
    EXPECT_NEAR((x - subjects[i].end).cwiseAbs().maxCoeff(), row.errors[i],
                (row.errors[i] < 1e-10 ? 4e-2 : 6e-3) * row.errors[i] + 3e-13)
        << subjects[i].L;
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, ContactTable,
                         testing::Values(Row{"gauss(stages=1)", 10, {1.02e-3, 2.52e-3, 4.24e-4, 5.78e-4, 1.82e-4}},
                                         Row{"gauss(stages=1)", 20, {2.56e-4, 6.30e-4, 1.06e-4, 1.45e-4, 4.55e-5}},
                                         Row{"gauss(stages=2)", 5, {4.35e-6, 2.67e-6, 2.14e-6, 4.42e-6, 1.86e-6}},
                                         Row{"gauss(stages=2)", 10, {2.72e-7, 1.67e-7, 1.34e-7, 2.76e-7, 1.17e-7}},
                                         Row{"gauss(stages=2)", 20, {1.70e-8, 1.05e-8, 8.38e-9, 1.73e-8, 7.31e-9}},
                                         Row{"gauss(stages=3)", 5, {1.72e-10, 1.86e-9, 1.3e-10, 1.41e-9, 8.97e-10}},
                                         Row{"gauss(stages=3)", 10, {2.7e-12, 2.9e-11, 2.0e-12, 2.2e-11, 1.4e-11}},
                                         Row{"lobatto(stages=3)", 5, {3.09e-6, 5.87e-6, 3.00e-6, 4.54e-6, 2.81e-6}},
                                         Row{"lobatto(stages=3)", 10, {1.93e-7, 3.66e-7, 1.86e-7, 2.82e-7, 1.76e-7}},
                                         Row{"lobatto(stages=4)", 5, {7.14e-10, 1.55e-9, 8.09e-10, 1.74e-9, 1.03e-9}},
                                         Row{"lobatto(stages=4)", 10, {1.1e-11, 2.4e-11, 1.3e-11, 2.7e-11, 1.6e-11}}));

/// f = -v^3/5 + sin(2t)/2.
std::shared_ptr<const Force> friction_and_drive() {
  return std::make_shared<PlainForce>(
      [](const VectorXd&, const VectorXd& v, double t) -> VectorXd {
        return -0.2 * v.array().cube() + 0.5 * std::sin(2.0 * t);
      },
      [](const VectorXd&, const VectorXd&, double) -> MatrixXd { return MatrixXd::Zero(1, 1); },
      [](const VectorXd&, const VectorXd& v, double) -> MatrixXd { return -0.6 * v.array().square().matrix(); });
}

struct OrderOf {
  std::string method;
  double order;
  int per_second;
};

void PrintTo(const OrderOf& row, std::ostream* out) { *out << row.method; }

class ContactOrder : public testing::TestWithParam<OrderOf> {};

// With forces and time in L, and with the energy ledger.
TEST_P(ContactOrder, IsThatOfTheMethod) {
  const auto& [method, order, per_second] = GetParam();
  ParticleSystem system = system_of(rich + " + z*cos(t)/5");
  system.applied = friction_and_drive();
  const Vector3d end(0.9891930749137, -0.8186318281037, 1.2547749154411);
  const auto errors = [&, method = method](int steps) {
    Problem problem = problem_of(system);
    const double before = problem.energies().total();
    const VectorXd x = advanced(problem, scheme_of(method), 2.0, steps);
    return Vector2d((x - end).norm(), std::abs(problem.energies().total() - before));
  };
  const Vector2d coarse = errors(per_second * 2), fine = errors(per_second * 4);
  EXPECT_NEAR(std::log2(coarse[0] / fine[0]), order, 0.15);
  EXPECT_NEAR(std::log2(coarse[1] / fine[1]), order, 0.25);
}

INSTANTIATE_TEST_SUITE_P(Methods, ContactOrder,
                         testing::Values(OrderOf{"gamma(gamma=0.000000)", 1.0, 160},
                                         OrderOf{"gamma(gamma=0.250000)", 1.0, 160},
                                         OrderOf{"gamma(gamma=0.500000)", 2.0, 40},
                                         OrderOf{"gamma(gamma=1.000000)", 1.0, 160},
                                         OrderOf{"lobatto(stages=2)", 2.0, 40}, OrderOf{"lobatto(stages=3)", 4.0, 20},
                                         OrderOf{"gauss(stages=2)", 4.0, 20}, OrderOf{"gauss(stages=3)", 6.0, 10},
                                         OrderOf{"herglotz", 1.0, 160}, OrderOf{"rk4", 4.0, 40},
                                         OrderOf{"explicit-euler", 1.0, 320}, OrderOf{"implicit-euler", 1.0, 320}));

TEST(ContactExact, IsTheReference) {
  for (const Subject& subject : subjects) {
    Problem problem = problem_of(system_of(subject.L));
    const double before = problem.energies().total();
    EXPECT_LT((advanced(problem, ExactFlow{}, 2.0, 5) - subject.end).cwiseAbs().maxCoeff(), 3e-12) << subject.L;
    EXPECT_NEAR(problem.energies().total(), before, 1e-12) << subject.L;
    EXPECT_NEAR(problem.velocity()[0] * (subject.L == rich ? 1.0 + problem.q[0] * problem.q[0] / 2.0 : 1.0),
                problem.p[0] + (subject.L == rich ? problem.z / 5.0 : 0.0), 1e-12);
  }
}

// Masses, potential and gamma given as numbers or in a formula have the same path and energies that differ by gamma z
// only, which is in the ledger.
TEST(ContactParticle, IsItsLagrangian) {
  for (const double gamma : {-0.4, 0.25}) {
    ParticleSystem given =
        make_particles(Vector2d(1.3, 0.7), std::make_shared<QuarticPotential>(MatrixXd{{2.0, 0.5}, {0.5, 1.0}}, 0.8),
                       Vector2d(0.9, -0.3), Vector2d(0.2, 0.5));
    given.contact = Contact{.gamma = gamma, .z0 = 0.6, .q1 = {}};
    const std::string L = "0.65*x_dot^2 + 0.35*y_dot^2 - (2*x^2 + x*y + y^2)/2 - 0.8*(x^4 + y^4)/4";
    const ParticleSystem typed =
        typed_system(L + " + " + std::to_string(gamma) + "*z", {"x", "y"}, given.q0, given.v0, 0.6);
    for (const char* method : {"gauss(stages=2)", "lobatto(stages=3)", "rk4"}) {
      Problem built_in = problem_of(with_lagrangian(given)), formula = problem_of(typed),
              own = problem_of(given, -gamma * MatrixXd(given.mass.asDiagonal()));
      const double before = built_in.energies().total();
      const VectorXd x = advanced(built_in, scheme_of(method), 2.0, 40);
      EXPECT_LT((x - advanced(formula, scheme_of(method), 2.0, 40)).norm(), 1e-13) << method;
      EXPECT_LT((x - advanced(own, ExactFlow{}, 2.0, 4)).norm(), 1e-4) << method;
      EXPECT_NEAR(built_in.energies().particles, own.energies().particles, 1e-4) << method;
      EXPECT_NEAR(built_in.energies().dissipated, own.energies().dissipated, 1e-4) << method;
      EXPECT_NEAR(built_in.energies().particles, formula.energies().particles + gamma * formula.z, 1e-12) << method;
      EXPECT_NEAR(built_in.energies().total(), before, 1e-4) << method;
      EXPECT_GT(std::abs(built_in.energies().dissipated), 0.1) << method;
    }
  }
}

TEST(ContactParticle, HasTheDerivativesOfItsLagrangian) {
  ParticleSystem given =
      make_particles(Vector2d(1.3, 0.7), std::make_shared<QuarticPotential>(MatrixXd{{2.0, 0.5}, {0.5, 1.0}}, 0.8));
  given.contact = Contact{.gamma = -0.4, .z0 = 0.0, .q1 = {}};
  const NaturalLagrangian lagrangian(given);
  VectorXd x(6), gradient(6), shifted(6);
  x << 0.3, -0.8, 0.5, 0.2, 0.0, 0.9;
  lagrangian.gradient(x.data(), gradient.data());
  MatrixXd hessian(5, 5);
  lagrangian.hessian(x.data(), hessian.data());
  constexpr double increment = 1e-4;
  const std::vector<int> indices = {0, 1, 2, 3, 5};  // without time
  for (int i = 0; i < 5; ++i) {
    const VectorXd e = increment * VectorXd::Unit(6, indices[static_cast<std::size_t>(i)]);
    const VectorXd up = x + e, down = x - e;
    EXPECT_NEAR((lagrangian.value(up.data()) - lagrangian.value(down.data())) / (2.0 * increment),
                gradient[indices[static_cast<std::size_t>(i)]], 1e-7);
    VectorXd gradient_up(6), gradient_down(6);
    lagrangian.gradient(up.data(), gradient_up.data());
    lagrangian.gradient(down.data(), gradient_down.data());
    for (int j = 0; j < 5; ++j) {
      const int index = indices[static_cast<std::size_t>(j)];
      EXPECT_NEAR((gradient_up[index] - gradient_down[index]) / (2.0 * increment), hessian(j, i), 1e-7);
    }
  }
  EXPECT_TRUE(lagrangian.depends_on_action());
}

// h L((q + q+)/2, (q+ - q)/h, z) is the discrete Lagrangian of simoes2020.
TEST(ContactHerglotz, IsTheSchemeOfTheBuiltInSystems) {
  for (const double gamma : {-0.4, 0.25}) {
    ParticleSystem given =
        make_particles(VectorXd::Ones(1), std::make_shared<QuadraticPotential>(MatrixXd::Identity(1, 1)),
                       VectorXd::Constant(1, 1.0), VectorXd::Constant(1, 0.3));
    given.contact = Contact{.gamma = gamma, .z0 = 0.4, .q1 = {}};
    Problem built_in = problem_of(given), typed = problem_of(with_lagrangian(given));
    EXPECT_LT((advanced(built_in, HerglotzScheme{}, 2.0, 20) - advanced(typed, scheme_of("herglotz"), 2.0, 20)).norm(),
              1e-13);
  }
}

// p = dL/dx_dot of a cyclic coordinate is scaled as the contact form is: with dL/dz = g by (1 + g h/2)/(1 - g h/2) in
// a step of the midpoint rule. Two such coordinates keep the ratio of their momenta whatever dL/dz is.
TEST(ContactMomenta, OfCyclicCoordinatesAreScaledTogether) {
  const ParticleSystem system = typed_system(
      "(1 + x^2/2)*x_dot^2/2 + (y_dot^2 + (1.5 + sin(x))*w_dot^2 + 0.3*y_dot*w_dot)/2 + cos(x) - 0.3*z^2/2",
      {"x", "y", "w"}, Vector3d(0.4, 0.0, 0.1), Vector3d(0.3, 0.7, -0.5), 0.4);
  for (const char* method :
       {"gauss(stages=1)", "gauss(stages=3)", "lobatto(stages=3)", "gamma(gamma=0.250000)", "herglotz"}) {
    Problem problem = problem_of(system);
    const double ratio = problem.p[1] / problem.p[2], first = problem.p[1];
    advanced(problem, scheme_of(method), 10.0, 100);
    EXPECT_NEAR(problem.p[1] / problem.p[2], ratio, 1e-13 * std::abs(ratio)) << method;
    EXPECT_GT(std::abs(problem.p[1] / first - 1.0), 0.3) << method;
  }
  Problem linear = problem_of(
      typed_system("(x_dot^2 + y_dot^2)/2 + cos(x) + 0.2*z", {"x", "y"}, Vector2d(0.4, 0.0), Vector2d(0.3, 0.7), 0.4));
  advanced(linear, scheme_of("gauss(stages=1)"), 10.0, 100);
  EXPECT_NEAR(linear.p[1], 0.7 * std::pow(1.01 / 0.99, 100), 1e-12);
}

// H' = dL/dz H: the energy divided by the product of all sigma is conserved. The momentum of a cyclic coordinate is
// proportional to that product.
TEST(ContactEnergy, OverTheScaleOfTheFormHasNoDrift) {
  const ParticleSystem system = typed_system("(x_dot^2 + y_dot^2)/2 + cos(x) - 1 - 0.01*z", {"x", "y"},
                                             Vector2d(1.0, 0.0), Vector2d(0.3, 1.0), 0.0);
  for (const auto& [method, bound] :
       {std::pair("gauss(stages=1)", 4e-3), std::pair("gauss(stages=2)", 1e-5), std::pair("lobatto(stages=3)", 2e-5)}) {
    Problem problem = problem_of(system);
    const std::unique_ptr<Stepper> stepper = make_stepper(scheme_of(method), problem, 0.2);
    const double start = problem.energies().particles;
    double max_deviation = 0.0;
    for (int i = 0; i < 200; ++i) {
      ASSERT_FALSE(stepper->advance(10));
      max_deviation = std::max(max_deviation, std::abs(problem.energies().particles / problem.p[1] - start));
    }
    EXPECT_LT(max_deviation, bound) << method;
    EXPECT_LT(problem.p[1], 0.02) << method;
  }
}

TEST(ContactPetsc, SolvesTheSameStages) {
  Problem own = problem_of(system_of(rich)), petsc = problem_of(system_of(rich));
  const VectorXd expected = advanced(own, scheme_of("gauss(stages=2)"), 2.0, 20);
  const PetscOptionsScope options({{"-snes_max_it", "40"}, {"-snes_rtol", "1e-14"}});
  EXPECT_LT((advanced(petsc, scheme_of("gauss(stages=2)"), 2.0, 20) - expected).norm(), 1e-12);
}

// 1 - h dL/dz / 2 is negative.
TEST(ContactStep, ThatChangesTheSignOfTheFormIsRefused) {
  Problem problem = problem_of(system_of("x_dot^2/2 - x^2/2 + 30*z"));
  const std::optional<Failure> failure = make_stepper(scheme_of("gauss(stages=1)"), problem, 0.1)->advance(1);
  ASSERT_TRUE(failure.has_value());
  EXPECT_THAT(failure->reason, testing::HasSubstr("too large for dL/dz"));
}

}  // namespace
}  // namespace bathline::contact_stages_test
