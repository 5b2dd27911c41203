// Temperatures that depend on the time: the order of variances on a ramp, the amplitude of every source of noise, and
// what is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "model/noise_stream.hpp"
#include "recipe_text.hpp"
#include "run_study.hpp"
#include "steppers/stepper.hpp"

namespace bathline::temperature_test {
namespace {

using testing::HasSubstr;

std::string recipe(const std::string& system, const std::string& environment, const std::string& integrator,
                   double step, double end = 10.0, const std::string& study = "trajectory") {
  return "title = \"t\"\n[system]\nkind = \"linear\"\nM = [[1.0]]\nK = [[1.0]]\nq0 = [0.0]\n" + system + environment +
         fmt::format("[time]\nstep = {}\nend = {}\n[[integrators]]\nname = \"run\"\n{}[study]\nkind = \"{}\"\n", step,
                     end, integrator, study);
}

/// The only case of a recipe with random numbers of the test's: 1 in a draw of a step at a position, else 0.
struct Run {
  Run(const std::string& text, double step)
      : recipe(read_recipe(text)), problem(recipe.experiment->make_problem(recipe.experiment->cases().front())) {
    problem.prepare(7);
    stepper = make_stepper(recipe.experiment->cases().front().scheme, problem, step);
    const auto source = [this](std::int64_t at, int draw, std::span<double> numbers) {
      std::fill(numbers.begin(), numbers.end(), 0.0);
      if (at == unit_step && draw == unit_draw) numbers[0] = 1.0;
    };
    if (problem.noise() != nullptr) problem.noise()->set_source(source);
    problem.coupled_friction().noise().set_source(source);
    for (const auto& environment : problem.environments()) {
      auto* noisy = dynamic_cast<Noisy*>(environment.get());
      if (noisy != nullptr && noisy->noise() != nullptr) noisy->noise()->set_source(source);
    }
  }
  ReadRecipe recipe;
  Problem problem;
  std::unique_ptr<Stepper> stepper;
  std::int64_t unit_step = -1;
  int unit_draw = 0;
};

/// q and p after `steps`.
std::array<double, 2> end_of(const std::string& text, double step, int steps, std::int64_t unit_step, int draw) {
  Run run(text, step);
  run.unit_step = unit_step;
  run.unit_draw = draw;
  EXPECT_EQ(run.stepper->advance(steps), std::nullopt);
  return {run.problem.q[0], run.problem.p[0]};
}

/// What the noise of the run adds to <q^2>: the sum of the squares of the answers to each random number.
double variance(const std::string& text, double step, int steps) {
  const double q0 = end_of(text, step, steps, -1, 0)[0];
  double sum = 0.0;
  for (int k = 0; k < steps; ++k) {
    for (int draw = 0; draw < 2; ++draw) {
      const double q = end_of(text, step, steps, k, draw)[0];
      sum += (q - q0) * (q - q0);
    }
  }
  return sum;
}

/// <q^2> of q' = p, p' = -q - 2 z - D p, z' = p - r z with noise on p and z, from zero, by Runge and Kutta's method.
double exact_variance(double damping, bool has_term, double end) {
  const double k = has_term ? 2.0 : 0.0, r = 1.5;
  Eigen::Matrix3d a;
  a << 0, 1, 0, -1, -damping, -k, 0, 1, -r;
  const auto rate = [&](double t, const Eigen::Matrix3d& s) {
    Eigen::Matrix3d change = a * s + s * a.transpose();
    const double kt = 1.0 + t / 10.0;
    change(1, 1) += 2.0 * damping * kt;
    if (has_term) change(2, 2) += 2.0 * r * kt / k;
    return change;
  };
  Eigen::Matrix3d s = Eigen::Matrix3d::Zero();
  constexpr int steps = 2000;
  const double h = end / steps;
  for (int i = 0; i < steps; ++i) {
    const double t = i * h;
    const Eigen::Matrix3d k1 = rate(t, s), k2 = rate(t + h / 2, s + h / 2 * k1), k3 = rate(t + h / 2, s + h / 2 * k2),
                          k4 = rate(t + h, s + h * k3);
    s += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return s(0, 0);
}

const std::string ramp = "kT = \"1 + t/10\"\n";
const std::string damper = "[[environments]]\nkind = \"damper\"\nname = \"bath\"\ndamping = 0.5\n";
const std::string memory = "[[environments]]\nkind = \"memory\"\nname = \"memory\"\nstiffness = [2.0]\nrate = [1.5]\n";

TEST(TemperatureInTime, VariancesOnARampAreOfOrderTwo) {
  const std::string open = "on = \"open\"\n", closed = "on = \"closed\"\n";
  for (const std::string& method :
       {std::string("method = \"baoab\"\n"), std::string("method = \"gjf\"\n"), std::string("method = \"midpoint\"\n"),
        std::string("method = \"gauss\"\nstages = 2\n"), std::string("method = \"velocity-verlet\"\n")}) {
    struct Bath {
      std::string text;
      double exact;
    };
    for (const auto& [text, exact] :
         {Bath{recipe("C = [[0.5]]\n" + ramp, "", method + open, 0.2), exact_variance(0.5, false, 4.0)},
          Bath{recipe("", damper + ramp, method + closed, 0.2), exact_variance(0.5, false, 4.0)},
          Bath{recipe("", memory + ramp, method + closed, 0.2), exact_variance(0.0, true, 4.0)}}) {
      if (text.find("memory") != std::string::npos && method.find("gjf") != std::string::npos) continue;
      SCOPED_TRACE(text);
      const double coarse = std::abs(variance(text, 0.2, 20) - exact), fine = std::abs(variance(text, 0.1, 40) - exact);
      EXPECT_LT(fine, 4e-3);
      // Methods without an error of the stationary variance may have one that is nearly zero at some step.
      if (coarse > 1e-4) {
        EXPECT_NEAR(coarse / fine, 4.0, 0.6);
      }
    }
  }
}

TEST(TemperatureInTime, EverySourceOfNoiseHasTheAmplitudeOfTheMiddleOfItsPartOfAStep) {
  constexpr double h = 0.1, t = 3.0;
  struct Case {
    std::string environment, integrator;
    double middle[2];  // of the draws, as parts of a step
  };
  const std::string on = "on = \"closed\"\n", nonlinear = damper + "couple = \"x + 0.3*sin(x)\"\n";
  for (const auto& [environment, integrator, middle] :
       {Case{damper, "method = \"baoab\"\n" + on, {0.5, 0.5}}, Case{damper, "method = \"midpoint\"\n" + on, {0.5, 0.5}},
        Case{memory, "method = \"baoab\"\n" + on, {0.25, 0.75}},
        Case{memory, "method = \"midpoint\"\n" + on, {0.5, 0.5}},
        Case{memory, "method = \"gamma\"\ngamma = 0.0\n" + on, {0.5, 0.5}},
        Case{nonlinear, "method = \"baoab\"\n" + on, {0.25, 0.75}},
        Case{nonlinear, "method = \"midpoint\"\n" + on, {0.25, 0.75}},
        Case{nonlinear, "method = \"gamma\"\ngamma = 0.0\n" + on, {0.5, 0.5}}}) {
    SCOPED_TRACE(environment + integrator);
    for (int draw = 0; draw < 2; ++draw) {
      const std::string in_time = recipe("", environment + ramp, integrator, h),
                        unit = recipe("", environment + "kT = 1.0\n", integrator, h);
      const int before = 30;
      const auto kick = [&](const std::string& text) {
        const auto with = end_of(text, h, before + 1, before, draw), without = end_of(text, h, before + 1, -1, draw);
        return with[1] - without[1];
      };
      // The gradient of a nonlinear coupling changes with the kick, by less than a quarter of a step does.
      const double tolerance = environment == nonlinear ? 1e-5 : 1e-13;
      EXPECT_NEAR(kick(in_time), std::sqrt(1.0 + (t + middle[draw] * h) / 10.0) * kick(unit), tolerance);
    }
  }
}

TEST(TemperatureInTime, ItIsThatOfEveryParticle) {
  const std::string text =
      "title = \"t\"\n[system]\nkind = \"pair-potential\"\nparticles = 3\nmasses = 1.0\nq0 = 0.0\npairs = "
      "\"neighbours\"\nends = \"fixed\"\npotential = { kind = \"harmonic\", k = 1.0 }\ndamping = 0.3\nkT = \"1 + i + "
      "n*t\"\n[time]\nstep = 0.1\nend = 1.0\n[[integrators]]\nmethod = \"baoab\"\non = \"open\"\nname = "
      "\"run\"\n[study]\nkind = \"trajectory\"\n";
  const ReadRecipe recipe = read_recipe(text);
  const Problem problem = recipe.experiment->make_problem(recipe.experiment->cases().front());
  for (int i = 0; i < 3; ++i) {
    EXPECT_DOUBLE_EQ(problem.noise()->diffusion()(i, i), 0.3 * (1.0 + i));
    EXPECT_DOUBLE_EQ(problem.noise()->amplitude(i, 2.0), std::sqrt((1.0 + i + 6.0) / (1.0 + i)));
  }
}

TEST(TemperatureInTime, WhatIsUndefinedIsRefused) {
  const std::string open = "method = \"baoab\"\non = \"open\"\n", closed = "method = \"midpoint\"\non = \"closed\"\n";
  struct Case {
    std::string text, message;
  };
  for (const auto& [text, message] :
       {Case{recipe("C = [[0.5]]\nkT = \"t\"\n", "", open, 0.1), "at t = 0 the formula is 0: must be positive"},
        Case{recipe("C = [[0.5]]\nkT = \"1 - t/5\"\n", "", open, 0.1), "must not be negative"},
        // Equal at the start alone.
        Case{"title = \"t\"\n[system]\nkind = \"linear\"\nM = [[1.0, 0.0], [0.0, 1.0]]\nK = [[1.0, 0.0], [0.0, "
             "1.0]]\nC = [[0.5, 0.1], [0.1, 0.5]]\nq0 = [0.0, 0.0]\nkT = \"1 + i*t\"\n[time]\nstep = 0.1\nend = "
             "1.0\n[[integrators]]\nname = \"run\"\n" +
                 open + "[study]\nkind = \"trajectory\"\n",
             "couples particles of different temperatures"},
        Case{recipe("", damper + "kT = \"1 - t/5\"\n", closed, 0.1), "must not be negative"},
        Case{recipe("", damper + "kT = \"1 + x\"\n", closed, 0.1), "unknown name `x`"},
        Case{recipe("", damper + ramp + memory + "damping = 0.2\nkT = 1.0\n", closed, 0.1),
             "the white noise of several environments"},
        Case{recipe("", "[[environments]]\nkind = \"memory\"\nname = \"bath\"\nkernel = \"exp(-t)\"\n" + ramp, closed,
                    0.1),
             "the temperature of `bath` cannot depend on t"},
        Case{recipe("",
                    "[[environments]]\nkind = \"memory\"\nname = \"bath\"\nstiffness = [1.0, 2.0]\nrate = [1.0, 0.0]\n"
                    "frequency = [0.0, 2.0]\n" +
                        ramp,
                    closed, 0.1),
             "the temperature of `bath` cannot depend on t"},
        Case{recipe("",
                    "[[environments]]\nkind = \"heat-bath\"\nname = \"star\"\noscillators = 9\nomega_max = 2.0\n"
                    "damping = 1.0\n" +
                        ramp,
                    closed, 0.1),
             "the temperature of `star` cannot depend on t, since sites keep that of their start"},
        Case{recipe(
                 "",
                 "[[environments]]\nkind = \"spring-mass-line\"\nname = \"line\"\nsites = 9\nM = 1.0\nlambda = 1.0\n" +
                     ramp,
                 closed, 0.1),
             "the temperature of `line` cannot depend on t, since sites keep that of their start"},
        Case{recipe("",
                    "[[environments]]\nkind = \"memory\"\nname = \"bath\"\ncosine = [1.0, -0.2]\nsine = [0.0, "
                    "0.0]\nrate = [2.0, 1.0]\n" +
                        ramp,
                    closed, 0.1),
             "the temperature of `bath` cannot depend on t"},
        Case{recipe("C = [[0.5]]\n" + ramp, "", "method = \"exact\"\non = \"open\"\n", 0.1),
             "the exact flow is that of a constant `kT`"},
        Case{recipe("C = [[0.5]]\n" + ramp, "", open, 0.1, 10.0, "covariance"), "of a stationary state"}}) {
    EXPECT_THAT(report_of(text), HasSubstr(message)) << text;
  }
}

}  // namespace
}  // namespace bathline::temperature_test
