// The environment `heat-bath` of recipes: the keys of each spectrum, tables, and mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "record/shared_folder.hpp"
#include "recipe_text.hpp"

namespace bathline::heat_bath_test {
namespace {

using std::numbers::pi;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A recipe with a bath: its `kind` is on line 9, the given keys begin on line 10.
std::string recipe(const std::string& keys) {
  return "title = \"t\"\n[system]\nkind = \"single-oscillator\"\nm = 1.0\nk = 1.0\nq0 = [1.0]\n\n[[environments]]\n"
         "kind = \"heat-bath\"\n" +
         keys +
         "\n[time]\nstep = 0.01\nsteps = 10\n[[integrators]]\nmethod = \"gamma\"\ngamma = 0.0\non = \"closed\"\n";
}

/// The bath of a recipe without mistakes.
class RecipeBath {
 public:
  explicit RecipeBath(const std::string& keys) : read_(read_recipe(recipe(keys))) {
    EXPECT_EQ(read_.report(), "");
    if (read_.mistakes.empty()) problem_.emplace(read_.experiment->make_problem(read_.experiment->cases().front()));
  }
  bool exists() const { return problem_.has_value(); }
  Environment& operator*() { return *problem_->environments().front(); }
  Environment* operator->() { return problem_->environments().front().get(); }

