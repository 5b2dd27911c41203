// Ensembles: the same numbers as a plain loop over the realisations, on any number of ranks.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <sstream>

#include "steppers/stepper.hpp"
#include "run_study.hpp"
#include "study/ensemble/slopes.hpp"

namespace bathline::ensemble_test {
namespace {

using testing::HasSubstr;

std::string recipe(const std::string& study, const std::string& temperature = "0.5", const std::string& on = "closed") {
  return R"(title = "t"
seed = 11
[system]
kind = "dual-oscillator"
m0 = 1.0
k0 = 1.0
M0 = 2.0
K0 = 3.0
q0 = [0.2, 0.0]
[[environments]]
kind = "heat-bath"
attach = 0
oscillators = 40
damping = 0.5
omega_max = 10.0
kT = )" + temperature +
         R"(
[[environments]]
name = "other"
kind = "heat-bath"
attach = 1
oscillators = 40
damping = 0.5
omega_max = 10.0
kT = 0.5
[time]
step = 0.05
end = 4.0
[[integrators]]
method = "stoermer-verlet"
name = "run"
on = ")" +
         on + "\"\n[output]\nevery = 8\n[study]\nkind = \"ensemble\"\n" + study;
}

/// Calls `look` with every realisation in its initial state; every rank computes all of them.
template <class Look>
void for_each_realisation(const RunStudy& run, int realisations, Look look) {
  const Communicator alone = test_world().split(test_world().rank());
  const Case& this_case = run.experiment().cases().front();
  for (int r = 0; r < realisations; ++r) {
    Problem problem = run.experiment().make_problem(this_case, this_case.step, this_case.closed, alone);
    problem.prepare(11, static_cast<std::uint32_t>(r));
    look(r, problem, [&, stepper = make_stepper(this_case.scheme, problem, this_case.step)](int steps) {
      stepper->advance(steps);
    });
  }
}

struct Statistics {
  double mean = 0.0, variance = 0.0, error = 0.0;
};
Statistics statistics(const std::vector<double>& samples) {
  const auto n = static_cast<double>(samples.size());
  Statistics result;
  for (const double sample : samples) result.mean += sample / n;
  for (const double sample : samples) result.variance += std::pow(sample - result.mean, 2) / (n - 1.0);
  result.error = std::sqrt(result.variance / n);
  return result;
}

std::vector<double> values_of(const RunStudy& run, const std::string& name) {
  return run.values("ensemble/run/" + name);
}
/// An entry of a mean over samples, with its standard error. Sums of n terms differ by n round-offs of the largest term
/// when their order does, in both programs.
void expect_mean(const RunStudy& run, const std::string& name, std::size_t index, const std::vector<double>& samples) {
  double largest = 0.0;
  for (const double sample : samples) largest = std::max(largest, std::abs(sample));
  const double round_off = std::numeric_limits<double>::epsilon() * static_cast<double>(samples.size()) * largest;
  EXPECT_NEAR(values_of(run, name)[index], statistics(samples).mean, round_off) << name;
  EXPECT_NEAR(values_of(run, name + "_error")[index], statistics(samples).error, round_off) << name;
}
void expect_values(const RunStudy& run, const std::string& name, const std::vector<double>& expected) {
  const std::vector<double> found = values_of(run, name);
  ASSERT_EQ(found.size(), expected.size()) << name;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(found[i])) << name;
    } else {
      EXPECT_NEAR(found[i], expected[i], 1e-14) << name << i;
    }
  }
}

void expect_mean_of_realisations(const std::string& on) {
  constexpr int realisations = 19, records = 11, first = 5, lags = 4;
  const RunStudy run(recipe("realisations = 19\nburn_in = 2.0\nmax_lag = 1.2\n", "0.5", on));
  std::vector<double> q(2 * records), correlation(2 * lags);
  std::vector<std::vector<double>> kinetic_means(2);
  for_each_realisation(run, realisations, [&](int, Problem& problem, auto advance) {
    std::vector<Eigen::VectorXd> v;
    for (int record = 0; record < records; ++record) {
      if (record > 0) advance(8);
      v.push_back(problem.p.cwiseQuotient(problem.system().mass));
      for (int i = 0; i < 2; ++i) q[2 * record + i] += problem.q[i] / realisations;
    }
    for (int i = 0; i < 2; ++i) {
      double mean = 0.0;
      for (int record = first; record < records; ++record) {
        mean += 0.5 * problem.system().mass[i] * v[record][i] * v[record][i] / (records - first);
        for (int lag = 0; lag < lags && record + lag < records; ++lag) {
          correlation[2 * lag + i] += v[record][i] * v[record + lag][i] / (records - first - lag) / realisations;
        }
      }
      kinetic_means[i].push_back(mean);
    }
  });
  expect_values(run, "mean_q", q);
  expect_values(run, "velocity_autocorrelation", correlation);
  for (std::size_t i = 0; i < 2; ++i) {
    expect_mean(run, "kinetic_mean", i, kinetic_means[i]);
    const auto [mean, variance, error] = statistics(kinetic_means[i]);
    EXPECT_NEAR(values_of(run, "kinetic_deviation")[i], (mean - 0.25) / error, 1e-9);
  }
}

