// Systems and potentials given by formulas against the same ones in C++, and mistakes in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "petsc_world.hpp"
#include "random_numbers.hpp"
#include "recipe_text.hpp"
#include "steppers/stepper.hpp"

namespace bathline::formula_system_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ReadRecipe read(const std::string& system, const std::vector<std::string>& settings = {}) {
  return read_recipe("title = \"t\"\n[system]\n" + system +
                         "\n[time]\nstep = 0.001\nsteps = 10\n[[integrators]]\nmethod = \"gamma\"\non = \"open\"\n",
                     settings);
}

const std::string start = "damping = [0.0, 0.0]\nq0 = [0.1, -0.2]\nv0 = [0.5, 0.0]\n";
const std::string plane = "kind = \"formula\"\ncoordinates = [\"x\", \"y\"]\nmasses = [1.0, 2.0]\n" + start;

TEST(FormulaSystem, CanBeHenonHeiles) {
  const ReadRecipe recipe = read(plane + "V = \"0.5*(x^2 + y^2) + c*(x^2*y - y^3/3)\"\nparameters = { c = 1 }");
  ASSERT_EQ(recipe.report(), "");
  const ParticleSystem& system = recipe.experiment->system();
  EXPECT_EQ(system.particles, 2);
  EXPECT_EQ(system.axes, 1);
  EXPECT_EQ(system.mass, Eigen::VectorXd(Eigen::Vector2d(1.0, 2.0)));
  EXPECT_EQ(system.v0, Eigen::VectorXd(Eigen::Vector2d(0.5, 0.0)));
  EXPECT_FALSE(system.is_linear());
  RandomNumbers random(3);
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
  for (int i = 0; i < 50; ++i) {
    const double x = random.uniform(), y = random.uniform();
    const Eigen::VectorXd q = Eigen::Vector2d(x, y);
    EXPECT_NEAR(system.potential->value(q), 0.5 * (x * x + y * y) + x * x * y - y * y * y / 3.0, 1e-15);
    system.potential->gradient(q, gradient);
    EXPECT_LT((gradient - Eigen::Vector2d(x + 2.0 * x * y, y + x * x - y * y)).norm(), 1e-15);
    system.potential->hessian(q, hessian);
    EXPECT_LT((hessian - Eigen::Matrix2d{{1.0 + 2.0 * y, 2.0 * x}, {2.0 * x, 1.0 - 2.0 * y}}).norm(), 1e-15);
  }
}

TEST(FormulaSystem, AcceptsOneMassForAll) {
  const ReadRecipe equal =
      read("kind = \"formula\"\ncoordinates = [\"x\", \"y\"]\nmasses = 2.5\n" + start + "V = \"x^2\"");
  ASSERT_EQ(equal.report(), "");
  EXPECT_EQ(equal.experiment->system().mass, Eigen::VectorXd(Eigen::Vector2d(2.5, 2.5)));
}

TEST(FormulaSystem, RecognisesLinearSystems) {
  EXPECT_TRUE(read(plane + "V = \"x^2 + x*y + 3*y^2 + 7\"").experiment->system().is_linear());
  EXPECT_FALSE(read(plane + "V = \"x^2 + y\"").experiment->system().is_linear());
  EXPECT_FALSE(read(plane + "V = \"cos(x) + y^2\"").experiment->system().is_linear());
  EXPECT_TRUE(read(plane + "V = \"x^2 + abs(-2)*y^2\"").experiment->system().is_linear());
}

// The second derivative of each of these formulas is constant, and the first vanishes at the origin.
TEST(FormulaSystem, RecognisesPiecewiseFormulasAsNonlinear) {
  const std::string line = "kind = \"pair-potential\"\nmasses = [1.0, 1.0]\ndamping = [0.0, 0.0]\nq0 = [0.1, 1.3]\n";
  const auto is_linear = [](const std::string& text) {
    const ReadRecipe recipe = read(text);
    EXPECT_EQ(recipe.report(), "");
    return recipe.experiment->system().is_linear();
  };
  for (const std::string V : {"abs(r)", "max(0, r)", "min(0, r)", "r*sign(r) + r^2", "r^2/2 + step(r - 1)"}) {
    const std::string typed = " = { kind = \"formula\", V = \"" + V + "\" }";
    EXPECT_FALSE(is_linear(line + "potential" + typed)) << V;
    EXPECT_FALSE(is_linear(line + "external" + typed)) << V;
    EXPECT_FALSE(
        is_linear("kind = \"formula\"\ncoordinates = [\"r\", \"y\"]\nmasses = 1.0\n" + start + "V = \"" + V + "\""))
        << V;
  }
  EXPECT_TRUE(is_linear(line + "potential = { kind = \"formula\", V = \"r^2\" }"));
}

