// Reading an experiment: its cases, and mistakes and warnings found before the run, with their locations.
#include "driver/experiment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "parallel/memory_budget.hpp"
#include "petsc_world.hpp"
#include "recipe_text.hpp"

namespace bathline::experiment_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Line numbers of this text are used below.
const std::string recipe = R"(title = "t"
[system]
kind = "single-oscillator"
m = 1.0
k = 1.0
q0 = [1.0]
[[environments]]
name = "line"
kind = "spring-mass-line"
sites = 100
M = 0.1
lambda = 10.0
[time]
step = 0.05
end = 1.0
[[integrators]]
method = "gamma"
name = "closed"
on = "closed"
[[integrators]]
method = "gamma"
name = "open"
on = "open"
)";

template <class... Pairs>
std::string with(const char* old, const Pairs&... pairs) {
  return bathline::with(recipe, old, pairs...);
}

TEST(MpiExperiment, BuildsTheCasesOfARecipe) {
  const ReadRecipe read = valid_recipe(recipe);
  const Experiment& experiment = *read.experiment;
  ASSERT_EQ(experiment.cases().size(), 2u);
  EXPECT_THAT(read.feasibility->warnings(), testing::IsEmpty());
  const Case* closed = experiment.find_case("closed");
  const Case* open = experiment.find_case("open");
  ASSERT_TRUE(closed && open);
  EXPECT_EQ(experiment.find_case("other"), nullptr);
  EXPECT_EQ(closed->steps, 20);
  EXPECT_EQ(closed->step, 0.05);
  EXPECT_EQ(experiment.end_time(), 1.0);

  const Problem closed_problem = experiment.make_problem(*closed);
  ASSERT_EQ(closed_problem.environments().size(), 1u);
  EXPECT_EQ(closed_problem.environments()[0]->properties().sites, 100);
  EXPECT_EQ(closed_problem.environments()[0]->name(), "line");
  EXPECT_FALSE(closed_problem.is_damped());
  // Without `damping` in [system], the open system has the damping that the line implies.
  const Problem open_problem = experiment.make_problem(*open);
  EXPECT_TRUE(open_problem.environments().empty());
  EXPECT_NEAR(open_problem.damping()(0, 0), 1.0, 1e-15);
}

TEST(MpiExperiment, StatedDampingOverridesThatOfTheLine) {
  const ReadRecipe read = valid_recipe(with("k = 1.0", "k = 1.0\ndamping = 0.25"));
  EXPECT_EQ(read.experiment->make_problem(*read.experiment->find_case("open")).damping()(0, 0), 0.25);
}

TEST(MpiExperiment, LinesBetweenParticlesDampTheirDifference) {
  const ReadRecipe read =
      valid_recipe(with("kind = \"single-oscillator\"\nm = 1.0\nk = 1.0\nq0 = [1.0]",
                        "kind = \"dual-oscillator\"\nm0 = 1.0\nM0 = 1.0\nk0 = 1.0\nK0 = 1.0\nq0 = [1.0, 0.0]",
                        "kind = \"spring-mass-line\"\nsites = 100\nM = 0.1\nlambda = 10.0",
                        "kind = \"spring-inerter-line\"\nsites = 100\nb = 0.1\nk = 10.0"));
  const Problem problem = read.experiment->make_problem(*read.experiment->find_case("open"));
  EXPECT_NEAR(problem.damping()(0, 0), 1.0, 1e-15);
  EXPECT_NEAR(problem.damping()(0, 1), -1.0, 1e-15);
  EXPECT_NEAR(problem.damping()(1, 1), 1.0, 1e-15);
}

TEST(MpiExperiment, ChoosesEnvironmentsAndStepsByCase) {
  const ReadRecipe read = valid_recipe(
      with("[time]",
           "[[environments]]\nname = \"other\"\nkind = \"spring-mass-line\"\nsites = 7\nM = 0.2\nlambda = 20.0\n[time]",
           "on = \"closed\"", "on = \"closed\"\nenvironments = [\"other\"]\nstep = 0.01"));
  const Case& closed = *read.experiment->find_case("closed");
  EXPECT_EQ(closed.steps, 100);
  EXPECT_EQ(read.experiment->make_problem(closed).environments()[0]->properties().sites, 7);
  // Two lines on one particle add up.
  EXPECT_NEAR(read.experiment->make_problem(*read.experiment->find_case("open")).damping()(0, 0), 1.0 + 2.0, 1e-14);
}

