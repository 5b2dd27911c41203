// Step matrices of the dual oscillator against those of limebeer2020.
#include "steppers/step_matrix.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "method_cases.hpp"
#include "petsc_world.hpp"
#include "scene.hpp"

namespace bathline::step_matrix_test {
namespace {

constexpr double m0 = 300.0, M0 = 200.0, k0 = 1000.0, K0 = 900.0, h = 0.01;
const double D0 = std::sqrt(1600.0 * 10.0);

Problem dual_oscillator() {
  Scene scene;
  scene.system = make_particles(Eigen::VectorXd{{m0, M0}},
                                std::make_shared<QuadraticPotential>(Eigen::MatrixXd{{k0, 0.0}, {0.0, K0}}),
                                Eigen::VectorXd{{0.3, -0.2}}, Eigen::VectorXd{{0.3, -0.2}});
  scene.damping = D0 * Eigen::MatrixXd{{1.0, -1.0}, {-1.0, 1.0}};
  return make_problem(scene, test_world());
}

/// x = (q0, Q0, q0', Q0').
Eigen::Matrix4d motion() {
  return (Eigen::Matrix4d() << 0.0, 0.0, 1.0, 0.0,  //
          0.0, 0.0, 0.0, 1.0,                       //
          -k0 / m0, 0.0, -D0 / m0, D0 / m0,         //
          0.0, -K0 / M0, D0 / M0, -D0 / M0)
      .finished();
}

TEST(MpiStepMatrix, MotionIsThatOfTheEquations) {
  EXPECT_LT((system_matrix(dual_oscillator()) - motion()).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(MpiStepMatrix, EulerMethods) {
  Problem problem = dual_oscillator();
  const Eigen::Matrix4d identity = Eigen::Matrix4d::Identity();
  const Eigen::MatrixXd forward = step_matrix(method_case("explicit-euler").scheme, problem, h);
  EXPECT_LT((forward - (identity + h * motion())).cwiseAbs().maxCoeff(), 1e-15);
  const Eigen::MatrixXd backward = step_matrix(method_case("implicit-euler").scheme, problem, h);
  const Eigen::Matrix4d inverse = (identity - h * motion()).inverse();
  EXPECT_LT((backward - inverse).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(MpiStepMatrix, RungeKuttaIsTheTaylorPolynomial) {
  Problem problem = dual_oscillator();
  const Eigen::Matrix4d a = h * motion();
  const Eigen::Matrix4d a2 = a * a, a3 = a * a2;
  const Eigen::Matrix4d expected = Eigen::Matrix4d::Identity() + a + a2 / 2.0 + a3 / 6.0 + a * a3 / 24.0;
  EXPECT_LT((step_matrix(method_case("rk4").scheme, problem, h) - expected).cwiseAbs().maxCoeff(), 1e-15);
}

// limebeer2020, eq. (47) with entry (3, 4) corrected to h, in our order of the particles.
TEST(MpiStepMatrix, VariationalSchemeIsThePapers) {
  Problem problem = dual_oscillator();
  const Eigen::Matrix4d paper = (Eigen::Matrix4d() << 1.0, 0.0, h, 0.0,                         //
                                 0.0, 1.0, 0.0, h,                                              //
                                 -k0 * h / m0, 0.0, 1.0 - (k0 * h + D0) * h / m0, D0 * h / m0,  //
                                 0.0, -K0 * h / M0, D0 * h / M0, 1.0 - (K0 * h + D0) * h / M0)
                                    .finished();
  const Eigen::MatrixXd ours = step_matrix(method_case("gamma(gamma=0.000000)").scheme, problem, h);
  EXPECT_LT((ours - paper).cwiseAbs().maxCoeff(), 1e-14);
}

}  // namespace
}  // namespace bathline::step_matrix_test
