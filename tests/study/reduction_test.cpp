// Differences of closed and reduced runs until, at and after the echo.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "run_study.hpp"

namespace bathline::reduction_test {
namespace {

using testing::HasSubstr;

std::string recipe(const std::string& study, const std::string& more = "") {
  return R"(title = "t"
[system]
kind = "dual-oscillator"
m0 = 5.0
M0 = 2.0
k0 = 10.0
K0 = 15.0
q0 = [1.5, 0.0]
v0 = [0.0, 0.5]
[[environments]]
kind = "spring-inerter-line"
sites = 50
grid = "characteristic"
damping = 1.3
[time]
step = 0.05
end = 8.0
[[integrators]]
method = "gamma"
name = "closed"
on = "closed"
[[integrators]]
method = "gamma"
name = "reduced"
on = "open"
)" + more +
         "[study]\nkind = \"reduction\"\n" + study;
}

TEST(MpiReduction, MeasuresTheDifferenceOnBothSidesOfTheEcho) {
  const RunStudy run(recipe(""));
  EXPECT_EQ(run.value("reduction/closed/first_difference_step"), 2 * (50 + 1) + 1);
  EXPECT_NEAR(run.value("reduction/closed/echo_time"), 2 * 50 * 0.05, 1e-12);
  EXPECT_LT(run.value("reduction/closed/until_echo"), 1e-12);
  EXPECT_GT(run.value("reduction/closed/after_echo"), 1e-2);

  const std::vector<double> difference = run.values("reduction/closed/difference");
  const std::vector<double> closed = run.values("closed/q"), reduced = run.values("reduced/q");
  ASSERT_EQ(difference.size(), closed.size());
  double amplitude = 0.0, after = 0.0;
  for (std::size_t i = 0; i < closed.size(); ++i) {
    EXPECT_EQ(difference[i], std::abs(closed[i] - reduced[i]));
    amplitude = std::max(amplitude, std::abs(reduced[i]));
    after = std::max(after, difference[i]);
  }
  EXPECT_EQ(run.value("reduction/closed/amplitude"), amplitude);
  EXPECT_EQ(run.value("reduction/closed/after_echo"), after);
}

// Every gamma below 1/2 reduces exactly on its own grid, but not on that of another gamma.
TEST(MpiReduction, EveryGammaHasItsGrid) {
  const auto largest = [](const std::string& of_grid, const std::string& of_scheme) {
    std::string text = recipe("");
    for (std::size_t at = 0; (at = text.find("method = \"gamma\"", at)) != std::string::npos; at += 22) {
      text.replace(at, 16, "method = \"gamma\"\ngamma = " + of_scheme);
    }
    text.replace(text.find("damping = 1.3"), 13, "damping = 1.3\ngamma = " + of_grid);
    text.replace(text.find("sites = 50"), 10, "sites = 400");
    const RunStudy run(text);
    return run.value("reduction/closed/until_echo");
  };
  // N^2/2 roundings of the amplitude, N = 160.
  EXPECT_LT(largest("0.25", "0.25"), 2.2e-12);
  EXPECT_LT(largest("0.1", "0.1"), 2.2e-12);
  EXPECT_GT(largest("0.0", "0.25"), 1e-3);
  EXPECT_GT(largest("0.1", "0.25"), 1e-3);
}

TEST(MpiReduction, MomentaOfTheFarParticle) {
  const RunStudy run(recipe("momenta = true\n"));
  const std::vector<double> canonical = run.values("reduction/closed/canonical_p"), closed = run.values("closed/p");
  const std::vector<double> difference = run.values("reduction/closed/difference_p"), reduced = run.values("reduced/p");
  const std::vector<double> q = run.values("closed/q");
  ASSERT_EQ(canonical.size(), closed.size());
  double far = canonical[1];
  for (std::size_t k = 0; k < closed.size() / 2; ++k) {
    EXPECT_EQ(canonical[2 * k], closed[2 * k]);
    EXPECT_EQ(difference[2 * k + 1], std::abs(closed[2 * k + 1] - reduced[2 * k + 1]));
    // Until the wave arrives after 50 steps, only its own spring acts on the far particle: K0 = 15, h = 0.05.
    if (k > 0 && k <= 50) {
      far -= 0.05 * 15.0 * q[2 * k + 1];
      EXPECT_NEAR(canonical[2 * k + 1], far, 1e-13);
    }
    // Momenta differ one kick before positions do.
    if (k < 102) {
      EXPECT_LT(difference[2 * k + 1], 1e-12);
    }
  }
  EXPECT_GT(std::abs(canonical[101] - closed[101]), 0.1);
}

TEST(MpiReduction, ThresholdDecidesWhatCountsAsADifference) {
  const RunStudy run(recipe("threshold = 1e30\n"));
  EXPECT_TRUE(std::isnan(run.value("reduction/closed/first_difference_step")));
}

TEST(MpiReduction, PairsTheNamedOnes) {
  const std::string other = "[[integrators]]\nmethod = \"rk4\"\nname = \"other\"\non = \"open\"\n";
  const RunStudy run(recipe("pairs = [\"closed:other\"]\n", other));
  // Another scheme differs by more than round-off, but approximates the same damper.
  EXPECT_GT(run.value("reduction/closed/until_echo"), 1e-6);
  EXPECT_LT(run.value("reduction/closed/until_echo"), 0.2);
}

TEST(MpiReduction, SaysWhatCannotBePaired) {
  EXPECT_THAT(report_of(recipe("pairs = [\"closed:nothing\"]\n")),
              testing::AllOf(HasSubstr("r.toml:28:"), HasSubstr("closed:nothing")));
  EXPECT_THAT(report_of(recipe("pairs = [\"reduced:closed\"]\n")), HasSubstr("reduced:closed"));
  EXPECT_THAT(report_of(recipe("pairs = [\"closed\"]\n")), HasSubstr("\"closed\" does not name"));
  const std::string shorter = "[[integrators]]\nmethod = \"gamma\"\nname = \"short\"\non = \"open\"\nstep = 0.01\n";
  EXPECT_THAT(report_of(recipe("pairs = [\"closed:short\"]\n", shorter)), HasSubstr("different steps"));
  std::string alone = recipe("");
  const std::string reduced = "[[integrators]]\nmethod = \"gamma\"\nname = \"reduced\"\non = \"open\"\n";
  alone.replace(alone.find(reduced), reduced.size(), "");
  EXPECT_THAT(report_of(alone), HasSubstr("no such pair"));
}

}  // namespace
}  // namespace bathline::reduction_test
