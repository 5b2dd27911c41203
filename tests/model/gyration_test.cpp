// Free gyration against circular motion, and against a numerical integration where masses differ.
#include "model/gyration.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "extrapolation.hpp"

namespace bathline::gyration_test {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector4d;
using Eigen::VectorXd;

TEST(Gyration, IsCircularWithTheCyclotronFrequency) {
  // From the origin with v = (1, 0): m v' = B (v_y, -v_x) turns clockwise around (0, -m/B).
  const double mass = 2.0, field = 3.0, t = 0.7, theta = field / mass * t, radius = mass / field;
  VectorXd q = Vector2d::Zero(), p = Vector2d(mass, 0.0);
  Gyration(field, Vector2d::Constant(mass), t).advance(q, p);
  EXPECT_NEAR(q[0], radius * std::sin(theta), 4e-16);
  EXPECT_NEAR(q[1], -radius * (1.0 - std::cos(theta)), 4e-16);
  EXPECT_NEAR(p[0], mass * std::cos(theta), 8e-16);
  EXPECT_NEAR(p[1], -mass * std::sin(theta), 8e-16);
  EXPECT_DOUBLE_EQ(cyclotron_frequency(-field, Vector2d::Constant(mass)), field / mass);
}

TEST(Gyration, IsTheFlowOfTwoPairsWithUnequalMasses) {
  const double m[4] = {1.0, 3.0, 2.0, 0.5}, field = 1.7;
  const Vector4d start_q(0.4, -0.3, 0.1, 0.2), start_p(0.2, 1.5, -0.6, 0.3);
  LongState start;
  for (double x : start_q) start.push_back(x);
  for (double x : start_p) start.push_back(x);
  const LongState end = extrapolated(
      [&](const LongState& x) {
        LongState f(8);
        for (std::size_t i = 0; i < 4; ++i) f[i] = x[4 + i] / m[i];
        for (std::size_t i = 0; i < 4; i += 2) {
          f[4 + i] = 1.7 * f[i + 1];
          f[5 + i] = -1.7 * f[i];
        }
        return f;
      },
      start, 1.3L, 40);
  VectorXd q = start_q, p = start_p;
  Gyration(field, Eigen::Map<const Vector4d>(m), 1.3).advance(q, p);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(q[static_cast<Eigen::Index>(i)], static_cast<double>(end[i]), 2e-15);
    EXPECT_NEAR(p[static_cast<Eigen::Index>(i)], static_cast<double>(end[4 + i]), 2e-15);
  }
  Gyration(field, Eigen::Map<const Vector4d>(m), -1.3).advance(q, p);
  EXPECT_LT((q - start_q).norm() + (p - start_p).norm(), 4e-15);
}

TEST(Gyration, OfAWeakFieldIsUniformMotion) {
  // 1 - cos(theta) would be 0 in double precision.
  VectorXd q = Vector2d::Zero(), p = Vector2d(1.0, 0.0);
  Gyration(1e-9, Vector2d::Ones(), 1.0).advance(q, p);
  EXPECT_DOUBLE_EQ(q[0], 1.0);
  EXPECT_DOUBLE_EQ(q[1], -0.5e-9);
}

TEST(Gyration, ForceIsPerpendicularToTheVelocity) {
  const Vector4d v(1.0, 2.0, -3.0, 5.0);
  EXPECT_EQ(magnetic_force(2.0, v), Vector4d(4.0, -2.0, 10.0, 6.0));
  EXPECT_EQ(magnetic_jacobian(2.0, 4) * v, magnetic_force(2.0, v));
  EXPECT_EQ(cyclotron_frequency(0.0, VectorXd::Ones(3)), 0.0);
}

}  // namespace
}  // namespace bathline::gyration_test