TEST(FormulaSystem, RecordsObservables) {
  const ReadRecipe recipe = read(
      plane +
      "V = \"x^2\"\nobservables = { Lz = { formula = \"x*y_dot - 2*y*x_dot\", units = \"m^2/s\" }, sum = \"x + y\" }");
  ASSERT_EQ(recipe.report(), "");
  const std::vector<Observable>& observables = recipe.experiment->system().observables;
  ASSERT_EQ(observables.size(), 2u);
  EXPECT_EQ(observables[0].name, "Lz");
  EXPECT_EQ(observables[0].units, "m^2/s");
  EXPECT_EQ(observables[0].value(Eigen::Vector2d(1.0, 2.0), Eigen::Vector2d(3.0, 5.0), 0.0)[0], 5.0 - 12.0);
  EXPECT_EQ(observables[1].units, "1");
  EXPECT_EQ(observables[1].value(Eigen::Vector2d(1.0, 2.0), Eigen::Vector2d(3.0, 5.0), 0.0)[0], 3.0);
  // The resolved recipe, which result files store, is equivalent.
  const ReadRecipe again = read_recipe(recipe.recipe->resolved);
  EXPECT_EQ(again.report(), "");
  EXPECT_EQ(again.recipe->resolved, recipe.recipe->resolved);
}

TEST(FormulaSystem, PointsToTheMistakeInAFormula) {
  const auto report = [](const std::string& rest) { return read(plane + rest).report(); };
  // The formula begins in column 6 of line 9.
  EXPECT_THAT(report("V = \"x^2 + yy\""), HasSubstr("r.toml:9:12: V: unknown name `yy`; did you mean `y`?"));
  EXPECT_THAT(report("V   =   'x^2 + yy'"), HasSubstr("r.toml:9:16: V: unknown name `yy`"));
  EXPECT_THAT(report("V = \"\"\"x^2 + yy\"\"\""), HasSubstr("r.toml:9:14: V: unknown name `yy`"));
  EXPECT_THAT(report("V = \"\"\"\nx^2\n  + yy\"\"\""), HasSubstr("r.toml:11:5: V: unknown name `yy`"));
  EXPECT_THAT(report("V = \"\"\"x^2\n  + yy\"\"\""), HasSubstr("r.toml:10:5: V: unknown name `yy`"));
  EXPECT_THAT(report("V = \"x^2\"\nobservables = { a = \"x + sin(x, y)\" }"),
              HasSubstr("r.toml:10:26: a: `sin` takes 1 argument, not 2"));
  EXPECT_THAT(report("V = \"x^2\"\nobservables = { a = { formula = \"x + z\" } }"),
              HasSubstr("r.toml:10:38: formula: unknown name `z`"));
  EXPECT_THAT(read(plane + "V = \"x^2\"", {"system.V=x^2 + yy"}).report(),
              AllOf(HasSubstr("--set system.V=x^2 + yy: V, character 7: unknown name `yy`")));
}

TEST(FormulaSystem, FindsInvalidInput) {
  const auto report = [](const std::string& rest) { return read(plane + rest).report(); };
  EXPECT_THAT(report("V = \"x^2 + x_dot\""), HasSubstr("r.toml:9:12: V depends on the velocity `x_dot`"));
  EXPECT_THAT(report("V = \"x^2*cos(t)\""), HasSubstr("r.toml:9:14: V depends on the time `t`"));
  EXPECT_THAT(report("V = \"sqrt(y)\""), AllOf(HasSubstr("r.toml:9:"), HasSubstr("sqrt(-0.2)")));
  EXPECT_THAT(report("V = \"x/(x - 0.1)\""), HasSubstr("no finite value at the start: 0.1/0"));
  EXPECT_THAT(report("V = \"x + sqrt(-1)\""), HasSubstr("no finite value at the start: sqrt(-1)"));
  EXPECT_THAT(report("V = \"abs(x - 0.1)^0.5\""), HasSubstr("the force -grad V has no finite value at the start"));
  EXPECT_THAT(report("V = \"x^2\"\nparameters = { x = 1.0 }"), HasSubstr("`x` already has a meaning"));
  EXPECT_THAT(report("V = \"x^2\"\nparameters = { sin = 1.0 }"), HasSubstr("`sin` already has a meaning"));
  EXPECT_THAT(report("V = \"x^2\"\nparameters = { a-b = 1.0 }"),
              HasSubstr("`a-b` in [system.parameters] is not a valid name"));
  EXPECT_THAT(report("V = \"x^2\"\nparameters = { a = \"b\" }"), HasSubstr("a = \"b\": must be a number"));
  for (const std::string name : {"q", "poincare_q", "energy_total", "power", "dissipated_by_environment", "mode_energy",
                                 "mode", "displacement", "displacement_line", "site_line"}) {
    EXPECT_THAT(report("V = \"x^2\"\nobservables = { " + name + " = \"x\" }"),
                HasSubstr("`" + name + "` is recorded already"));
  }
  EXPECT_THAT(report("V = \"x^2\"\nobservables = { a = \"1/(x - 0.1)\" }"), HasSubstr("no finite value at the start"));
  EXPECT_THAT(report("V = \"x^2\"\nobservables = { a = { formulas = \"x\" } }"), HasSubstr("did you mean `formula`?"));
  EXPECT_THAT(report("W = \"x^2\""), HasSubstr("unknown key `W`"));
  EXPECT_THAT(
      read("kind = \"formula\"\nV = \"x\"\ncoordinates = [\"x\", \"x\"]\nmasses = [1.0, 1.0]\n" + start).report(),
      HasSubstr("`x` is listed twice"));
  EXPECT_THAT(
      read("kind = \"formula\"\nV = \"x\"\ncoordinates = [\"x\", \"2y\"]\nmasses = [1.0, 1.0]\n" + start).report(),
      HasSubstr("`2y` is not a valid name of a coordinate"));
  EXPECT_THAT(read("kind = \"formula\"\nV = \"x\"\ncoordinates = [\"x\", \"y\"]\nmasses = [1.0]\n" + start).report(),
              HasSubstr("`masses` has 1 numbers for 2 particles"));
  EXPECT_THAT(read("kind = \"formula\"\nV = \"x\"\ncoordinates = []\nmasses = [1.0]\n" + start).report(),
              HasSubstr("`coordinates` is empty"));
}

