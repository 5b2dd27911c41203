// Fits against normal equations of closed forms, and what is said where the data do not determine the parameters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <bit>
#include <cmath>
#include <fstream>
#include <random>

#include "run_study.hpp"
#include "study/fit/statistics.hpp"

namespace bathline::fit_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::HasSubstr;

/// A file of data for the recipes of a test. @note Collective.
class MpiFit : public testing::Test {
 protected:
  std::string data_file(const std::string& text) const {
    const std::string path = folder_.file("data.txt");
    if (test_world().is_root()) std::ofstream(path) << text;
    test_world().barrier();
    return path;
  }

  /// Values at times, with errors of this standard deviation.
  std::string data_file(const std::vector<double>& times, const std::function<double(double)>& value,
                        double deviation = 0.0) {
    std::mt19937_64 generator(5);
    std::normal_distribution<double> normal;
    std::ostringstream text;
    text.precision(17);
    measured.resize(static_cast<Eigen::Index>(times.size()));
    for (std::size_t i = 0; i < times.size(); ++i) {
      const double error = deviation * normal(generator);
      measured[static_cast<Eigen::Index>(i)] = value(times[i]) + error;
      text << times[i] << " " << value(times[i]) + error << "\n";
    }
    return data_file(text.str());
  }

  VectorXd measured;

 private:
  SharedFolder folder_;
};

std::vector<double> multiples_of(double h, int count) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) times.push_back(i * h);
  return times;
}

std::string oscillator(const std::string& data, const std::string& parameters, const std::string& method,
                       const std::string& more = "") {
  return R"(title = "t"
seed = 3
[system]
kind = "formula"
coordinates = ["x"]
masses = [1.0]
V = "k*x^2/2 + b*x^4/4"
q0 = [1.3]
v0 = [0.0]
damping = [0.0]
[system.parameters]
k = 1.0
b = 0.0
[time]
step = 0.1
end = 10.0
[[integrators]]
name = "run"
on = "open"
method = )" +
         method + "\n[study]\nkind = \"fit\"\ndata_file = \"" + data + "\"\n" +
         (more.find("observe") == std::string::npos ? "observe = [\"x\"]\n" : "") + more + "\n" + parameters;
}

std::string parameter(const std::string& of, const std::string& more = "") {
  return "[[study.parameters]]\nof = \"" + of + "\"\n" + more + "\n";
}

// x = q0 cos t + v0 sin t is linear in its parameters: the fit is that of the normal equations.
TEST_F(MpiFit, LinearParametersAreThoseOfTheNormalEquations) {
  const std::vector<double> times = {0.0, 0.3, 0.71, 1.9, 2.0, 2.04, 3.3, 5.55, 6.0, 7.21, 8.8, 10.0};
  const std::string data = data_file(
      times, [](double t) { return 2.0 * std::cos(t) - 0.5 * std::sin(t); }, 0.1);
  MatrixXd j(12, 2);
  for (Eigen::Index i = 0; i < 12; ++i) {
    const double t = times[static_cast<std::size_t>(i)];
    j.row(i) << std::cos(t), std::sin(t);
  }
  const MatrixXd inverse = (j.transpose() * j).inverse();
  const VectorXd expected = inverse * j.transpose() * measured;
  const double sum = (j * expected - measured).squaredNorm();
  // Student's t at 95 % with 10 degrees of freedom, and the normal quantile, from tables.
  constexpr double student = 2.228138852, normal = 1.959963985;
  const std::string parameters = parameter("system.q0.0", "name = \"q0\"") + parameter("system.v0.0", "scale = 1.0");
  const struct {
    const char* keys;
    double quantile, weight;
  } cases[] = {{"", student * std::sqrt(sum / 10.0), 1.0},
               {"weights = [7.0]", student * std::sqrt(sum / 10.0), 7.0},
               {"sigma = [0.3]", normal * 0.3, 1.0 / 0.09},
               // Errors larger than stated: the interval is widened to those that there are.
               {"sigma = [0.02]", normal * std::sqrt(sum / 10.0), 2500.0}};
  for (const auto& [keys, quantile, weight] : cases) {
    SCOPED_TRACE(keys);
    const RunStudy run(oscillator(data, parameters, "\"gauss\"\nstages = 4", keys));
    const std::vector<double> value = run.values("fit/run/value"), half_width = run.values("fit/run/half_width");
    for (Eigen::Index p = 0; p < 2; ++p) {
      // The search ends where the gradient is 1e-9 of the data, which have the norm 4.
      EXPECT_NEAR(value[static_cast<std::size_t>(p)], expected[p], 4e-9);
      EXPECT_NEAR(half_width[static_cast<std::size_t>(p)], quantile * std::sqrt(inverse(p, p)), 1e-8);
      EXPECT_NEAR(run.values("fit/run/step_shift")[static_cast<std::size_t>(p)], 0.0, 1e-9);
    }
    EXPECT_NEAR(run.values("fit/run/correlation")[1], inverse(0, 1) / std::sqrt(inverse(0, 0) * inverse(1, 1)), 1e-8);
    EXPECT_NEAR(run.value("fit/run/sum_of_squares"), weight * sum, 1e-7 * weight * sum);
    EXPECT_EQ(run.value("fit/run/degrees_of_freedom"), 10.0);
  }
}

