// Ensembles: the same numbers as a plain loop over the realisations, on any number of ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "advance/stepper.hpp"
#include "run_study.hpp"

namespace bathline {
namespace {

using testing::HasSubstr;

std::string recipe(const std::string& study, const std::string& temperature = "0.5", const std::string& on = "closed") {
  return R"(title = "t"
[system]
kind = "dual-oscillator"
m0 = 1.0
k0 = 1.0
M0 = 2.0
K0 = 3.0
q0 = [0.2, 0.0]
[[environment]]
kind = "heat-bath"
attach = 0
oscillators = 40
damping = 0.5
omega_max = 10.0
temperature = )" +
         temperature + R"(
[[environment]]
name = "other"
kind = "heat-bath"
attach = 1
oscillators = 40
damping = 0.5
omega_max = 10.0
temperature = 0.5
[time]
step = 0.05
end = 4.0
[[integrators]]
name = "stoermer-verlet"
label = "run"
on = ")" +
         on + "\"\n[output]\nevery = 8\nseed = 11\n[study]\nkind = \"ensemble\"\n" + study;
}

TEST(MpiEnsemble, IsTheMeanOfItsRealisations) {
  constexpr int realisations = 19, records = 11, first = 5, lags = 4;
  const std::string text = recipe("realisations = 19\nfrom = 2.0\nlongest_lag = 1.2\n");
  const RunStudy run(text);
  ASSERT_EQ(run.report, "");
  // Every rank for itself, in batches of eight that are added up one after the other.
  const Communicator alone = test_world().split(test_world().rank());
  const Case& one = run.experiment().cases().front();
  std::vector<double> q(2 * records), v2(2), correlation(2 * lags), batch_q(2 * records);
  std::vector<std::vector<double>> kinetic_means(2);
  for (int r = 0; r < realisations; ++r) {
    Problem problem = run.experiment().make_problem(one, one.step, true, alone);
    problem.prepare(11, static_cast<std::uint32_t>(r));
    const auto stepper = make_stepper(one.scheme, problem, one.step);
    std::vector<Eigen::VectorXd> v;
    for (int record = 0; record < records; ++record) {
      if (record > 0) stepper->advance(8);
      v.push_back(problem.p.cwiseQuotient(problem.system().mass));
      for (int i = 0; i < 2; ++i) batch_q[2 * record + i] += problem.q[i];
    }
    if (r % 8 == 7 || r + 1 == realisations) {
      for (std::size_t i = 0; i < q.size(); ++i) q[i] += batch_q[i];
      std::fill(batch_q.begin(), batch_q.end(), 0.0);
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
  }
  const std::vector<double> mean_q = run.values("ensemble/run/mean_q");
  ASSERT_EQ(mean_q.size(), q.size());
  for (std::size_t i = 0; i < q.size(); ++i) EXPECT_EQ(mean_q[i], q[i] / realisations);
  const std::vector<double> found = run.values("ensemble/run/velocity_autocorrelation");
  ASSERT_EQ(found.size(), correlation.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], correlation[i], 1e-14);
  for (int i = 0; i < 2; ++i) {
    double mean = 0.0, square = 0.0;
    for (double value : kinetic_means[i]) mean += value / realisations;
    for (double value : kinetic_means[i]) square += (value - mean) * (value - mean);
    const double error = std::sqrt(square / (realisations - 1) / realisations);
    EXPECT_NEAR(run.values("ensemble/run/kinetic_mean")[i], mean, 1e-14);
    EXPECT_NEAR(run.values("ensemble/run/kinetic_mean_error")[i], error, 1e-12);
    EXPECT_NEAR(run.values("ensemble/run/kinetic_deviation")[i], (mean - 0.25) / error, 1e-9);
  }
}

TEST(MpiEnsemble, RanksMayShareARealisation) {
  const RunStudy alone(recipe("realisations = 9\n"));
  const RunStudy shared(recipe("realisations = 9\nranks_per_realisation = 2\n"));
  ASSERT_EQ(shared.report, "");
  for (const char* name : {"mean_v", "kinetic_energy", "velocity_autocorrelation", "mean_q_error"}) {
    const std::string path = std::string("ensemble/run/") + name;
    EXPECT_EQ(alone.values(path), shared.values(path)) << name;
  }
}

TEST(MpiEnsemble, TheoryIsTheLangevinEquation) {
  const RunStudy run(recipe("realisations = 2\n"));
  ASSERT_EQ(run.report, "");
  const std::vector<double> lag = run.values("ensemble/run/lag");
  const std::vector<double> theory = run.values("ensemble/run/velocity_autocorrelation_theory");
  // Each particle an oscillator of its own: kT/m exp(-a t) (cos wt - a/w sin wt), a = D/2m, w^2 = k/m - a^2.
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

TEST(MpiEnsemble, SaysWhatIsWrong) {
  EXPECT_THAT(RunStudy(recipe("realisations = 1\n")).report, HasSubstr("at least two realisations"));
  EXPECT_THAT(RunStudy(recipe("realisations = 4\nfrom = 4.0\n")).report, HasSubstr("before the end 4"));
  EXPECT_THAT(RunStudy(recipe("realisations = 4\nfrom = 3.0\nlongest_lag = 2.0\n")).report, HasSubstr("there is less"));
  const std::string open = RunStudy(recipe("realisations = 4\n", "0.5", "open")).report;
  EXPECT_THAT(open, HasSubstr("is the same"));
  EXPECT_THAT(open, testing::Not(HasSubstr("no environment has")));
  std::string cold = recipe("realisations = 4\n", "0.0");
  cold.insert(cold.find("[output]"), "environments = [\"environment-0\"]\n");
  EXPECT_THAT(RunStudy(cold).report, HasSubstr("no integrator is closed with `other`, which alone"));
  std::string none = recipe("realisations = 4\n", "0.0");
  none.replace(none.rfind("temperature = 0.5"), 17, "temperature = 0.0");
  EXPECT_THAT(RunStudy(none).report, HasSubstr("no environment has a `temperature` above 0"));
  // Two temperatures: no equipartition to hold it to.
  const RunStudy mixed(recipe("realisations = 4\n", "0.0"));
  EXPECT_EQ(mixed.report, "");
}

}  // namespace
}  // namespace bathline