TEST(MpiExperiment, ARunMayEndBeforeTheOthers) {
  const ReadRecipe read = valid_recipe(with("name = \"closed\"", "name = \"closed\"\nend = 0.5"));
  EXPECT_EQ(read.experiment->find_case("closed")->steps, 10);
  EXPECT_EQ(read.experiment->find_case("open")->steps, 20);
  EXPECT_THAT(mistakes_in(with("name = \"closed\"", "name = \"closed\"\nend = 1.5")),
              AllOf(HasSubstr("r.toml:19:1: end = 1.5 is after the end 1 of [time]")));
}

TEST(MpiExperiment, FindsParticlesThatDoNotExist) {
  EXPECT_THAT(mistakes_in(with("sites = 100", "sites = 100\nattach = 3")),
              AllOf(HasSubstr("r.toml:11:"), HasSubstr("particle 3")));
  EXPECT_THAT(mistakes_in(with("kind = \"spring-mass-line\"\nsites = 100\nM = 0.1\nlambda = 10.0",
                               "kind = \"spring-inerter-line\"\nsites = 100\nb = 0.1\nk = 10.0")),
              AllOf(HasSubstr("r.toml:9:"), HasSubstr("connects two particles")));
}

TEST(MpiExperiment, ReportsTheMistakesOfSeveralPartsTogetherAndOnce) {
  const std::string report =
      mistakes_in(with("name = \"closed\"", "name = \"closed\"\nend = 1.5", "M = 0.1", "M = 0.1\nlength = 3.0"));
  EXPECT_THAT(report, AllOf(HasSubstr("r.toml:12:"), HasSubstr("r.toml:20:")));
  const std::size_t first = report.find("described in two ways");
  EXPECT_NE(first, std::string::npos);
  // Both integrators use the line.
  EXPECT_EQ(report.find("described in two ways", first + 1), std::string::npos);
}

TEST(MpiExperiment, ReportsAllMistakesOfAPhaseAndNoneOfLaterOnes) {
  const struct {
    const char* old;
    const char* now;
    std::vector<const char*> locations;  // of all mistakes, in the order of the file
  } cases[] = {
      // Values that have not been read are not checked against others.
      {"m = 1.0\nk = 1.0\nq0 = [1.0]", "m = -1.0\nk = 1.0\nq0 = [1.0, 2.0]", {"r.toml:4:"}},
      {"q0 = [1.0]", "q0 = true\nv0 = [1.0, 2.0]", {"r.toml:6:"}},
      {"q0 = [1.0]", "q0 = [1.0, 2.0]\nv0 = [1.0, 2.0]", {"r.toml:6:", "r.toml:7:"}},
      {"kind = \"single-oscillator\"", "kind = \"single\"", {"r.toml:3:"}},
      {"M = 0.1", "M = 0.1\nattach = 3\nlength = 1.0", {"r.toml:12:", "r.toml:13:"}},
      {"M = 0.1\n", "M = -0.1\nattach = 3\n", {"r.toml:11:"}},
      {"M = 0.1\n", "M = -0.1\nlength = 1.0\n", {"r.toml:11:"}},
      {"lambda = 10.0", "lamda = 10.0", {"r.toml:12:"}},
      {"M = 0.1\n", "attach = \"a\"\n", {"r.toml:11:"}},
      {"M = 0.1\nlambda = 10.0", "grid = \"characteristics\"\ndamping = 1.0\nattach = 2", {"r.toml:11:"}},
      {"step = 0.05", "step = nan\nstpe = 1", {"r.toml:14:", "r.toml:15:"}},
      // The stability limit is checked last.
      {"step = 0.05\nend = 1.0", "step = 0.12\nend = -1.0", {"r.toml:15:"}},
      {"step = 0.05\nend = 1.0", "step = 0.12\nend = 1.0\n[output]\nevry = 2", {"r.toml:17:"}},
      {"method = \"gamma\"\nname = \"open\"",
       "method = \"gamma\"\ngamma = 2\nname = \"open\"\nstep = 1e-300",
       {"r.toml:22:"}},
  };
  for (const auto& [old, now, locations] : cases) {
    SCOPED_TRACE(now);
    const std::string report = mistakes_in(with(old, now));
    std::size_t position = 0;
    for (const char* location : locations) {
      position = report.find(location, position);
      ASSERT_NE(position, std::string::npos) << location << "\n" << report;
    }
    EXPECT_EQ(std::count(report.begin(), report.end(), '\n') + 1, static_cast<long>(locations.size())) << report;
  }
}

