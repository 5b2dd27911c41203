// The study of a kernel from data: its results, the environment that it proposes, and messages about data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

#include "run_study.hpp"

namespace bathline::kernel_from_data_test {
namespace {

using testing::HasSubstr;

class MpiKernelFromData : public testing::Test {
 protected:
  std::string recipe(const std::string& data, const std::string& keys, const std::string& more = "") const {
    const std::string path = folder_.file("data.txt");
    if (test_world().is_root()) std::ofstream(path) << data;
    test_world().barrier();
    return "title = \"t\"\n" + more + "[study]\nkind = \"memory-kernel\"\ndata_file = \"" + path + "\"\n" + keys;
  }

 private:
  SharedFolder folder_;
};

/// A free particle of mass 2 with friction 3 and noise at kT = 0.5, sampled exactly, in several columns.
std::string free_particle(int records, int series) {
  constexpr double rate = 3.0 / 2.0, variance = 0.5 / 2.0, h = 0.05;
  std::mt19937_64 generator(11);
  std::normal_distribution<double> normal;
  std::vector<double> v;
  for (int i = 0; i < series; ++i) v.push_back(std::sqrt(variance) * normal(generator));
  std::ostringstream text;
  text.precision(9);
  for (int n = 0; n < records; ++n) {
    text << 5.0 + n * h;
    for (double& one : v) {
      text << " " << one << " 0";
      one = std::exp(-rate * h) * one + std::sqrt(variance * (1.0 - std::exp(-2.0 * rate * h))) * normal(generator);
    }
    text << "\n";
  }
  return text.str();
}

// White friction is the fastest rate of the grid, 1/h, whose kernel has the integral 3 after some intervals.
TEST_F(MpiKernelFromData, WhiteFrictionIsTheFastestTerm) {
  const RunStudy run(recipe(free_particle(20000, 2), "mass = 2.0\nmax_lag = 2.0\nseries = 2\nblocks = 20\n"));
  const std::string group = "memory-kernel/data/";
  EXPECT_NEAR(run.value(group + "damping"), 3.0, 4.0 * run.value(group + "damping_error"));
  EXPECT_LT(run.value(group + "damping_error"), 0.6);
  EXPECT_NEAR(run.value(group + "temperature"), 0.5, 4.0 * run.value(group + "temperature_error"));
  EXPECT_EQ(run.values(group + "lag").size(), 41u);
  EXPECT_NEAR(run.values(group + "rate").back(), 20.0, 1e-6);
  EXPECT_GT(run.values(group + "stiffness").back(), 20.0);
}

// Times of an interval of 0.004 that are printed with two decimals: 0.00, 0.00, 0.01, 0.01, 0.02, ...
TEST_F(MpiKernelFromData, TheIntervalOfRoundedTimesIsStated) {
  const std::string keys = "mass = 1.0\nmax_lag = 0.05\nblocks = 2\n";
  for (const double h : {0.004, 0.0125}) {
    std::ostringstream text;
    for (int i = 0; i < 100; ++i) text << fmt::format("{:.2f} {:.3f} 0\n", 7.0 + i * h, std::sin(0.3 * i * i));
    const RunStudy run(recipe(text.str(), keys + fmt::format("interval = {}\n", h)));
    EXPECT_EQ(run.values("memory-kernel/data/lag")[1], h);
    EXPECT_THAT(report_of(recipe(text.str(), keys)), HasSubstr("state `interval`"));
    EXPECT_THAT(report_of(recipe(text.str(), keys + fmt::format("interval = {}\n", 1.05 * h))),
                HasSubstr("known to 0.01"));
  }
}

TEST_F(MpiKernelFromData, SaysWhatIsWrong) {
  const std::string good = free_particle(100, 1), keys = "mass = 1.0\nmax_lag = 0.2\n";
  const std::string motion = "[time]\nstep = 0.1\nend = 1.0\n";
  const struct {
    std::string data, keys, more;
    const char* message;
  } cases[] = {
      {good, "max_lag = 0.2\n", "", "`data_file` needs `mass`"},
      {good, "mass = 1.0\n", "", "`data_file` needs `max_lag`"},
      {good, "mass = 1.0\nmax_lag = 1.0\n", "", "shorter than a block, 0.45"},
      {good, keys + "blocks = 1\n", "", "errors need at least two"},
      {good, keys + "series = 2\n", "", "line 1: must be 5 numbers"},
      {"0 1 1\n1 1 nan\n2 1 1\n", keys, "", "line 2: must be 3 numbers"},
      {"0 1 1\n1 1 1\n2.1 1 1\n", keys, "", "all intervals must be equal, but from 0 to 1 it is 1 s, not their mean"},
      {"0 1 1\n2 1 1\n1 1 1\n", keys, "", "line 3: time 1 must not be less than that of the row before, 2"},
      {"0 1 1\n1 1 1\n", keys, "", "contains 2 records, but needs at least 3"},
      {"0 0 1\n1 0 1\n2 0 1\n3 0 1\n4 0 1\n5 0 1\n6 0 1\n7 0 1\n", "mass = 1.0\nmax_lag = 2.0\nblocks = 2\n", "",
       "all velocities are 0"},
      {good, keys, motion, "[time] has no meaning beside `data_file` of [study]"}};
  for (const auto& [data, study, more, message] : cases) {
    EXPECT_THAT(report_of(recipe(data, study, more)), HasSubstr(message));
  }
}

// Without data the keys of data are mistakes, and the sections of the motion are needed.
TEST_F(MpiKernelFromData, KeysOfDataNeedData) {
  const std::string start = "title = \"t\"\n[study]\nkind = \"memory-kernel\"\n";
  EXPECT_THAT(mistakes_in(start), HasSubstr("the recipe needs the table [system]"));
  const std::string motion =
      "[system]\nkind = \"single-oscillator\"\nm = 1.0\nk = 1.0\nq0 = [1.0]\n[time]\nstep = 0.1\nend = 1.0\n"
      "[[environments]]\nkind = \"memory\"\nstiffness = [1.0]\nrate = [1.0]\n"
      "[[integrators]]\nmethod = \"gamma\"\ngamma = 0.5\non = \"closed\"\n";
  EXPECT_EQ(report_of(start + motion), "");
  EXPECT_THAT(report_of(start + "mass = 1.0\n" + motion), HasSubstr("`mass` has no meaning without `data_file`"));
}

// The resolved recipe parses to the same study.
TEST_F(MpiKernelFromData, TheResolvedRecipeHasNoMotionEither) {
  const ReadRecipe first = valid_recipe(recipe(free_particle(100, 1), "mass = 1.0\nmax_lag = 0.2\n"));
  const ReadRecipe second = valid_recipe(first.recipe->resolved);
  EXPECT_EQ(second.recipe->resolved, first.recipe->resolved);
  EXPECT_EQ(first.recipe->resolved.find("[system]"), std::string::npos);
}

}  // namespace
}  // namespace bathline::kernel_from_data_test