// Observables with a dimension have means over time with standard errors, here recomputed from the paths.
TEST(MpiEnsemble, ProfilesAreMeansOverTime) {
  const RunStudy run(R"(title = "t"
[system]
kind = "pair-potential"
particles = 3
masses = [1.0, 2.0, 0.5]
q0 = 0.1
potential = { kind = "harmonic", k = 2.0 }
pairs = "neighbours"
damping = [0.5, 0.0, 0.5]
kT = [2.0, 1.0, 1.0]
bond_currents = true
particle_energies = true
[time]
step = 0.1
end = 6.0
[[integrators]]
method = "stoermer-verlet"
name = "run"
on = "open"
[output]
every = 4
[study]
kind = "ensemble"
realisations = 10
saved_paths = 10
burn_in = 2.0
)");
  constexpr std::size_t realisations = 10, records = 16, first = 5;
  const std::vector<double> q = run.values("ensemble/run/path_q"), v = run.values("ensemble/run/path_v");
  ASSERT_EQ(q.size(), realisations * records * 3);
  for (const std::size_t bond : {0u, 1u}) {
    std::vector<double> means;
    for (std::size_t r = 0; r < realisations; ++r) {
      double sum = 0.0;
      for (std::size_t record = first; record < records; ++record) {
        const std::size_t i = (r * records + record) * 3 + bond;
        sum += -2.0 * (q[i + 1] - q[i]) * 0.5 * (v[i] + v[i + 1]);
      }
      means.push_back(sum / (records - first));
    }
    expect_mean(run, "bond_current_mean", bond, means);
  }
  EXPECT_EQ(run.values("ensemble/run/particle_energy_mean").size(), 3u);
  EXPECT_EQ(run.values("ensemble/run/bond"), (std::vector{0.0, 1.0}));
}

TEST(MpiEnsemble, IsTheMeanOfItsRealisations) { expect_mean_of_realisations("closed"); }

/// Open realisations are advanced together in lanes.
TEST(MpiEnsemble, IsTheMeanOfItsOpenRealisations) { expect_mean_of_realisations("open"); }

TEST(MpiEnsemble, RanksMayShareARealisation) {
  const RunStudy alone(recipe("realisations = 9\nmax_lag = 1.0\n"));
  const RunStudy shared(recipe("realisations = 9\nmax_lag = 1.0\nranks_per_realisation = 2\n"));
  for (const char* name : {"mean_v", "kinetic_energy", "velocity_autocorrelation", "mean_q_error"}) {
    const std::string path = std::string("ensemble/run/") + name;
    EXPECT_EQ(alone.values(path), shared.values(path)) << name;
  }
}

TEST(MpiEnsemble, TheoryIsTheLangevinEquation) {
  const RunStudy run(recipe("realisations = 2\nmax_lag = 1.0\n"));
  const std::vector<double> lag = run.values("ensemble/run/lag");
  const std::vector<double> theory = run.values("ensemble/run/velocity_autocorrelation_theory");
  // Each particle is an independent oscillator: kT/m exp(-a t) (cos wt - a/w sin wt), a = D/2m, w^2 = k/m - a^2.
  const double mass[] = {1.0, 2.0}, stiffness[] = {1.0, 3.0};
  for (std::size_t i = 0; i < lag.size(); ++i) {
    for (int particle = 0; particle < 2; ++particle) {
      const double a = 0.5 / (2.0 * mass[particle]), w = std::sqrt(stiffness[particle] / mass[particle] - a * a);
      const double expected =
          0.5 / mass[particle] * std::exp(-a * lag[i]) * (std::cos(w * lag[i]) - a / w * std::sin(w * lag[i]));
      EXPECT_NEAR(theory[2 * i + static_cast<std::size_t>(particle)], expected, 1e-14);
    }
  }
}

const char* const measured = R"(realisations = 19
burn_in = 2.0
max_lag = 0.8
saved_paths = 3
quantities = [
  { name = "x", of = "x0", units = "m", bins = [-1.0, 1.0, 4] },
  { name = "v", of = "x0_dot", bins = [-1.5, 1.5, 3] }
]
joint_histograms = [{ name = "both", of = ["x", "v"] }]
first_passages = [{ name = "zero", of = "x0", direction = "down" }]
)";