// Explicit methods need no derivatives of the forces; others do, and kicks need those that they solve with.
TEST(FormulaSystem, DemandsOfTheStartWhatTheMethodNeeds) {
  const std::string formula = "kind = \"formula\"\ncoordinates = [\"x\"]\nmasses = [1.0]\nq0 = [0.0]\n";
  const std::string fractional = formula + "v0 = [1.0]\nV = \"abs(x)^1.9\"\n";
  const std::string lagrangian =
      "kind = \"lagrangian\"\ncoordinates = [\"x\"]\nq0 = [0.0]\nv0 = [1.0]\nL = \"x_dot^2/2 - abs(x)^1.9\"\n";
  const std::string friction = formula + "v0 = [0.0]\nV = \"x^2\"\nforce = [\"1 - sign(x_dot)*abs(x_dot)^0.5\"]\n";
  const std::string drive = formula + "v0 = [0.0]\nV = \"x^2\"\ndrive = [\"sqrt(t)\"]\n";
  const std::string by_velocity = "the derivatives of the forces by the velocities are not finite at the start";
  const std::string by_time = "the derivatives of the drive by the time are not finite at the start";
  const std::string restraint =
      "kind = \"formula\"\ncoordinates = [\"x\", \"y\"]\nmasses = 1.0\nq0 = [2.0, -1.0]\nv0 = [0.5, 0.0]\n"
      "V = \"3*step(sqrt((x - 2)^2 + (y + 1)^2) - 0.4)*(sqrt((x - 2)^2 + (y + 1)^2) - 0.4)^2\"\n";
  const std::string far_away =
      "kind = \"formula\"\ncoordinates = [\"x\"]\nmasses = [1.0]\nq0 = [-200.0]\nv0 = [3.0]\n"
      "V = \"2/(1 + exp(-5*x)) - 1/(exp(x) + exp(-x))^2 - 3/cosh(8*x)^2\"\n";
  struct {
    std::string system, method, message;
  } const cases[] = {
      {fractional, "stoermer-verlet", ""},
      {fractional, "rk4", ""},
      {fractional, "exact", ""},
      {fractional, "gauss", "the second derivatives of V are not finite at the start"},
      {lagrangian, "rk4", ""},
      {lagrangian, "gauss", "the second derivatives of L are not finite at the start"},
      {friction, "rk4", ""},
      {friction, "stoermer-verlet", by_velocity},
      {friction, "gauss", by_velocity},
      {drive, "rk4", ""},
      {drive, "gauss", ""},
      {drive, "stoermer-verlet", by_time},
      {restraint, "stoermer-verlet", ""},
      {restraint, "gauss", ""},
      {far_away, "stoermer-verlet", ""},
      {far_away, "gauss", ""},
  };
  for (const auto& [system, method, message] : cases) {
    const ReadRecipe recipe = read_recipe("title = \"t\"\n[system]\n" + system +
                                          "\n[time]\nstep = 0.01\nsteps = 10\n[[integrators]]\nmethod = \"" + method +
                                          "\"\non = \"closed\"\n");
    if (!message.empty()) {
      EXPECT_THAT(recipe.report(), HasSubstr(message)) << system << method;
      continue;
    }
    ASSERT_EQ(recipe.report(), "") << system << method;
    EXPECT_THAT(recipe.feasibility->warnings(), testing::IsEmpty()) << system << method;
    const Case& this_case = recipe.experiment->cases().front();
    Problem problem = recipe.experiment->make_problem(this_case);
    problem.prepare();
    EXPECT_FALSE(make_stepper(this_case.scheme, problem, 0.01)->advance(10).has_value()) << system << method;
    problem.broadcast_particles();
    EXPECT_TRUE(problem.q.allFinite() && problem.p.allFinite()) << system << method;
    // The restraint does not act yet, nor does a potential far away.
    if (system == restraint || system == far_away) {
      const ParticleSystem& start = recipe.experiment->system();
      EXPECT_LT((problem.q - start.q0 - 0.1 * start.v0).norm(), 1e-12) << system << method;
    }
  }
}

