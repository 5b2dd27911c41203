// Bounds on paths: against an oscillator with a damper that is a little wrong, whose path is known.
#include "model/trajectory_error_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "quartic_potential.hpp"

namespace bathline::path_bound_test {
namespace {

ParticleSystem oscillator(std::shared_ptr<const Potential> potential) {
  ParticleSystem system;
  system.particles = 1;
  system.mass = Eigen::VectorXd::Constant(1, 1.4);
  system.potential = std::move(potential);
  system.q0 = Eigen::VectorXd::Constant(1, 0.8);
  system.v0 = Eigen::VectorXd::Constant(1, -0.6);
  return system;
}

std::shared_ptr<const Potential> spring(double k) {
  return std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Constant(1, 1, k));
}

/// m x'' + d x' + k x = 0.
double damped(double t, double d) {
  const double r = d / 2.8, w = std::sqrt(2.2 / 1.4 - r * r);
  return std::exp(-r * t) * (0.8 * std::cos(w * t) + (-0.6 + 0.8 * r) / w * std::sin(w * t));
}

// A damper is a kernel of which all is in its integral: one that is wrong by e has the error e.
TEST(PathBound, HoldsForADamper) {
  const ParticleSystem system = oscillator(spring(2.2));
  const Attachment attachment({{0, 1.0}}, 1);
  for (const double d : {0.0, 0.3}) {
    constexpr double error = 1e-6, duration = 30.0;
    const auto bound = trajectory_error_bound(system, attachment, error, duration);
    ASSERT_TRUE(bound);
    double farthest = 0.0;
    for (double t = 0.0; t < duration; t += 0.01) {
      farthest = std::max(farthest, std::abs(damped(t, d + error) - damped(t, d)));
    }
    EXPECT_LE(farthest, *bound);
    // Undamped, the amplitude falls by e t/(2 m): half of what is allowed for.
    if (d > 0.0) continue;
    EXPECT_GT(farthest, 0.4 * *bound);
  }
}

TEST(PathBound, KnowsWhatItIsOf) {
  const Attachment attachment({{0, 1.0}}, 1);
  const auto quartic = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Constant(1, 1, 2.2), 0.3);
  EXPECT_FALSE(trajectory_error_bound(oscillator(quartic), attachment, 1e-6, 1.0));
  ParticleSystem drawn = oscillator(spring(2.2));
  drawn.start = ParticleSystem::Start::thermal;
  EXPECT_FALSE(trajectory_error_bound(drawn, attachment, 1e-6, 1.0));
  EXPECT_FALSE(trajectory_error_bound(oscillator(spring(0.0)), attachment, 1e-6, 1.0));
}

}  // namespace
}  // namespace bathline::path_bound_test