TEST(MpiExperiment, HasNoDampingByDefault) {
  const ReadRecipe undamped = valid_recipe(
      with("[[environments]]\nname = \"line\"\nkind = \"spring-mass-line\"\nsites = 100\nM = 0.1\nlambda = 10.0\n", "",
           "[[integrators]]\nmethod = \"gamma\"\nname = \"closed\"\non = \"closed\"\n", ""));
  EXPECT_FALSE(undamped.experiment->make_problem(undamped.experiment->cases().front()).is_damped());
}

TEST(MpiExperiment, FindsLinesLargerThanTheMemory) {
  const std::string report = mistakes_in(with("sites = 100", "sites = 100000000000000"));
  EXPECT_THAT(report, AllOf(HasSubstr("r.toml:10:"), HasSubstr("GiB"), HasSubstr("would fit")));
}

// The line itself would fit; the stages of a collocation method need more than twice its memory in addition.
TEST(MpiExperiment, CountsTheMemoryOfTheStages) {
  const auto sites =
      static_cast<std::int64_t>(0.6 / 16.0 * static_cast<double>(memory_budget(test_world(), 0.0).available));
  const auto report = [&](const std::string& integrator) {
    return mistakes_in(with("method = \"gamma\"\nname = \"closed\"", integrator + "\nname = \"closed\"", "step = 0.05",
                            "step = 0.01", "sites = 100",
                            "sites = " + std::to_string(test_world().sum(sites) / test_world().size())));
  };
  EXPECT_EQ(report("method = \"gamma\"\ngamma = 0.5"), "");
  EXPECT_THAT(report("method = \"gauss\"\nstages = 4"), AllOf(HasSubstr("r.toml:10:"), HasSubstr("would fit")));
}

TEST(MpiExperiment, SupportsNonuniformSitesWithEveryKindOfIntegrator) {
  const std::string table = testing::TempDir() + "bathline_experiment_sites_" + std::to_string(test_world().size());
  if (test_world().is_root()) std::ofstream(table) << "0.1 10.0\n0.2 5.0\n";
  test_world().barrier();
  const auto report = [&](const std::string& integrator) {
    return mistakes_in(with("M = 0.1\nlambda = 10.0", "file = \"" + table + "\"",
                            "method = \"gamma\"\nname = \"closed\"", integrator + "\nname = \"closed\""));
  };
  for (const char* integrator : {"method = \"gamma\"\ngamma = 0.5", "method = \"gamma\"\ngamma = 0.7",
                                 "method = \"implicit-euler\"", "method = \"stoermer-verlet\"", "method = \"exact\"",
                                 "method = \"gauss\"\nstages = 4", "method = \"lobatto\"\nstages = 5"}) {
    EXPECT_EQ(report(integrator), "") << integrator;
  }
}

TEST(MpiExperiment, FindsBathsLargerThanTheMemoryAtAnyIndex) {
  const std::string bath =
      "[[environments]]\nname = \"bath\"\nkind = \"heat-bath\"\ndamping = 1.0\nomega_max = 20.0\noscillators = "
      "1000000000000\n";
  const std::string report = mistakes_in(with("[time]", bath + "[time]"));
  EXPECT_THAT(report, AllOf(HasSubstr("r.toml:18:"), HasSubstr("1000000000100 oscillators and sites need"),
                            HasSubstr("would fit")));
}

TEST(MpiExperiment, FindsStepsBeyondTheStabilityLimit) {
  // h sqrt(lambda/M) = 10 h <= 1, a little less for the finite line.
  const std::string report = mistakes_in(with("step = 0.05", "step = 0.12"));
  EXPECT_THAT(report, AllOf(HasSubstr("r.toml:14:"), HasSubstr("step = 0.12"), HasSubstr("limit 0.100")));
  // The location is that of the integrator's own step, if it has one.
  EXPECT_THAT(mistakes_in(with("on = \"closed\"", "on = \"closed\"\nstep = 0.125")), HasSubstr("r.toml:20:"));
  // The midpoint rule has no limit.
  EXPECT_EQ(mistakes_in(with("name = \"closed\"", "name = \"closed\"\ngamma = 0.5\nstep = 0.125")), "");
  // A light particle on a stiff line has a frequency above the line's band edge.
  EXPECT_THAT(mistakes_in(with("m = 1.0", "m = 0.001")), HasSubstr("stability limit"));
}

TEST(MpiExperiment, AcceptsTheCharacteristicGridExactlyAtTheLimit) {
  for (const char* sites : {"1", "100", "5000"}) {
    for (const char* step : {"0.1", "0.05", "0.3", "0.01"}) {
      EXPECT_EQ(mistakes_in(with("M = 0.1\nlambda = 10.0", "grid = \"characteristic\"\ndamping = 1.3", "step = 0.05",
                                 std::string("step = ") + step, "sites = 100", std::string("sites = ") + sites,
                                 "end = 1.0", "end = 0.3")),
                "")
          << sites << " sites, step " << step;
    }
  }
}

