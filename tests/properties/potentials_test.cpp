// Every potential of the catalogue: its derivatives are those of its value, and between particles in one, two and three
// axes it is invariant under translations and rotations.
#include <gtest/gtest.h>

#include <cmath>

#include "catalogue_sections.hpp"
#include "differences.hpp"
#include "model/potentials/catalogue.hpp"
#include "model/potentials/pair_potential_sum.hpp"
#include "random_numbers.hpp"

namespace bathline::potentials_test {
namespace {

/// Spheres are so large that they touch at all distances of these tests.
Section section_of(const PotentialKind& kind) {
  Section section = example_section(kind.entry);
  if (has_parameter(kind.entry, "contact")) section.set("contact", 7.0, {});
  return section;
}

std::shared_ptr<const PairPotential> example(const PotentialKind& kind) {
  Mistakes mistakes;
  return kind.build(section_of(kind), mistakes);
}

/// Three particles with all pairs, and each of them with the origin.
PairPotentialSum three_particles(const std::shared_ptr<const PairPotential>& potential, int axes) {
  const int origin = PairPotentialSum::origin;
  return PairPotentialSum(
      {{0, 1, potential}, {0, 2, potential}, {1, 2, potential}, {origin, 0, potential}, {origin, 2, potential}}, axes);
}

/// A triangle whose sides, and distances to the origin, are a few of the lengths that the examples are made of. A table
/// of three axes; fewer axes take the first columns.
Eigen::VectorXd triangle(int axes, RandomNumbers& random) {
  const double corners[3][3] = {{1.4, 0.3, -0.4}, {-1.5, 0.9, 0.5}, {3.1, 1.4, 1.1}};
  Eigen::VectorXd q(3 * axes);
  for (int a = 0; a < 3; ++a) {
    for (int axis = 0; axis < axes; ++axis) q[a * axes + axis] = corners[a][axis] + random.uniform(-0.1, 0.1);
  }
  return q;
}

TEST(Potentials, DerivativesAreThoseOfTheValue) {
  for (const PotentialKind& kind : potentials()) {
    SCOPED_TRACE(kind.entry.name);
    const auto potential = example(kind);
    for (const double s : {0.9, 1.3, 1.9, 2.6, -1.1}) {
      const auto derivative = [&](double (PairPotential::*f)(double) const) {
        return gradient_of([&](const Eigen::VectorXd& x) { return (*potential.*f)(x[0]); },
                           Eigen::VectorXd::Constant(1, s), 1e-3)[0];
      };
      const double first = potential->derivative(s), second = potential->second_derivative(s);
      EXPECT_NEAR(derivative(&PairPotential::value), first, 1e-9 * (1.0 + std::abs(first))) << s;
      EXPECT_NEAR(derivative(&PairPotential::derivative), second, 1e-9 * (1.0 + std::abs(second))) << s;
      EXPECT_NE(first, 0.0);
    }
  }
}

TEST(Potentials, BetweenParticlesHaveTheGradientOfTheEnergy) {
  RandomNumbers random(31);
  for (const PotentialKind& kind : potentials()) {
    for (int axes = 1; axes <= 3; ++axes) {
      SCOPED_TRACE(testing::Message() << kind.entry.name << ", " << axes << " axes");
      const PairPotentialSum sum = three_particles(example(kind), axes);
      const Eigen::VectorXd q = triangle(axes, random);
      Eigen::VectorXd gradient;
      Eigen::MatrixXd hessian;
      sum.gradient(q, gradient);
      sum.hessian(q, hessian);
      const Eigen::VectorXd expected_gradient =
          gradient_of([&](const Eigen::VectorXd& point) { return sum.value(point); }, q, 1e-3);
      EXPECT_LT((gradient - expected_gradient).norm(), 1e-9 * (1.0 + gradient.norm()));
      const Eigen::MatrixXd expected_hessian = jacobian_of(
          [&](const Eigen::VectorXd& point) {
            Eigen::VectorXd result;
            sum.gradient(point, result);
            return result;
          },
          q, 1e-3);
      EXPECT_LT((hessian - expected_hessian).norm(), 1e-9 * (1.0 + hessian.norm()));
      EXPECT_LT((hessian - hessian.transpose()).norm(), 1e-15 * hessian.norm());
      EXPECT_GT(gradient.norm(), 1e-3);
    }
  }
}

TEST(Potentials, BetweenParticlesAreInvariantUnderTranslationsAndRotations) {
  RandomNumbers random(32);
  for (const PotentialKind& kind : potentials()) {
    SCOPED_TRACE(kind.entry.name);
    const auto potential = example(kind);
    const PairPotentialSum sum({{0, 1, potential}, {0, 2, potential}, {1, 2, potential}}, 3);
    const Eigen::VectorXd q = triangle(3, random);
    const double angle = 0.7;
    const Eigen::Matrix3d rotation =
        Eigen::AngleAxisd(angle, Eigen::Vector3d(1.0, 2.0, -1.0).normalized()).toRotationMatrix();
    Eigen::VectorXd moved(9);
    for (int a = 0; a < 3; ++a)
      moved.segment<3>(3 * a) = rotation * q.segment<3>(3 * a) + Eigen::Vector3d(0.3, -2.0, 5.0);
    EXPECT_NEAR(sum.value(moved), sum.value(q), 1e-12 * (1.0 + std::abs(sum.value(q))));
    Eigen::VectorXd gradient, rotated;
    sum.gradient(q, gradient);
    sum.gradient(moved, rotated);
    for (int a = 0; a < 3; ++a) {
      EXPECT_LT((rotated.segment<3>(3 * a) - rotation * gradient.segment<3>(3 * a)).norm(),
                1e-11 * (1.0 + gradient.norm()));
    }
    Eigen::Vector3d total = Eigen::Vector3d::Zero();
    for (int a = 0; a < 3; ++a) total += gradient.segment<3>(3 * a);
    EXPECT_LT(total.norm(), 1e-14 * (1.0 + gradient.norm()));
  }
}

// At coinciding positions the direction is undefined. A smooth potential has its limit there, V'' in every direction; a
// cone has none.
TEST(Potentials, AtCoincidingPositionsAreSmoothOrHaveNoForce) {
  const Eigen::VectorXd same = Eigen::VectorXd::Constant(4, 0.7);
  for (const PotentialKind& kind : potentials()) {
    SCOPED_TRACE(kind.entry.name);
    for (const double rest_length : {0.0, 0.5}) {
      Section section = section_of(kind);
      if (has_parameter(kind.entry, "rest_length")) section.set("rest_length", rest_length, {});
      Mistakes mistakes;
      const auto potential = kind.build(section, mistakes);
      const PairPotentialSum sum({{0, 1, potential}}, 2);
      Eigen::VectorXd gradient;
      Eigen::MatrixXd hessian;
      sum.gradient(same, gradient);
      sum.hessian(same, hessian);
      if (potential->derivative(0.0) == 0.0) {
        EXPECT_EQ(gradient, Eigen::VectorXd::Zero(4));
        EXPECT_EQ(hessian(0, 0), potential->second_derivative(0.0));
        EXPECT_EQ(hessian(1, 3), -potential->second_derivative(0.0));
        EXPECT_EQ(hessian(0, 1), 0.0);
        // It is the limit: the Hessian is continuous there.
        Eigen::MatrixXd nearby;
        sum.hessian(same + Eigen::VectorXd{{0.0, 0.0, 1e-160, 1e-161}}, nearby);
        EXPECT_LT((nearby - hessian).norm(), 1e-12 * hessian.norm());
      } else {
        EXPECT_FALSE(gradient.allFinite());
        EXPECT_FALSE(hessian.allFinite());
      }
    }
  }
}

}  // namespace
}  // namespace bathline::potentials_test