TEST(FormulaSystem, PairPotentialsCanBeFormulas) {
  const std::string pair = "kind = \"pair-potential\"\nmasses = [1.0, 1.0]\ndamping = [0.0, 0.0]\nq0 = [0.1, 1.3]\n";
  const ReadRecipe typed = read(pair +
                                "potential = { kind = \"formula\", V = \"D*((1 - exp(-a*(r - r0)))^2 - 1)\", D = 4.0, "
                                "a = 2.0, r0 = 1.0 }");
  const ReadRecipe built = read(pair + "potential = { kind = \"morse\", depth = 4.0, width = 0.5, r0 = 1.0 }");
  ASSERT_EQ(typed.report(), "");
  const Potential &typed_potential = *typed.experiment->system().potential,
                  &built_potential = *built.experiment->system().potential;
  Eigen::VectorXd gradient, expected;
  Eigen::MatrixXd hessian, expected_hessian;
  for (const double x : {-0.5, 0.3, 2.0}) {
    const Eigen::VectorXd q = Eigen::Vector2d(x, 1.2);
    EXPECT_NEAR(typed_potential.value(q), built_potential.value(q), 2e-13);
    typed_potential.gradient(q, gradient);
    built_potential.gradient(q, expected);
    EXPECT_LT((gradient - expected).norm(), 1e-12);
    typed_potential.hessian(q, hessian);
    built_potential.hessian(q, expected_hessian);
    EXPECT_LT((hessian - expected_hessian).norm(), 1e-11);
  }
  EXPECT_THAT(read(pair + "potential = { kind = \"formula\", V = \"D*r^2\", DD = 1.0 }").report(),
              HasSubstr("unknown name `D`; did you mean `DD`?"));
  EXPECT_THAT(read(pair + "potential = { kind = \"formula\", V = \"r^2\", k = 1.0 }").report(),
              HasSubstr("V does not use `k`"));
}

TEST(FormulaSystem, ExternalFormulasMayUseThePosition) {
  const ReadRecipe typed = read(
      "kind = \"pair-potential\"\nmasses = [1.0, 1.0]\ndamping = [0.0, 0.0]\nq0 = [[0.1, 0.3], [1.3, -0.2]]\n"
      "externals = [{ kind = \"formula\", V = \"9.81*y + r^2*x\" }, { kind = \"formula\", V = \"r^4\" }]");
  ASSERT_EQ(typed.report(), "");
  EXPECT_EQ(typed.experiment->system().formulas, "externals[0]: V = 9.81*y + r^2*x; externals[1]: V = r^4");
  const Potential& V = *typed.experiment->system().potential;
  const double x = 0.4, y = -0.7;
  const Eigen::VectorXd q{{x, y, 0.0, 0.0}};
  EXPECT_NEAR(V.value(q), 9.81 * y + (x * x + y * y) * x, 1e-15);
  Eigen::VectorXd gradient;
  V.gradient(q, gradient);
  // The gradient of r^4 at the origin is 0, where that of r is undefined.
  EXPECT_LT((gradient - Eigen::Vector4d(3.0 * x * x + y * y, 9.81 + 2.0 * x * y, 0.0, 0.0)).norm(), 2e-15);
  Eigen::MatrixXd hessian;
  V.hessian(q, hessian);
  Eigen::Matrix4d expected = Eigen::Matrix4d::Zero();
  expected.topLeftCorner(2, 2) = Eigen::Matrix2d{{6.0 * x, 2.0 * y}, {2.0 * y, 2.0 * x}};
  EXPECT_LT((hessian - expected).norm(), 4e-15);
  EXPECT_THAT(read("kind = \"pair-potential\"\nmasses = [1.0]\ndamping = [0.0]\nq0 = [0.1]\n"
                   "external = { kind = \"formula\", V = \"y\" }")
                  .report(),
              HasSubstr("unknown name `y`"));
}

}  // namespace
}  // namespace bathline::formula_system_test
