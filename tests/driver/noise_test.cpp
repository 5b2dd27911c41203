// The noise of open and closed runs: its temperature, and refused combinations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "recipe_text.hpp"

namespace bathline::noise_test {
namespace {

using Eigen::MatrixXd;
using testing::HasSubstr;

std::string recipe(const std::string& system, const std::string& environments, const std::string& integrator,
                   const std::string& name = "stoermer-verlet") {
  return R"(title = "t"
[system]
kind = "linear"
M = [1.0, 2.0]
K = [[2.0, -1.0], [-1.0, 2.0]]
q0 = [0.2, 0.0]
)" + system +
         environments + "[time]\nstep = 0.1\nend = 1.0\n[[integrators]]\nmethod = \"" + name + "\"\non = \"open\"\n" +
         integrator;
}

std::string bath(int particle, double damping, double temperature) {
  return "[[environments]]\nname = \"bath" + std::to_string(particle) +
         "\"\nkind = \"heat-bath\"\nattach = " + std::to_string(particle) +
         "\noscillators = 20\nomega_max = 10.0\ndamping = " + std::to_string(damping) +
         "\nkT = " + std::to_string(temperature) + "\n";
}

const std::string damped = "C = [[1.0, 0.5], [0.5, 2.0]]\n";

/// The momentum diffusion of the only case; empty if it has no noise.
MatrixXd diffusion_of(const std::string& text) {
  const ReadRecipe read = valid_recipe(text);
  if (!read.report().empty()) return {};
  const Problem problem = read.experiment->make_problem(read.experiment->cases().front());
  return problem.noise() != nullptr ? problem.noise()->diffusion() : MatrixXd();
}

TEST(Noise, TakesTemperatureAndDampingFromTheEnvironments) {
  EXPECT_LT(
      (diffusion_of(recipe("", bath(0, 0.5, 3.0) + bath(1, 2.0, 0.25), "")) - MatrixXd{{1.5, 0.0}, {0.0, 0.5}}).norm(),
      1e-14);
  EXPECT_EQ(diffusion_of(recipe("", bath(0, 0.5, 0.0), "")).size(), 0);
  EXPECT_EQ(diffusion_of(recipe("", bath(0, 0.5, 3.0), "noise = false\n")).size(), 0);
}

TEST(Noise, TakesTemperatureFromTheSystem) {
  EXPECT_EQ(diffusion_of(recipe(damped + "kT = 2.0\n", "", "")), (MatrixXd{{2.0, 1.0}, {1.0, 4.0}}));
  EXPECT_EQ(diffusion_of(recipe("C = [1.0, 2.0]\nkT = [2.0, 0.5]\n", "", "")), (MatrixXd{{2.0, 0.0}, {0.0, 1.0}}));
  // It overrides that of environments, as the damping does.
  EXPECT_LT((diffusion_of(recipe("kT = 0.5\n", bath(0, 0.5, 3.0), "")) - MatrixXd{{0.25, 0.0}, {0.0, 0.0}}).norm(),
            1e-14);
  EXPECT_EQ(diffusion_of(recipe(damped + "kT = 0.0\n", "", "")).size(), 0);
  // Damping given in [system], with the common temperature of the environments.
  EXPECT_EQ(diffusion_of(recipe(damped, bath(0, 0.5, 2.0) + bath(1, 0.5, 2.0), "")),
            (MatrixXd{{2.0, 1.0}, {1.0, 4.0}}));
}

TEST(Noise, RefusesDifferentTemperatures) {
  const std::string apart = mistakes_in(recipe(damped + "kT = [2.0, 0.5]\n", "", ""));
  EXPECT_THAT(apart, HasSubstr("r.toml:8:"));
  EXPECT_THAT(apart, HasSubstr("couples particles of different temperatures"));
  EXPECT_THAT(mistakes_in(recipe(damped, bath(0, 0.5, 2.0) + bath(1, 0.5, 1.0), "")),
              HasSubstr("set `kT` in [system]"));
  EXPECT_THAT(mistakes_in(recipe(damped + "kT = [2.0]\n", "", "")), HasSubstr("1 numbers for 2 particles"));
  EXPECT_THAT(mistakes_in(recipe(damped + "kT = -1.0\n", "", "")), HasSubstr("kT"));
}

TEST(Noise, MethodsWithoutNoiseGiveTheReason) {
  const std::string warm = damped + "kT = 2.0\n";
  for (const char* name : {"rk4", "explicit-euler", "implicit-euler"}) {
    EXPECT_THAT(mistakes_in(recipe(warm, "", "", name)), HasSubstr("takes no noise: ")) << name;
    EXPECT_EQ(mistakes_in(recipe(warm, "", "noise = false\nallow_unstable = true\n", name)), "") << name;
  }
  // With this damping, C = gamma M, herglotz supports the system without noise.
  const std::string even = "C = [0.5, 1.0]\nkT = 2.0\n";
  EXPECT_THAT(mistakes_in(recipe(even, "", "", "herglotz")), HasSubstr("takes no noise: "));
  EXPECT_EQ(mistakes_in(recipe(even, "", "noise = false\n", "herglotz")), "");
  for (const Method& method : methods())
    EXPECT_THAT(method.langevin.statement, testing::Not(HasSubstr("nothing"))) << method.entry.name;
  std::string driven = warm;
  driven += "drive = [\"cos(t)\", \"0\"]\n";
  EXPECT_THAT(mistakes_in(recipe(driven, "", "", "exact")), HasSubstr("linear systems and couplings without a drive"));
  EXPECT_EQ(mistakes_in(recipe(warm, "", "", "exact")), "");
}

std::string memory(double temperature) {
  return "[[environments]]\nname = \"m\"\nkind = \"memory\"\nstiffness = [1.0]\nrate = [0.5]\nfrequency = [0.7]\n"
         "kT = " +
         std::to_string(temperature) + "\n";
}

std::string closed(const std::string& more, const std::string& name, double temperature = 0.4) {
  std::string text = recipe("", memory(temperature), more, name);
  return text.replace(text.find("\"open\""), 6, "\"closed\"");
}

/// Whether the memory of the only case has noise; checks that the case agrees.
bool has_noise(const std::string& text) {
  const ReadRecipe read = valid_recipe(text);
  const Case& this_case = read.experiment->cases().front();
  const Problem problem = read.experiment->make_problem(this_case);
  const bool result = dynamic_cast<Noisy&>(*problem.environments().front()).noise() != nullptr;
  EXPECT_EQ(this_case.noise, result);
  EXPECT_EQ(problem.environments().front()->properties().temperature > 0.0, result);
  return result;
}

TEST(Noise, OfAWarmMemoryBelongsToClosedRuns) {
  EXPECT_TRUE(has_noise(closed("", "stoermer-verlet")));
  EXPECT_FALSE(has_noise(closed("noise = false\n", "stoermer-verlet")));
  EXPECT_FALSE(has_noise(closed("", "stoermer-verlet", 0.0)));
  // Open runs have the white noise of the implied damper, k r / (r^2 + w^2).
  EXPECT_LT((diffusion_of(recipe("", memory(0.4), "")) - MatrixXd{{0.4 * 0.5 / 0.74, 0.0}, {0.0, 0.0}}).norm(), 1e-15);
  EXPECT_THAT(mistakes_in(closed("", "rk4")), HasSubstr("takes no noise: "));
  EXPECT_EQ(mistakes_in(closed("noise = false\n", "rk4")), "");
  EXPECT_THAT(mistakes_in(closed("gamma = 0.25\n", "gamma")), HasSubstr("unless gamma is 0, 0.5 or 1"));
  EXPECT_EQ(mistakes_in(closed("gamma = 0.25\nnoise = false\n", "gamma")), "");
  EXPECT_THAT(mistakes_in(closed("", "exact")), HasSubstr("supports white noise only"));
}

TEST(Noise, OfAQuantumBathIsOfClosedRuns) {
  const auto with_hbar = [](std::string text) {
    return text.insert(text.find("stiffness"), "quantum = true\nhbar = 1.0\n");
  };
  const auto quantum = [&](const std::string& text) { return mistakes_in(with_hbar(text)); };
  EXPECT_EQ(quantum(closed("gamma = 0.5\n", "gamma")), "");
  EXPECT_EQ(quantum(closed("gamma = 0.5\n", "gamma", 0.0)), "");
  EXPECT_THAT(quantum(closed("", "stoermer-verlet")), HasSubstr("supported by the midpoint rule only"));
  EXPECT_THAT(quantum(recipe("", memory(0.4), "")), HasSubstr("diverges for a pure damper"));
  EXPECT_EQ(quantum(recipe("", memory(0.4), "noise = false\n")), "");
  EXPECT_TRUE(has_noise(with_hbar(closed("gamma = 0.5\n", "gamma"))));
  // Without noise there is no zero-point motion either.
  for (const double kt : {0.4, 0.0}) {
    EXPECT_FALSE(has_noise(with_hbar(closed("gamma = 0.5\nnoise = false\n", "gamma", kt))));
  }
}

std::string damper(const std::string& name, int particle, double damping, double temperature) {
  return "[[environments]]\nname = \"" + name + "\"\nkind = \"damper\"\nattach = " + std::to_string(particle) +
         "\ndamping = " + std::to_string(damping) + "\nkT = " + std::to_string(temperature) + "\n";
}

std::string closed_with(const std::string& environments, const std::string& more, const std::string& method,
                        const std::string& system = "") {
  std::string text = recipe(system, environments, more, method);
  return text.replace(text.find("\"open\""), 6, "\"closed\"");
}

TEST(Noise, OfDampersIsThatOfOpenAndOfClosedRuns) {
  const std::string both = damper("a", 0, 0.5, 3.0) + damper("b", 1, 2.0, 0.25);
  for (const std::string& text : {recipe("", both, ""), closed_with(both, "", "stoermer-verlet"),
                                  closed_with(both + memory(0.4), "", "stoermer-verlet")}) {
    EXPECT_EQ(diffusion_of(text), (MatrixXd{{1.5, 0.0}, {0.0, 0.5}}));
  }
  EXPECT_EQ(diffusion_of(closed_with(both, "noise = false\n", "rk4")).size(), 0);
  EXPECT_EQ(diffusion_of(closed_with(damper("a", 0, 0.5, 0.0), "", "rk4")).size(), 0);
  // The schemes with an exact flow of damping and noise are those of open runs.
  const ReadRecipe baoab = valid_recipe(closed_with(both + memory(0.4), "", "baoab"));
  EXPECT_TRUE(std::get<ExplicitScheme>(baoab.experiment->cases().front().scheme).has_ou_substeps());
  const ReadRecipe cold = valid_recipe(closed_with(damper("a", 0, 0.5, 0.0) + memory(0.4), "", "baoab"));
  EXPECT_FALSE(std::get<ExplicitScheme>(cold.experiment->cases().front().scheme).has_ou_substeps());
}

TEST(Noise, OfDampersIsRefusedWithTheReason) {
  const std::string
      one = damper("a", 0, 0.5, 3.0),
      line = "[[environments]]\nname = \"line\"\nkind = \"spring-mass-line\"\nsites = 9\nM = 0.5\nlambda = 0.5\n";
  const auto report = [](const std::string& text) { return mistakes_in(text); };
  EXPECT_THAT(report(closed_with(one, "", "rk4")), HasSubstr("takes no noise: "));
  EXPECT_EQ(report(closed_with(one, "", "exact")), "");
  EXPECT_THAT(report(closed_with(one + line, "", "exact")), HasSubstr("white noise only without environments"));
  EXPECT_EQ(report(closed_with(one + line, "noise = false\n", "exact")), "");
  EXPECT_THAT(report(closed_with(one + damper("b", 1, 0.5, 0.0), "", "exact")), HasSubstr("the sum of all heat only"));
  // (0.5 3 + 1.5 1)/2
  EXPECT_THAT(
      report(closed_with(one + damper("b", 0, 1.5, 1.0), "", "gjf")),
      HasSubstr("`a` and `b` act on the same coordinates, where the heat of each is unknown; one environment with "
                "damping = 2 and kT = 1.5 has the same motion"));
  EXPECT_EQ(report(recipe("", one + damper("b", 0, 1.5, 1.0), "")), "");
  // The damping of [system] replaces that of all environments.
  EXPECT_THAT(report(recipe(damped, one, "")), HasSubstr("`a` has no effect in this open run"));
  EXPECT_EQ(report(recipe(damped, memory(0.4), "")), "");
  EXPECT_EQ(report(closed_with(one, "", "gjf", damped)), "");
}

TEST(Noise, ClosedRunsSayThatTheyLeaveOutTheDampingOfTheSystem) {
  const auto warnings = [](const std::string& system, const std::string& environments, const std::string& more = "") {
    const ReadRecipe read = valid_recipe(closed_with(environments, more, "stoermer-verlet", system));
    return read.feasibility->warnings();
  };
  using testing::ElementsAre, testing::IsEmpty;
  const std::string open = "[[integrators]]\nmethod = \"gjf\"\non = \"open\"\n";
  EXPECT_THAT(warnings(damped, memory(0.4)), ElementsAre(HasSubstr("leave out the damping of [system], which is for "
                                                                   "open runs: `stoermer-verlet`;")));
  EXPECT_THAT(warnings(damped + "kT = 2.0\n", "", open),
              ElementsAre(HasSubstr("the damping and `kT` of [system], which are for open runs: `stoermer-verlet`;")));
  EXPECT_THAT(warnings("kT = 2.0\n", memory(0.4)), ElementsAre(HasSubstr("leave out the `kT` of [system]")));
  // What the environments have, or the start, is not left out.
  EXPECT_THAT(warnings("kT = 0.4\n", memory(0.4), open), IsEmpty());
  EXPECT_THAT(warnings("kT = 2.0\nstart = \"thermal\"\n", memory(0.4)), IsEmpty());
  EXPECT_THAT(warnings("C = [0.5, 2.0]\n", damper("a", 0, 0.5, 0.0) + damper("b", 1, 2.0, 0.0)), IsEmpty());
  EXPECT_THAT(warnings("C = [0.0, 0.0]\n", ""), IsEmpty());
}

// The band edge is 2 rad/s, the highest frequency of the particles 1.54. The closed system has a bound mode above the
// band if K + 2 lambda, the stiffness at the band edge including the line's, exceeds 4 M in some direction.
TEST(Noise, OfALineDoesNotThermaliseBoundModes) {
  const auto warnings = [](const std::string& lambda) {
    const std::string line =
        "[[environments]]\nname = \"line\"\nkind = \"spring-mass-line\"\nsites = \"infinite\"\ntolerance = 1e-6\n"
        "kT = 0.4\nM = " +
        lambda + "\nlambda = " + lambda + "\n";
    std::string text = recipe("", line, "gamma = 0.5\n", "gamma");
    const ReadRecipe read = valid_recipe(text.replace(text.find("\"open\""), 6, "\"closed\""));
    return read.feasibility->warnings();
  };
  EXPECT_THAT(warnings("0.25"), testing::IsEmpty());
  EXPECT_THAT(warnings("2.0"), testing::ElementsAre(HasSubstr("above the band edge 2")));
}

// Two equal particles move at 1 and sqrt(2) rad/s with and against each other; a bath on q0 + q1 does not see the
// second.
TEST(Noise, UndampedMotionsAreFoundBeforeTheRun) {
  const auto warnings = [](const std::string& couple, const std::string& kind, const std::string& on) {
    const ReadRecipe read = valid_recipe(
        "title = \"t\"\n[system]\nkind = \"linear\"\nM = [1.0, 1.0]\nK = [[1.5, -0.5], [-0.5, 1.5]]\nq0 = 0.0\n"
        "[[environments]]\nkT = 0.3\ncouple = \"" +
        couple + "\"\n" + kind +
        "[time]\nstep = 0.1\nend = 1.0\n[[integrators]]\nmethod = \"gamma\"\ngamma = 0.5\non = \"" + on +
        "\"\n[study]\nkind = \"trajectory\"\n");
    return read.feasibility->warnings();
  };
  const std::string damper = "kind = \"damper\"\ndamping = 0.5\n";
  const std::string memory = "kind = \"memory\"\nstiffness = [2.0]\nrate = [1.5]\nfrequency = [0.0]\n";
  for (const std::string& kind : {damper, memory}) {
    for (const char* on : {"closed", "open"}) {
      EXPECT_THAT(warnings("2*x0 + 2*x1", kind, on),
                  testing::ElementsAre(HasSubstr("no environment damps the motion at 1.41421 rad/s")));
      EXPECT_THAT(warnings("x0 - 0.5*x1", kind, on), testing::IsEmpty());
    }
  }
}

// By hand: three equal particles on two springs, modes 1 and sqrt(3) rad/s and the free centre of mass; M = diag(1, 2)
// of the shared bath, whose slowest rate was computed with 30 digits.
TEST(Noise, DarkMotionsOfEveryBathAreNamedWithTheSlowestRate) {
  const auto read = [](const std::string& system, const std::string& environment) {
    ReadRecipe recipe = valid_recipe(
        "title = \"t\"\n[system]\nkind = \"linear\"\nq0 = 0.0\n" + system + "[[environments]]\n" + environment +
        "[time]\nstep = 0.01\nend = 80.0\n[[integrators]]\nmethod = \"gamma\"\ngamma = 0.5\non = \"closed\"\n"
        "[study]\nkind = \"trajectory\"\n");
    return recipe;
  };
  const std::string chain = "M = [1.0, 1.0, 1.0]\nK = [[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]]\n";
  const std::string shared = "M = [1.0, 2.0]\nK = [[1.5, -0.5], [-0.5, 2.5]]\n";
  const std::string star = "kind = \"heat-bath\"\noscillators = 20\nomega_max = 8.0\ndamping = 0.5\n";
  const std::string memory = "kind = \"memory\"\nstiffness = [2.0]\nrate = [1.5]\n";
  const std::string density = "kind = \"memory\"\nspectral_density = \"0.1*w*exp(-w)\"\nhorizon = 80.0\n";
  struct Row {
    std::string system, environment, couple, warning;
  };
  for (const Row& row :
       std::vector<Row>{{chain, star, "x0 - x2", "of constant velocity, at 1.73205 rad/s:"},
                        {chain, memory, "x0 - 2*x1 + x2", "of constant velocity, at 1 rad/s:"},
                        {chain, density, "x0 - x2", "of constant velocity, at 1.73205 rad/s:"},
                        {shared, star, "x0 - x1", "damps the motion at 1 rad/s: it keeps its"},
                        {shared, memory, "x0 - x1 + (x0 - x1)^3", "at 1 rad/s, with `couple` as it is near the start"},
                        {shared, "kind = \"damper\"\ndamping = 0.5\n", "sin(x0 + 2*x1)", "motion at 1.32288 rad/s"}}) {
    const ReadRecipe recipe = read(row.system, row.environment + "kT = 0.3\ncouple = \"" + row.couple + "\"\n");
    EXPECT_THAT(recipe.feasibility->warnings(), testing::Contains(HasSubstr(row.warning))) << row.couple;
  }
  const std::string damper = "kind = \"damper\"\nkT = 1.0\n";
  EXPECT_THAT(read(shared, damper + "couple = \"x0 + x1\"\ndamping = 0.5\n").feasibility->notes(),
              testing::ElementsAre(HasSubstr("decays at 0.015812 1/s")));
  EXPECT_THAT(read(shared, damper + "couple = \"x0 + 0.999*x1\"\ndamping = 0.01\n").feasibility->warnings(),
              testing::ElementsAre(HasSubstr("the slowest motion, at 1.3")));
}

TEST(ThermalStart, NeedsATemperatureAndASuitablePotential) {
  const std::string start = "start = \"thermal\"\n";
  EXPECT_EQ(mistakes_in(recipe(damped + start + "kT = 2.0\n", "", "")), "");
  EXPECT_EQ(mistakes_in(recipe(start, bath(0, 0.5, 3.0), "")), "");
  EXPECT_EQ(mistakes_in(recipe("start = \"thermal-momenta\"\nC = [1.0, 2.0]\nkT = [2.0, 1.0]\n", "", "")), "");
  EXPECT_THAT(mistakes_in(recipe(start + "C = [1.0, 2.0]\nkT = [2.0, 1.0]\n", "", "")),
              HasSubstr("several temperatures"));
  EXPECT_THAT(mistakes_in(recipe(start, bath(0, 0.5, 3.0) + bath(1, 0.5, 2.0), "")),
              HasSubstr("its temperature is undefined"));
  EXPECT_THAT(mistakes_in(recipe(damped + start, "", "")), HasSubstr("its temperature is undefined"));
  // The start has one temperature whatever those of environments and of open runs are.
  const std::string own = "start_kT = 5.0\n";
  for (const std::string& more : {bath(0, 0.5, 3.0) + bath(1, 0.5, 2.0), bath(0, 0.5, 3.0), std::string()}) {
    for (const std::string kt : {"", "kT = [2.0, 1.0]\n", "kT = 0.0\n"}) {
      const ReadRecipe read =
          valid_recipe(recipe((more.empty() ? "C = [1.0, 2.0]\n" : "") + start + own + kt, more, ""));
      const Case& this_case = read.experiment->cases().front();
      const auto& mass = read.experiment->system().mass;
      Eigen::VectorXd q = mass, p = mass, p_at_1 = mass;
      std::string unsupported_reason;
      this_case.start->draw(1, 0, mass, q, p);
      make_thermal_start(read.experiment->system(), Eigen::VectorXd::Constant(2, 1.0), unsupported_reason)
          ->draw(1, 0, mass, q, p_at_1);
      EXPECT_LT((p - std::sqrt(5.0) * p_at_1).norm(), 1e-14);
    }
  }
  EXPECT_THAT(mistakes_in(recipe(damped + own + "kT = 2.0\n", "", "")),
              HasSubstr("a start that is drawn at random: set `start = \"thermal\"`"));
}

}  // namespace
}  // namespace bathline::noise_test
