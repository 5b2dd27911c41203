// Splines in time, controls as forces of recipes with their work, and mistakes in them.
#include "model/variation/control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "recipe_text.hpp"
#include "steppers/stepper.hpp"

namespace bathline::control_test {
namespace {

using testing::HasSubstr;

Control spline(int degree, int pieces, double end, const Eigen::VectorXd& numbers) {
  return {"u", 0, SplineBasis(degree, pieces, end), numbers};
}

TEST(Control, SplinesReproducePolynomialsOfTheirDegree) {
  constexpr double end = 3.0;
  for (int degree = 0; degree <= 5; ++degree) {
    SCOPED_TRACE(degree);
    const SplineBasis basis(degree, 7, end);
    const auto polynomial = [&](double t) { return std::pow(t - 1.0, degree) + 0.3; };
    const auto rate = [&](double t) { return degree == 0 ? 0.0 : degree * std::pow(t - 1.0, degree - 1); };
    Eigen::VectorXd values(basis.size());
    for (int i = 0; i < basis.size(); ++i) values[i] = polynomial(basis.node(i));
    const Control control = spline(degree, 7, end, basis.interpolate(values));
    const ControlledDrive drive(1, nullptr, {control});
    // The spline whose numbers are its nodes is the identity (Marsden).
    Eigen::VectorXd nodes(basis.size());
    for (int i = 0; i < basis.size(); ++i) nodes[i] = basis.node(i);
    for (const double t : {0.0, 0.3, 1.7, 2.4, end}) {
      if (degree > 0) {
        EXPECT_NEAR(spline(degree, 7, end, nodes).value(t), t, 1e-13);
      }
      EXPECT_NEAR(control.value(t), polynomial(t), 1e-12);
      Eigen::VectorXd slope;
      drive.rate(t, slope);
      EXPECT_NEAR(slope[0], rate(t), 1e-11);
    }
  }
}

TEST(Control, NumbersOfDegreeOneAreValuesAndThoseOfDegreeZeroJump) {
  const Control hats = spline(1, 2, 2.0, Eigen::Vector3d(1.0, -2.0, 4.0));
  EXPECT_EQ(hats.value(0.0), 1.0);
  EXPECT_EQ(hats.value(1.0), -2.0);
  EXPECT_EQ(hats.value(1.5), 1.0);
  EXPECT_EQ(hats.value(2.0), 4.0);
  const Control steps = spline(0, 2, 2.0, Eigen::Vector2d(1.0, 5.0));
  EXPECT_EQ(steps.value(1.0, Side::before), 1.0);
  EXPECT_EQ(steps.value(1.0, Side::after), 5.0);
  EXPECT_EQ(steps.value(1.0), 3.0);
  EXPECT_EQ(steps.value(2.0, Side::after), 5.0);
  EXPECT_EQ(side_of(splitting({{Substep::Kind::drift, 1.0}, {Substep::Kind::kick, 1.0}})), Side::before);
  EXPECT_EQ(side_of(splitting({{Substep::Kind::kick, 1.0}, {Substep::Kind::drift, 1.0}})), Side::after);
  EXPECT_EQ(side_of(one_stage(0.5, 0.5)), Side::mean);
}

const std::string oscillator =
    "title = \"t\"\n[system]\nkind = \"single-oscillator\"\nm = 2.0\nk = 3.0\nq0 = [0.7]\nv0 = [0.2]\n";
const std::string rest =
    "[time]\nstep = 0.05\nend = 2.0\n[[integrators]]\nmethod = \"stoermer-verlet\"\non = \"closed\"\n";
std::string control(const std::string& keys) { return "[[controls]]\nname = \"u\"\non = \"x\"\n" + keys; }

Problem run(const std::string& text, const std::string& method) {
  const ReadRecipe read = read_recipe(text, {"integrators.0.method=" + method});
  EXPECT_EQ(read.report(), "");
  const Case& this_case = read.experiment->cases().front();
  Problem problem = read.experiment->make_problem(this_case);
  problem.prepare();
  EXPECT_FALSE(make_stepper(this_case.scheme, problem, this_case.step)->advance(this_case.steps));
  problem.broadcast_particles();
  return problem;
}

// A straight line is a spline of degree 1, and beside a drive the two add up.
TEST(MpiControl, IsAForceLikeADrive) {
  for (const char* method : {"gamma", "stoermer-verlet", "yoshida4", "midpoint", "gauss", "rk4", "exact"}) {
    SCOPED_TRACE(method);
    Problem driven = run(oscillator + "drive = [\"0.3 - 0.2*t + sin(t)\"]\n" + rest, method);
    Problem controlled =
        run(oscillator + "drive = [\"sin(t)\"]\n" + control("pieces = 8\ninitial = \"0.3 - 0.2*t\"\n") + rest, method);
    EXPECT_NEAR(controlled.q[0], driven.q[0], 1e-13);
    EXPECT_NEAR(controlled.p[0], driven.p[0], 1e-13);
    EXPECT_NEAR(controlled.energies().work, driven.energies().work, 1e-13);
  }
}

// The energy of order 2 closes the ledger with the work of a control that jumps.
TEST(MpiControl, DoesTheWorkThatTheLedgerCounts) {
  for (const char* method : {"stoermer-verlet", "midpoint", "yoshida4"}) {
    SCOPED_TRACE(method);
    for (const int degree : {0, 1, 3}) {
      const std::string numbers = degree == 0 ? "[0.5, -1.0, 0.8, 0.2]" : "\"cos(3*t)\"";
      Problem problem =
          run(oscillator + control("pieces = 4\ndegree = " + std::to_string(degree) + "\ninitial = " + numbers + "\n") +
                  rest,
              method);
      const double start = 0.5 * 3.0 * 0.49 + 0.04;
      const EnergyLedger ledger = problem.energies();
      EXPECT_NEAR(ledger.total(), start, 5e-2);
      EXPECT_GT(std::abs(ledger.work), 0.1);
    }
  }
}

TEST(MpiControl, RefusesMistakes) {
  const auto report = [](const std::string& keys, const std::string& name = "u", const std::string& on = "x") {
    return read_recipe(oscillator + "[[controls]]\nname = \"" + name + "\"\non = \"" + on + "\"\n" + keys + rest)
        .report();
  };
  EXPECT_EQ(report("pieces = 20\n"), "");
  EXPECT_THAT(report("pieces = 7\n"), HasSubstr("pieces = 7: each piece must be whole steps"));
  EXPECT_THAT(report("pieces = 80\n"), HasSubstr("stoermer-verlet has 40 steps"));
  EXPECT_THAT(report("pieces = 4\ninitial = [1.0, 2.0]\n"), HasSubstr("4 pieces of degree 1 need 5"));
  EXPECT_THAT(report("pieces = 4\ninitial = \"1/(t - 1)\"\n"), HasSubstr("no finite value"));
  EXPECT_THAT(report("pieces = 4\nbounds = [1.0, -1.0]\n"), HasSubstr("lower number first"));
  EXPECT_THAT(report("pieces = 4\n", "u", "xx"), HasSubstr("on = \"xx\": no coordinate has this name"));
  EXPECT_THAT(report("pieces = 4\n", "x_dot"), HasSubstr("already has a meaning"));
  EXPECT_THAT(report("pieces = 4\n", "energy_total"), HasSubstr("is recorded already"));
  EXPECT_THAT(report("pieces = 4\n[[controls]]\nname = \"u\"\non = \"x\"\npieces = 4\n"), HasSubstr("must be unique"));
  // In formulas.
  const auto in_force = [](const std::string& force, const std::string& control) {
    return read_recipe(
               "title = \"t\"\n[system]\nkind = \"formula\"\ncoordinates = [\"x\"]\nmasses = [1.0]\n"
               "parameters = { k = 1.0 }\nV = \"k*x^2\"\nq0 = [0.5]\nforce = [\"" +
               force + "\"]\n[[controls]]\npieces = 4\n" + control + rest)
        .report();
  };
  EXPECT_EQ(in_force("u*x", "name = \"u\"\n"), "");
  EXPECT_EQ(in_force("x/u", "name = \"u\"\non = \"x\"\ninitial = \"1 + t\"\n"), "");
  EXPECT_THAT(in_force("x/u", "name = \"u\"\n"), HasSubstr("no finite value at the start"));
  EXPECT_THAT(in_force("x", "name = \"u\"\n"), HasSubstr("acts on nothing"));
  EXPECT_THAT(in_force("k*x", "name = \"k\"\n"), HasSubstr("already has a meaning"));
  EXPECT_THAT(in_force("w*x", "name = \"u\"\n"), HasSubstr("w"));
}

}  // namespace
}  // namespace bathline::control_test
