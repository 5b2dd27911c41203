// Particles and sites in one system against the dense matrices of the same scene.
#include "steppers/assembled_system.hpp"

#include <gtest/gtest.h>

#include "dense_system.hpp"
#include "quartic_potential.hpp"
#include "test_world.hpp"

namespace bathline::assembled_system_test {
namespace {

TEST(MpiAssembledSystem, IsTheDenseSystem) {
  RandomNumbers random(41);
  Scene scene;
  scene.system = random_particles(2, 2, random);
  const Eigen::MatrixXd half = random_matrix(4, 4, random);
  scene.system.potential = std::make_shared<QuarticPotential>(half * half.transpose(), 0.4);
  const Eigen::MatrixXd rough = random_matrix(4, 2, random);
  scene.damping = rough * rough.transpose();
  scene.lines = {{{{1, 1.0}}, {.mass = 1.5, .stiffness = 2.5, .far_end = FarEnd::matched, .dashpot = 0.0}, 3},
                 {{{0, 1.0}, {1, -1.0}}, {.mass = 0.5, .stiffness = 4.0}, 5},
                 {{{0, 1.0}}, {.mass = 1.1, .stiffness = 0.7, .far_end = FarEnd::free, .dashpot = 0.0}, 1}};
  const Problem problem = make_problem(scene, test_world());
  const AssembledSystem system(problem, 100);
  const DenseSystem dense(scene);
  ASSERT_EQ(system.size(), dense.size());
  EXPECT_EQ(system.particle_dofs(), 4);
  EXPECT_EQ(system.mass(), dense.mass);
  EXPECT_TRUE(system.is_damped());
  EXPECT_FALSE(system.is_linear());
  const Eigen::VectorXd rest = Eigen::VectorXd::Zero(system.size());
  EXPECT_LT((system.stiffness() - dense.stiffness(rest)).cwiseAbs().maxCoeff(), 1e-14);

  const PhasePoint point = random_point(system.size(), 1.0, random);
  std::vector<double> force(static_cast<std::size_t>(system.size()));
  const std::span<const double> u(point.u.data(), force.size());
  std::vector<double> v(point.p.begin(), point.p.end());
  system.force(u, force);
  const Eigen::Map<const Eigen::VectorXd> actual(force.data(), system.size());
  const Eigen::VectorXd expected = dense.force(point.u);
  EXPECT_LT((actual - expected).cwiseAbs().maxCoeff(), 1e-13);
  const double power = system.add_losses(u, v, force);
  EXPECT_LT((actual - (expected - dense.damping * point.p)).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_NEAR(power, point.p.dot(dense.damping * point.p), 1e-13);
}

TEST(MpiAssembledSystem, TruncatesLongEnvironments) {
  RandomNumbers random(42);
  Scene scene;
  scene.system = random_particles(1, 1, random);
  scene.lines = {{{{0, 1.0}}, {.mass = 1.0, .stiffness = 2.0, .far_end = FarEnd::free, .dashpot = 0.0}, 1000}};
  const Problem problem = make_problem(scene, test_world());
  const AssembledSystem system(problem, 3);
  ASSERT_EQ(system.size(), 4);
  EXPECT_EQ(system.stiffness()(3, 3), 4.0);  // clamped behind the last site
  EXPECT_TRUE(system.is_linear());
  EXPECT_FALSE(system.is_damped());
}

}  // namespace
}  // namespace bathline::assembled_system_test