TEST(MpiExperiment, WarnsOfAStepThatDoesNotDivideTheEnd) {
  const ReadRecipe read = valid_recipe(with("end = 1.0", "end = 1.02"));
  ASSERT_EQ(read.feasibility->warnings().size(), 2u);
  EXPECT_THAT(read.feasibility->warnings()[0],
              AllOf(HasSubstr("closed"), HasSubstr("0.05"), HasSubstr("1.02"), HasSubstr("ends at 1")));
  EXPECT_EQ(read.experiment->find_case("closed")->steps, 20);
  // Differences of the order of round-off give no warning.
  const ReadRecipe thirds = read_recipe(with("step = 0.05", "step = 0.06666666666666667"));
  EXPECT_THAT(thirds.feasibility->warnings(), testing::IsEmpty());
  EXPECT_EQ(thirds.experiment->find_case("closed")->steps, 15);
}

TEST(MpiExperiment, WarnsOfAnEchoBeforeTheEnd) {
  // t_r = 2 * 100 sqrt(0.1/10) = 20.
  EXPECT_THAT(read_recipe(with("end = 1.0", "end = 19.95")).feasibility->warnings(), testing::IsEmpty());
  const ReadRecipe read = read_recipe(with("end = 1.0", "end = 25.0"));
  ASSERT_EQ(read.feasibility->warnings().size(), 1u);
  EXPECT_THAT(read.feasibility->warnings()[0], AllOf(HasSubstr("closed"), HasSubstr("line"), HasSubstr("t_r = 20")));
  EXPECT_THAT(read_recipe(with("sites = 100", "sites = 100\nfar_end = \"matched\"", "end = 1.0", "end = 25.0"))
                  .feasibility->warnings(),
              testing::IsEmpty());
}

TEST(MpiExperiment, WarnsOfACharacteristicGridOfAnotherGamma) {
  const auto warnings = [](const std::string& grid, const std::string& integrator) {
    return read_recipe(with("method = \"gamma\"", "method = \"gamma\"\n" + integrator, "M = 0.1\nlambda = 10.0",
                            "grid = \"characteristic\"\ndamping = 1.0\n" + grid))
        .feasibility->warnings();
  };
  EXPECT_THAT(warnings("", ""), testing::IsEmpty());
  EXPECT_THAT(warnings("gamma = 0.25", "gamma = 0.25"), testing::IsEmpty());
  EXPECT_THAT(
      warnings("gamma = 0.25", "gamma = 0.0"),
      testing::ElementsAre(AllOf(HasSubstr("closed"), HasSubstr("the grid of `line` is exact for gamma = 0.25"))));
  EXPECT_THAT(warnings("", "gamma = 0.5"), testing::ElementsAre(HasSubstr("with gamma = 0.5 closed and reduced")));
}

TEST(MpiExperiment, WarnsOfABathWithALowBandEdgeOrARecurrence) {
  // 50 oscillators up to 2 rad/s: recurrence at 2 pi / 0.04 = 157.08, highest frequency 1.98.
  const auto bath = [](const std::string& system, const std::string& end) {
    return read_recipe(with("kind = \"spring-mass-line\"\nsites = 100\nM = 0.1\nlambda = 10.0",
                            "kind = \"heat-bath\"\noscillators = 50\nomega_max = 2.0\ndamping = 0.3", "end = 1.0",
                            "end = " + end, "k = 1.0", system));
  };
  EXPECT_THAT(bath("k = 3.9", "157.0").feasibility->warnings(), testing::IsEmpty());
  const ReadRecipe slow = bath("k = 4.0", "157.0");
  ASSERT_EQ(slow.report(), "");
  ASSERT_EQ(slow.feasibility->warnings().size(), 1u);
  EXPECT_THAT(slow.feasibility->warnings()[0],
              AllOf(HasSubstr("closed: "), HasSubstr("band edge 1.98 of `line`"),
                    HasSubstr("below the particles' frequency 2"), HasSubstr("cannot damp")));
  const ReadRecipe returning = bath("k = 3.9", "157.1");
  ASSERT_EQ(returning.feasibility->warnings().size(), 1u);
  EXPECT_THAT(returning.feasibility->warnings()[0],
              HasSubstr("closed: the recurrence of `line` returns at t_r = 157.08"));
}

