// Memory kernel and random force of clamped particles, against sums.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "run_study.hpp"

namespace bathline::memory_test {
namespace {

using testing::HasSubstr;

std::string recipe(const std::string& environment, const std::string& integrators) {
  return R"(title = "t"
seed = 5
[system]
kind = "single-oscillator"
m = 1.0
k = 1.0
q0 = [0.7]
v0 = [3.0]
)" + environment +
         "[time]\nstep = 0.01\nend = 2.0\n" + integrators + "[output]\nevery = 20\n[study]\nkind = \"memory-kernel\"\n";
}

std::string bath(const std::string& more = "") {
  return "[[environments]]\nname = \"bath\"\nkind = \"heat-bath\"\noscillators = 3\ndamping = 0.4\nomega_max = 6.0\n" +
         more;
}

const std::string midpoint = "[[integrators]]\nmethod = \"gamma\"\ngamma = 0.5\non = \"closed\"\nname = \"midpoint\"\n";
const std::string verlet = "[[integrators]]\nmethod = \"stoermer-verlet\"\non = \"closed\"\nname = \"verlet\"\n";

TEST(MpiMemory, KernelOfABathIsTheSumOfItsCosines) {
  const RunStudy run(recipe(bath(), midpoint + verlet));
  for (const std::string label : {"midpoint", "verlet"}) {
    const std::string group = "memory-kernel/" + label + "/bath/";
    const std::vector<double> time = run.values(group + "time"), kernel = run.values(group + "kernel");
    const std::vector<double> formula = run.values(group + "kernel_formula");
    ASSERT_EQ(kernel.size(), 11u);
    double worst = 0.0;
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      double sum = 0.0;
      for (const double omega : {1.0, 3.0, 5.0}) sum += 2.0 * 0.4 * 2.0 / M_PI * std::cos(omega * time[i]);
      EXPECT_NEAR(formula[i], sum, 1e-14);
      // Phases are off by h^2 omega^3 t/12 at most: 2e-3 of an oscillator's 0.5.
      EXPECT_NEAR(kernel[i], sum, 1.1e-3);
      worst = std::max(worst, std::abs(kernel[i] - formula[i]));
    }
    EXPECT_EQ(run.value(group + "kernel_error"), worst);
    EXPECT_GT(worst, 1e-6);
    EXPECT_EQ(run.values(group + "random_force"), std::vector<double>(11, 0.0));
  }
}

// The last interval between records may be shorter than the others, or the only one.
TEST(MpiMemory, ReachesTheEndWhateverTheRecords) {
  const RunStudy all(recipe(bath(), midpoint));
  for (const auto& [every, records] : {std::pair("30", 8u), std::pair("1000", 2u)}) {
    std::string text = recipe(bath(), midpoint);
    const RunStudy run(text.replace(text.find("every = 20"), 10, std::string("every = ") + every));
    const std::string group = "memory-kernel/midpoint/bath/";
    const std::vector<double> time = run.values(group + "time"), kernel = run.values(group + "kernel");
    ASSERT_EQ(kernel.size(), records);
    EXPECT_EQ(time.back(), all.values(group + "time").back());
    EXPECT_NEAR(kernel.back(), all.values(group + "kernel").back(), 1e-12);
  }
}

TEST(MpiMemory, RandomForceOfAWarmBathIsThatOfItsStart) {
  const RunStudy cold(recipe(bath(), midpoint));
  const RunStudy warm(recipe(bath("kT = 2.0\n"), midpoint));
  EXPECT_LT(warm.value("memory-kernel/midpoint/bath/random_force_error"), 0.05);
  const std::vector<double> force = warm.values("memory-kernel/midpoint/bath/random_force");
  EXPECT_GT(std::abs(force.front()), 1e-3);
  // The kernel does not depend on the random force.
  const std::vector<double> one = cold.values("memory-kernel/midpoint/bath/kernel"),
                            other = warm.values("memory-kernel/midpoint/bath/kernel");
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], other[i], 1e-13);
}

TEST(MpiMemory, KernelOfALineIsABesselFunctionWhoseIntegralIsTheDamping) {
  const std::string line =
      "[[environments]]\nname = \"line\"\nkind = \"spring-mass-line\"\nsites = 60\nM = 0.01\nlambda = 1.0\n";
  const RunStudy run(recipe(line, verlet));
  const std::vector<double> time = run.values("memory-kernel/verlet/line/time"),
                            kernel = run.values("memory-kernel/verlet/line/kernel");
  for (std::size_t i = 1; i < kernel.size(); ++i) {
    const double phase = 20.0 * time[i];
    EXPECT_NEAR(kernel[i], 2.0 * std::cyl_bessel_j(1.0, phase) / phase, 0.01) << time[i];
  }
  EXPECT_EQ(kernel[0], 1.0);
}