// Kick-drift-kick moves the free oscillator by cos(n theta), 2 sin(theta/2) = h sqrt(k): with data cos t it needs
// k = (2 sin(h/2)/h)^2.
TEST_F(MpiFit, TheShiftOfHalfTheStepIsThatOfTheDiscreteFrequency) {
  const std::string data = data_file(multiples_of(0.1, 101), [](double t) { return 1.3 * std::cos(t); });
  const RunStudy run(oscillator(data, parameter("system.parameters.k"), "\"stoermer-verlet\""));
  const auto stiffness = [](double h) { return std::pow(2.0 * std::sin(h / 2.0) / h, 2); };
  EXPECT_NEAR(run.value("fit/run/value"), stiffness(0.1), 1e-9);
  EXPECT_NEAR(run.value("fit/run/step_shift"), stiffness(0.05) - stiffness(0.1), 1e-9);
}

// Of m x'' = -k x - d x' data know the ratios alone: all three may change by the same factor.
TEST_F(MpiFit, NamesTheCombinationThatTheDataDoNotDetermine) {
  const std::string data = data_file(
      multiples_of(0.2, 41), [](double t) { return 1.3 * std::exp(-0.1 * t) * std::cos(t); }, 0.01);
  const RunStudy run(
      with(oscillator(data,
                      parameter("system.masses.0", "name = \"m\"") + parameter("system.parameters.k", "name = \"k\"") +
                          parameter("system.damping.0", "name = \"d\"\nscale = 1.0") +
                          parameter("system.q0.0", "name = \"q0\""),
                      "\"gauss\"\nstages = 2"),
           "damping = [0.0]", "damping = [0.4]"),
      RunStudy::May::fail);
  ASSERT_TRUE(run.failure);
  const std::string& reason = run.failure->failure.reason;
  EXPECT_THAT(reason, HasSubstr("the data do not determine all parameters"));
  EXPECT_THAT(reason, HasSubstr("m by 1 %, k by 1 %, d by 1 %"));
  EXPECT_THAT(reason, testing::Not(HasSubstr("q0")));
  EXPECT_GT(run.value("fit/run/condition"), 1e8);
  EXPECT_EQ(run.values("fit/run/value").size(), 4u);
}

// The damper of a closed system: x'' = -x - 2 d x'.
TEST_F(MpiFit, ParametersOfEnvironments) {
  const double d = 0.15, w = std::sqrt(1.0 - d * d);
  const std::string data = data_file(multiples_of(0.1, 101), [&](double t) {
    return std::exp(-d * t) * 1.3 * (std::cos(w * t) + d / w * std::sin(w * t));
  });
  std::string text = with(
      oscillator(data, parameter("environments.friction.damping", "bounds = [0.01, 1.0]"), "\"gauss\"\nstages = 3"),
      "damping = [0.0]\n", "", "on = \"open\"", "on = \"closed\"");
  text += "[[environments]]\nkind = \"damper\"\nname = \"friction\"\ndamping = 0.4\n";
  const RunStudy run(text);
  // Order 6: the errors of the phase are h^6/2000 of t = 10; the search ends at 1e-9 of the data.
  EXPECT_NEAR(run.value("fit/run/value"), 2.0 * d, 1e-7);
}

