// The noise of a warm line without end at the stages of Gauss collocation: all its covariances against those of a long
// line that is drawn from exp(-H/kT) and goes on by the same method, by its oscillations one by one.
#include "model/semi_infinite_line/stage_noise.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>

#include "method_cases.hpp"

namespace bathline::stage_noise_test {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXd;
using List = std::vector<double>;

constexpr int lags = 40;

/// <R_i^0 R_j^n>/(kT lambda) by n, of a line with masses and springs of 1, its head held and its far end free, long
/// enough that no echo comes within the lags.
std::vector<MatrixXd> of_long_line(const PartitionedRungeKutta& scheme, double c) {
  constexpr int sites = 400;
  const Index s = scheme.stages();
  std::vector<MatrixXd> sums(lags, MatrixXd::Zero(s, s));
  for (int k = 1; k <= sites; ++k) {
    const double wave = (2 * k - 1) * std::numbers::pi / (2 * sites + 1), w = 2.0 * std::sin(0.5 * wave);
    const double share = 4.0 / (2 * sites + 1) * std::pow(std::sin(wave) / w, 2);
    const Complex z(0.0, w * c);
    const Eigen::MatrixXcd matrix = Eigen::MatrixXcd::Identity(s, s) - z * scheme.a;
    const Eigen::VectorXcd at_stages = matrix.partialPivLu().solve(Eigen::VectorXcd::Ones(s));
    const Complex of_step = 1.0 + z * Complex((scheme.b.transpose() * at_stages).value());
    Complex phase = 1.0;
    for (MatrixXd& sum : sums) {
      sum += share * (phase * at_stages.conjugate() * at_stages.transpose()).real();
      phase *= of_step;
    }
  }
  return sums;
}

/// The same of the noise `first` steps after its start, from the responses to all numbers that it depends on.
std::vector<MatrixXd> of_noise(const StageNoise& noise, int first) {
  const auto s = static_cast<Index>(noise.stages());
  std::vector<MatrixXd> sums(lags, MatrixXd::Zero(s, s));
  const auto add = [&](const List& start, int of_step, Index of_stage) {
    ConvolutionState state;
    noise.shape().allocate(state);
    noise.start(start, state);
    MatrixXd forces(s, first + lags);
    for (int n = 0; n < first + lags; ++n) {
      List numbers(noise.stages());
      if (n == of_step) numbers[static_cast<std::size_t>(of_stage)] = 1.0;
      noise.forces(state, numbers, {forces.col(n).data(), noise.stages()});
      noise.commit(state, numbers);
    }
    for (int n = 0; n < lags; ++n) sums[n] += forces.col(first) * forces.col(first + n).transpose();
  };
  const List none(noise.start_numbers());
  for (std::size_t k = 0; k < none.size(); ++k) {
    List start = none;
    start[k] = 1.0;
    add(start, -1, 0);
  }
  for (int step = 0; step <= first; ++step) {
    for (Index stage = 0; stage < s; ++stage) add(none, step, stage);
  }
  return sums;
}

TEST(StageNoise, HasTheCovariancesOfALongLine) {
  const double forever = KernelAccuracy::forever;
  const auto parts = continuous_parts(1e-12, forever, 1000.0, true);
  const auto filter = parts->noise;
  EXPECT_LT(filter->error, 1e-9);
  for (const char* name : {"gauss(stages=1)", "gauss(stages=2)", "gauss(stages=3)", "gauss(stages=4)"}) {
    const auto& scheme = std::get<PartitionedRungeKutta>(method_case(name).scheme);
    EXPECT_TRUE(keeps_quadratic_invariants(scheme));
    for (const double c : {0.02, 0.4, 1.0, 3.0}) {
      const std::vector<MatrixXd> expected = of_long_line(scheme, c);
      for (const int first : {0, 7}) {
        const std::vector<MatrixXd> found = of_noise(StageNoise(filter, scheme, c, 1.0), first);
        for (int n = 0; n < lags; ++n) {
          // The damper of the kernel has white noise, in every stage that of its own.
          const double white = n == 0 ? 2.0 * parts->kernel.damper / (c * scheme.b.minCoeff()) : 0.0;
          EXPECT_LT((found[n] - expected[n]).cwiseAbs().maxCoeff(), 1e-10 + white)
              << name << ", c = " << c << ", " << n;
        }
      }
    }
  }
  EXPECT_FALSE(keeps_quadratic_invariants(std::get<PartitionedRungeKutta>(method_case("implicit-euler").scheme)));
}

// Far above the band nothing but round-off is left of some kernels, which the damper has to mend as well.
TEST(StageNoise, FactorsTheSpectrumOfEveryTolerance) {
  for (const double tolerance : {1e-13, 1e-12, 1e-10, 1e-9, 1e-7, 1e-5, 1e-3, 1e-2}) {
    EXPECT_LT(continuous_parts(tolerance, KernelAccuracy::forever, 1000.0, true)->noise->error, 1e-9) << tolerance;
  }
}

}  // namespace
}  // namespace bathline::stage_noise_test
