// Every method has the order that it claims, on nonlinear closed and open problems.
#include <gtest/gtest.h>

#include <cmath>

#include "attracting_centre.hpp"
#include "extrapolation.hpp"
#include "measured_order.hpp"
#include "method_cases.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"
#include "simulation.hpp"

namespace bathline::order_test {
namespace {

constexpr double end = 2.0;

struct Subject {
  std::string name;
  Scene scene;
  LongState solution;  // displacements and momenta at the end
};

// m = 1, V = q^2/2 + q^4/4, and a line of six sites with M = 1/2, lambda = 1, its far end fixed.
Subject closed_subject() {
  Subject subject{"anharmonic particle on a line", {}, {}};
  ParticleSystem& system = subject.scene.system;
  system =
      make_particles(Eigen::VectorXd::Ones(1), std::make_shared<QuarticPotential>(Eigen::MatrixXd::Identity(1, 1), 1.0),
                     Eigen::VectorXd::Constant(1, 1.25), Eigen::VectorXd::Constant(1, 0.25));
  subject.scene.lines = {{{{0, 1.0}}, {.mass = 0.5, .stiffness = 1.0}, 6}};
  LongState start(14, 0.0L);
  start[7] = 0.25L;
  subject.solution = extrapolated(
      [](const LongState& x) {
        LongState f(14);
        const long double q = 1.25L + x[0];
        f[0] = x[7];
        f[7] = -q - q * q * q + (x[1] - x[0]);
        for (std::size_t j = 1; j <= 6; ++j) {
          f[j] = x[7 + j] / 0.5L;
          f[7 + j] = (j < 6 ? x[j + 1] : 0.0L) - 2.0L * x[j] + x[j - 1];
        }
        return f;
      },
      start, 2.0L, 40);
  return subject;
}

// Two particles, V = sum q^2/2 + q^4/8, damped on both and relative to each other.
Subject damped_subject() {
  Subject subject{"damped anharmonic particles", {}, {}};
  ParticleSystem& system = subject.scene.system;
  system = make_particles(Eigen::VectorXd{{1.0, 2.0}},
                          std::make_shared<QuarticPotential>(Eigen::MatrixXd::Identity(2, 2), 0.5),
                          Eigen::VectorXd{{1.5, -0.5}}, Eigen::VectorXd{{0.0, 0.75}});
  subject.scene.damping = Eigen::MatrixXd{{0.75, -0.5}, {-0.5, 1.0}};
  subject.solution = extrapolated(
      [](const LongState& x) {
        const long double a = 1.5L + x[0], b = -0.5L + x[1];
        const long double v = x[2], w = x[3] / 2.0L;
        return LongState{v, w, -a - 0.5L * a * a * a - 0.75L * v + 0.5L * w, -b - 0.5L * b * b * b + 0.5L * v - w};
      },
      {0.0L, 0.0L, 0.0L, 1.5L}, 2.0L, 40);
  return subject;
}

Subject kepler_subject() {
  Subject subject{"damped Kepler problem", {}, {}};
  ParticleSystem& system = subject.scene.system;
  system = make_particles(Eigen::VectorXd{{1.0, 1.0}}, std::make_shared<AttractingCentre>(),
                          Eigen::VectorXd{{1.0, 0.0}}, Eigen::VectorXd{{0.25, 1.0}}, 2);
  subject.scene.damping = 0.25 * Eigen::MatrixXd::Identity(2, 2);
  subject.solution = extrapolated(
      [](const LongState& x) {
        const long double a = 1.0L + x[0], b = x[1];
        const long double r2 = a * a + b * b, r3 = r2 * std::sqrt(r2);
        return LongState{x[2], x[3], -a / r3 - 0.25L * x[2], -b / r3 - 0.25L * x[3]};
      },
      {0.0L, 0.0L, 0.25L, 1.0L}, 2.0L, 40);
  return subject;
}

/// f_a = (1/2 - q_a^2) v_a - v_a^3/8: not linear in the velocities.
class CubicDrag final : public Force {
 public:
  void value(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double, Eigen::VectorXd& force) const override {
    force = (0.5 - q.array().square()) * v.array() - 0.125 * v.array().cube();
  }
  void jacobians(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double, Eigen::MatrixXd& df_dq,
                 Eigen::MatrixXd& df_dv) const override {
    df_dq = (-2.0 * q.array() * v.array()).matrix().asDiagonal();
    df_dv = (0.5 - q.array().square() - 0.375 * v.array().square()).matrix().asDiagonal();
  }
};

Subject forced_subject() {
  Subject subject{"forced oscillators", {}, {}};
  ParticleSystem& system = subject.scene.system;
  system = make_particles(Eigen::VectorXd{{1.0, 2.0}},
                          std::make_shared<QuadraticPotential>(Eigen::MatrixXd{{1.25, -0.25}, {-0.25, 1.5}}),
                          Eigen::VectorXd{{0.75, -0.5}}, Eigen::VectorXd{{0.5, 1.0}});
  system.force = std::make_shared<CubicDrag>();
  subject.scene.damping = Eigen::MatrixXd{{0.25, 0.0}, {0.0, 0.0}};
  subject.solution = extrapolated(
      [](const LongState& x) {
        const long double a = 0.75L + x[0], b = -0.5L + x[1];
        const long double v = x[2], w = x[3] / 2.0L;
        return LongState{v, w, -1.25L * a + 0.25L * b + (0.5L - a * a) * v - 0.125L * v * v * v - 0.25L * v,
                         0.25L * a - 1.5L * b + (0.5L - b * b) * w - 0.125L * w * w * w};
      },
      {0.0L, 0.0L, 0.5L, 2.0L}, 2.0L, 40);
  return subject;
}

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = {closed_subject(), damped_subject(), kepler_subject(), forced_subject()};
  return all;
}

double error_of(const Subject& subject, const Scheme& scheme, int steps) {
  Simulation simulation(subject.scene, scheme, end / steps);
  simulation.advance(steps);
  const PhasePoint state = simulation.state();
  const auto n = static_cast<std::size_t>(state.u.size());
  double error = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto index = static_cast<Eigen::Index>(i);
    error = std::max(error, std::abs(state.u[index] - static_cast<double>(subject.solution[i])));
    error = std::max(error, std::abs(state.p[index] - static_cast<double>(subject.solution[n + i])));
  }
  return error;
}

TEST(Order, ReferenceIsExactOnAnOscillator) {
  const LongState x = extrapolated(
      [](const LongState& state) {
        return LongState{state[1], -state[0]};
      },
      {1.0L, 0.0L}, 2.0L, 40);
  EXPECT_LT(std::abs(x[0] - std::cos(2.0L)), 1e-17L);
  EXPECT_LT(std::abs(x[1] + std::sin(2.0L)), 1e-17L);
}

TEST(Order, IsWhatEveryMethodClaims) {
  for (const MethodCase& method : method_cases()) {
    for (const Subject& subject : subjects()) {
      SCOPED_TRACE(method.name + ", " + subject.name);
      if (method.properties.order == 0) {
        EXPECT_LT(error_of(subject, method.scheme, 8), 1e-11);
        EXPECT_LT(error_of(subject, method.scheme, 64), 1e-11);
        continue;
      }
      const bool is_damped = subject.scene.damping.size() > 0;
      const int reduced = is_damped ? method.properties.order_damped : 0;
      const int claimed = reduced > 0 ? reduced : method.properties.order;
      EXPECT_NEAR(measured_order([&](int steps) { return error_of(subject, method.scheme, steps); }, claimed), claimed,
                  order_tolerance(claimed));
    }
  }
}

}  // namespace
}  // namespace bathline::order_test