 private:
  ReadRecipe read_;
  std::optional<Problem> problem_;
};

std::string report(const std::string& keys, const std::vector<std::string>& settings = {}) {
  return read_recipe(recipe(keys), settings).report();
}

const std::string ohmic = "oscillators = 200\ndamping = 0.3\nomega_max = 20.0";

TEST(MpiHeatBath, IsOhmicByDefault) {
  RecipeBath bath(ohmic);
  ASSERT_TRUE(bath.exists());
  EXPECT_EQ(bath->properties().sites, 200);
  EXPECT_EQ(bath->properties().damping, 0.3);
  EXPECT_EQ(bath->properties().echo.name, "recurrence");
  EXPECT_NEAR(bath->properties().echo.time, 2.0 * pi / 0.1, 1e-12);
  EXPECT_NEAR(bath->properties().highest_frequency, 19.95, 1e-12);
  EXPECT_FALSE(bath->properties().loses_energy);
  EXPECT_NEAR(bath->analytic_kernel(std::vector<double>{0.0}).value().kernel[0], 2.0 * 0.3 * 20.0 / pi, 1e-13);
  // By default at rest, with 32 steps per pass.
  bath->prepare({});
  std::vector<double> w, p;
  bath->gather_state(w, p);
  for (double value : w) EXPECT_EQ(value, 0.0);
  EXPECT_EQ(bath->explicit_stepper(splitting({{Substep::Kind::drift, 1.0}}), 0.1)->max_block_steps(), 32);
}

TEST(MpiHeatBath, UsesTheKeysOfItsSpectrum) {
  RecipeBath drude("spectrum = \"drude\"\ncutoff = 2.0\n" + ohmic);
  ASSERT_TRUE(drude.exists());
  EXPECT_NEAR(drude->analytic_kernel(std::vector<double>{0.5}).value().limit[0], 0.3 * 2.0 * std::exp(-1.0), 1e-15);
  RecipeBath power("spectrum = \"power\"\nexponent = 3.0\nreference = 4.0\n" + ohmic);
  ASSERT_TRUE(power.exists());
  const LumpedNetwork chain = power->assemble(200);
  EXPECT_NEAR(chain.to_head[10].second, 2.0 * 0.3 * 0.1 / pi * std::pow(1.05 / 4.0, 2), 1e-15);
}

TEST(MpiHeatBath, ThermalStartFollowsTemperatureAndPasses) {
  RecipeBath bath("kT = 0.5\n" + ohmic);
  ASSERT_TRUE(bath.exists());
  bath->prepare({.seed = 4});
  EXPECT_EQ(bath->explicit_stepper(splitting({{Substep::Kind::drift, 1.0}}), 0.1)->max_block_steps(), 32);
  // The mean is kT/2 for each of 200 oscillators, with a standard deviation of sqrt(1/2) kT.
  const EnvironmentEnergy energy = bath->energy(std::vector<double>{0.0});
  EXPECT_NEAR(energy.environment, 200 * 0.25, 5.0 * std::sqrt(200 * 0.125));
  EXPECT_NEAR(energy.interaction, 200 * 0.25, 5.0 * std::sqrt(200 * 0.125));
}

TEST(MpiHeatBath, NamesTheKeysThatASpectrumNeeds) {
  struct Missing {
    std::string keys, spectrum, key;
  };
  for (const Missing& this_case : {Missing{"oscillators = 9\ndamping = 0.3", "ohmic", "omega_max"},
                                   Missing{"omega_max = 9.0\ndamping = 0.3", "ohmic", "oscillators"},
                                   Missing{"omega_max = 9.0\noscillators = 3", "ohmic", "damping"},
                                   Missing{"spectrum = \"drude\"\n" + ohmic, "drude", "cutoff"},
                                   Missing{"spectrum = \"power\"\nexponent = 2.0\n" + ohmic, "power", "reference"},
                                   Missing{"spectrum = \"power\"\nreference = 2.0\n" + ohmic, "power", "exponent"},
                                   Missing{"spectrum = \"table\"", "table", "file"}}) {
    const std::string message = "spectrum = \"" + this_case.spectrum + "\" needs the key `" + this_case.key + "`";
    EXPECT_THAT(report(this_case.keys), HasSubstr(message));
    EXPECT_THAT(report(this_case.keys), Not(HasSubstr("\n" + message)));
  }
  // All missing keys are reported together.
  EXPECT_THAT(report("spectrum = \"power\"\ndamping = 0.3"),
              AllOf(HasSubstr("r.toml:10:"), HasSubstr("`oscillators`"), HasSubstr("`omega_max`"),
                    HasSubstr("`exponent`"), HasSubstr("`reference`")));
}

TEST(MpiHeatBath, NamesTheKeysThatHaveNoMeaning) {
  struct Extra {
    std::string keys, spectrum, key;
  };
  for (const Extra& this_case :
       {Extra{"cutoff = 1.0\n" + ohmic, "ohmic", "cutoff"}, Extra{"file = \"t\"\n" + ohmic, "ohmic", "file"},
        Extra{"exponent = 1.0\n" + ohmic, "ohmic", "exponent"},
        Extra{"reference = 1.0\nspectrum = \"drude\"\ncutoff = 1.0\n" + ohmic, "drude", "reference"},
        Extra{"cutoff = 1.0\nspectrum = \"power\"\nexponent = 1.0\nreference = 1.0\n" + ohmic, "power", "cutoff"},
        Extra{"omega_max = 1.0\nspectrum = \"table\"\nfile = \"t\"", "table", "omega_max"},
        Extra{"oscillators = 1\nspectrum = \"table\"\nfile = \"t\"", "table", "oscillators"}}) {
    const std::string text = report(this_case.keys);
    EXPECT_THAT(text, HasSubstr("r.toml:10:"));
    EXPECT_THAT(text,
                HasSubstr("`" + this_case.key + "` has no meaning with spectrum = \"" + this_case.spectrum + "\""));
  }
}

TEST(MpiHeatBath, RefusesInvalidNumbers) {
  EXPECT_THAT(report("kT = -1.0\n" + ohmic), AllOf(HasSubstr("r.toml:10:"), HasSubstr("kT")));
  EXPECT_THAT(report("attach = 3\n" + ohmic), AllOf(HasSubstr("r.toml:10:"), HasSubstr("particle 3")));
}

class MpiHeatBathTable : public testing::Test {
 protected:
  /// Writes a table and returns the keys of a bath that reads it.
  std::string table(const std::string& text) {
    const std::string path = std::filesystem::absolute(folder_.file("bath.txt")).string();
    if (test_world().is_root()) std::ofstream(path) << text;
    test_world().barrier();
    return "spectrum = \"table\"\nfile = \"" + path + "\"";
  }
  SharedFolder folder_;
};

TEST_F(MpiHeatBathTable, IsReadOnEveryRank) {
  RecipeBath bath(table("# a bath\n0.5 0.1\n1.5 0.2\n2.5 0.4\n"));
  ASSERT_TRUE(bath.exists());
  EXPECT_EQ(bath->properties().sites, 3);
  EXPECT_EQ(bath->properties().highest_frequency, 2.5);
  EXPECT_NEAR(bath->analytic_kernel(std::vector<double>{0.0}).value().kernel[0], 0.7, 1e-15);
}

TEST_F(MpiHeatBathTable, ReportsTheLineOfAMistake) {
  EXPECT_THAT(report(table("0.5 0.1\n0.4 0.2\n")),
              AllOf(HasSubstr("r.toml:11:"), HasSubstr("bath.txt\": line 2: frequency 0.4 must be greater")));
  EXPECT_THAT(report(table("0.5 0.1\n0.7\n")), HasSubstr("line 2: must be two numbers"));
  EXPECT_THAT(report(table("")), HasSubstr("the file contains no oscillator"));
}

TEST_F(MpiHeatBathTable, MustExist) {
  EXPECT_THAT(report("spectrum = \"table\"\nfile = \"/no/such/table.txt\""),
              AllOf(HasSubstr("r.toml:11:"), HasSubstr("cannot be read"), HasSubstr("/no/such/table.txt")));
  EXPECT_THAT(report("spectrum = \"table\"\nfile = \"/tmp\""), HasSubstr("cannot be read"));
  const std::string long_name(5000, 'x');
  EXPECT_THAT(report("spectrum = \"table\"\nfile = \"/" + long_name + "\""), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace bathline::heat_bath_test