// Without a known formula there is a kernel, but no error.
TEST(MpiMemory, AnUnequalLineHasNoFormulaAndNoError) {
  const std::string table = testing::TempDir() + "bathline_memory_sites_" + std::to_string(test_world().size());
  if (test_world().is_root()) std::ofstream(table) << "0.01 1.0\n0.02 3.0\n";
  test_world().barrier();
  const RunStudy run(
      recipe("[[environments]]\nname = \"line\"\nkind = \"spring-mass-line\"\nsites = 60\nfile = \"" + table + "\"\n",
             verlet + midpoint));
  for (const std::string group : {"memory-kernel/verlet/line/", "memory-kernel/midpoint/line/"}) {
    EXPECT_EQ(run.values(group + "kernel").size(), 11u);
    EXPECT_EQ(run.values(group + "kernel").front(), 1.0);
    EXPECT_FALSE(run.has(group + "kernel_formula"));
    EXPECT_FALSE(run.has(group + "kernel_error"));
  }
}

TEST(MpiMemory, HoldsAnyParticleOfTheHead) {
  // Between two particles: the kernel belongs to the relative motion.
  const std::string text = R"(title = "t"
[system]
kind = "dual-oscillator"
m0 = 1.0
k0 = 1.0
M0 = 1.0
K0 = 1.0
q0 = [0.5, 0.1]
[[environments]]
name = "line"
kind = "spring-inerter-line"
attach = [1, 0]
sites = 30
k = 2.0
b = 0.02
[time]
step = 0.01
steps = 2
)" + verlet + "[study]\nkind = \"memory-kernel\"\n";
  const RunStudy run(text);
  EXPECT_NEAR(run.values("memory-kernel/verlet/line/kernel").front(), 2.0, 1e-15);
}

TEST(MpiMemory, SaysWhatItCannotDo) {
  const std::string exact = "[[integrators]]\nmethod = \"exact\"\non = \"closed\"\nname = \"exact\"\n";
  EXPECT_THAT(report_of(recipe(bath(), exact)), HasSubstr("which `exact` does not support"));
  const std::string open = "[[integrators]]\nmethod = \"rk4\"\non = \"open\"\n";
  EXPECT_THAT(report_of(recipe(bath(), open)), HasSubstr("no integrator that is closed with one"));
}

// The force of a memory on a clamped particle depends on its decay only, which Stoermer-Verlet computes exactly.
TEST(MpiMemory, KernelOfAMemoryIsTheOneOfItsRecipe) {
  const std::string rk4 = "[[integrators]]\nmethod = \"rk4\"\non = \"closed\"\nname = \"rk4\"\n";
  const RunStudy run(
      recipe("[[environments]]\nname = \"m\"\nkind = \"memory\"\nstiffness = [0.7, 0.3, 0.2]\n"
             "rate = [0.4, 2.0, 0.0]\nfrequency = [1.5, 0.0, 3.0]\n",
             verlet + midpoint + rk4));
  // h^2 |z|^3 t/12 with |z| at most 3; h^4 |z|^5 t/120.
  const std::pair<std::string, double> bounds[] = {{"verlet", 1e-14}, {"midpoint", 5e-4}, {"rk4", 2e-8}};
  for (const auto& [label, bound] : bounds) {
    SCOPED_TRACE(label);
    const std::string group = "memory-kernel/" + label + "/m/";
    const std::vector<double> time = run.values(group + "time"), kernel = run.values(group + "kernel");
    const std::vector<double> formula = run.values(group + "kernel_formula");
    ASSERT_EQ(kernel.size(), 11u);
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      const double t = time[i];
      const double sum =
          0.7 * std::exp(-0.4 * t) * std::cos(1.5 * t) + 0.3 * std::exp(-2.0 * t) + 0.2 * std::cos(3.0 * t);
      EXPECT_NEAR(formula[i], sum, 1e-15);
      EXPECT_NEAR(kernel[i], sum, bound);
    }
    EXPECT_LE(run.value(group + "kernel_error"), bound);
    EXPECT_EQ(run.value(group + "random_force_error"), 0.0);
  }
}

}  // namespace
}  // namespace bathline::memory_test
