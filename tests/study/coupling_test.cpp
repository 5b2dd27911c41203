// Environments on nonlinear couplings against closed systems whose bath is a part of the potential, under every method;
// semi-infinite lines against lines that are long enough; white friction against the line on its characteristic grid,
// against exact solutions, and its noise against a warm line and the Gibbs distribution.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "method_cases.hpp"
#include "rank_subset.hpp"
#include "recipe_text.hpp"
#include "run_study.hpp"
#include "steppers/stepper.hpp"

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

/// The closed system whose star is a part of the potential, with its oscillators at `start`.
std::string star_as_particles(double start) {
  std::string coordinates = "\"q\", \"r\"", masses = "1.3, 0.8", v = potential, q0 = "0.3, 0.4", v0 = "0.7, -0.2";
  for (int j = 0; j < 4; ++j) {
    const double width = 5.0 / 4.0, k = 2.0 * 0.8 * width / std::acos(-1.0), omega = (j + 0.5) * width;
    coordinates += fmt::format(", \"y{}\"", j);
    masses += fmt::format(", {:.17g}", k / (omega * omega));
    v += fmt::format(" + {:.17g}/2*({} - y{})^2", k, coupling, j);
    q0 += fmt::format(", {:.17g}", start);
    v0 += ", 0.0";
  }
  return system(coordinates, masses, v, q0, v0);
}

TEST(MpiCoupling, OfAStarIsTheClosedSystemUnderEveryMethod) {
  RankSubset subset(4);
  int tried = 0;
  for (const MethodCase& method : method_cases()) {
    if (std::holds_alternative<ExactFlow>(method.scheme)) continue;
    if (!subset.takes_next()) continue;
    SCOPED_TRACE(method.name);
    const RunStudy coupled(two_particles(star) + integrator(method) + time_and_study(3.0), RunStudy::May::fail);
    const RunStudy closed(star_as_particles(coupling_at(0.3, 0.4)) + integrator(method) + time_and_study(3.0),
                          RunStudy::May::fail);
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
  EXPECT_GT(tried, test_world().size() == 1 ? 15 : 3);
}

TEST(MpiCoupling, OscillatorsMayStartAroundAnotherValue) {
  for (const char* name : {"stoermer-verlet(order_of_substeps=kick-drift-kick)", "gauss(stages=2)"}) {
    SCOPED_TRACE(name);
    const std::string tail = integrator(method_case(name)) + time_and_study(3.0);
    const RunStudy coupled(two_particles(star + "around = 0.25\n") + tail), closed(star_as_particles(0.25) + tail);
    const std::vector<double> q = coupled.values("run/q"), all = closed.values("run/q");
    for (std::size_t i = 0; i < q.size() / 2; ++i) ASSERT_NEAR(q[2 * i], all[6 * i], 1e-13);
  }
}

TEST(MpiCoupling, OfASemiInfiniteLineIsThatOfALongOne) {
  const auto line = [](const char* sites) {
    return fmt::format("kind = \"spring-mass-line\"\nM = 0.4\nlambda = 1.1\nsites = {}\n", sites);
  };
  RankSubset subset(4);
  int tried = 0;
  for (const MethodCase& method : method_cases()) {
    if (std::holds_alternative<ExactFlow>(method.scheme)) continue;
    if (!subset.takes_next()) continue;
    SCOPED_TRACE(method.name);
    const std::string tail = integrator(method) + time_and_study(8.0, 0.1);
    const RunStudy infinite(two_particles(line("\"infinite\"")) + tail, RunStudy::May::fail);
    if (!infinite.report.empty()) continue;
    const RunStudy finite(two_particles(line("900")) + tail);
    ASSERT_FALSE(infinite.failure);
    ++tried;
    const std::vector<double> a = infinite.values("run/q"), b = finite.values("run/q");
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-12);
  }
  EXPECT_GT(tried, test_world().size() == 1 ? 8 : 1);
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
      const std::vector<double> energy = run.values("run/energy_total");
      errors[i] = 0.0;
      for (const double e : energy) errors[i] = std::max(errors[i], std::abs(e - energy.front()));
      EXPECT_GT(std::abs(run.values("run/energy_work").back()), 1e-3);
    }
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), order, 0.25);
  }
}

