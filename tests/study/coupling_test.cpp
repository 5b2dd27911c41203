// Environments on nonlinear couplings against closed systems whose bath is a part of the potential, under every method;
// and semi-infinite lines against lines that are long enough.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "method_cases.hpp"
#include "run_study.hpp"

namespace bathline::coupling_test {
namespace {

using testing::HasSubstr;

constexpr const char* coupling = "q*(1 + 0.6*exp(-q^2/2) + 0.4*tanh(q)) + 0.3*q*r - 0.2*sin(r)";
constexpr const char* potential = "(q^2 - 1)^2 + 0.7*r^2 + 0.2*q*r";

double coupling_at(double q, double r) {
  return q * (1.0 + 0.6 * std::exp(-q * q / 2.0) + 0.4 * std::tanh(q)) + 0.3 * q * r - 0.2 * std::sin(r);
}

/// The table of an integrator with the method and its options.
std::string integrator(const MethodCase& method, const char* on = "closed") {
  std::string text =
      fmt::format("[[integrators]]\nname = \"run\"\non = \"{}\"\nmethod = \"{}\"\n", on, method.method->entry.name);
  for (const Parameter& option : method.method->entry.parameters) {
    const bool is_text = method.options.holds<std::string>(option.name);
    const std::string value = printed(method.options.value(option.name));
    text += fmt::format("{} = {}\n", option.name, is_text ? "\"" + value + "\"" : value);
  }
  return text;
}

std::string system(const std::string& coordinates, const std::string& masses, const std::string& v,
                   const std::string& q0, const std::string& v0) {
  return fmt::format(
      "title = \"t\"\n[system]\nkind = \"formula\"\ncoordinates = [{}]\nmasses = [{}]\nV = \"{}\"\nq0 = [{}]\nv0 = "
      "[{}]\n",
      coordinates, masses, v, q0, v0);
}

std::string time_and_study(double end, double step = 0.05) {
  return fmt::format("[time]\nstep = {}\nend = {}\n[study]\nkind = \"trajectory\"\n", step, end);
}

std::string two_particles(const std::string& environment) {
  return system("\"q\", \"r\"", "1.3, 0.8", potential, "0.3, 0.4", "0.7, -0.2") +
         fmt::format("[[environments]]\ncouple = \"{}\"\nname = \"bath\"\n{}", coupling, environment);
}

const std::string star = "kind = \"heat-bath\"\noscillators = 4\ndamping = 0.8\nomega_max = 5.0\n";

TEST(MpiCoupling, OfAStarIsTheClosedSystemUnderEveryMethod) {
  std::string coordinates = "\"q\", \"r\"", masses = "1.3, 0.8", v = potential, q0 = "0.3, 0.4", v0 = "0.7, -0.2";
  for (int j = 0; j < 4; ++j) {
    const double width = 5.0 / 4.0, k = 2.0 * 0.8 * width / std::acos(-1.0), omega = (j + 0.5) * width;
    coordinates += fmt::format(", \"y{}\"", j);
    masses += fmt::format(", {:.17g}", k / (omega * omega));
    v += fmt::format(" + {:.17g}/2*({} - y{})^2", k, coupling, j);
    q0 += fmt::format(", {:.17g}", coupling_at(0.3, 0.4));
    v0 += ", 0.0";
  }
  int tried = 0;
  for (const MethodCase& method : method_cases()) {
    if (std::holds_alternative<ExactFlow>(method.scheme)) continue;
    SCOPED_TRACE(method.name);
    const RunStudy coupled(two_particles(star) + integrator(method) + time_and_study(3.0));
    const RunStudy closed(system(coordinates, masses, v, q0, v0) + integrator(method) + time_and_study(3.0));
    ASSERT_EQ(coupled.report, "");
    ASSERT_EQ(closed.report, "");
    if (coupled.failure || closed.failure) continue;
    ++tried;
    const std::vector<double> q = coupled.values("run/q"), all = closed.values("run/q");
    for (std::size_t i = 0; i < q.size() / 2; ++i) {
      ASSERT_NEAR(q[2 * i], all[6 * i], 1e-13);
      ASSERT_NEAR(q[2 * i + 1], all[6 * i + 1], 1e-13);
    }
    const std::vector<double> energy = coupled.values("run/energy_total");
    EXPECT_NEAR(energy.back() - energy.front(),
                closed.values("run/energy_total").back() - closed.values("run/energy_total").front(), 1e-12);
  }
  EXPECT_GT(tried, 15);
}

TEST(MpiCoupling, OfASemiInfiniteLineIsThatOfALongOne) {
  const auto line = [](const char* sites) {
    return fmt::format("kind = \"spring-mass-line\"\nM = 0.4\nlambda = 1.1\nsites = {}\n", sites);
  };
  int tried = 0;
  for (const MethodCase& method : method_cases()) {
    if (std::holds_alternative<ExactFlow>(method.scheme)) continue;
    SCOPED_TRACE(method.name);
    const std::string tail = integrator(method) + time_and_study(8.0, 0.1);
    const RunStudy infinite(two_particles(line("\"infinite\"")) + tail);
    if (!infinite.report.empty()) continue;
    const RunStudy finite(two_particles(line("900")) + tail);
    ASSERT_EQ(finite.report, "");
    ASSERT_FALSE(infinite.failure || finite.failure);
    ++tried;
    const std::vector<double> a = infinite.values("run/q"), b = finite.values("run/q");
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-12);
  }
  EXPECT_GT(tried, 8);
}

// The error of the ledger, which contains the work of the coupling, falls with the order of the method.
TEST(MpiCoupling, ThatDependsOnTheTimeDoesItsWork) {
  struct Case {
    const char* method;
    double order;
  };
  for (const auto& [name, order] :
       {Case{"stoermer-verlet(order_of_substeps=kick-drift-kick)", 2.0}, Case{"yoshida4", 4.0},
        Case{"gauss(stages=1)", 2.0}, Case{"gauss(stages=2)", 4.0}}) {
    SCOPED_TRACE(name);
    double errors[2];
    for (int i = 0; i < 2; ++i) {
      const RunStudy run(system("\"q\"", "1.0", "0.5*q^2 + 0.25*q^4", "0.7", "0.2") +
                         "[[environments]]\nname = \"bath\"\ncouple = \"(1 + 0.3*sin(2*t))*(q + 0.4*sin(2*q))\"\n" +
                         star + integrator(method_case(name)) + time_and_study(4.0, 0.04 / (1 << i)));
      ASSERT_EQ(run.report, "");
      const std::vector<double> energy = run.values("run/energy_total");
      errors[i] = 0.0;
      for (const double e : energy) errors[i] = std::max(errors[i], std::abs(e - energy.front()));
      EXPECT_GT(std::abs(run.values("run/energy_work").back()), 1e-3);
    }
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), order, 0.25);
  }
}

TEST(Coupling, RefusesWhatIsForLinearOnes) {
  const auto report = [](const std::string& environment, const std::string& method, const char* on = "closed",
                         const std::string& study = "trajectory") {
    std::string text = two_particles(environment) + integrator(method_case(method), on) + time_and_study(1.0);
    return RunStudy(text.replace(text.find("trajectory"), 10, study)).report;
  };
  EXPECT_THAT(report(star, "exact"), HasSubstr("the `couple` of `bath` is not linear"));
  EXPECT_THAT(report(star, "gauss(stages=1)", "open"),
              HasSubstr("so that it implies no damping matrix: run it closed"));
  EXPECT_THAT(report("kind = \"damper\"\ndamping = 0.3\n", "gauss(stages=1)"),
              HasSubstr("linear combinations of coordinates only"));
  EXPECT_THAT(report(star, "gauss(stages=1)", "closed", "memory-kernel"), HasSubstr("is for linear systems"));
  EXPECT_THAT(report(star + "half_site = true\n", "gauss(stages=1)"), HasSubstr("half_site"));
}

}  // namespace
}  // namespace bathline::coupling_test