// One parameter at two places: of (k + b) x^2/4 with k = b the stiffness is k.
TEST_F(MpiFit, OneParameterAtTwoPlaces) {
  const std::string data = data_file(multiples_of(0.1, 101), [](double t) { return 1.3 * std::cos(1.1 * t); });
  std::string text =
      with(oscillator(
               data, "[[study.parameters]]\nof = [\"system.parameters.k\", \"system.parameters.b\"]\nname = \"both\"\n",
               "\"gauss\"\nstages = 4"),
           "k*x^2/2 + b*x^4/4", "(k + b)*x^2/4");
  EXPECT_THAT(report_of(text), HasSubstr("both has two starts, 1 and 0"));
  text.replace(text.find("b = 0.0"), 7, "b = 1.0");
  const RunStudy run(text);
  EXPECT_NEAR(run.value("fit/run/value"), 1.21, 1e-8);
}

// Several observables: positions and velocities, with their own standard deviations.
TEST_F(MpiFit, SeveralObservablesAreWeighted) {
  std::ostringstream text;
  text.precision(17);
  for (const double t : multiples_of(0.5, 20)) text << t << " " << std::cos(t) << " " << -1.1 * std::sin(t) << "\n";
  const std::string data = data_file(text.str());
  // The amplitudes 1 and 1.1: weighted means of both, with sum cos^2 and sum sin^2.
  double cos2 = 0.0, sin2 = 0.0;
  for (const double t : multiples_of(0.5, 20)) {
    cos2 += std::cos(t) * std::cos(t);
    sin2 += std::sin(t) * std::sin(t);
  }
  for (const double ratio : {1.0, 3.0}) {
    const double weight = ratio * ratio;
    const RunStudy run(oscillator(
        data, parameter("system.q0.0"), "\"gauss\"\nstages = 4",
        "observe = [\"x\", \"x_dot\"]\nhalve_step = false\nsigma = [" + std::to_string(0.1 * ratio) + ", 0.1]"));
    EXPECT_NEAR(run.value("fit/run/value"), (cos2 + 1.1 * weight * sin2) / (cos2 + weight * sin2), 1e-9);
    EXPECT_FALSE(run.has("fit/run/step_shift"));
  }
}

// x = q0 cos t with errors that differ: q0 is the mean weighted by their inverse squares.
TEST_F(MpiFit, ErrorBarsOfTheFileAreWeights) {
  std::ostringstream text;
  text.precision(17);
  double above = 0.0, below = 0.0;
  for (int i = 0; i < 20; ++i) {
    const double t = 0.5 * i, error = 0.1 + 0.05 * (i % 3), value = std::cos(t) + 0.02 * std::sin(5.0 * i);
    text << t << " " << value << " " << error << "\n";
    above += value * std::cos(t) / (error * error);
    below += std::cos(t) * std::cos(t) / (error * error);
  }
  const RunStudy run(oscillator(data_file(text.str()), parameter("system.q0.0"), "\"gauss\"\nstages = 4",
                                "sigma = \"file\"\nhalve_step = false"));
  EXPECT_NEAR(run.value("fit/run/value"), above / below, 1e-9);
  EXPECT_NEAR(run.value("fit/run/half_width"), 1.959963985 / std::sqrt(below), 1e-9);
}

