// Poincare and stroboscopic sections against solutions in closed form.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rank_subset.hpp"
#include "run_study.hpp"

namespace bathline::section_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A pendulum that starts at rest at the angle 2, with w = 1.
std::string pendulum(double step, int steps, const std::string& section, const std::string& integrator = "exact") {
  return fmt::format(R"toml(title = "t"
[system]
kind = "formula"
coordinates = ["theta"]
masses = [1.0]
V = "-cos(theta)"
q0 = [2.0]
[time]
step = {}
steps = {}
[[integrators]]
method = "{}"
name = "run"
on = "closed"
[output]
every = 1000
poincare_section = {}
)toml",
                     step, steps, integrator, section);
}

// sin(theta/2) = k sin(phi), t = F(phi, k) from the lowest point, which it passes upwards after three quarters of the
// period 4 K(k).
constexpr double highest = 2.0;
const double modulus = std::sin(highest / 2);
const double period = 4 * std::comp_ellint_1(modulus);
double time_up_to(double theta, int round) {
  return (0.75 + round) * period + std::ellint_1(modulus, std::asin(std::sin(theta / 2) / modulus));
}
double momentum_at(double theta) { return std::sqrt(2 * (std::cos(theta) - std::cos(highest))); }

struct Errors {
  double time = 0.0, q = 0.0, p = 0.0;
};

Errors errors_at(double theta, double step) {
  const int steps = static_cast<int>(60.0 / step);
  const RunStudy run(pendulum(step, steps, fmt::format("{{ of = \"sin(theta)\", at = {} }}", std::sin(theta))));
  const std::vector<double> time = run.values("run/poincare_time"), q = run.values("run/poincare_q"),
                            p = run.values("run/poincare_p");
  Errors errors;
  // sin(theta) rises through the value on the way up at theta, and on the way down at pi - theta, which is higher.
  std::size_t round = 0;
  for (std::size_t i = 0; i < time.size(); ++i) {
    if (p[i] < 0.0) continue;
    errors.time = std::max(errors.time, std::abs(time[i] - time_up_to(theta, static_cast<int>(round++))));
    errors.q = std::max(errors.q, std::abs(q[i] - theta));
    errors.p = std::max(errors.p, std::abs(p[i] - momentum_at(theta)));
  }
  EXPECT_EQ(round, static_cast<std::size_t>((60.0 - time_up_to(theta, 0)) / period) + 1);
  return errors;
}

// The error of the polynomial is of order 6 in time and position, and of order 5 in the momentum; the next term changes
// the measured order by less than 1/2. The position is on the surface.
TEST(MpiSection, LandsOnTheSurfaceToTheOrderOfThePolynomial) {
  const Errors coarse = errors_at(1.3, 0.4), fine = errors_at(1.3, 0.2);
  EXPECT_LT(coarse.time, 1e-3);
  EXPECT_GT(std::log2(coarse.time / fine.time), 5.5);
  EXPECT_GT(std::log2(coarse.p / fine.p), 4.5);
  EXPECT_LT(coarse.q, 1e-15 * 20);
  EXPECT_LT(fine.q, 1e-15 * 20);
}

TEST(MpiSection, CountsCrossingsOfItsDirection) {
  const auto momenta = [](const std::string& direction) {
    const RunStudy run(pendulum(0.05, 1200, "{ of = \"theta\"" + direction + " }", "stoermer-verlet"));
    return run.values("run/poincare_p");
  };
  const std::vector<double> up = momenta(""), down = momenta(", direction = \"down\""),
                            both = momenta(", direction = \"both\"");
  // 60 s hold 7.19 periods.
  EXPECT_EQ(up.size(), 7u);
  EXPECT_EQ(down.size(), 7u);
  EXPECT_EQ(both.size(), 14u);
  for (double p : up) EXPECT_NEAR(p, momentum_at(0.0), 1e-2);
  for (double p : down) EXPECT_NEAR(p, -momentum_at(0.0), 1e-2);
}

// A start on the surface is not a crossing, and a step that ends on the surface counts once.
TEST(MpiSection, StartsAndStepsThatEndOnTheSurfaceAreNoCrossings) {
  std::string text =
      with(pendulum(0.25, 16, "{ of = \"theta\", direction = \"both\" }"), "q0 = [2.0]", "q0 = [0.0]\nv0 = [1.0]");
  const std::string cosine = "-cos(theta)";
  std::string from_it = text, onto_it = text;
  from_it.replace(text.find(cosine), cosine.size(), "theta^2/2");
  const std::vector<double> half_turn = RunStudy(from_it).values("run/poincare_time");
  ASSERT_EQ(half_turn.size(), 1u);
  EXPECT_NEAR(half_turn[0], M_PI, 1e-8);
  onto_it.replace(text.find(cosine), cosine.size(), "0*theta");
  onto_it.replace(onto_it.find("q0 = [0.0]"), 10, "q0 = [-1.0]");
  onto_it.replace(onto_it.find("\"exact\""), 7, "\"stoermer-verlet\"");
  EXPECT_EQ(RunStudy(onto_it).values("run/poincare_time"), (std::vector<double>{1.0}));
}