// From a moving start, so that the number beside the positions that the reduced scheme has for gamma > 0 matters;
// with s(q+) - s(q) in its place the difference would be 1e-5 or more. For gamma > 0 short waves are fast, so that the
// line has to be long.
TEST(MpiCoupling, OfALineOnItsCharacteristicGridIsADamper) {
  for (const double gamma : {0.0, 0.1, 0.25, 0.4}) {
    SCOPED_TRACE(gamma);
    const auto method = [&](const char* name, const char* on, const char* environment) {
      return fmt::format(
          "[[integrators]]\nname = \"{}\"\non = \"{}\"\nmethod = \"gamma\"\ngamma = {}\nenvironments = [\"{}\"]\n",
          name, on, gamma, environment);
    };
    const RunStudy run(
        two_particles(fmt::format("kind = \"spring-mass-line\"\ngrid = \"characteristic\"\ndamping = 0.8\n"
                                  "gamma = {}\nsites = 2000\n",
                                  gamma)) +
        fmt::format("[[environments]]\ncouple = \"{}\"\nname = \"damper\"\nkind = \"damper\"\ndamping = 0.8\n",
                    coupling) +
        method("line", "closed", "bath") + method("open", "open", "bath") + method("white", "closed", "damper") +
        time_and_study(8.0, 0.04));
    const std::vector<double> line = run.values("line/q"), open = run.values("open/q"), white = run.values("white/q");
    for (std::size_t i = 0; i < line.size(); ++i) ASSERT_NEAR(line[i], open[i], 2e-14);
    EXPECT_EQ(open, white);
    const std::vector<double> heat = run.values("white/energy_dissipated");
    EXPECT_GT(heat.back(), 0.1);
    EXPECT_EQ(heat, run.values("open/energy_dissipated"));
  }
}

// White friction has no positions of a head between the steps, which would grow for gamma above 1/2.
TEST(MpiCoupling, OfADamperTakesEveryGamma) {
  for (const double gamma : {0.0, 0.3, 0.5, 0.7, 1.0}) {
    SCOPED_TRACE(gamma);
    const auto method = [&](const char* on) {
      return fmt::format("[[integrators]]\nname = \"{0}\"\non = \"{0}\"\nmethod = \"gamma\"\ngamma = {1}\n", on, gamma);
    };
    const RunStudy run(two_particles("kind = \"damper\"\ndamping = 0.8\n") + method("closed") + method("open") +
                       time_and_study(8.0, 0.04));
    EXPECT_EQ(run.values("closed/q"), run.values("open/q"));
  }
}

// Both the path and the ledger, beside a linear damper and a force of the system.
TEST(MpiCoupling, OfADamperHasTheOrderOfTheMethod) {
  const std::string problem =
      two_particles("kind = \"damper\"\ndamping = 0.8\n") +
      "[[environments]]\nkind = \"damper\"\nname = \"other\"\ncouple = \"q - r\"\ndamping = 0.2\n";
  const auto end_of = [&](const std::string& method, const char* on, double step) {
    const RunStudy run(problem + integrator(method_case(method), on) + time_and_study(2.0, step));
    const std::vector<double> q = run.values("run/q"), energy = run.values("run/energy_total");
    return std::array<double, 3>{q[q.size() - 2], q.back(), energy.back() - energy.front()};
  };
  const std::array<double, 3> exact = end_of("exact", "open", 0.05);
  EXPECT_NEAR(exact[2], 0.0, 1e-9);
  struct Case {
    const char* method;
    double order;
  };
  for (const auto& [name, order] :
       {Case{"gamma(gamma=0.000000)", 1.0}, Case{"gamma(gamma=0.250000)", 1.0}, Case{"gamma(gamma=1.000000)", 1.0},
        Case{"stoermer-verlet(order_of_substeps=kick-drift-kick)", 2.0}, Case{"baoab", 2.0},
        Case{"gauss(stages=1)", 2.0}, Case{"gauss(stages=2)", 4.0}, Case{"rk4", 4.0}, Case{"yoshida4", 4.0}}) {
    SCOPED_TRACE(name);
    double errors[2], ledger[2];
    for (int i = 0; i < 2; ++i) {
      const auto [q, r, change] =
          end_of(name, i == 0 ? "closed" : "open", order > 3.0 ? 0.05 / (1 << i) : 0.01 / (1 << i));
      errors[i] = std::hypot(q - exact[0], r - exact[1]);
      ledger[i] = std::abs(change);
    }
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), order, 0.35);
    EXPECT_LT(ledger[0], 0.1);
    EXPECT_LT(ledger[1], ledger[0]);
  }
}