TEST(MpiEnsemble, MeasuresQuantitiesOfEveryRealisation) {
  constexpr int realisations = 19, records = 11, first = 5, lags = 3;
  const RunStudy run(recipe(measured, "0.5", "open"));
  std::vector<double> means, passed, density(4), joint(12), products(lags);
  double waited = 0.0, count = 0.0;
  for_each_realisation(run, realisations, [&](int r, Problem& problem, auto advance) {
    std::vector<double> x, v;
    double passage = std::nan("");
    for (int record = 0; record < records; ++record) {
      if (record > 0) advance(8);
      x.push_back(problem.q[0]);
      v.push_back(problem.p[0]);
      if (record == 0 || !std::isnan(passage) || !(x[record - 1] > 0.0 && x[record] <= 0.0)) continue;
      passage = 0.4 * (record - 1 + x[record - 1] / (x[record - 1] - x[record]));
    }
    if (r < 3) {
      for (int record = 0; record < records; ++record) {
        EXPECT_EQ(values_of(run, "path_q")[(r * records + record) * 2], x[record]);
        EXPECT_EQ(values_of(run, "path_v")[(r * records + record) * 2], v[record]);
      }
    }
    passed.push_back(passage);
    // Realisations with a passage before burn-in do not count.
    if (std::isnan(passage) || passage >= 2.0) {
      waited += (std::isnan(passage) ? 4.0 : passage) - 2.0;
      count += !std::isnan(passage);
    }
    double mean = 0.0;
    for (int record = first; record < records; ++record) {
      mean += x[record] / (records - first);
      const double fraction = 1.0 / (records - first) / realisations;
      const int bin = static_cast<int>(std::floor(2.0 * (x[record] + 1.0))),
                row = static_cast<int>(std::floor(v[record] + 1.5));
      if (bin >= 0 && bin < 4) density[bin] += 2.0 * fraction;
      if (bin >= 0 && bin < 4 && row >= 0 && row < 3) joint[3 * bin + row] += 2.0 * fraction;
      for (int lag = 0; lag < lags && record + lag < records; ++lag) {
        products[lag] += x[record] * x[record + lag] / (records - first - lag) / realisations;
      }
    }
    means.push_back(mean);
  });
  expect_mean(run, "x_mean", 0, means);
  expect_values(run, "x_of_realisation", means);
  expect_values(run, "x_autocorrelation", products);
  expect_values(run, "x_density", density);
  expect_values(run, "both_density", joint);
  expect_values(run, "zero_time", passed);
  EXPECT_NEAR(run.value("ensemble/run/zero_rate"), count / waited, 1e-14);
  EXPECT_NEAR(run.value("ensemble/run/zero_rate_error"), std::sqrt(count) / waited, 1e-14);
  std::vector<double> survival;
  for (int record = 0; record < records; ++record) {
    survival.push_back(1.0);
    for (const double time : passed) survival.back() -= time <= 0.4 * record ? 1.0 / realisations : 0.0;
  }
  expect_values(run, "zero_survival", survival);
  EXPECT_GT(count, 2.0);
  EXPECT_LT(count, 19.0);
  // The variance of the averaged values.
  const double of_mean = run.values("ensemble/run/mean_q_error")[20];
  EXPECT_NEAR(run.values("ensemble/run/variance_q")[20], realisations * of_mean * of_mean, 1e-14);
}

/// The two oscillators driven and in baths called `a` and `other`.
std::string driven(const std::string& study, const std::string& on, const std::string& method) {
  std::string text =
      with(recipe(study, "0.9", on), "q0 =", "drive = [\"0.3*cos(1.2*t)\", \"0\"]\nq0 =", "kind = \"heat-bath\"",
           "name = \"a\"\nkind = \"heat-bath\"");
  return text.replace(text.find("\"stoermer-verlet\""), 17, method);
}

const char* const ledger = R"(realisations = 11
series = false
quantities = [
  { name = "W", of = "work", when = "end", bins = [-0.6, 0.6, 3] },
  { name = "Q", of = "heat", when = "end" },
  { name = "Qa", of = "heat_a", when = "end" },
  { name = "Qother", of = "heat_other", when = "end" },
  { name = "U", of = "gain", when = "end" },
  { name = "mean_work", of = "work + 0*t" }
]
)";

TEST(MpiEnsemble, MeasuresWorkAndHeat) {
  const RunStudy run(driven(ledger, "closed", "\"time-centred\""));
  std::vector<double> work, density(3);
  double mean_work = 0.0;
  for_each_realisation(run, 11, [&](int r, Problem& problem, auto advance) {
    const EnergyLedger start = problem.energies();
    for (int record = 1; record < 11; ++record) {
      advance(8);
      mean_work += problem.energies().work / 11.0 / 11.0;
    }
    const EnergyLedger end = problem.energies();
    const auto held = [](const EnergyLedger& at, int e) {
      return at.environment_energies[e].environment + at.environment_energies[e].interaction;
    };
    work.push_back(end.work);
    if (std::abs(end.work) < 0.6) density[static_cast<std::size_t>((end.work + 0.6) / 0.4)] += 1.0 / 11.0 / 0.4;
    const auto at = [&](const char* name) { return values_of(run, name)[r]; };
    EXPECT_EQ(at("W_of_realisation"), end.work);
    EXPECT_NEAR(at("U_of_realisation"), end.particles - start.particles, 1e-14);
    EXPECT_NEAR(at("Qa_of_realisation"), held(end, 0) - held(start, 0), 1e-13);
    EXPECT_NEAR(at("Qother_of_realisation"), held(end, 1) - held(start, 1), 1e-13);
    EXPECT_NEAR(at("Q_of_realisation"), at("Qa_of_realisation") + at("Qother_of_realisation"), 1e-12);
    // The midpoint rule conserves the energy balance of linear systems.
    EXPECT_NEAR(at("Q_of_realisation") + at("U_of_realisation"), end.work, 1e-12);
    EXPECT_GT(std::abs(end.work), 1e-4);
  });
  expect_mean(run, "W_mean", 0, work);
  const auto [mean, square, error] = statistics(work);
  EXPECT_NEAR(run.value("ensemble/run/W_variance"), square, 1e-14);
  double spread = 0.0;
  for (const double w : work) spread += std::pow((w - mean) * (w - mean) - square, 2) / 10.0;
  EXPECT_NEAR(run.value("ensemble/run/W_variance_error"), std::sqrt(spread / 11.0), 1e-14);
  EXPECT_NEAR(run.value("ensemble/run/mean_work_mean"), mean_work, 1e-14);
  expect_values(run, "W_density", density);
  EXPECT_FALSE(run.has("ensemble/run/W_autocorrelation"));
}

