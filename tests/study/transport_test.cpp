// Currents, profiles and conductivities: the exact covariance of a harmonic chain, three currents that agree, burn-in,
// the end by an error, and what is refused.
#include <Eigen/Dense>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "run_study.hpp"

namespace bathline::transport_test {
namespace {

using testing::HasSubstr;

struct Scene {
  std::string potential = "kind = \"harmonic\", k = 1.0", external = "", walls = "{ kind = \"harmonic\", k = 1.0 }";
  int sites = 4;
  double step = 0.1, end = 2000.0;
  std::string attach = "[0, 1]", hot = "kT = 2.0", cold = "kT = 1.0", method = "baoab", study = "", more = "";
  int particles = 2;
};

std::string recipe(const Scene& scene) {
  const auto damper = [](const std::string& name, int particle, const std::string& temperature) {
    return "[[environments]]\nname = \"" + name + "\"\nkind = \"damper\"\nattach = " + std::to_string(particle) +
           "\ndamping = 1.0\n" + temperature + "\n";
  };
  std::string walls;
  for (int i = 0; i < scene.particles; ++i) walls += (i == 0 ? "" : ", ") + scene.walls;
  return "title = \"t\"\nseed = 3\n[system]\nkind = \"pair-potential\"\nparticles = " +
         std::to_string(scene.particles) +
         "\nmasses = 1.0\nq0 = 0.0\n"
         "externals = [" +
         walls + "]\n[[environments]]\nname = \"chain\"\nkind = \"nonlinear-line\"\nattach = " + scene.attach +
         "\nsites = " + std::to_string(scene.sites) + "\nM = 1.0\npotential = { " + scene.potential + " }\n" +
         scene.external + (scene.hot.empty() ? "" : damper("hot", 0, scene.hot)) +
         (scene.cold.empty() ? "" : damper("cold", 1, scene.cold)) + scene.more +
         "[time]\nstep = " + std::to_string(scene.step) + "\nend = " + std::to_string(scene.end) +
         "\n[[integrators]]\nname = \"run\"\non = \"closed\"\nmethod = \"" + scene.method +
         "\"\n[output]\nevery = 2\n[study]\nkind = \"transport\"\n" + scene.study;
}

/// The stationary state of BAOAB on a harmonic chain of n unit masses and springs between walls, with friction 1 at the
/// ends: the discrete Lyapunov equation of the step.
struct ExactChain {
  ExactChain(int n, double h, double hot, double cold) : n(n) {
    const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n), zero = Eigen::MatrixXd::Zero(n, n);
    stiffness = 2.0 * one;
    for (int i = 0; i + 1 < n; ++i) stiffness(i, i + 1) = stiffness(i + 1, i) = -1.0;
    Eigen::MatrixXd kick(2 * n, 2 * n), drift(2 * n, 2 * n), decay = Eigen::MatrixXd::Identity(2 * n, 2 * n);
    kick << one, zero, -0.5 * h * stiffness, one;
    drift << one, 0.5 * h * one, zero, one;
    Eigen::MatrixXd noise = Eigen::MatrixXd::Zero(2 * n, 2 * n);
    const double factor = std::exp(-h);
    for (const auto& [site, kT] : {std::pair(0, hot), std::pair(n - 1, cold)}) {
      decay(n + site, n + site) = factor;
      noise(n + site, n + site) = kT * (1.0 - factor * factor);
    }
    const Eigen::MatrixXd before = drift * kick, after = kick * drift;
    Eigen::MatrixXd step = after * decay * before, sum = after * noise * after.transpose();
    for (int doubling = 0; doubling < 40; ++doubling) {
      sum += step * sum * step.transpose().eval();
      step = step * step.eval();
    }
    covariance = sum;
    const Eigen::MatrixXd at_bath = before * sum * before.transpose();
    heat_from_first = (0.5 * (factor * factor - 1.0) * at_bath(n, n) + 0.5 * noise(n, n)) / h;
    Eigen::MatrixXd half = Eigen::MatrixXd::Identity(2 * n, 2 * n);
    half.bottomLeftCorner(n, n) = -0.5 * h * stiffness;
    const Eigen::MatrixXd kicked = half * sum * half.transpose();
    for (int i = 0; i < n; ++i) temperature.push_back(kicked(n + i, n + i));
    for (int i = 1; i < n; ++i) {
      double sum_of_spring = 0.0;
      for (const int v : {i - 1, i}) sum_of_spring -= 0.5 * (sum(i, n + v) - sum(i - 1, n + v));
      current.push_back(sum_of_spring);
    }
  }
  int n;
  Eigen::MatrixXd stiffness, covariance;
  double heat_from_first;
  std::vector<double> temperature, current;
};

TEST(MpiTransport, HarmonicChainHasTheCovarianceOfTheStep) {
  // A step at which the order h^2 is much larger than the errors: heats and currents differ by a tenth.
  for (const int sites : {3, 4}) {
    const RunStudy run(recipe({.sites = sites, .step = 0.5, .end = 8e4, .study = "realisations = 2\n"}));
    const ExactChain exact(sites + 2, 0.5, 2.0, 1.0);
    const std::string path = "transport/run/chain/";
    const auto expect = [&](const std::string& name, double value) {
      EXPECT_NEAR(run.value(path + name), value, 4.0 * run.value(path + name + "_error")) << name;
      EXPECT_LT(run.value(path + name + "_error"), 0.02 * std::abs(value)) << name;
    };
    double mean = 0.0;
    for (const double current : exact.current) mean += current / static_cast<double>(exact.current.size());
    EXPECT_GT(std::abs(exact.heat_from_first / mean - 1.0), 0.08);
    expect("current", mean);
    expect("heat_from_first", exact.heat_from_first);
    expect("heat_into_second", exact.heat_from_first);
    const std::vector<double> temperature = run.values(path + "temperature"),
                              error = run.values(path + "temperature_error");
    // At most as many bins as springs.
    ASSERT_EQ(temperature.size(), exact.temperature.size() - 1);
    for (std::size_t i = 1; i < temperature.size(); ++i)
      EXPECT_NEAR(temperature[i], exact.temperature[i + 1], 4.0 * error[i]);
    EXPECT_NEAR(temperature[0], 0.5 * (exact.temperature[0] + exact.temperature[1]), 4.0 * error[0]);
    EXPECT_NEAR(run.value(path + "kappa"), run.value(path + "current") * (sites + 1), 1e-13);
    // The error of the blocks against that of equilibrium, which is derived for a small difference.
    EXPECT_NEAR(run.value(path + "kappa_error") / run.value(path + "kappa_error_expected"), 1.0, 0.5);
    EXPECT_EQ(run.value("transport/run/steady"), 1.0);
  }
}

TEST(MpiTransport, ThreeCurrentsOfANonlinearChainAgree) {
  const Scene scene{.potential = "kind = \"fput\", k = 1.0, alpha = 0.2, beta = 1.0",
                    .external = "external = { kind = \"formula\", V = \"x^4/8\" }\n",
                    .sites = 9,
                    .step = 0.05,
                    .end = 1.5e4,
                    .study = "realisations = 3\n"};
  const RunStudy run(recipe(scene));
  const std::string path = "transport/run/chain/";
  const double current = run.value(path + "current"), error = run.value(path + "current_error"), h2 = 0.05 * 0.05;
  for (const char* name : {"heat_from_first", "heat_into_second"}) {
    EXPECT_NEAR(run.value(path + name), current,
                3.0 * std::hypot(error, run.value(path + name + "_error")) + h2 * current);
  }
  EXPECT_NEAR(run.value(path + "net_heat"), 0.0, 3.0 * run.value(path + "net_heat_error") + 0.1 * h2 * current);
  // The same current everywhere.
  for (const double local : run.values(path + "local_current")) EXPECT_NEAR(local, current, 5.0 * error);
}

TEST(MpiTransport, AColdStartIsLeftOut) {
  const Scene scene{.potential = "kind = \"fput\", k = 1.0, beta = 1.0", .sites = 60, .step = 0.1, .end = 1.6e4};
  const RunStudy run(recipe(scene));
  // The chain takes up more than 60 J first, which does not count for the balance of heats.
  EXPECT_GT(run.value("transport/run/burn_in"), 0.0);
  EXPECT_LT(run.value("transport/run/burn_in"), 8e3);
  EXPECT_EQ(run.value("transport/run/steady"), 1.0);
  const std::string path = "transport/run/chain/";
  EXPECT_NEAR(run.value(path + "net_heat"), 0.0, 4.0 * run.value(path + "net_heat_error"));
  EXPECT_GT(run.value(path + "kappa_bulk"), run.value(path + "kappa"));
}

TEST(MpiTransport, EndsAtTheWantedError) {
  const Scene scene{.step = 0.2, .end = 1e5, .study = "until_error = 0.05\n"};
  const RunStudy run(recipe(scene));
  const std::string path = "transport/run/chain/";
  EXPECT_LE(run.value(path + "current_error"), 0.05 * run.value(path + "current"));
  EXPECT_LT(run.value("transport/run/duration"), 0.5e5);
  EXPECT_GE(run.value("transport/run/blocks"), 8.0);
}

TEST(MpiTransport, SeriesHaveLocalExponents) {
  Scene scene{.step = 0.2, .end = 2e3};
  const std::string chain =
      "[[environments]]\nname = \"longer\"\nkind = \"nonlinear-line\"\nattach = [2, 3]\nsites = 14\nM = 1.0\n"
      "potential = { kind = \"harmonic\", k = 1.0 }\n";
  const auto bath = [](const std::string& particle, const std::string& kT) {
    return "[[environments]]\nname = \"bath-" + particle + "\"\nkind = \"damper\"\nattach = " + particle +
           "\ndamping = 1.0\nkT = " + kT + "\n";
  };
  scene.particles = 4;
  scene.more = chain + bath("2", "2.0") + bath("3", "1.0");
  scene.study = "[[study.series]]\nname = \"both\"\nchains = [\"longer\", \"chain\"]\n";
  const RunStudy run(recipe(scene));
  const double first = run.value("transport/run/chain/kappa"), second = run.value("transport/run/longer/kappa");
  EXPECT_EQ(run.values("transport/run/both/kappa"), (std::vector{first, second}));
  EXPECT_NEAR(run.value("transport/run/both/exponent"), std::log(second / first) / std::log(16.0 / 6.0), 1e-12);
  // (N - 1)/kappa = (N - 1)/limit + R.
  const double limit = (15.0 - 5.0) / (15.0 / second - 5.0 / first);
  EXPECT_NEAR(run.value("transport/run/both/kappa_limit") / limit, 1.0, 1e-10);
}

TEST(MpiTransport, SaysWhatIsWrong) {
  const struct {
    Scene scene;
    std::string message;
  } refused[] = {
      {{.hot = ""}, "no bath acts on the particle at its first end"},
      {{.cold = ""}, "no bath acts on the particle at its second end"},
      {{.more = "[[environments]]\nname = \"other\"\nkind = \"nonlinear-line\"\nattach = [1, 0]\nsites = 3\nM = 1.0\n"
                "potential = { kind = \"toda\", a = 1.0, b = 1.0 }\n"},
       "`other` ends at the particle at its first end, too"},
      {{.cold = "kT = \"1 + t/1000\""}, "depends on time, so that no current is steady"},
      {{.attach = "[0, 0]"}, "acts on the particle of this ring"},
      {{.attach = "[0]"}, "examines [[integrators]], each closed with a `nonlinear-line` between two particles"},
      {{.method = "yoshida4"}, "steps that begin and end with half a kick"},
      {{.study = "blocks = 8\n"}, "judged by at least 16 blocks"},
      {{.end = 5.0}, "too few for as many observations"},
      {{.hot = "kT = 1.0", .study = "until_error = 0.1\n"}, "the baths at both ends have the same temperature"},
      {{.study = "[[study.series]]\nname = \"s\"\nchains = [\"chain\", \"hot\"]\n"}, "`hot` is no chain"},
      {{.study = "[[study.series]]\nname = \"chain\"\nchains = [\"chain\", \"chain\"]\n"}, "is the name of a chain"},
      {{.study = "[[study.series]]\nname = \"s\"\nchains = [\"chain\"]\n"}, "at least two chains"},
      {{.more = "[[environments]]\nname = \"third\"\nkind = \"spring-mass-line\"\nattach = 0\nsites = \"infinite\"\nM "
                "= 1.0\n"
                "lambda = 1.0\nkT = 3.0\n"},
       "two environments at its first end have different temperatures"},
      {{.more = "[[environments]]\nname = \"third\"\nkind = \"spring-mass-line\"\ncouple = \"x0 - x1\"\n"
                "sites = \"infinite\"\nM = 1.0\nlambda = 1.0\nkT = 2.0\n"},
       "acts on both ends"},
  };
  for (const auto& [scene, message] : refused) EXPECT_THAT(report_of(recipe(scene)), HasSubstr(message));
}

/// A wave of the amplitude 0.3 on a harmonic ring of 24 places, with all places moving by `drift`.
std::string ring(double drift, const std::string& study) {
  const int places = 24;
  const double k = 2.0 * std::numbers::pi * 2.0 / places, omega = 2.0 * std::sin(0.5 * k);
  const auto text = [](double number) { return std::to_string(number); };
  return "title = \"t\"\n[system]\nkind = \"linear\"\nM = [1.0]\nK = [0.0]\nq0 = 0.3\nv0 = " + text(drift) + "\n" +
         "[[environments]]\nname = \"ring\"\nkind = \"nonlinear-line\"\nattach = [0, 0]\nsites = 23\nM = 1.0\n"
         "potential = { kind = \"harmonic\", k = 1.0 }\nw0 = \"0.3*cos(" +
         text(k) + "*(i + 1))\"\nv0 = \"" + text(drift) + " + " + text(0.3 * omega) + "*sin(" + text(k) +
         "*(i + 1))\"\n[time]\nstep = 0.05\nend = 8000.0\n"
         "[[integrators]]\nname = \"run\"\non = \"closed\"\nmethod = \"stoermer-verlet\"\n[output]\nevery = 10\n"
         "[study]\nkind = \"transport\"\nblocks = 16\n" +
         study;
}

TEST(MpiTransport, AWaveOnARingCarriesAConstantCurrent) {
  const double a = 0.3, k = 2.0 * std::numbers::pi * 2.0 / 24.0, omega = 2.0 * std::sin(0.5 * k);
  // J_j = -(q_j - q_{j-1}) (v_{j-1} + v_j)/2, summed over the ring.
  const double current = 0.5 * 24.0 * a * a * omega * std::sin(k), kT = 0.5 * a * a * omega * omega;
  for (const double drift : {0.0, 0.4}) {
    const RunStudy run(ring(drift, "max_lag = 20.0\nwave_numbers = [1, 2]\nwindow = 500.0\n"));
    const std::string path = "transport/run/ring/";
    // The step changes the wave by the order h^2 = 0.0025.
    for (const double value : run.values(path + "current_correlation"))
      EXPECT_NEAR(value / (current * current / 24.0), 1.0, 2e-3);
    const double measured = run.value(path + "mean_temperature");
    EXPECT_NEAR(measured, kT + drift * drift, 2e-3 * (kT + drift * drift));
    const std::vector<double> lags = run.values(path + "lag"), kappa = run.values(path + "green_kubo");
    EXPECT_GE(lags.back(), 20.0);
    EXPECT_NEAR(kappa.back(), current * current * lags.back() / (24.0 * measured * measured), 4e-3 * kappa.back());
    const std::vector<double> frequency = run.values(path + "frequency"),
                              factor = run.values(path + "structure_factor_2"),
                              other = run.values(path + "structure_factor_1");
    const auto peak = std::max_element(factor.begin(), factor.end()) - factor.begin();
    EXPECT_NEAR(frequency[static_cast<std::size_t>(peak)], omega, frequency[1]);
    // Both signs of omega: the integral is the mean of |sum_j v_j exp(i k j)|^2/N.
    const double integral = std::accumulate(factor.begin(), factor.end(), 0.0) * frequency[1] / std::numbers::pi;
    EXPECT_NEAR(integral / (24.0 * 0.25 * a * a * omega * omega), 1.0, 5e-3);
    EXPECT_LT(*std::max_element(other.begin(), other.end()), 1e-6 * factor[static_cast<std::size_t>(peak)]);
    EXPECT_FALSE(run.has(path + "current"));
  }
}

TEST(MpiTransport, SaysWhatIsWrongOfRings) {
  const struct {
    std::string study, message;
  } refused[] = {
      {"max_lag = 100.0\n", "a block of 500 s has fewer than 20 lags of 100 s"},
      {"wave_numbers = [13]\n", "13 is not one of the waves 1 to 12 of `ring`, a ring of 24 places"},
      {"wave_numbers = [1]\nwindow = 501.0\n", "501 s are longer than a block of 500 s"},
      {"until_error = 0.1\n", "of rings with a `max_lag`"},
  };
  for (const auto& [study, message] : refused) EXPECT_THAT(report_of(ring(0.0, study)), HasSubstr(message));
  EXPECT_THAT(report_of(recipe({.study = "max_lag = 1.0\n"})), HasSubstr("correlations are those of rings"));
  EXPECT_THAT(report_of(recipe({.study = "wave_numbers = [1]\n"})), HasSubstr("structure factors are those of rings"));
}

}  // namespace
}  // namespace bathline::transport_test