TEST(MpiExperiment, WarnsOfAnUnstableMethod) {
  const ReadRecipe read =
      valid_recipe(with("method = \"gamma\"\nname = \"closed\"", "method = \"explicit-euler\"\nname = \"closed\""));
  ASSERT_EQ(read.feasibility->warnings().size(), 1u);
  EXPECT_THAT(read.feasibility->warnings()[0], AllOf(HasSubstr("closed"), HasSubstr("unstable with every step size")));
}

TEST(MpiExperiment, FindsTooManySteps) {
  EXPECT_THAT(mistakes_in(with("step = 0.05", "step = 1e-16")),
              AllOf(HasSubstr("r.toml:14:"), HasSubstr("steps to reach the end")));
}

TEST(MpiExperiment, LimitsTheNumberOfSites) {
  const std::string report = mistakes_in(with("sites = 100", "sites = 1000000000000000000"));
  EXPECT_THAT(report, AllOf(HasSubstr("r.toml:10:"), HasSubstr("must be at most 1000000000000000")));
  EXPECT_THAT(mistakes_in(with("sites = 100", "sites = 1000000000000000")), HasSubstr("would fit"));
}

TEST(MpiExperiment, RequiresFiniteForcesAtTheStart) {
  const std::string text =
      with("kind = \"single-oscillator\"\nm = 1.0\nk = 1.0\nq0 = [1.0]",
           "kind = \"coupled-van-der-pol\"\nepsilon = 1.0\nrho = 1.0\nlambda = 1.0\nq0 = [0.0, 1e300]",
           "[[environments]]\nname = \"line\"\nkind = \"spring-mass-line\"\nsites = 100\nM = 0.1\nlambda = 10.0\n", "",
           "[[integrators]]\nmethod = \"gamma\"\nname = \"closed\"\non = \"closed\"\n", "");
  EXPECT_THAT(mistakes_in(text + "[study]\nkind = \"convergence\"\nstep_sizes = [0.1, 0.05]\n"),
              HasSubstr("not finite at the start; change `q0`"));
}

TEST(MpiExperiment, ReadsATableOnce) {
  const std::string table = testing::TempDir() + "bathline_experiment_once_" + std::to_string(test_world().size());
  if (test_world().is_root()) std::ofstream(table) << "0.1 10.0\n0.2 5.0\n";
  test_world().barrier();
  const ReadRecipe read = read_recipe(with("M = 0.1\nlambda = 10.0", "file = \"" + table + "\""));
  test_world().barrier();
  if (test_world().is_root()) std::ofstream(table) << "0.1 10.0\n";
  test_world().barrier();
  ASSERT_EQ(read.report(), "");
  const Problem problem = read.experiment->make_problem(*read.experiment->find_case("closed"));
  EXPECT_EQ(problem.environments()[0]->assemble(2).mass[1], 0.2);
}

TEST(MpiExperiment, RefusesClaimsOnEnergiesOfThermalLinesAtTheStabilityLimit) {
  const std::string grid = with("M = 0.1\nlambda = 10.0", "grid = \"characteristic\"\ndamping = 1.0");
  const std::string warm = bathline::with(grid, "damping = 1.0", "damping = 1.0\nkT = 0.5");
  const auto claim = [](const std::string& keys) { return "[[claims]]\nname = \"c\"\nbounds = [0.0, 1.0]\n" + keys; };
  const std::string energy = "quantity = \"closed.energy_environment.max\"\n";
  const ReadRecipe read = valid_recipe(warm);
  ASSERT_EQ(read.feasibility->warnings().size(), 1u);
  EXPECT_THAT(read.feasibility->warnings()[0],
              AllOf(HasSubstr("closed: the thermal environment `line` is at the stability limit of gamma"),
                    HasSubstr("are valid, the energies of `line` are not")));
  EXPECT_THAT(mistakes_in(warm + claim(energy)),
              AllOf(HasSubstr("r.toml:28:"), HasSubstr("take a smaller step or another grid")));
  EXPECT_THAT(mistakes_in(warm + claim("quantity = \"closed.q.max\"\ndivided_by = \"closed.energy_total.max\"\n")),
              HasSubstr("r.toml:29:"));
  EXPECT_EQ(mistakes_in(warm + claim("quantity = \"closed.energy_particles.max\"\n")), "");
  EXPECT_EQ(mistakes_in(grid + claim(energy)), "");
  EXPECT_THAT(read_recipe(grid).feasibility->warnings(), testing::IsEmpty());
  // At half the stability limit, energies of a thermal line can be claimed.
  EXPECT_EQ(mistakes_in(with("lambda = 10.0", "lambda = 10.0\nkT = 0.5") + claim(energy)), "");
}

}  // namespace
}  // namespace bathline::experiment_test
