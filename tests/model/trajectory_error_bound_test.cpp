// The bound on trajectory errors against the exact trajectories of oscillators with slightly different dampers.
#include "model/trajectory_error_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "quartic_potential.hpp"

namespace bathline::trajectory_error_bound_test {
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

// The kernel of a damper is a delta function, so an error e of the damper is the integral of the kernel's error.
TEST(TrajectoryErrorBound, HoldsForADamper) {
  const ParticleSystem system = oscillator(spring(2.2));
  const Attachment attachment({{0, 1.0}}, 1);
  for (const double d : {0.0, 0.3}) {
    constexpr double error = 1e-6, duration = 30.0;
    const auto bound = trajectory_error_bound(system, attachment, error, duration);
    ASSERT_TRUE(bound);
    double max_error = 0.0;
    for (double t = 0.0; t < duration; t += 0.01) {
      max_error = std::max(max_error, std::abs(damped(t, d + error) - damped(t, d)));
    }
    EXPECT_LE(max_error, *bound);
    // Without damping the amplitude falls by e t/(2 m), half of the bound.
    if (d > 0.0) continue;
    EXPECT_GT(max_error, 0.4 * *bound);
  }
}

TEST(TrajectoryErrorBound, ExistsForBoundLinearSystemsAlone) {
  const Attachment attachment({{0, 1.0}}, 1);
  const auto quartic = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Constant(1, 1, 2.2), 0.3);
  EXPECT_FALSE(trajectory_error_bound(oscillator(quartic), attachment, 1e-6, 1.0));
  ParticleSystem drawn = oscillator(spring(2.2));
  drawn.start = ParticleSystem::Start::thermal;
  EXPECT_FALSE(trajectory_error_bound(drawn, attachment, 1e-6, 1.0));
  EXPECT_FALSE(trajectory_error_bound(oscillator(spring(0.0)), attachment, 1e-6, 1.0));
}

}  // namespace
}  // namespace bathline::trajectory_error_bound_test