// The particles are uncoupled, so that the heat of a bath is the energy that its particle loses.
TEST(MpiEnsemble, KnowsWhichBathTakesWhichHeatInOpenRuns) {
  for (const char* method : {"\"time-centred\"", "\"gauss\"", "\"stoermer-verlet\"", "\"baoab\""}) {
    SCOPED_TRACE(method);
    const RunStudy run(with(driven(ledger, "open", method), "drive", "start = \"thermal-momenta\"\nkT = 0.3\n#drive"));
    const bool is_explicit = std::holds_alternative<ExplicitScheme>(run.experiment().cases().front().scheme);
    for_each_realisation(run, 11, [&](int r, Problem& problem, auto advance) {
      const auto energy = [&](int i) {
        const double m[] = {1.0, 2.0}, stiffness[] = {1.0, 3.0};
        return 0.5 * problem.p[i] * problem.p[i] / m[i] + 0.5 * stiffness[i] * problem.q[i] * problem.q[i];
      };
      const double before[] = {energy(0), energy(1)};
      advance(80);
      const double lost[] = {before[0] - energy(0), before[1] - energy(1)};
      const auto at = [&](const char* name) { return values_of(run, name)[r]; };
      EXPECT_NEAR(at("Qa_of_realisation"), lost[0], is_explicit ? 0.01 : 1e-12);
      EXPECT_NEAR(at("Qother_of_realisation"), lost[1], is_explicit ? 0.01 : 1e-12);
      EXPECT_NEAR(at("Q_of_realisation"), at("Qa_of_realisation") + at("Qother_of_realisation"), 1e-13);
    });
  }
}

TEST(MpiEnsemble, BlocksAreSamples) {
  constexpr int realisations = 9, records = 11, first = 5;
  const RunStudy run(
      recipe("realisations = 9\nburn_in = 2.0\nmax_lag = 0.4\nblocks = 2\n"
             "[[study.quantities]]\nname = \"x\"\nof = \"x0\"\n"));
  std::vector<double> means, products;
  for_each_realisation(run, realisations, [&](int, Problem& problem, auto advance) {
    std::vector<double> x;
    for (int record = 0; record < records; ++record) {
      if (record > 0) advance(8);
      x.push_back(problem.q[0]);
    }
    for (int begin = first; begin < records; begin += 3) {
      means.push_back((x[begin] + x[begin + 1] + x[begin + 2]) / 3.0);
      products.push_back((x[begin] * x[begin + 1] + x[begin + 1] * x[begin + 2]) / 2.0);
    }
  });
  ASSERT_EQ(means.size(), 18u);
  expect_mean(run, "x_mean", 0, means);
  expect_mean(run, "x_autocorrelation", 1, products);
  // A value that is not averaged over time has one sample in every realisation.
  EXPECT_NEAR(run.values("ensemble/run/mean_q_error")[20],
              RunStudy(recipe("realisations = 9\n")).values("ensemble/run/mean_q_error")[20], 1e-15);
}

TEST(MpiEnsemble, HoldsHistogramsAgainstWhatIsExpected) {
  const RunStudy run(
      recipe("realisations = 9\n[[study.quantities]]\nname = \"x\"\nof = \"x0\"\n"
             "bins = [-1.0, 2.0, 6]\nexpected = \"7*exp(-value^2)\"\n"));
  const std::vector<double> expected = run.values("ensemble/run/x_density_expected"),
                            found = run.values("ensemble/run/x_density"),
                            error = run.values("ensemble/run/x_density_error"),
                            deviation = run.values("ensemble/run/x_density_deviation");
  for (int bin = 0; bin < 6; ++bin) {
    const double from = -1.0 + 0.5 * bin;
    const double fraction = (std::erf(from + 0.5) - std::erf(from)) / (std::erf(2.0) - std::erf(-1.0));
    EXPECT_NEAR(expected[bin], fraction / 0.5, 1e-7);
    if (error[bin] > 0.0) {
      EXPECT_NEAR(deviation[bin], (found[bin] - expected[bin]) / error[bin], 1e-9);
    }
  }
  // In empty bins the error is the expected one of that many draws: n p, over its root.
  const RunStudy far(
      recipe("realisations = 9\n[[study.quantities]]\nname = \"x\"\nof = \"x0\"\n"
             "bins = [50.0, 52.0, 2]\nexpected = \"1\"\n"));
  EXPECT_EQ(far.values("ensemble/run/x_density"), (std::vector<double>{0.0, 0.0}));
  for (const double deviation : far.values("ensemble/run/x_density_deviation")) EXPECT_NEAR(deviation, -3.0, 1e-12);
}