// A free and a decaying oscillation whose frequency is off at the start by more than a period over the data.
TEST_F(MpiFit, AnotherMinimumIsNoSuccess) {
  const struct {
    double k, d, start;
    const char *more, *bounds;
  } cases[] = {{25.0, 0.0, 19.0, "sigma = [0.02]\n", ""},
               {25.0, 0.0, 19.0, "", ""},  // signs alone
               {9.0, 0.2, 16.0, "sigma = [0.02]\n", "bounds = [4.0, 30.0]"},
               {30.0, 0.1, 20.0, "sigma = [0.05]\n", "bounds = [10.0, 40.0]"}};
  for (const auto& [k, d, start, more, bounds] : cases) {
    SCOPED_TRACE(fmt::format("{} {} {}", k, d, more));
    const double c = 0.5 * d, w = std::sqrt(k - c * c);
    const std::string data = data_file(
        multiples_of(0.1, 101),
        [=](double t) { return 1.3 * std::exp(-c * t) * (std::cos(w * t) + c / w * std::sin(w * t)); }, 0.02);
    const std::string text =
        with(oscillator(data, parameter("system.parameters.k", bounds), "\"gauss\"\nstages = 3",
                        std::string(more) + "halve_step = false\nstarts = 1\n"),
             "k = 1.0", fmt::format("k = {}", start), "damping = [0.0]", fmt::format("damping = [{}]", d));
    const bool has_sigma = *more != '\0';
    const RunStudy stuck(text);
    EXPECT_GT(std::abs(stuck.value("fit/run/value") - k), 1.0);
    EXPECT_LT(stuck.value("fit/run/runs_probability"), 1e-6);
    EXPECT_EQ(stuck.has("fit/run/chi_squared_probability"), has_sigma);
    if (has_sigma) EXPECT_LT(stuck.value("fit/run/chi_squared_probability"), 1e-10);
    EXPECT_FALSE(stuck.has("fit/run/half_width"));
    EXPECT_FALSE(stuck.has("fit/run/standard_error"));
    const RunStudy found(with(text, "starts = 1", "starts = 20"));
    EXPECT_NEAR(found.value("fit/run/value"), k, 5.0 * found.value("fit/run/standard_error"));
    EXPECT_GT(found.value("fit/run/runs_probability"), 1e-3);
    const std::vector<double> sums = found.values("fit/run/sum_of_squares_of_search");
    ASSERT_EQ(sums.size(), 20u);
    EXPECT_EQ(sums[0], stuck.value("fit/run/sum_of_squares"));
    for (const double sum : sums) EXPECT_FALSE(sum < found.value("fit/run/sum_of_squares"));
  }
}

// A binomial fraction of 200 intervals has the standard deviation sqrt(0.95 * 0.05/200) = 0.015.
TEST_F(MpiFit, RepeatedExperimentsCoverTheParameters) {
  const std::size_t repeats = test_world().size() == 1 ? 200 : 50;
  const std::string data = data_file(
      multiples_of(0.5, 20), [](double t) { return 1.3 * std::cos(t); }, 0.1);
  const RunStudy run(oscillator(data, parameter("system.parameters.k") + parameter("system.q0.0"),
                                "\"gauss\"\nstages = 2", fmt::format("repeats = {}\nhalve_step = false", repeats)));
  const std::vector<double> coverage = run.values("fit/run/coverage"), error = run.values("fit/run/standard_error"),
                            repeated = run.values("fit/run/repeated_value"), value = run.values("fit/run/value");
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_NEAR(coverage[j], 0.95, 4.0 * std::sqrt(0.95 * 0.05 / repeats));
    double squares = 0.0;
    for (std::size_t i = 0; i < repeats; ++i) squares += std::pow(repeated[2 * i + j] - value[j], 2);
    EXPECT_NEAR(std::sqrt(squares / repeats) / error[j], 1.0, 4.0 / std::sqrt(2.0 * repeats));
  }
}

// The bound of the key: a mass that the data want below 0 cannot be reached, and no run has it.
TEST_F(MpiFit, StaysWithinBounds) {
  const std::string data = data_file(multiples_of(0.1, 101), [](double t) { return 1.3 * std::cos(t); });
  EXPECT_THAT(
      report_of(oscillator(data, parameter("system.parameters.k", "bounds = [0.5, 0.9]"), "\"gauss\"\nstages = 2")),
      HasSubstr("bounds of system.parameters.k: must be two numbers, [low, high], around its start 1"));
  const RunStudy bounded(
      oscillator(data, parameter("system.parameters.k", "bounds = [1.0, 1.1]\n"), "\"stoermer-verlet\"\n"));
  EXPECT_NEAR(bounded.value("fit/run/value"), 1.0, 1e-14);
}