/// A problem at a temperature and its stepper, as a recipe's only case has them.
struct WarmRun {
  WarmRun(const std::string& text, double step)
      : recipe(read_recipe(text)), problem(recipe.experiment->make_problem(recipe.experiment->cases().front())) {
    problem.prepare(7);
    stepper = make_stepper(recipe.experiment->cases().front().scheme, problem, step);
  }
  ReadRecipe recipe;
  Problem problem;
  std::unique_ptr<Stepper> stepper;
};

std::string warm_particle(const std::string& v, const std::string& coupling_of_q, const char* q0) {
  return system("\"q\"", "1.0", v, q0, "0.2") +
         fmt::format("[[environments]]\nkind = \"damper\"\nname = \"bath\"\ncouple = \"{}\"\ndamping = 0.8\nkT = 1.0\n",
                     coupling_of_q);
}

// The impulse of step k is what the line's initial state sends to the head: D (Q_{k+1} - Q_k) + P_{k+1}, Q_0 = s(q(0)).
TEST(Coupling, NoiseOfADamperIsThatOfAWarmLine) {
  constexpr int sites = 200;
  constexpr double h = 0.04, damping = 0.8;
  WarmRun run(warm_particle("(q^2 - 1)^2", "q*(1 + 0.6*exp(-q^2/2) + 0.4*tanh(q))", "0.3") +
                  integrator(method_case("gamma(gamma=0.000000)"), "open") + time_and_study(8.0, h),
              h);
  const auto s = [](double q) { return coupling_at(q, 0.0); };
  const auto slope = [](double q) {
    const double decay = std::exp(-q * q / 2.0), tanh = std::tanh(q);
    return 1.0 + 0.6 * decay + 0.4 * tanh + q * (-0.6 * q * decay + 0.4 * (1.0 - tanh * tanh));
  };
  double q = 0.3, p = 0.2;
  std::vector<double> positions(sites + 2, s(q)), momenta(sites + 2, 0.0);
  for (int j = 1; j <= sites; ++j) {
    positions[j] = s(q) + 0.4 * std::sin(3.1 * j);
    momenta[j] = 0.1 * std::cos(1.7 * j);
  }
  std::vector<double> impulses;
  for (int k = 0; k < sites; ++k) {
    impulses.push_back(damping * (positions[k + 1] - positions[k]) + momenta[k + 1]);
  }
  run.problem.coupled_friction().noise().set_source([&](std::int64_t step, int, std::span<double> numbers) {
    numbers[0] = impulses[static_cast<std::size_t>(step)] / std::sqrt(2.0 * h * damping);
  });
  for (int step = 0; step < sites; ++step) {
    q += h * p;
    for (int j = 1; j <= sites; ++j) positions[j] += momenta[j] / damping;  // h/M = 1/D
    positions[0] = s(q);
    p += h * (-4.0 * q * (q * q - 1.0)) + damping * slope(q) * (positions[1] - positions[0]);
    for (int j = 1; j <= sites; ++j) {
      momenta[j] += damping * (positions[j + 1] - 2.0 * positions[j] + positions[j - 1]);
    }
    ASSERT_EQ(run.stepper->advance(1), std::nullopt);
    ASSERT_NEAR(run.problem.q[0], q, 1e-12);
    ASSERT_NEAR(run.problem.p[0], p, 1e-12);
  }
}

