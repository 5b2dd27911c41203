// The forms of lines in recipes, and mistakes in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "recipe_text.hpp"

namespace bathline::transmission_lines_test {
namespace {

using testing::HasSubstr;

/// A recipe with a system and an environment: its `kind` is on line 10, the given keys begin on line 11.
std::string recipe(const std::string& system, const std::string& kind, const std::string& environment) {
  return "title = \"t\"\n[system]\nkind = \"" + system + "\"\n" +
         (system == "dual-oscillator" ? "m0 = 1.0\nM0 = 2.0\nk0 = 1.0\nK0 = 1.0\nq0 = [1.0, 0.0]\n"
                                      : "m = 1.0\nk = 1.0\nq0 = [1.0]\n\n\n") +
         "[[environments]]\nkind = \"" + kind + "\"\n" + environment +
         "\n[time]\nstep = 0.1\nsteps = 10\n[[integrators]]\nmethod = \"gamma\"\non = \"closed\"\n";
}

LumpedNetwork chain_of(const std::string& text) {
  const ReadRecipe read = read_recipe(text);
  EXPECT_EQ(read.report(), "");
  if (!read.mistakes.empty()) return {};
  const Problem problem = read.experiment->make_problem(read.experiment->cases().front());
  return problem.environments().front()->assemble(100);
}

TEST(MpiTransmissionLines, LumpedValuesAreUsedUnchanged) {
  const LumpedNetwork chain =
      chain_of(recipe("single-oscillator", "spring-mass-line", "sites = 7\nM = 3.0\nlambda = 12.0"));
  EXPECT_EQ(chain.mass, std::vector<double>(7, 3.0));
  EXPECT_EQ(chain.to_head.front().second, 12.0);
  EXPECT_EQ(chain.to_ground.size(), 1u);
  const LumpedNetwork inerter =
      chain_of(recipe("dual-oscillator", "spring-inerter-line", "sites = 7\nb = 3.0\nk = 12.0"));
  EXPECT_EQ(inerter.mass, std::vector<double>(7, 3.0));
  EXPECT_EQ(inerter.to_head.front().second, 12.0);
}

TEST(MpiTransmissionLines, ContinuumValuesGiveTheDampingTheSpeedAndTheLength) {
  const double damping = 6.0, length = 40.0, speed = 2.0;
  const LumpedNetwork chain =
      chain_of(recipe("single-oscillator", "spring-mass-line",
                      "sites = 100\ndamping = 6.0\nlength = 40.0\nspeed = 2.0\nfar_end = \"free\""));
  ASSERT_EQ(chain.mass.size(), 100u);
  const double mass = chain.mass.front(), stiffness = chain.to_head.front().second, spacing = length / 100.0;
  EXPECT_NEAR(std::sqrt(mass * stiffness), damping, 1e-14);
  EXPECT_NEAR(spacing * std::sqrt(stiffness / mass), speed, 1e-14);
  EXPECT_TRUE(chain.to_ground.empty());
}

TEST(MpiTransmissionLines, CharacteristicGridFollowsTheStep) {
  for (const char* system : {"single-oscillator", "dual-oscillator"}) {
    const char* kind = system[0] == 's' ? "spring-mass-line" : "spring-inerter-line";
    const LumpedNetwork chain = chain_of(recipe(system, kind, "sites = 100\ndamping = 0.5\ngrid = \"characteristic\""));
    EXPECT_NEAR(chain.mass.front(), 0.5 * 0.1, 1e-16);
    EXPECT_NEAR(chain.to_head.front().second, 0.5 / 0.1, 1e-14);
  }
}

// c = h sqrt(lambda/M) = 1/(1 - 2 gamma) and sqrt(lambda M) = D; neither exists from 1/2 on.
TEST(MpiTransmissionLines, CharacteristicGridOfEveryGammaBelowOneHalf) {
  const std::string grid = "sites = 100\ndamping = 0.5\ngrid = \"characteristic\"\ngamma = ";
  for (const double gamma : {0.0, 0.25, 0.4}) {
    std::string text = recipe("single-oscillator", "spring-mass-line", grid + std::to_string(gamma));
    text.replace(text.rfind("on = "), 0, "gamma = " + std::to_string(gamma) + "\n");
    const LumpedNetwork chain = chain_of(text);
    ASSERT_EQ(chain.mass.size(), 100u);
    const double mass = chain.mass.front(), stiffness = chain.to_head.front().second;
    EXPECT_NEAR(std::sqrt(mass * stiffness), 0.5, 1e-15);
    EXPECT_NEAR(0.1 * std::sqrt(stiffness / mass), 1.0 / (1.0 - 2.0 * gamma), 1e-14);
  }
  const auto report = [](const std::string& environment) {
    return read_recipe(recipe("single-oscillator", "spring-mass-line", environment)).report();
  };
  for (const char* gamma : {"0.5", "0.75", "1.0"}) {
    EXPECT_THAT(report(grid + gamma), testing::AllOf(HasSubstr("r.toml:14:"), HasSubstr("less than 1/2")));
  }
  EXPECT_THAT(report("sites = 7\nM = 1.0\nlambda = 1.0\ngamma = 0.25"), HasSubstr("it needs `grid = "));
}

TEST(MpiTransmissionLines, HalfASiteIsAddedToTheParticleOfClosedRuns) {
  const std::string line = "sites = 7\nM = 3.0\nlambda = 12.0\nhalf_site = true";
  std::string text = recipe("single-oscillator", "spring-mass-line", line);
  text.replace(text.find("k = 1.0"), 7, "k = 1.0\nv0 = [2.0]");
  const ReadRecipe read = read_recipe(text + "[[integrators]]\nmethod = \"gamma\"\nname = \"open\"\non = \"open\"\n");
  ASSERT_EQ(read.report(), "");
  Problem closed = read.experiment->make_problem(*read.experiment->find_case("gamma"));
  closed.prepare();
  EXPECT_EQ(closed.system().mass[0], 1.0 + 1.5);
  // The half site is at rest before: it shares the particle's momentum and takes energy from it.
  EXPECT_EQ(closed.p[0], 2.0);
  EXPECT_NEAR(closed.energies().particles, 2.0 * 2.0 / (2.0 * 2.5) + 0.5, 1e-15);
  EXPECT_EQ(read.experiment->make_problem(*read.experiment->find_case("open")).system().mass[0], 1.0);

  EXPECT_THAT(read_recipe(recipe("single-oscillator", "spring-mass-line", line + "\nkT = 1.0")).report(),
              testing::AllOf(HasSubstr("r.toml:14:"), HasSubstr("`half_site` supports no temperature")));
  EXPECT_THAT(
      read_recipe(recipe("dual-oscillator", "spring-inerter-line", "sites = 7\nb = 3.0\nk = 12.0\nhalf_site = true"))
          .report(),
      HasSubstr("half_site"));
}

TEST(MpiTransmissionLines, RefuseContradictoryForms) {
  const auto report = [](const std::string& environment) {
    return read_recipe(recipe("single-oscillator", "spring-mass-line", environment)).report();
  };
  EXPECT_THAT(report("sites = 7\nM = 1.0\nlambda = 1.0\nlength = 2.0"), HasSubstr("r.toml:14:"));
  EXPECT_THAT(report("sites = 7\nM = 1.0\nlambda = 1.0\nlength = 2.0"), HasSubstr("described in two ways"));
  EXPECT_THAT(report("sites = 7\nM = 1.0\nlambda = 1.0\ngrid = \"characteristic\"\ndamping = 1.0"),
              HasSubstr("described in two ways"));
  EXPECT_THAT(report("sites = 7\nM = 1.0\nlambda = 1.0\ndamping = 1.0"), HasSubstr("sqrt(M lambda)"));
  EXPECT_THAT(report("sites = 7\nM = 1.0"), HasSubstr("`lambda` is missing"));
  EXPECT_THAT(report("sites = 7\ngrid = \"characteristic\""), HasSubstr("`damping` is missing"));
  EXPECT_THAT(report("sites = 7\ndamping = 1.0\nlength = 2.0"), HasSubstr("`speed` is missing"));
  EXPECT_THAT(report("sites = 7"), HasSubstr("is missing"));
}

/// Writes a table on rank 0 and returns the key that names it.
std::string table_of_sites(const std::string& text) {
  const std::string path = testing::TempDir() + "bathline_sites_" + std::to_string(test_world().size()) + ".txt";
  if (test_world().is_root()) std::ofstream(path) << text;
  return "file = \"" + path + "\"\n";
}

TEST(MpiTransmissionLines, NonuniformSitesComeFromATable) {
  const std::string table = table_of_sites("# mass, stiffness\n1.0 4.0\n2.0 5.0\n");
  const LumpedNetwork chain = chain_of(recipe("single-oscillator", "spring-mass-line", "sites = 5\n" + table));
  EXPECT_EQ(chain.mass, (std::vector<double>{1.0, 2.0, 1.0, 2.0, 1.0}));
  EXPECT_EQ(chain.to_head.front().second, 4.0);
  ASSERT_EQ(chain.springs.size(), 4u);
  EXPECT_EQ(chain.springs[0].stiffness, 5.0);
  EXPECT_EQ(chain.springs[1].stiffness, 4.0);
  EXPECT_EQ(chain.to_ground.front().second, 4.0);
}

TEST(MpiTransmissionLines, NonuniformSitesAreCheckedLineByLine) {
  const auto report = [](const std::string& text, const std::string& more) {
    return read_recipe(recipe("single-oscillator", "spring-mass-line", "sites = 2\n" + table_of_sites(text) + more))
        .report();
  };
  EXPECT_EQ(report("1.0 1.0\n", ""), "");
  EXPECT_THAT(report("1.0 1.0\n1.0\n", ""), HasSubstr("line 2: must be two numbers"));
  EXPECT_THAT(report("-1.0 1.0\n", ""), HasSubstr("line 1: mass -1 must be positive"));
  EXPECT_THAT(report("1.0 0.0\n", ""), HasSubstr("line 1: stiffness 0 must be positive"));
  EXPECT_THAT(report("# nothing\n", ""), HasSubstr("the file contains no site"));
  EXPECT_THAT(report("1 1\n1 1\n1 1\n", ""), HasSubstr("it describes 3 sites, but the line has 2"));
  EXPECT_THAT(report("1.0 1.0\n", "M = 1.0"), HasSubstr("`M` has no meaning"));
  EXPECT_THAT(report("1.0 1.0\n", "half_site = true"), HasSubstr("`half_site` has no meaning for nonuniform sites"));
  EXPECT_EQ(report("1.0 1.0\n", "kT = 1.0"), "");
  EXPECT_EQ(report("1.0 1.0\n", "[[integrators]]\nmethod = \"gauss\"\non = \"closed\""), "");
}

TEST(MpiTransmissionLines, NeedExistingParticles) {
  EXPECT_THAT(
      read_recipe(recipe("single-oscillator", "spring-mass-line", "attach = 1\nsites = 7\nM = 1.0\nlambda = 1.0"))
          .report(),
      testing::AllOf(HasSubstr("r.toml:11:"), HasSubstr("particle 1, but the system has 1")));
  EXPECT_THAT(read_recipe(recipe("single-oscillator", "spring-inerter-line", "sites = 7\nb = 1.0\nk = 1.0")).report(),
              testing::AllOf(HasSubstr("r.toml:10:"), HasSubstr("connects two particles")));
  for (const char* attach : {"[0, 0]", "[0]", "[0, 1, 2]"}) {
    EXPECT_THAT(read_recipe(recipe("dual-oscillator", "spring-inerter-line",
                                   std::string("attach = ") + attach + "\nsites = 7\nb = 1.0\nk = 1.0"))
                    .report(),
                testing::AllOf(HasSubstr("r.toml:11:"), HasSubstr("two different particles")));
  }
  EXPECT_THAT(
      read_recipe(recipe("dual-oscillator", "spring-inerter-line", "attach = [0, 2]\nsites = 7\nb = 1.0\nk = 1.0"))
          .report(),
      testing::AllOf(HasSubstr("r.toml:11:"), HasSubstr("particle 2")));
}

}  // namespace
}  // namespace bathline::transmission_lines_test