TEST_F(MpiFit, SaysWhatIsWrong) {
  const std::string k = parameter("system.parameters.k");
  const std::string good = "0 1\n1 0.5\n2 -0.4\n";
  const struct {
    std::string data, parameters, more;
    const char* message;
  } cases[] = {{"0 1\n1 nan\n", k, "", "line 2: must be two numbers, a time (s) and a value"},
               {"0 1\n2 1\n1 1\n", k, "", "line 3: time 1 must be greater than that of the row before, 2"},
               {"0 1\n1 1 3\n", k, "", "line 2: must be two numbers"},
               {"-1 1\n1 1\n", k, "", "line 1: time -1 must not be negative"},
               {"0 1\n11 1\n", k, "", "the last time 11 is after the end 10 of the run"},
               {"0 1\n", k, "", "1 measured values are too few for 1 parameters and their errors"},
               {good, parameter("system.parameters.c"), "", "names no number of the recipe: there is no key `c`"},
               {good, parameter("system.parameters.b"), "", "starts at 0 and needs a `scale`"},
               {good, k + k, "", "two parameters are called system.parameters.k"},
               {good, k, "sigma = [1.0]\nweights = [1.0]", "`weights` are relative and `sigma` is absolute"},
               {good, k, "sigma = [1.0, 2.0]", "sigma has 2 numbers: must be one"},
               {"0 1 0.1\n1 1 0\n", k, "sigma = \"file\"", "line 2: standard deviation 0 must be positive"},
               {"0 1 0.1\n1 1\n", k, "sigma = \"file\"", "line 2: must be 3 numbers"},
               {"0 1 0.1\n", k, "", "`sigma = \"file\"`"},
               {good, k, "observe = [\"y\"]", "y"},
               {good, k, "confidence = 1.0", "confidence: must lie between 0 and 1"}};
  for (const auto& [data, parameters, more, message] : cases) {
    EXPECT_THAT(report_of(oscillator(data_file(data), parameters, "\"gauss\"\nstages = 2", more)),
                testing::AllOf(HasSubstr(message), HasSubstr("r.toml:")));
  }
  EXPECT_THAT(report_of(oscillator("no_such_file", k, "\"gauss\"\nstages = 2")), HasSubstr("cannot be read"));
}

// By scipy.stats.chi2.sf.
TEST(FitStatistics, ProbabilityOfChiSquared) {
  EXPECT_NEAR(chi_squared_probability(10.0, 5.0), 0.07523524614651217, 1e-13);
  EXPECT_NEAR(chi_squared_probability(250.0, 200.0), 0.009379131668826098, 1e-13);
  EXPECT_NEAR(chi_squared_probability(900.0, 200.0) / 2.360899075506571e-89, 1.0, 1e-10);
}

// All orders of the signs, counted.
TEST(FitStatistics, ProbabilityOfRuns) {
  const auto runs_of = [](unsigned signs, int count) {
    int runs = 1;
    for (int i = 1; i < count; ++i) runs += ((signs >> i) & 1U) != ((signs >> (i - 1)) & 1U) ? 1 : 0;
    return runs;
  };
  for (const unsigned signs : {0b000111000011U, 0b010101110101U, 0b000000000001U, 0b011111111110U}) {
    int orders = 0, as_rare = 0;
    for (unsigned other = 0; other < 1U << 12U; ++other) {
      if (std::popcount(other) != std::popcount(signs)) continue;
      ++orders;
      if (runs_of(other, 12) <= runs_of(signs, 12)) ++as_rare;
    }
    VectorXd residuals(12), two(24);
    for (int i = 0; i < 12; ++i) {
      residuals[i] = ((signs >> i) & 1U) != 0U ? 0.5 : -2.0;
      two[2 * i] = residuals[i];
      two[2 * i + 1] = i % 2 == 0 ? 1.0 : -1.0;
    }
    const double expected = static_cast<double>(as_rare) / orders;
    EXPECT_NEAR(runs_probability(residuals, 1), expected, 1e-12);
    EXPECT_NEAR(runs_probability(two, 2), std::min(1.0, 2.0 * expected), 1e-12);
  }
  EXPECT_EQ(runs_probability(VectorXd::Ones(12), 1), std::exp2(-11.0));
}

TEST(FitStatistics, ACombinationOfZeroTangentsIsNamedAlone) {
  MatrixXd slopes(4, 3);
  slopes << 1, 0, 1, 2, 0, 1, 3, 0, 1, 4, 0, 1;
  const FitStatistics statistics = fit_statistics(VectorXd::Ones(4), slopes, VectorXd::Ones(3), true, 0.95);
  EXPECT_FALSE(statistics.condition() < 1e300);
  EXPECT_EQ(statistics.weakest, Eigen::Vector3d(0, 1, 0));
}

}  // namespace
}  // namespace bathline::fit_test