// <q^2> = kT for V = q^2/2; a Gaussian impulse at the stage of the midpoint rule would have 0.063 less at this step.
// 160,000 s have 40 to 80 thousand independent values: the standard error is 0.006.
TEST(Coupling, NoiseOfADamperSamplesTheGibbsDistribution) {
  const std::string other =
      "[[environments]]\nkind = \"damper\"\nname = \"other\"\ncouple = \"q - 0.3*cos(q)\"\n"
      "damping = 0.5\nkT = 1.0\n[[environments]]\nkind = \"damper\"\nname = \"linear\"\n"
      "damping = 0.3\nkT = 1.0\n";
  for (const auto& [name, tolerance] : {std::pair("baoab", 0.02), std::pair("gauss(stages=1)", 0.02),
                                        std::pair("stoermer-verlet(order_of_substeps=drift-kick-drift)", 0.05)}) {
    for (const std::string& more : {std::string(), other}) {
      SCOPED_TRACE(name + more);
      constexpr double h = 0.4;
      WarmRun run(warm_particle("q^2/2", "q + 0.4*sin(2*q)", "0.3") + more +
                      integrator(method_case(name), more.empty() ? "open" : "closed") + time_and_study(8.0, h),
                  h);
      constexpr int steps = 400'000;
      double squares = 0.0;
      const double start = run.problem.energies().total();
      for (int i = 0; i < steps; ++i) {
        ASSERT_EQ(run.stepper->advance(1), std::nullopt);
        squares += run.problem.q[0] * run.problem.q[0];
      }
      EXPECT_NEAR(squares / steps, 1.0, tolerance);
      // The integrator's own error of the energy is bounded for a quadratic V, and every exact flow counts its heat.
      EXPECT_NEAR(run.problem.energies().total(), start, 3.0);
    }
  }
}

TEST(Coupling, RefusesWhatIsForLinearOnes) {
  const auto report = [](const std::string& environment, const std::string& method, const char* on = "closed",
                         const std::string& study = "trajectory") {
    std::string text = two_particles(environment) + integrator(method_case(method), on) + time_and_study(1.0);
    return report_of(text.replace(text.find("trajectory"), 10, study));
  };
  EXPECT_THAT(report(star, "exact"), HasSubstr("the `couple` of `bath` is not linear"));
  EXPECT_THAT(report(star, "gauss(stages=1)", "closed", "memory-kernel"), HasSubstr("is for linear couplings"));
  EXPECT_THAT(report(star, "gauss(stages=1)", "open", "energy-transfer"), HasSubstr("is for linear couplings"));
  EXPECT_THAT(
      report("kind = \"memory\"\nstiffness = [1.0]\nrate = [0.0]\nfrequency = [0.0]\n", "gauss(stages=1)", "open"),
      HasSubstr("implies no damping for an open run"));
  EXPECT_THAT(report(star + "around = 0.0\n", "gauss(stages=1)", "open"),
              HasSubstr("no sites that could start `around`"));
  EXPECT_THAT(report("kind = \"damper\"\ndamping = 0.3\naround = 0.0\n", "gauss(stages=1)"),
              HasSubstr("no sites that could start `around`"));
  const auto switched = [](const char* on, const char* kind) {
    return report_of(
        system("\"q\"", "1.0", "q^2/2", "0.7", "0.2") +
        fmt::format("[[environments]]\nkind = \"{}\"\nname = \"bath\"\ncouple = \"(1 + sin(t))*q\"\n", kind) +
        (std::string(kind) == "damper" ? "damping = 0.3\n" : star.substr(star.find('\n') + 1)) +
        integrator(method_case("gauss(stages=1)"), on) + time_and_study(1.0));
  };
  EXPECT_THAT(switched("closed", "damper"), HasSubstr("cannot have a `couple` that depends on t"));
  EXPECT_THAT(switched("open", "heat-bath"), HasSubstr("cannot have a `couple` that depends on t"));
  EXPECT_THAT(report(star + "half_site = true\n", "gauss(stages=1)"), HasSubstr("half_site"));
}

}  // namespace
}  // namespace bathline::coupling_test
