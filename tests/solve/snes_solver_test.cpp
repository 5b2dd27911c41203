// Newton's method on small systems with known roots.
#include "solve/snes_solver.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "petsc_options.hpp"
#include "petsc_world.hpp"
#include "solve/petsc_handle.hpp"

namespace bathline::snes_solver_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(SnesSolver, SolvesALinearSystemInOneStep) {
  const MatrixXd a = (MatrixXd(2, 2) << 3.0, 1.0, -1.0, 2.0).finished();
  const VectorXd b = (VectorXd(2) << 5.0, 4.0).finished();
  SnesSolver newton(
      2, [&](const VectorXd& x, VectorXd& r) { r = a * x - b; }, [&](const VectorXd&, MatrixXd& j) { j = a; });
  VectorXd x = VectorXd::Zero(2);
  const auto report = newton.solve(x, 1e-15);
  EXPECT_TRUE(report.converged);
  EXPECT_LE(report.iterations, 2);
  EXPECT_NEAR(x[0], 6.0 / 7.0, 1e-15);
  EXPECT_NEAR(x[1], 17.0 / 7.0, 1e-15);
}

TEST(SnesSolver, FindsARootOfANonlinearSystemToRoundOff) {
  // Circle of radius 2 and the cubic y = x^3 - 1.
  SnesSolver newton(
      2,
      [](const VectorXd& x, VectorXd& r) {
        r[0] = x.squaredNorm() - 4.0;
        r[1] = x[1] - x[0] * x[0] * x[0] + 1.0;
      },
      [](const VectorXd& x, MatrixXd& j) { j << 2.0 * x[0], 2.0 * x[1], -3.0 * x[0] * x[0], 1.0; });
  VectorXd x = (VectorXd(2) << 1.0, 1.0).finished();
  const auto report = newton.solve(x, 1e-15);
  ASSERT_TRUE(report.converged) << report.reason;
  EXPECT_GT(report.iterations, 2);
  EXPECT_NEAR(x.squaredNorm(), 4.0, 4e-15);
  EXPECT_NEAR(x[1], x[0] * x[0] * x[0] - 1.0, 4e-15);

  // The same object again, from the root: it has converged at the start.
  const VectorXd root = x;
  const auto again = newton.solve(x, 1e-14);
  EXPECT_TRUE(again.converged);
  EXPECT_NEAR((x - root).norm(), 0.0, 1e-14);
}

TEST(SnesSolver, ReportsWhenThereIsNoRoot) {
  SnesSolver newton(
      1, [](const VectorXd& x, VectorXd& r) { r[0] = x[0] * x[0] + 1.0; },
      [](const VectorXd& x, MatrixXd& j) { j(0, 0) = 2.0 * x[0]; });
  VectorXd x = VectorXd::Constant(1, 3.0);
  const auto report = newton.solve(x, 1e-15);
  EXPECT_FALSE(report.converged);
  EXPECT_GE(report.residual, 1.0 - 1e-12);
  EXPECT_NE(report.reason.find("DIVERGED"), std::string::npos) << report.reason;
}

TEST(SnesSolver, ReportsWhatPetscTurnsIntoAnError) {
  const PetscOptionsScope options({{"-snes_error_if_not_converged", nullptr}, {"-snes_max_it", "3"}});
  SnesSolver newton(
      1, [](const VectorXd& x, VectorXd& r) { r[0] = x[0] * x[0] + 1.0; },
      [](const VectorXd& x, MatrixXd& j) { j(0, 0) = 2.0 * x[0]; });
  VectorXd x = VectorXd::Constant(1, 3.0);
  const auto report = newton.solve(x, 1e-15);
  EXPECT_FALSE(report.converged);
  EXPECT_NE(report.reason.find("has not converged"), std::string::npos) << report.reason;
}

// PETSc gets an error code from the callback, since no exception may cross its C frames.
TEST(SnesSolver, ThrowsWhatItsFunctionsThrow) {
  struct Thrown {};
  SnesSolver newton(
      1, [](const VectorXd&, VectorXd&) { throw Thrown(); }, [](const VectorXd&, MatrixXd&) {});
  VectorXd x = VectorXd::Constant(1, 3.0);
  EXPECT_THROW(newton.solve(x, 1e-15), Thrown);
  EXPECT_EQ(petsc_callback([] { throw Thrown(); }), PETSC_ERR_USER);
  EXPECT_THROW(petsc_check(PETSC_ERR_USER), Thrown);
  EXPECT_THROW(petsc_check(PETSC_ERR_USER), SolverError);
}

TEST(SnesSolver, ReportsAResidualThatIsNan) {
  SnesSolver newton(
      1, [](const VectorXd&, VectorXd& r) { r[0] = std::nan(""); },
      [](const VectorXd&, MatrixXd& j) { j(0, 0) = 1.0; });
  VectorXd x = VectorXd::Constant(1, 3.0);
  EXPECT_FALSE(newton.solve(x, 1e-15).converged);
}

}  // namespace
}  // namespace bathline::snes_solver_test