// A drive, and a start at another temperature that averages contain, leave no equipartition to expect.
TEST(MpiEnsemble, ExpectsEquipartitionInEquilibriumAlone) {
  const auto has_expected = [](const std::string& keys, const std::string& study) {
    const RunStudy run(with(recipe("realisations = 9\n" + study), "[[environments]]", keys + "[[environments]]"));
    return run.has("ensemble/run/kinetic_expected");
  };
  EXPECT_TRUE(has_expected("", ""));
  EXPECT_FALSE(has_expected("drive = [\"0.3*cos(t)\", \"0\"]\n", ""));
  EXPECT_TRUE(has_expected("start = \"thermal-momenta\"\nstart_kT = 0.5\n", ""));
  EXPECT_FALSE(has_expected("start = \"thermal-momenta\"\nstart_kT = 0.6\n", ""));
  EXPECT_TRUE(has_expected("start = \"thermal-momenta\"\nstart_kT = 0.6\n", "burn_in = 2.0\n"));
}

// A closed system is warm by a memory with noise, or by a thermal start.
TEST(MpiEnsemble, TakesNoiseOfAMemory) {
  std::string warm = recipe("realisations = 9\nmax_lag = 1.0\n");
  const std::size_t begin = warm.find("[[environments]]"), end = warm.find("[time]");
  warm.replace(begin, end - begin,
               "[[environments]]\nkind = \"memory\"\nstiffness = [0.7]\nrate = [1.1]\nfrequency = [0.4]\n"
               "kT = 0.5\n");
  const RunStudy run(warm);
  EXPECT_GT(run.values("ensemble/run/mean_v_error")[20], 0.0);
  // The theory is that of particles and memory: at lag 0 it is kT/m.
  EXPECT_NEAR(run.values("ensemble/run/velocity_autocorrelation_theory")[0], 0.5, 1e-14);
  // Open runs have no quantum noise, which does not prevent closed ones.
  std::string quantum =
      with(warm, "stiffness", "quantum = true\nhbar = 1.0\nstiffness", "\"stoermer-verlet\"", "\"time-centred\"");
  const RunStudy run_of_quantum(quantum);
  EXPECT_GT(run_of_quantum.values("ensemble/run/mean_v_error")[20], 0.0);
  // Quantum noise has no equipartition, and zero-point motion at temperature 0.
  EXPECT_TRUE(run.has("ensemble/run/kinetic_expected"));
  EXPECT_FALSE(run_of_quantum.has("ensemble/run/kinetic_expected"));
  quantum.replace(quantum.find("kT = 0.5"), 8, "kT = 0.0");
  EXPECT_GT(RunStudy(quantum).value("ensemble/run/kinetic_mean"), 0.0);
  std::string silent = with(warm, "name = \"run\"", "noise = false\nname = \"run\"");
  EXPECT_THAT(report_of(silent), HasSubstr("all realisations would be the same"));
  std::string started = with(silent, "q0 =", "start = \"thermal\"\nkT = 0.5\nq0 =");
  EXPECT_EQ(report_of(started), "");
}

TEST(MpiEnsemble, LeavesSeriesOutWhereTheyAreNotWanted) {
  const RunStudy with(recipe("realisations = 9\nmax_lag = 1.0\n"));
  const RunStudy without(recipe("realisations = 9\nmax_lag = 1.0\nseries = false\n"));
  EXPECT_TRUE(with.has("ensemble/run/mean_q"));
  EXPECT_FALSE(without.has("ensemble/run/mean_q"));
  for (const char* name : {"velocity_autocorrelation", "velocity_autocorrelation_error", "kinetic_mean"}) {
    EXPECT_EQ(with.values(std::string("ensemble/run/") + name), without.values(std::string("ensemble/run/") + name));
  }
}

/// A particle on a spring from rest at 0 in white noise at the temperature 1, for 99 steps of 0.1.
std::string damped_particle(const std::string& study, const std::string& output = "", const std::string& system = "") {
  return R"(title = "t"
seed = 3
[system]
kind = "formula"
coordinates = ["x"]
masses = [1.0]
V = "0.5*(x - c)^2"
damping = [1.0]
kT = 1.0
parameters = { c = 0.0 }
q0 = [0.0]
)" + system +
         "[time]\nstep = 0.1\nsteps = 99\n[[integrators]]\nmethod = \"gjf\"\nname = \"run\"\non = "
         "\"open\"\n[output]\n" +
         output + "[study]\nkind = \"ensemble\"\n" + study;
}