// A step of 0.3 s does not divide 0.7 s, and one of 0.1 s does up to round-off; both give every multiple once.
TEST(MpiSection, LooksEveryPeriodWhateverTheStep) {
  for (const double step : {0.3, 0.1, 1.9}) {
    const int steps = static_cast<int>(std::lround(5.7 / step));
    const RunStudy run(with(pendulum(step, steps, "{ period = 0.7 }"), "-cos(theta)", "theta^2/2"));
    const std::vector<double> time = run.values("run/poincare_time"), q = run.values("run/poincare_q"),
                              p = run.values("run/poincare_p");
    ASSERT_EQ(time.size(), 8u) << step;
    // The error of Hermite's polynomial: h^6 max |q^(6)| / (2^6 6!), and fifteen times that for its derivative.
    const double error = 2.0 * std::pow(step, 6) / (64 * 720) + 1e-12;
    for (int k = 0; k < 8; ++k) {
      EXPECT_NEAR(time[k], 0.7 * (k + 1), 1e-12);
      EXPECT_NEAR(q[k], 2.0 * std::cos(0.7 * (k + 1)), error) << step;
      EXPECT_NEAR(p[k], -2.0 * std::sin(0.7 * (k + 1)), 15 * error / step) << step;
    }
  }
}

// In floating-point arithmetic 3 x 1.1 exceeds 11 x 0.3 by round-off.
TEST(MpiSection, LooksAtTheEndWhereAPeriodEndsThere) {
  const RunStudy run(pendulum(0.3, 11, "{ period = 1.1 }"));
  EXPECT_EQ(run.values("run/poincare_time").size(), 3u);
}

// Coordinates without names are x, y, z.
TEST(MpiSection, KnowsTheAxesOfEverySystem) {
  const std::string planet = R"(title = "t"
[system]
kind = "kepler"
M = 2.0
mu = 1.0
q0 = [[1.0, 0.0]]
v0 = [[0.0, 1.0]]
[time]
step = 0.01
steps = 700
[[integrators]]
method = "exact"
name = "run"
on = "closed"
[output]
poincare_section = { of = "x - y_dot/2" }
)";
  const RunStudy run(planet);
  // On the circle y_dot = x: x/2 = 0 on the way up at three quarters of 2 pi.
  EXPECT_NEAR(run.value("run/poincare_time"), 1.5 * M_PI, 1e-10);
  EXPECT_EQ(run.values("run/poincare_p").size(), 2u);
  EXPECT_NEAR(run.values("run/poincare_p")[0], 2.0, 1e-9);
}

// Points are taken within blocks of steps if the records are far apart, and of single steps if every step is recorded.
TEST(MpiSection, DoesNotDependOnTheBlocksOfSteps) {
  const auto line = [](int sites) {
    return "kind = \"spring-mass-line\"\nsites = " + std::to_string(sites) + "\nM = 0.1\nlambda = 3.0\n";
  };
  const std::string environments[] = {line(60),
                                      line(2500),
                                      line(2500) + "far_end = \"matched\"\n",
                                      line(40000),
                                      "kind = \"spring-mass-line\"\nsites = \"infinite\"\nM = 0.1\nlambda = 3.0\n",
                                      "kind = \"memory\"\nstiffness = [1.0]\nrate = [0.8]\nfrequency = [1.3]\n",
                                      "kind = \"heat-bath\"\noscillators = 300\ndamping = 0.4\nomega_max = 8.0\n"};
  const char* const integrators[] = {"method = \"gamma\"\ngamma = 0.0\n", "method = \"stoermer-verlet\"\n",
                                     "method = \"rk4\"\n", "method = \"gamma\"\ngamma = 0.5\n",
                                     "method = \"gauss\"\nstages = 2\n"};
  RankSubset subset(4);
  for (const std::string& environment : environments) {
    for (const std::string integrator : integrators) {
      if (!subset.takes_next()) continue;
      const auto section = [&](int every) {
        const RunStudy run(with(pendulum(0.05, 300, "{ of = \"theta\", direction = \"both\" }"), "method = \"exact\"\n",
                                integrator, "every = 1000", "every = " + std::to_string(every), "[time]",
                                "[[environments]]\nname = \"e\"\n" + environment + "[time]"));
        std::vector<double> all = run.values("run/poincare_time");
        const std::vector<double> p = run.values("run/poincare_p");
        all.insert(all.end(), p.begin(), p.end());
        return all;
      };
      // rk4 has no semi-infinite line.
      if (integrator.find("rk4") != std::string::npos && environment.find("infinite") != std::string::npos) continue;
      const std::vector<double> blocks = section(1000);
      EXPECT_GE(blocks.size(), 4u) << integrator << environment;
      // Blocks of implicit steps of a long line differ from single steps by round-off.
      EXPECT_THAT(section(1), testing::Pointwise(testing::DoubleNear(1e-12), blocks)) << integrator << environment;
    }
  }
}

TEST(MpiSection, SaysWhatIsWrong) {
  const auto report = [](const std::string& section) { return report_of(pendulum(0.1, 10, section)); };
  EXPECT_THAT(report("{ }"), AllOf(HasSubstr("r.toml:17:"), HasSubstr("either `of`")));
  EXPECT_THAT(report("{ of = \"theta\", period = 1.0 }"), HasSubstr("either `of`"));
  EXPECT_THAT(report("{ of = \"thetta\" }"), AllOf(HasSubstr("r.toml:17:"), HasSubstr("did you mean `theta`?")));
  EXPECT_THAT(report("{ of = \"1/(theta - 2)\" }"), HasSubstr("no finite value"));
  EXPECT_THAT(report("{ period = 0.0 }"), HasSubstr("period"));
  // More points than can be stored, and as many as fit.
  EXPECT_THAT(report("{ period = 1e-9 }"), AllOf(HasSubstr("r.toml:17:"), HasSubstr("1e+09 points, 24 GB"),
                                                 HasSubstr("a period of at least 0.0001")));
  EXPECT_THAT(report("{ period = 9.9e-5 }"), HasSubstr("points"));
  EXPECT_EQ(report("{ period = 1e-4 }"), "");
  EXPECT_THAT(report("{ of = \"theta\", direction = \"left\" }"), HasSubstr("direction"));
}

}  // namespace
}  // namespace bathline::section_test
