// The noise of a semi-infinite line at the stages of Gauss collocation: its covariances against those of a long line
// drawn from exp(-H/kT) and advanced by the same method, summed over its modes.
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

/// <R_i^0 R_j^n>/(kT lambda) by n, for a line with M = lambda = 1, a clamped head and a free far end, too long for an
/// echo within the lags.
std::vector<MatrixXd> covariances_of_long_line(const PartitionedRungeKutta& scheme, double c) {
  constexpr int sites = 400;
  const Index s = scheme.stages();
  std::vector<MatrixXd> sums(lags, MatrixXd::Zero(s, s));
  for (int k = 1; k <= sites; ++k) {
    const double wave = (2 * k - 1) * std::numbers::pi / (2 * sites + 1), w = 2.0 * std::sin(0.5 * wave);
    const double weight = 4.0 / (2 * sites + 1) * std::pow(std::sin(wave) / w, 2);
    const Complex z(0.0, w * c);
    const Eigen::MatrixXcd matrix = Eigen::MatrixXcd::Identity(s, s) - z * scheme.a;
    const Eigen::VectorXcd stage_values = matrix.partialPivLu().solve(Eigen::VectorXcd::Ones(s));
    const Complex step_factor = 1.0 + z * Complex((scheme.b.transpose() * stage_values).value());
    Complex phase = 1.0;
    for (MatrixXd& sum : sums) {
      sum += weight * (phase * stage_values.conjugate() * stage_values.transpose()).real();
      phase *= step_factor;
    }
  }
  return sums;
}

/// The same for the noise `first` steps after its start, from the responses to all random numbers that it depends on.
std::vector<MatrixXd> covariances_of_noise(const StageNoise& noise, int first) {
  const auto s = static_cast<Index>(noise.stages());
  std::vector<MatrixXd> sums(lags, MatrixXd::Zero(s, s));
  const auto add = [&](const List& start, int step_index, Index stage_index) {
    ConvolutionState state;
    noise.shape().allocate(state);
    noise.start(start, state);
    MatrixXd forces(s, first + lags);
    for (int n = 0; n < first + lags; ++n) {
      List numbers(noise.stages());
      if (n == step_index) numbers[static_cast<std::size_t>(stage_index)] = 1.0;
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
      const std::vector<MatrixXd> expected = covariances_of_long_line(scheme, c);
      for (const int first : {0, 7}) {
        const std::vector<MatrixXd> actual = covariances_of_noise(StageNoise(filter, scheme, c, 1.0), first);
        for (int n = 0; n < lags; ++n) {
          // The kernel's damper has white noise, independent at each stage.
          const double white = n == 0 ? 2.0 * parts->kernel.damper / (c * scheme.b.minCoeff()) : 0.0;
          EXPECT_LT((actual[n] - expected[n]).cwiseAbs().maxCoeff(), 1e-10 + white)
              << name << ", c = " << c << ", " << n;
        }
      }
    }
  }
  EXPECT_FALSE(keeps_quadratic_invariants(std::get<PartitionedRungeKutta>(method_case("implicit-euler").scheme)));
}

// Far above the band some kernels are pure round-off, which the damper compensates as well.
TEST(StageNoise, FactorsTheSpectrumOfEveryTolerance) {
  for (const double tolerance : {1e-13, 1e-12, 1e-10, 1e-9, 1e-7, 1e-5, 1e-3, 1e-2}) {
    EXPECT_LT(continuous_parts(tolerance, KernelAccuracy::forever, 1000.0, true)->noise->error, 1e-9) << tolerance;
  }
}

}  // namespace
}  // namespace bathline::stage_noise_test
