// The noise of open systems: covariances, and numbers that depend only on seed, realisation, step, draw and index.
#include "model/thermal/white_noise.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <vector>

namespace bathline::white_noise_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// The second degree of freedom has no noise.
const MatrixXd diffusion{{2.0, 0.0, -0.7}, {0.0, 0.0, 0.0}, {-0.7, 0.0, 0.5}};

TEST(WhiteNoise, ImpulsesHaveTheCovarianceOfDamping) {
  WhiteNoise noise(diffusion);
  constexpr double h = 0.3;
  MatrixXd covariance = MatrixXd::Zero(3, 3);
  noise.set_source([&](std::int64_t step, int, std::span<double> numbers) {
    std::fill(numbers.begin(), numbers.end(), 0.0);
    numbers[static_cast<std::size_t>(step)] = 1.0;
  });
  for (std::int64_t unit = 0; unit < 2; ++unit) {
    const VectorXd impulse = noise.impulse(unit, h);
    covariance += impulse * impulse.transpose();
  }
  EXPECT_LT((covariance - 2.0 * h * diffusion).norm(), 1e-15);
}

TEST(WhiteNoise, NumbersBelongToSeedRealisationStepDrawAndIndex) {
  WhiteNoise noise(diffusion);
  noise.begin(5, 8);
  const auto numbers_at = [&](std::int64_t step, int draw) {
    const std::span<const double> numbers = noise.numbers(step, draw, 2);
    return std::vector<double>(numbers.begin(), numbers.end());
  };
  const std::vector<double> some = numbers_at(700, 0), other = numbers_at(3, 0), drawn = numbers_at(700, 1);
  EXPECT_NE(some, other);
  EXPECT_NE(some, drawn);
  EXPECT_NE(some[0], some[1]);
  // In another order, and from the start again.
  EXPECT_EQ(numbers_at(3, 0), other);
  EXPECT_EQ(numbers_at(700, 0), some);
  noise.begin(5, 9);
  EXPECT_NE(numbers_at(700, 0), some);
  noise.begin(6, 8);
  EXPECT_NE(numbers_at(700, 0), some);
  noise.begin(5, 8);
  EXPECT_EQ(numbers_at(700, 1), drawn);
  EXPECT_EQ(numbers_at(700, 0), some);
}

TEST(WhiteNoise, CoupledDegreesOfFreedomHaveOneTemperature) {
  const MatrixXd damping{{1.0, 0.2, 0.0}, {0.2, 1.0, 0.0}, {0.0, 0.0, 3.0}};
  const std::optional<MatrixXd> diffusion = momentum_diffusion(damping, VectorXd{{0.5, 0.5, 2.0}});
  ASSERT_TRUE(diffusion.has_value());
  EXPECT_EQ(*diffusion, (MatrixXd{{0.5, 0.1, 0.0}, {0.1, 0.5, 0.0}, {0.0, 0.0, 6.0}}));
  EXPECT_FALSE(momentum_diffusion(damping, VectorXd{{0.5, 0.6, 2.0}}).has_value());
}

TEST(WhiteNoise, RootOfASemidefiniteMatrix) {
  const MatrixXd covariance{{1.0, -1.0}, {-1.0, 1.0}};
  const MatrixXd root = symmetric_root(covariance);
  EXPECT_LT((root * root - covariance).norm(), 1e-15);
  EXPECT_LT((root - root.transpose()).norm(), 1e-15);
}

}  // namespace
}  // namespace bathline::white_noise_test
