// Runs that are stopped anywhere and continued from their state have the bits of runs that are not: environments with
// noise, with exponentials in blocks, or with random forces in blocks. Those that are stored site by site are in
// environments_test.cpp.
#include <gtest/gtest.h>

#include "method_cases.hpp"
#include "petsc_world.hpp"
#include "recipe_text.hpp"
#include "simulation.hpp"

namespace bathline::restarts_test {
namespace {

struct Subject {
  std::string system, environment;
  int steps;
  std::vector<int> stops;
  std::vector<std::string> methods = {};  ///< all that the environment supports where there are none
  std::vector<double> gammas = {};        ///< further schemes of the gamma family
};

const std::string well =
    "kind = \"pair-potential\"\nmasses = [1.4]\nq0 = [0.8]\nv0 = [0.6]\n"
    "external = { kind = \"quartic\", k = 1.1, beta = 0.8 }\n";
const std::string planet = "kind = \"kepler\"\nM = 1.0\nmu = 1.0\nq0 = [[8.0, 0.0]]\nv0 = [[0.1, 0.4]]\n";
const std::string terms = "kind = \"memory\"\nstiffness = [1.3, 0.8, 0.5]\nfrequency = [1.9, 0.0, 1.1]\n";
const std::string endless = "kind = \"spring-mass-line\"\nsites = \"infinite\"\nM = 0.5\n";

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = {
      {well, terms + "rate = [0.7, 2.1, 0.0]\n", 30, {13}},
      {well, terms + "rate = [0.7, 2.1, 0.4]\nkT = 0.7\n", 30, {13}},
      // Passive as a sum only, with noise from a filter.
      {well,
       "kind = \"memory\"\ncosine = [-0.8, 1.5, 2.2]\nsine = [0.0, 0.6, 0.0]\nrate = [2.0, 0.7, 1.1]\n"
       "frequency = [0.0, 1.9, 0.0]\nkT = 0.7\n",
       300,
       {111}},
      {well, "kind = \"memory\"\nstiffness = [1.3]\nrate = [0.9]\nkT = 0.2\nquantum = true\nhbar = 1.0\n", 900, {411}},
      // In every step of a block.
      {well,
       endless + "lambda = 18.0\nkT = 0.7\n",
       60,
       {23, 24, 25, 26, 27, 28, 29, 30},
       {},
       {0.07, 0.3, 0.49, 0.52, 0.8}},
      {planet,
       endless + "lambda = 4.5\n",
       400,
       {137, 138, 139, 140, 141, 142, 143, 144},
       {"gamma(gamma=0.000000)", "gamma(gamma=0.250000)", "gauss(stages=2)", "lobatto(stages=2)",
        "stoermer-verlet(order_of_substeps=drift-kick-drift)"}}};
  return all;
}

constexpr double h = 0.1;

std::vector<std::pair<std::string, Scheme>> schemes_of(const Subject& subject, const Environment& environment) {
  std::vector<std::pair<std::string, Scheme>> schemes;
  for (const MethodCase& method : method_cases()) {
    const bool is_named = std::count(subject.methods.begin(), subject.methods.end(), method.name) > 0;
    const bool is_tried = subject.methods.empty() && !std::holds_alternative<ExactFlow>(method.scheme);
    if ((is_named || is_tried) && !environment.unsupported_reason(method.scheme))
      schemes.emplace_back(method.name, method.scheme);
  }
  for (const double g : subject.gammas) schemes.emplace_back("gamma " + std::to_string(g), one_stage(1.0 - g, g));
  return schemes;
}

TEST(MpiRestarts, HaveTheBitsOfRunsThatAreNotInterrupted) {
  for (const Subject& subject : subjects()) {
    SCOPED_TRACE(subject.environment);
    const ReadRecipe recipe =
        valid_recipe("title = \"t\"\n[system]\n" + subject.system + "[[environments]]\n" + subject.environment +
                     "[time]\nstep = 0.1\nsteps = 900\n" + "[[integrators]]\nmethod = \"midpoint\"\non = \"closed\"\n");
    const auto problem_of = [&](std::uint32_t realisation) {
      Problem problem = recipe.experiment->make_problem(recipe.experiment->cases().front());
      problem.prepare(5, realisation);
      return problem;
    };
    const bool is_warm = subject.environment.find("kT") != std::string::npos;
    const auto schemes = schemes_of(subject, *problem_of(0).environments()[0]);
    EXPECT_GE(schemes.size(), std::max<std::size_t>(1, subject.methods.size()));
    for (const auto& [name, scheme] : schemes) {
      SCOPED_TRACE(name);
      Simulation whole(problem_of(0), scheme, h), interrupted(problem_of(0), scheme, h),
          other(problem_of(1), scheme, h);
      whole.advance(subject.steps);
      other.advance(subject.steps);
      const EnergyLedger expected = whole.energies();
      for (const int stop : subject.stops) {
        SCOPED_TRACE(stop);
        interrupted.advance(stop - interrupted.steps());
        Simulation resumed(problem_of(0), scheme, h);
        resumed.resume(interrupted);
        resumed.advance(subject.steps - stop);
        const EnergyLedger actual = resumed.energies();
        EXPECT_EQ(actual.environment, expected.environment);
        EXPECT_EQ(actual.dissipated, expected.dissipated);
        const Eigen::VectorXd q = whole.q();
        EXPECT_EQ(resumed.q(), q);
        EXPECT_EQ(resumed.p(), whole.p());
        EXPECT_EQ(other.q() != q, is_warm);
        if (!test_world().is_root()) continue;
        std::vector<double> force(static_cast<std::size_t>(q.size())), resumed_force(force);
        whole.environment().force({q.data(), force.size()}, force);
        resumed.environment().force({q.data(), force.size()}, resumed_force);
        EXPECT_EQ(resumed_force, force);
      }
    }
  }
}

}  // namespace
}  // namespace bathline::restarts_test
