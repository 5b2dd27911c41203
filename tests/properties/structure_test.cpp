// Every method preserves the structure that it claims to preserve, and no other.
#include <gtest/gtest.h>

#include <cmath>

#include "attracting_centre.hpp"
#include "dense_system.hpp"
#include "differences.hpp"
#include "method_cases.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"
#include "simulation.hpp"

namespace bathline::structure_test {
namespace {

/// Two anharmonic particles, a line between them and one on the first.
Scene nonlinear_scene() {
  RandomNumbers random(61);
  Scene scene;
  scene.system = random_particles(2, 1, random);
  const Eigen::MatrixXd half = random_matrix(2, 2, random);
  scene.system.potential = std::make_shared<QuarticPotential>(half * half.transpose(), 0.6);
  scene.lines = {{{{0, 1.0}, {1, -1.0}}, {.mass = 0.8, .stiffness = 1.3}, 3},
                 {{{0, 1.0}}, {.mass = 1.2, .stiffness = 0.9, .far_end = FarEnd::free, .dashpot = 0.0}, 2}};
  return scene;
}

/// One step as a map of the phase space.
class StepMap {
 public:
  StepMap(const Scene& scene, const Scheme& scheme, double h) : simulation_(scene, scheme, h) {}

  PhasePoint operator()(const PhasePoint& from) {
    simulation_.set_state(from);
    simulation_.advance(1);
    return simulation_.state();
  }

 private:
  Simulation simulation_;
};

/// A defect that must vanish for the methods that claim so, and be visible for the others.
void expect_iff(double defect, bool claimed, double roundoff, double visible) {
  if (claimed) {
    EXPECT_LT(defect, roundoff);
  } else {
    EXPECT_GT(defect, visible);
  }
}

TEST(Structure, StepsBackAfterReversingTheMomenta) {
  const Scene scene = nonlinear_scene();
  RandomNumbers random(62);
  const PhasePoint start = random_point(scene.size(), 0.7, random);
  for (const MethodCase& method : method_cases()) {
    SCOPED_TRACE(method.name);
    StepMap step(scene, method.scheme, 0.3);
    PhasePoint point = start;
    for (int pass = 0; pass < 2; ++pass) {
      for (int i = 0; i < 3; ++i) point = step(point);
      point.p = -point.p;
    }
    const double defect = (point.u - start.u).norm() + (point.p - start.p).norm();
    expect_iff(defect, method.properties.time_reversible, 1e-11, 1e-5);
  }
}

TEST(Structure, JacobianOfAStepIsSymplectic) {
  const Scene scene = nonlinear_scene();
  const Eigen::Index n = scene.size();
  RandomNumbers random(63);
  const PhasePoint start = random_point(scene.size(), 0.7, random);
  Eigen::MatrixXd omega = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  omega.topRightCorner(n, n).setIdentity();
  omega.bottomLeftCorner(n, n) = -Eigen::MatrixXd::Identity(n, n);
  for (const MethodCase& method : method_cases()) {
    SCOPED_TRACE(method.name);
    StepMap step(scene, method.scheme, 0.4);
    const auto map = [&](const Eigen::VectorXd& x) -> Eigen::VectorXd {
      const PhasePoint to = step({x.head(n), x.tail(n)});
      Eigen::VectorXd result(2 * n);
      result << to.u, to.p;
      return result;
    };
    Eigen::VectorXd x(2 * n);
    x << start.u, start.p;
    const Eigen::MatrixXd jacobian = jacobian_of(map, x);
    const double defect = (jacobian.transpose() * omega * jacobian - omega).cwiseAbs().maxCoeff();
    expect_iff(defect, method.properties.symplectic, 1e-9, 1e-5);
  }
}

TEST(Structure, EnergyOfALinearSystemIsAQuadraticInvariant) {
  Scene scene = nonlinear_scene();
  scene.system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd{{2.0, 0.5}, {0.5, 1.0}});
  const DenseSystem dense(scene);
  RandomNumbers random(64);
  const PhasePoint start = random_point(scene.size(), 0.7, random);
  for (const MethodCase& method : method_cases()) {
    SCOPED_TRACE(method.name);
    StepMap step(scene, method.scheme, 0.3);
    PhasePoint point = start;
    double worst = 0.0;
    for (int i = 0; i < 100; ++i) {
      point = step(point);
      worst = std::max(worst, std::abs(dense.energy(point) / dense.energy(start) - 1.0));
    }
    // The higher the order the smaller the visible defect.
    const double visible = method.properties.order > 4 ? 5e-12 : 1e-5;
    expect_iff(worst, method.properties.quadratic_invariants, 1e-12, visible);
  }
}

TEST(Structure, TotalMomentumIsALinearInvariant) {
  Scene scene = nonlinear_scene();
  // Only springs between the parts, and no fixed far end.
  scene.system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd{{2.0, -2.0}, {-2.0, 2.0}});
  scene.lines.erase(scene.lines.begin());
  RandomNumbers random(65);
  const PhasePoint start = random_point(scene.size(), 0.7, random);
  for (const MethodCase& method : method_cases()) {
    SCOPED_TRACE(method.name);
    StepMap step(scene, method.scheme, 0.3);
    PhasePoint point = start;
    for (int i = 0; i < 50; ++i) point = step(point);
    const double defect = std::abs(point.p.sum() - start.p.sum()) / point.p.cwiseAbs().sum();
    expect_iff(defect, method.properties.linear_invariants, 1e-12, 1e-6);
  }
}

TEST(Structure, AngularMomentumOfAKeplerProblem) {
  Scene alone;
  alone.system = make_particles(Eigen::VectorXd::Ones(2), std::make_shared<AttractingCentre>(),
                                Eigen::VectorXd{{1.0, 0.2}}, Eigen::VectorXd{{-0.1, 1.0}}, 2);
  Scene on_a_line = alone;
  on_a_line.lines = {{{{0, 1.0}}, {.mass = 0.03, .stiffness = 0.07, .far_end = FarEnd::free, .dashpot = 0.0}, 4}};
  for (const Scene& scene : {alone, on_a_line}) {
    const auto angular_momentum = [&](const PhasePoint& point) {
      // Sites are measured from where the particle started.
      double sum = 0.0;
      for (Eigen::Index i = 0; i < point.u.size(); i += 2) {
        sum += (scene.system.q0[0] + point.u[i]) * point.p[i + 1] - (scene.system.q0[1] + point.u[i + 1]) * point.p[i];
      }
      return sum;
    };
    for (const MethodCase& method : method_cases()) {
      SCOPED_TRACE(testing::Message() << method.name << ", " << scene.lines.size() << " lines");
      StepMap step(scene, method.scheme, 0.05);
      PhasePoint point{Eigen::VectorXd::Zero(scene.size()), Eigen::VectorXd::Zero(scene.size())};
      point.p.head(2) = scene.system.v0;
      const double start = angular_momentum(point);
      double worst = 0.0;
      for (int i = 0; i < 30; ++i) {
        point = step(point);
        worst = std::max(worst, std::abs(angular_momentum(point) / start - 1.0));
      }
      expect_iff(worst, method.properties.angular_momentum, 1e-11, 1e-9);
    }
  }
}

}  // namespace
}  // namespace bathline::structure_test
