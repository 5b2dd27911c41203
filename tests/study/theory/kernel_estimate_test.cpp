// The kernel of exact correlations and of sampled paths, of a particle whose kernel is known.
#include "study/theory/kernel_estimate.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>
#include <unsupported/Eigen/MatrixFunctions>

namespace bathline::kernel_estimate_test {
namespace {

using Eigen::Matrix4d;
using Eigen::Vector4d;
using Eigen::VectorXd;

constexpr double well = 0.1;

// q' = v, v' = -0.1 q - z1 - z2, z_j' = k_j v - r_j z_j + noise at kT = 1, with the kernel exp(-t) + 2 exp(-5 t).
Matrix4d drift() {
  Matrix4d a;
  a << 0, 1, 0, 0, -well, 0, -1, -1, 0, 1, -1, 0, 0, 2, 0, -5;
  return a;
}
const Vector4d variances(1.0 / well, 1.0, 1.0, 2.0);

double kernel(double t) { return std::exp(-t) + 2.0 * std::exp(-5.0 * t); }
double integral(double t) { return 1.0 - std::exp(-t) + 0.4 * (1.0 - std::exp(-5.0 * t)); }

KernelEstimate of_exact_correlations(double h) {
  const auto lags = static_cast<Eigen::Index>(std::lround(6.0 / h));
  VectorXd vv(lags + 1), fv(lags + 1);
  for (Eigen::Index i = 0; i <= lags; ++i) {
    const Matrix4d flow = (static_cast<double>(i) * h * drift()).exp();
    vv[i] = flow(1, 1);
    fv[i] = -well * flow(0, 1);
  }
  return kernel_from_correlations(vv, fv, {.mass = 1.0, .interval = h, .lags = lags});
}

// The grid of rates lacks 1 and 5: with neighbours in their place no kernel is off by more than its distance from the
// grid, and the fit finds the nearest sum.
TEST(KernelEstimate, ExactCorrelationsHaveTheKernelToTheOrderOfTheirInterval) {
  double last = 0.0;
  for (const double h : {0.2, 0.1, 0.05}) {
    const KernelEstimate estimate = of_exact_correlations(h);
    double error = 0.0, zigzag = 0.0;
    for (Eigen::Index i = 0; i < estimate.kernel.size(); ++i) {
      const double t = static_cast<double>(i) * h;
      error = std::max(error, std::abs(estimate.integral[i] - integral(t)));
      // Averages of three neighbours have the error G'' h^2/4 besides.
      if (i > 0 && i + 1 < estimate.kernel.size())
        zigzag = std::max(zigzag, std::abs(estimate.inverted[i] - integral(t)));
    }
    if (last > 0.0) {
      EXPECT_NEAR(std::log2(last / error), 2.0, 0.7) << h;
    }
    last = error;
    EXPECT_LT(zigzag, 6.0 * h * h) << h;
    EXPECT_NEAR(estimate.damping, 1.4, 2.0 * h * h) << h;
    EXPECT_NEAR(estimate.temperature, 1.0, 1e-15);
    EXPECT_LT(estimate.mismatch, h * h) << h;
    for (const double k : estimate.stiffness) EXPECT_GT(k, 0.0);
  }
}

std::vector<ThermalSeries> sampled(std::size_t length, unsigned seed, std::size_t count = 1) {
  const Matrix4d flow = (0.1 * drift()).exp();
  const Matrix4d lost = variances.asDiagonal();
  const Matrix4d noise = (lost - flow * lost * flow.transpose()).llt().matrixL();
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  const auto draw = [&] {
    return Vector4d(normal(generator), normal(generator), normal(generator), normal(generator));
  };
  std::vector<ThermalSeries> all(count);
  for (ThermalSeries& series : all) {
    Vector4d x = variances.cwiseSqrt().cwiseProduct(draw());
    for (std::size_t i = 0; i < length; ++i, x = flow * x + noise * draw()) {
      series.velocity.push_back(x[1]);
      series.force.push_back(-well * x[0]);
    }
  }
  return all;
}

// The errors of 24 independent paths: their mean is the scatter of the estimates, which has a relative error of
// 1/sqrt(2 * 23) = 15 % itself; and a number that is off by 4 errors has a probability of 1e-3 with 9 degrees of
// freedom.
TEST(KernelEstimate, ErrorsByBlocksAreThoseOfIndependentPaths) {
  constexpr int paths = 24;
  VectorXd damping(paths), error(paths), at_one(paths), error_at_one(paths);
  for (int i = 0; i < paths; ++i) {
    const KernelEstimate estimate =
        estimate_kernel(sampled(10000, 100 + static_cast<unsigned>(i)), {.mass = 1.0, .interval = 0.1, .lags = 60});
    damping[i] = estimate.damping;
    error[i] = estimate.damping_error;
    at_one[i] = estimate.integral[10];
    error_at_one[i] = estimate.integral_error[10];
  }
  const auto scatter = [](const VectorXd& x) {
    return std::sqrt((x.array() - x.mean()).square().sum() / static_cast<double>(x.size() - 1));
  };
  const auto root_mean_square = [](const VectorXd& x) {
    return std::sqrt(x.squaredNorm() / static_cast<double>(x.size()));
  };
  EXPECT_NEAR(root_mean_square(error) / scatter(damping), 1.0, 0.6);
  EXPECT_NEAR(root_mean_square(error_at_one) / scatter(at_one), 1.0, 0.6);
  EXPECT_NEAR(at_one.mean(), integral(1.0), 4.0 * scatter(at_one) / std::sqrt(paths) + 0.02);
}

TEST(KernelEstimate, SeveralSeriesCountAsALongerOne) {
  const KernelEstimateOptions options{.mass = 1.0, .interval = 0.1, .lags = 60};
  const KernelEstimate one = estimate_kernel(sampled(5000, 1), options),
                       eight = estimate_kernel(sampled(5000, 1, 8), options);
  EXPECT_LT(eight.temperature_error, 0.7 * one.temperature_error);
  EXPECT_NEAR(eight.temperature, 1.0, 4.0 * eight.temperature_error);
  EXPECT_NEAR(eight.kernel[0], kernel(0.0), 4.0 * eight.kernel_error[0]);
}

}  // namespace
}  // namespace bathline::kernel_estimate_test
