// A charge in the plane under every integrator: end points, orders, structure, energies and stability.
//
// End points are those of a prototype in another language, by an integrator of order 8 with a tolerance of 2e-14;
// the momentum of the Lagrangian v^2/2 + B (x y' - y x')/2 - V is v + B (-y, x)/2.
#include <gtest/gtest.h>

#include <cmath>

#include "steppers/assembled_system.hpp"
#include "steppers/stability.hpp"
#include "steppers/step_matrix.hpp"
#include "steppers/stepper.hpp"
#include "differences.hpp"
#include "measured_order.hpp"
#include "method_cases.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"
#include "scene.hpp"
#include "self_world.hpp"

namespace bathline::magnetic_field_test {
namespace {

using Eigen::Matrix2d;
using Eigen::Matrix4d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector4d;
using Eigen::VectorXd;

/// V = x^2/2 + x^4/4 + 0.3 x^2 y + 0.65 y^2 + y^4/4.
class Dimple final : public Potential {
 public:
  double value(const VectorXd& q) const override {
    const double x = q[0], y = q[1];
    return 0.5 * x * x + 0.25 * std::pow(x, 4) + 0.3 * x * x * y + 0.65 * y * y + 0.25 * std::pow(y, 4);
  }
  void gradient(const VectorXd& q, VectorXd& gradient) const override {
    const double x = q[0], y = q[1];
    gradient = Vector2d(x + x * x * x + 0.6 * x * y, 0.3 * x * x + 1.3 * y + y * y * y);
  }
  void hessian(const VectorXd& q, MatrixXd& hessian) const override {
    const double x = q[0], y = q[1];
    hessian = Matrix2d{{1.0 + 3.0 * x * x + 0.6 * y, 0.6 * x}, {0.6 * x, 1.3 + 3.0 * y * y}};
  }
};

constexpr double field = 1.7;
const Vector4d end_of_dimple(-0.06519489, 0.40565746, -0.44423648, -0.3534756);

/// One charge of mass 1; axes or coordinates make no difference.
Scene charge(std::shared_ptr<const Potential> potential) {
  Scene scene;
  ParticleSystem& system = scene.system;
  system = make_particles(Vector2d::Ones(), std::move(potential), Vector2d(0.4, -0.3), Vector2d(0.2, 0.5), 2);
  system.magnetic_field = field;
  return scene;
}

Scene in_dimple() { return charge(std::make_shared<Dimple>()); }

/// q and M v, and those of the sites of lines, after steps of `h`.
VectorXd advanced(const Scene& scene, const Scheme& scheme, double h, std::int64_t steps) {
  Problem problem = make_problem(scene, self_world());
  EXPECT_FALSE(make_stepper(scheme, problem, h)->advance(steps).has_value());
  const PhasePoint end = get_state(problem);
  VectorXd x(2 * end.u.size());
  x << end.u, end.p;
  return x;
}

double energy_after(const Scene& scene, const Scheme& scheme, double h, std::int64_t steps) {
  Problem problem = make_problem(scene, self_world());
  const double before = problem.energies().total();
  EXPECT_FALSE(make_stepper(scheme, problem, h)->advance(steps).has_value());
  problem.broadcast_particles();
  return problem.energies().total() - before;
}

TEST(MagneticField, ExactFlowEndsWhereThePrototypeDoes) {
  const Scene scene = in_dimple();
  VectorXd end = advanced(scene, ExactFlow{}, 0.5, 8);
  end.head(2) += scene.system.q0;
  EXPECT_LT((end - end_of_dimple).cwiseAbs().maxCoeff(), 1e-8);  // printed with eight decimals
}

// The table of the prototype, errors of q printed with two figures.
TEST(MagneticField, SplittingHasTheErrorsOfThePrototype) {
  const Scene scene = in_dimple();
  const VectorXd exact = advanced(scene, ExactFlow{}, 4.0, 1);
  const Scheme scheme = method_case("stoermer-verlet(order_of_substeps=kick-drift-kick)").scheme;
  const auto error = [&](double h, int steps) {
    return (advanced(scene, scheme, h, steps) - exact).head(2).cwiseAbs().maxCoeff();
  };
  EXPECT_NEAR(error(0.2, 20), 7.9e-3, 0.05e-3);
  EXPECT_NEAR(error(0.025, 160), 1.2e-4, 0.05e-4);
}

TEST(MagneticField, EveryMethodKeepsItsOrder) {
  const Scene scene = in_dimple();
  const VectorXd exact = advanced(scene, ExactFlow{}, 4.0, 1);
  for (const MethodCase& method : method_cases()) {
    SCOPED_TRACE(method.name);
    const auto error = [&](int steps) {
      return (advanced(scene, method.scheme, 4.0 / steps, steps) - exact).cwiseAbs().maxCoeff();
    };
    const int claimed = method.properties.order;
    if (claimed == 0) {
      EXPECT_LT(error(8), 1e-11);
    } else {
      EXPECT_NEAR(measured_order(error, claimed), claimed, order_tolerance(claimed));
    }
  }
}

/// From q and M v to the momenta of the Lagrangian, and back.
Matrix4d canonical() {
  Matrix4d matrix = Matrix4d::Identity();
  matrix(2, 1) = -0.5 * field;
  matrix(3, 0) = 0.5 * field;
  return matrix;
}

double symplectic_defect(const MatrixXd& step_of_velocities) {
  Matrix4d omega = Matrix4d::Zero();
  omega.topRightCorner(2, 2).setIdentity();
  omega.bottomLeftCorner(2, 2) = -Matrix2d::Identity();
  const Matrix4d step = canonical() * step_of_velocities * canonical().inverse();
  return (step.transpose() * omega * step - omega).cwiseAbs().maxCoeff();
}

TEST(MagneticField, StepsAreSymplecticInCanonicalVariables) {
  const Scene scene = in_dimple();
  Scene linear = charge(std::make_shared<QuadraticPotential>(Matrix2d{{1.25, -0.25}, {-0.25, 1.5}}));
  linear.system.q0.setZero();
  for (const MethodCase& method : method_cases()) {
    SCOPED_TRACE(method.name);
    const auto map = [&](const VectorXd& x) -> VectorXd {
      Scene from = scene;
      from.system.q0 = x.head(2);
      from.system.v0 = x.tail(2);
      VectorXd end = advanced(from, method.scheme, 0.4, 1);
      end.head(2) += x.head(2);
      return end;
    };
    VectorXd x(4);
    x << scene.system.q0, scene.system.v0;
    const double defect = symplectic_defect(jacobian_of(map, x));
    // For a linear system the matrix of the step is its derivative without differences.
    Problem problem = make_problem(linear, self_world());
    const double linear_defect = symplectic_defect(step_matrix(method.scheme, problem, 0.4));
    if (method.properties.symplectic) {
      EXPECT_LT(defect, 1e-9);
      EXPECT_LT(linear_defect, 1e-13);
    } else {
      EXPECT_GT(defect, 1e-5);
      EXPECT_GT(linear_defect, 1e-5);
    }
  }
}

// A field and forces with rotational symmetry: B |q|^2/2 + x v_y - y v_x is conserved.
TEST(MagneticField, CanonicalAngularMomentumIsKept) {
  const Scene scene = charge(std::make_shared<QuadraticPotential>(0.7 * Matrix2d::Identity()));
  const auto momentum = [](const Vector2d& q, const Vector2d& p) {
    return q[0] * p[1] - q[1] * p[0] + 0.5 * field * q.squaredNorm();
  };
  const double start = momentum(scene.system.q0, scene.system.v0);
  for (const MethodCase& method : method_cases()) {
    SCOPED_TRACE(method.name);
    const VectorXd end = advanced(scene, method.scheme, 0.1, 30);
    const double defect = std::abs(momentum(scene.system.q0 + end.head(2), end.tail(2)) - start);
    if (method.properties.angular_momentum || method.properties.order == 0) {
      EXPECT_LT(defect, 2e-13);
    } else {
      EXPECT_GT(defect, 1e-9);
    }
  }
}

// Without other forces splittings are exact, whatever the step: the centre stays and the radius is m v/B.
TEST(MagneticField, FreeGyrationOfSplittingsIsExact) {
  const Scene scene = charge(std::make_shared<QuadraticPotential>(Matrix2d::Zero()));
  const double h = 3.0, t = 30.0;
  const Vector2d v = scene.system.v0;
  const Matrix2d J{{0.0, 1.0}, {-1.0, 0.0}};
  Vector4d exact;
  exact << (std::sin(field * t) * v + (1.0 - std::cos(field * t)) * J * v) / field,
      std::cos(field * t) * v + std::sin(field * t) * J * v;
  for (const MethodCase& method : method_cases()) {
    SCOPED_TRACE(method.name);
    const VectorXd end = advanced(scene, method.scheme, h, 10);
    if (!has_stages(method.scheme) || method.properties.order == 0) {
      EXPECT_LT((end - exact).cwiseAbs().maxCoeff(), 1e-12);
    } else {
      EXPECT_GT((end - exact).cwiseAbs().maxCoeff(), 1e-4);
    }
  }
}

// The field does no work: with a line the ledger closes as well as the method keeps the energy.
TEST(MagneticField, LedgerClosesWithALine) {
  Scene scene = in_dimple();
  scene.lines = {{{{0, 1.0}}, {.mass = 0.5, .stiffness = 1.0}, 6}};
  for (const std::string name : {"stoermer-verlet(order_of_substeps=kick-drift-kick)", "gamma(gamma=0.500000)",
                                 "gauss(stages=2)", "lobatto(stages=3)", "yoshida4", "rk4"}) {
    SCOPED_TRACE(name);
    const MethodCase& method = method_case(name);
    const double coarse = energy_after(scene, method.scheme, 0.1, 20);
    const double fine = energy_after(scene, method.scheme, 0.05, 40);
    EXPECT_LT(std::abs(coarse), 3e-2);
    EXPECT_GT(std::log2(std::abs(coarse / fine)), method.properties.order - 0.5);
    const VectorXd exact = advanced(scene, ExactFlow{}, 2.0, 1);
    EXPECT_LT((advanced(scene, method.scheme, 0.025, 80) - exact).cwiseAbs().maxCoeff(),
              2.0 * std::pow(0.025, method.properties.order));
  }
}

// A damped, driven particle: the exact flow of linear systems is the matrix exponential, that of nonlinear ones another
// integrator.
TEST(MagneticField, ExactFlowsOfLinearSystemsAgree) {
  Scene linear = charge(std::make_shared<QuadraticPotential>(Matrix2d{{1.25, -0.25}, {-0.25, 1.5}}));
  Scene other = charge(std::make_shared<QuarticPotential>(Matrix2d{{1.25, -0.25}, {-0.25, 1.5}}, 0.0));
  for (const MatrixXd& damping : {MatrixXd(Matrix2d::Zero()), MatrixXd(Matrix2d{{0.3, 0.1}, {0.1, 0.2}})}) {
    linear.damping = other.damping = damping;
    EXPECT_LT((advanced(linear, ExactFlow{}, 0.5, 6) - advanced(other, ExactFlow{}, 0.5, 6)).norm(), 1e-12);
    EXPECT_LT(std::abs(energy_after(linear, ExactFlow{}, 0.5, 6)), 1e-13);
  }
}

// The Gibbs distribution does not depend on a field that does no work.
TEST(MagneticField, ExactFlowKeepsTheThermalState) {
  const Matrix2d stiffness{{1.25, -0.25}, {-0.25, 1.5}}, damping{{0.3, 0.1}, {0.1, 0.2}};
  constexpr double kt = 0.8;
  Scene scene = charge(std::make_shared<QuadraticPotential>(stiffness));
  scene.system.q0.setZero();
  scene.system.mass = Vector2d(1.0, 2.0);
  scene.damping = damping;
  Problem problem = make_problem(scene, self_world());
  problem.add_noise(kt * damping);
  Matrix4d thermal = Matrix4d::Zero();
  thermal.topLeftCorner(2, 2) = kt * stiffness.inverse();
  thermal.bottomRightCorner(2, 2) = kt * scene.system.mass.cwiseInverse().asDiagonal();
  const Matrix4d step = step_matrix(ExactFlow{}, problem, 0.7);
  const Matrix4d later = step * thermal * step.transpose() + noise_covariance(ExactFlow{}, problem, 0.7);
  EXPECT_LT((later - thermal).cwiseAbs().maxCoeff(), 1e-13);
}

// Many independent charges: sparse stages and dense ones of fixed and of dynamic size agree.
TEST(MagneticField, ManyPairsMoveAsOneDoes) {
  const Scene single = charge(std::make_shared<QuarticPotential>(Matrix2d::Identity(), 0.5));
  Scene many;
  constexpr int copies = 12;
  many.system = make_particles(VectorXd::Ones(2 * copies),
                               std::make_shared<QuarticPotential>(MatrixXd::Identity(2 * copies, 2 * copies), 0.5),
                               single.system.q0.replicate(copies, 1), single.system.v0.replicate(copies, 1), 2);
  many.system.magnetic_field = field;
  for (const std::string name : {"gauss(stages=2)", "lobatto(stages=3)", "gamma(gamma=0.250000)"}) {
    SCOPED_TRACE(name);
    const VectorXd alone = advanced(single, method_case(name).scheme, 0.2, 10);
    const VectorXd all = advanced(many, method_case(name).scheme, 0.2, 10);
    EXPECT_LT((all.head(2 * copies) - alone.head(2).replicate(copies, 1)).norm(), 1e-12);
    EXPECT_LT((all.tail(2 * copies) - alone.tail(2).replicate(copies, 1)).norm(), 1e-12);
  }
}

// x'' + i B x' + w^2 x = 0 by kicks and gyrations has the trace 2 cos(phi) - 2 (h w^2/B) sin(phi) up to a phase, with
// phi = B h/2, which stays within [-2, 2] where tan(B h/4) <= B/(h w^2).
TEST(MagneticField, LowersTheStabilityLimitOfSplittings) {
  const double square = 1.44;
  Scene scene = charge(std::make_shared<QuadraticPotential>(square * Matrix2d::Identity()));
  const MethodCase& method = method_case("stoermer-verlet(order_of_substeps=kick-drift-kick)");
  const auto limit_of = [&] {
    return stability_limit(make_problem(scene, self_world()), *method.method, method.options);
  };
  const double h = limit_of().largest_step;
  EXPECT_NEAR(std::tan(0.25 * field * h), field / (h * square), 1e-8);
  EXPECT_TRUE(limit_of().is_linear);
  // A larger system, of which only some motions are analysed.
  constexpr int copies = 20;
  scene.system = make_particles(
      VectorXd::Ones(2 * copies),
      std::make_shared<QuadraticPotential>(square * MatrixXd::Identity(2 * copies, 2 * copies)), {}, {}, 2);
  scene.system.magnetic_field = field;
  EXPECT_NEAR(limit_of().largest_step, h, 1e-8);
  EXPECT_FALSE(limit_of().is_linear);
}

}  // namespace
}  // namespace bathline::magnetic_field_test