// The last interval between records may be shorter than the others, or the only one.
TEST(MpiEnsemble, ReachesTheEndWhateverTheRecords) {
  const std::string study = R"(realisations = 9
saved_paths = 1
quantities = [
  { name = "last", of = "t", when = "end" },
  { name = "x", of = "x", when = "end" },
  { name = "clock", of = "t" }
]
first_passages = [{ name = "arrival", of = "t", at = 9.85 }]
)";
  const RunStudy all(damped_particle(study));
  for (const int every : {2, 50, 98, 99, 1000}) {
    SCOPED_TRACE(every);
    const RunStudy run(damped_particle(study, fmt::format("every = {}\n", every)));
    const std::vector<double> time = run.values("ensemble/run/time"), q = run.values("ensemble/run/path_q"),
                              every_q = all.values("ensemble/run/path_q");
    ASSERT_EQ(time.size(), static_cast<std::size_t>((99 + every - 1) / every + 1));
    ASSERT_EQ(q.size(), time.size());
    double mean = 0.0;
    for (std::size_t i = 0; i < time.size(); ++i) {
      const std::size_t step = std::min<std::size_t>(i * static_cast<std::size_t>(every), 99);
      EXPECT_EQ(time[i], 0.1 * static_cast<double>(step));
      EXPECT_EQ(q[i], every_q[step]);
      mean += time[i] / static_cast<double>(time.size());
    }
    EXPECT_NEAR(run.value("ensemble/run/last_mean"), 9.9, 1e-13);
    EXPECT_EQ(run.values("ensemble/run/x_of_realisation"), all.values("ensemble/run/x_of_realisation"));
    EXPECT_NEAR(run.value("ensemble/run/clock_mean"), mean, 1e-13);
    EXPECT_NEAR(run.value("ensemble/run/arrival_mean"), 9.85, 1e-13);
  }
  // Lags are multiples of the interval between records: the last record counts only where it ends such an interval.
  const std::string lags = "realisations = 2\nblocks = 2\nmax_lag = 1.0\n";
  EXPECT_EQ(RunStudy(damped_particle(lags, "every = 10\n")).values("ensemble/run/lag").size(), 2u);
  EXPECT_THAT(report_of(damped_particle("realisations = 2\nmax_lag = 1.0\nburn_in = 5.0\n", "every = 1000\n")),
              HasSubstr("too few for the longest lag"));
}

// The same noise around another centre: variances and errors are those around 0.
TEST(MpiEnsemble, VariancesDoNotDependOnThePosition) {
  const std::string study = R"(realisations = 40
burn_in = 2.0
max_lag = 1.0
blocks = 2
quantities = [{ name = "x", of = "x" }, { name = "last", of = "x", when = "end" }]
)";
  const auto at = [&](const std::string& centre) {
    std::string text = damped_particle(study);
    text.replace(text.find("kT = 1.0"), 8, "kT = 1e-6").replace(text.find("c = 0.0"), 7, "c = " + centre);
    return RunStudy(text.replace(text.find("q0 = [0.0]"), 10, "q0 = [" + centre + "]"));
  };
  // One rounding of positions is 1.2e-10, a ten-millionth of their spread.
  const RunStudy near = at("0.0"), far = at("1000000.0");
  for (const char* name :
       {"variance_q", "variance_v", "mean_q_error", "x_mean_error", "last_variance", "last_mean_error"}) {
    const std::vector<double> expected = near.values(std::string("ensemble/run/") + name),
                              found = far.values(std::string("ensemble/run/") + name);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      // The spread grows from 0 in the first steps.
      EXPECT_NEAR(found[i], expected[i], 1e-5 * std::abs(expected.back())) << name << i;
    }
  }
  for (const double error : far.values("ensemble/run/x_autocorrelation_error")) EXPECT_GT(error, 0.0);
}

TEST(MpiEnsemble, WarnsOfAveragesThatAreNotStationary) {
  const std::string study = "realisations = 64\nburn_in = 1.0\n[[study.quantities]]\nname = \"x2\"\nof = \"x^2\"\n";
  const auto warnings = [](const std::string& text) {
    std::ostringstream log;
    const auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(log);
    sink->set_level(spdlog::level::warn);
    sink->set_pattern("%v");
    auto& sinks = spdlog::default_logger()->sinks();
    const auto before = sinks;
    sinks = {sink};
    EXPECT_EQ(report_of(text), "");
    sinks = before;
    return log.str();
  };
  const std::string thermal = "start = \"thermal\"\n";
  EXPECT_THAT(warnings(damped_particle(study, "", thermal)), testing::IsEmpty());
  // A hundred times too warm at first: the means fall.
  const auto hot =
      testing::AllOf(testing::StartsWith("run: "), HasSubstr("burn_in = 1"), HasSubstr("probability of 0.001"));
  EXPECT_THAT(warnings(damped_particle(study, "", thermal + "start_kT = 100.0\n")), hot);
  std::string in_blocks =
      with(damped_particle(study, "", thermal + "start_kT = 100.0\n"), "realisations", "blocks = 3\nrealisations");
  EXPECT_THAT(warnings(in_blocks), hot);
  in_blocks = damped_particle(study, "", thermal);
  in_blocks.replace(in_blocks.find("realisations"), 0, "blocks = 3\n");
  EXPECT_THAT(warnings(in_blocks), testing::IsEmpty());
}

// The ratio of the time waited and the number of passages, with the error of a ratio of means.
TEST(MpiEnsemble, MeanTimesOfPassagesAccountForThoseWithout) {
  const RunStudy run(damped_particle(R"(realisations = 60
first_passages = [
  { name = "up", of = "x", at = 1.5 },
  { name = "never", of = "x", at = 50.0 },
  { name = "always", of = "t + x", at = 4.0 }
]
)"));
  const auto value = [&](const std::string& name) { return run.value("ensemble/run/" + name); };
  const std::vector<double> times = run.values("ensemble/run/up_time");
  double waited = 0.0, passed = 0.0, squares = 0.0;
  for (const double time : times) {
    waited += std::isnan(time) ? 9.9 : time;
    passed += !std::isnan(time);
  }
  ASSERT_GT(passed, 5.0);
  ASSERT_LT(passed, 55.0);
  EXPECT_NEAR(value("up_mean"), waited / passed, 1e-12);
  EXPECT_NEAR(value("up_mean") * value("up_rate"), 1.0, 1e-14);
  for (const double time : times) {
    squares += std::pow(std::isnan(time) ? 9.9 : time - waited / passed, 2);
  }
  EXPECT_NEAR(value("up_mean_error"), std::sqrt(60.0 / 59.0 * squares) / passed, 1e-12);
  EXPECT_NEAR(value("up_fraction"), passed / 60.0, 1e-15);
  EXPECT_NEAR(value("up_fraction_error"), std::sqrt(passed / 60.0 * (1.0 - passed / 60.0) / 60.0), 1e-15);
  // Without any passage the mean is infinite and the rate 0, with the error of one passage.
  EXPECT_EQ(value("never_mean"), HUGE_VAL);
  EXPECT_EQ(value("never_mean_error"), HUGE_VAL);
  EXPECT_EQ(value("never_fraction"), 0.0);
  EXPECT_EQ(value("never_rate"), 0.0);
  EXPECT_NEAR(value("never_rate_error"), 1.0 / (60.0 * 9.9), 1e-15);
  // Without censoring it is the mean of the times with its standard error.
  const std::vector<double> all = run.values("ensemble/run/always_time");
  Moments moments(1);
  for (const double& time : all) moments.add({&time, 1});
  ASSERT_EQ(value("always_fraction"), 1.0);
  EXPECT_NEAR(value("always_mean"), moments.mean(0), 1e-12);
  EXPECT_NEAR(value("always_mean_error"), moments.estimate(0, 1).error[0], 1e-12);
}

TEST(MpiEnsemble, SaysWhatIsWrongWithMeasurements) {
  const auto report = [](const std::string& more) { return report_of(recipe("realisations = 4\n" + more)); };
  const std::string x = "[[study.quantities]]\nname = \"x\"\nof = \"x0\"\n";
  EXPECT_EQ(report(x), "");
  EXPECT_THAT(report(x + "bins = [1.0, -1.0, 4]\n"), HasSubstr("[lowest, highest, number]"));
  EXPECT_THAT(report(x + x), HasSubstr("must be a unique name"));
  EXPECT_THAT(report("[[study.quantities]]\nname = \"x\"\nof = \"y\"\n"), HasSubstr("unknown name"));
  EXPECT_THAT(report(x + "[[study.joint_histograms]]\nname = \"d\"\nof = [\"x\", \"x\"]\n"),
              HasSubstr("that have `bins`"));
  EXPECT_THAT(report(x + "expected = \"1\"\n"), HasSubstr("give `bins`"));
  EXPECT_THAT(report("blocks = 20\n" + x), HasSubstr("too few records"));
  EXPECT_THAT(report("blocks = 2\nmax_lag = 3.0\n" + x), HasSubstr("too few for the longest lag"));
  const auto of_heat = [](const std::string& method, int particle) {
    return report_of(
        with(driven(ledger, "open", method), "drive", "#drive", "attach = 1", "attach = " + std::to_string(particle)));
  };
  EXPECT_EQ(of_heat("\"stoermer-verlet\"", 1), "");
  EXPECT_THAT(of_heat("\"stoermer-verlet\"", 0), HasSubstr("two environments damp the same particle"));
  EXPECT_THAT(of_heat("\"exact\"", 1), HasSubstr("the exact flow computes only their sum"));
  std::string far = recipe("realisations = 1000000000\nsaved_paths = 1000000000\n");
  EXPECT_THAT(report_of(far), HasSubstr("free; `series = false`"));
}

TEST(MpiEnsemble, SaysWhatIsWrong) {
  EXPECT_THAT(report_of(recipe("realisations = 1\n")), HasSubstr("at least two realisations"));
  EXPECT_THAT(report_of(recipe("realisations = 4\nburn_in = 4.0\n")), HasSubstr("before the end 4"));
  EXPECT_THAT(report_of(recipe("realisations = 4\nburn_in = 3.0\nmax_lag = 2.0\n")),
              HasSubstr("is longer than the time from 3 to the end 4"));
  EXPECT_EQ(report_of(recipe("realisations = 4\n", "0.5", "open")), "");
  EXPECT_THAT(report_of(recipe("realisations = 4\n", "0.5", "open\"\nnoise = false #")),
              HasSubstr("an open run without noise is the same"));
  std::string cold_open = recipe("realisations = 4\n", "0.0", "open");
  cold_open.replace(cold_open.rfind("kT = 0.5"), 8, "kT = 0.0");
  EXPECT_THAT(report_of(cold_open), HasSubstr("an open run without a temperature is the same"));
  EXPECT_THAT(
      report_of(with(recipe("realisations = 4\n", "0.0"), "[output]", "environments = [\"environment-0\"]\n[output]")),
      HasSubstr("no integrator is closed with `other`, the only warm"));
  std::string none = recipe("realisations = 4\n", "0.0");
  none.replace(none.rfind("kT = 0.5"), 8, "kT = 0.0");
  EXPECT_THAT(report_of(none), HasSubstr("no environment has a `kT` above 0"));
  // At the temperature 0 momenta are drawn as well, all of them 0.
  std::string at_rest = with(none, "q0 =", "start = \"thermal-momenta\"\nkT = 0.0\nq0 =");
  EXPECT_THAT(report_of(at_rest), HasSubstr("all realisations would be the same"));
  at_rest.replace(at_rest.find("kT = 0.0"), 8, "kT = 0.5");
  EXPECT_EQ(report_of(at_rest), "");
  // With two temperatures there is no equipartition.
  const RunStudy mixed(recipe("realisations = 4\n", "0.0"));
}

// Slopes of exact powers for any weights, and standard errors.
TEST(Ensemble, FitsASlopeWithTheWeightsOfItsErrors) {
  const std::vector<double> x = {0.1, 0.2, 0.4}, y = {-0.03, -0.12, -0.48}, error = {0.01, 0.02, 0.01};
  EXPECT_NEAR(weighted_slope(x, y, error).slope, 2.0, 1e-14);
  // Two points of logarithms ln 2 apart with relative errors of 0.1 and 0.2.
  const std::vector<double> two = {1.0, 2.0}, known = {0.1, 0.6};
  const LineFit found = weighted_slope(two, std::vector<double>{1.0, 3.0}, known);
  EXPECT_NEAR(found.slope, std::log2(3.0), 1e-14);
  EXPECT_NEAR(found.error, std::sqrt(0.1 * 0.1 + 0.2 * 0.2) / std::log(2.0), 1e-14);
  // A point with a very large error has no influence.
  const LineFit without = weighted_slope(x, std::vector<double>{1.0, 4.0, 7.0}, std::vector<double>{0.1, 0.1, 1e9});
  EXPECT_NEAR(without.slope, 2.0, 1e-8);
}

TEST(MpiEnsemble, WritesTheOrderOfAMeanInTheStep) {
  const std::string other =
      "[[integrators]]\nmethod = \"stoermer-verlet\"\nname = \"long\"\non = \"open\"\nstep = 0.1\n";
  const std::string one = R"(quantities = [{ name = "vv", of = "x0_dot^2 - 0.5" }]
)";
  const auto with = [&](const std::string& slope) {
    std::string text = recipe("realisations = 9\n" + one + slope, "0.5", "open");
    return text.insert(text.find("[output]"), other);
  };
  const std::string slope = "[[study.slopes]]\nname = \"order\"\nof = \"vv\"\ncases = [\"run\", \"long\"]\n";
  const RunStudy run(with(slope));
  const auto number = [&](const std::string& name) { return run.values("ensemble/" + name).front(); };
  const std::vector<double> steps = {0.05, 0.1}, means = {number("run/vv_mean"), number("long/vv_mean")},
                            errors = {number("run/vv_mean_error"), number("long/vv_mean_error")};
  const LineFit expected = weighted_slope(steps, means, errors);
  EXPECT_NEAR(number("order_slope"), expected.slope, 1e-10 * std::abs(expected.slope));
  EXPECT_NEAR(number("order_slope_error"), expected.error, 1e-10 * expected.error);

  const auto report = [&](const std::string& from, const std::string& to) {
    std::string changed = slope;
    return report_of(with(changed.replace(changed.find(from), from.size(), to)));
  };
  EXPECT_THAT(report("\"vv\"", "\"v\""), HasSubstr("one of the quantities of this study"));
  EXPECT_THAT(report(", \"long\"", ""), HasSubstr("two different steps"));
  EXPECT_THAT(report("\"long\"", "\"short\""), HasSubstr("no integrator has the name `short`"));
  EXPECT_THAT(report("\"order\"", "\"a/b\""), HasSubstr("letters, digits"));
}

}  // namespace
}  // namespace bathline::ensemble_test
