// Methods with noise: their stationary covariances by the linear map of a step, the ledger, and a closed warm line
// whose initial state is the noise.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "steppers/ornstein_uhlenbeck.hpp"
#include "steppers/stepper.hpp"
#include "method_cases.hpp"
#include "petsc_world.hpp"
#include "scene.hpp"
#include "solve/dense.hpp"
#include "solve/linear_flow.hpp"

namespace bathline::noise_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Langevin {
  VectorXd mass;
  MatrixXd stiffness, damping;
  VectorXd temperature;

  Problem problem() const {
    Scene scene;
    scene.system = make_particles(mass, std::make_shared<QuadraticPotential>(stiffness));
    scene.damping = damping;
    Problem problem = make_problem(scene, test_world());
    problem.add_noise(momentum_diffusion(damping, temperature).value());
    return problem;
  }
};

/// Three particles with a damping matrix of rank 2; no two matrices commute.
Langevin three_particles() {
  const MatrixXd half{{1.0, 0.3, -0.2}, {0.0, 0.8, 0.4}, {0.0, 0.0, 0.9}};
  const MatrixXd rank{{0.7, 0.2}, {-0.4, 0.5}, {0.3, 0.6}};
  return {VectorXd{{1.3, 0.6, 2.1}}, half * half.transpose(), rank * rank.transpose(), VectorXd::Constant(3, 0.7)};
}
Langevin unit_oscillator() {
  return {VectorXd::Ones(1), MatrixXd::Ones(1, 1), MatrixXd::Ones(1, 1), VectorXd::Ones(1)};
}

/// The stationary <x x^T> of x = (q, v): X = A X A^T + G G^T, with A and G from the stepper.
MatrixXd stationary(const Langevin& system, const Scheme& scheme, double h) {
  Problem problem = system.problem();
  const auto stepper = make_stepper(scheme, problem, h);
  const Eigen::Index n = system.mass.size();
  int unit_draw = -1;
  std::size_t unit_index = 0;
  problem.noise()->set_source([&](std::int64_t, int draw, std::span<double> numbers) {
    std::fill(numbers.begin(), numbers.end(), 0.0);
    if (draw == unit_draw && unit_index < numbers.size()) numbers[unit_index] = 1.0;
  });
  const auto step_from = [&](const VectorXd& x) {
    problem.q = x.head(n);
    problem.p = system.mass.cwiseProduct(x.tail(n));
    EXPECT_FALSE(stepper->advance(1).has_value());
    problem.broadcast_particles();
    VectorXd to(2 * n);
    to << problem.q, problem.p.cwiseQuotient(system.mass);
    return to;
  };
  MatrixXd step(2 * n, 2 * n), gain(2 * n, 4 * n);
  for (Eigen::Index i = 0; i < 2 * n; ++i) step.col(i) = step_from(VectorXd::Unit(2 * n, i));
  for (Eigen::Index i = 0; i < 4 * n; ++i) {
    unit_draw = i < 2 * n ? 0 : 1;
    unit_index = static_cast<std::size_t>(i % (2 * n));
    gain.col(i) = step_from(VectorXd::Zero(2 * n));
  }
  return solve_discrete_lyapunov(step.transpose(), gain * gain.transpose());
}

MatrixXd blocks(const MatrixXd& qq, const MatrixXd& qv, const MatrixXd& vv) {
  MatrixXd all(2 * qq.rows(), 2 * qq.rows());
  all << qq, qv, qv.transpose(), vv;
  return all;
}

/// The covariance in a harmonic potential, by the derivations behind the methods' statements.
MatrixXd expected(const Langevin& system, const MethodCase& method, double h) {
  const double kt = system.temperature[0];
  const MatrixXd mass = system.mass.asDiagonal(), inverse = mass.inverse(),
                 zero = MatrixXd::Zero(mass.rows(), mass.rows());
  const MatrixXd compliance = system.stiffness.inverse();
  const MatrixXd reduced_mass = mass - 0.25 * h * h * system.stiffness;
  const std::string& name = method.method->entry.name;
  if (name == "gamma") {
    const double eta = (0.5 - method.options.number("gamma")) * h;
    const MatrixXd s = mass - eta * system.damping - eta * eta * system.stiffness;
    return kt * blocks(compliance + eta * eta * s.inverse(), -eta * s.inverse(), s.inverse());
  }
  const bool drifts_first = name == "stoermer-verlet" && method.options.text("order_of_substeps") != "kick-drift-kick";
  if (drifts_first) return kt * blocks(compliance, zero, reduced_mass.inverse());
  const bool kicks_first = name == "stoermer-verlet" || name == "gjf" || name == "baoab";
  return kt * blocks(compliance, zero, kicks_first ? MatrixXd(inverse * reduced_mass * inverse) : inverse);
}

bool is_closed_form(const MethodCase& method) {
  const std::string& name = method.method->entry.name;
  for (const char* name_of_closed_form :
       {"gamma", "time-centred", "stoermer-verlet", "gjf", "baoab", "gauss", "exact"}) {
    if (name == name_of_closed_form) return true;
  }
  return false;
}

TEST(Noise, StationaryCovarianceIsWhatTheMethodStates) {
  int count = 0;
  for (const MethodCase& method : method_cases()) {
    if (!method.method->langevin.takes_noise || !is_closed_form(method)) continue;
    SCOPED_TRACE(method.name);
    ++count;
    const Langevin system = three_particles();
    const double h = 0.7;
    const MatrixXd actual = stationary(system, method.method->langevin_scheme(method.options), h);
    EXPECT_LT((actual - expected(system, method, h)).cwiseAbs().maxCoeff(), 1e-12);
  }
  EXPECT_EQ(count, 14);
}

TEST(Noise, CovarianceOfTheUnitOscillator) {
  // m = k = kT = C = 1, h = 0.5, computed by another program.
  const auto of_gamma = [](double g) {
    Section options;
    options.set("gamma", g, {});
    const MatrixXd actual = stationary(unit_oscillator(), methods().find("gamma")->langevin_scheme(options), 0.5);
    return std::pair(actual(0, 0), actual(1, 1));
  };
  const auto expect = [&](double g, double qq, double vv) {
    EXPECT_NEAR(of_gamma(g).first, qq, 1e-12);
    EXPECT_NEAR(of_gamma(g).second, vv, 1e-12);
  };
  expect(0.0, 1.090909090909, 1.454545454545);
  expect(0.25, 1.018181818182, 1.163636363636);
  expect(0.5, 1.0, 1.0);
  expect(0.75, 1.014084507042, 0.901408450704);
  expect(1.0, 1.052631578947, 0.842105263158);
}

TEST(Noise, OtherMethodsHaveErrorsOfTheOrderOfTheUndampedStep) {
  int count = 0;
  const Langevin system = three_particles();
  const MatrixXd gibbs =
      0.7 * blocks(system.stiffness.inverse(), MatrixXd::Zero(3, 3), system.mass.cwiseInverse().asDiagonal());
  for (const MethodCase& method : method_cases()) {
    if (!method.method->langevin.takes_noise || is_closed_form(method) || method.properties.order > 6) continue;
    SCOPED_TRACE(method.name);
    ++count;
    const auto error = [&](double h) {
      return (stationary(system, method.method->langevin_scheme(method.options), h) - gibbs).norm();
    };
    const double h = method.properties.order > 4 ? 0.4 : 0.2;
    EXPECT_NEAR(std::log2(error(h) / error(0.5 * h)), method.properties.order, 0.15);
  }
  EXPECT_GT(count, 6);
}

TEST(Noise, SeveralTemperaturesAreThoseOfTheLangevinEquation) {
  // A chain between two baths. The midpoint rule has the covariance of the continuous equation there as well, at any h.
  Langevin chain{VectorXd{{1.0, 0.7, 1.4}}, MatrixXd{{2.2, -1.0, 0.0}, {-1.0, 1.9, -0.9}, {0.0, -0.9, 2.0}},
                 VectorXd{{0.8, 0.0, 1.7}}.asDiagonal(), VectorXd{{2.0, 0.0, 0.4}}};
  const MatrixXd inverse = chain.mass.cwiseInverse().asDiagonal();
  MatrixXd drift = MatrixXd::Zero(6, 6), diffusion = drift;
  drift.topRightCorner(3, 3).setIdentity();
  drift.bottomLeftCorner(3, 3) = -inverse * chain.stiffness;
  drift.bottomRightCorner(3, 3) = -inverse * chain.damping;
  diffusion.bottomRightCorner(3, 3) = 2.0 * inverse * chain.damping * chain.temperature.asDiagonal() * inverse;
  const MatrixXd continuous = solve_lyapunov(drift.transpose(), diffusion);
  for (const char* name : {"time-centred", "exact", "gauss(stages=1)"}) {
    const MethodCase& method = method_case(name);
    const MatrixXd actual = stationary(chain, method.method->langevin_scheme(method.options), 0.6);
    EXPECT_LT((actual - continuous).cwiseAbs().maxCoeff(), 1e-12) << name;
  }
}

TEST(Noise, DampingAndNoiseAloneAreExact) {
  const Langevin system = three_particles();
  Problem problem = system.problem();
  // A diffusion matrix that belongs to no temperature, so that the noise of the damping's modes is correlated.
  problem.add_noise(MatrixXd{{0.9, 0.2, -0.1}, {0.2, 0.4, 0.3}, {-0.1, 0.3, 1.1}});
  constexpr double t = 0.9;
  MatrixXd root(3, 3), decay(3, 3);
  {
    OrnsteinUhlenbeck flow(problem, t);
    EXPECT_TRUE(problem.is_damped());
    std::int64_t unit = -1;
    problem.noise()->set_source([&](std::int64_t, int, std::span<double> numbers) {
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i) == unit ? 1.0 : 0.0;
    });
    for (int i = 0; i < 3; ++i) {
      problem.p = VectorXd::Unit(3, i);
      flow.advance(0);
      decay.col(i) = problem.p;
    }
    for (unit = 0; unit < 3; ++unit) {
      problem.p.setZero();
      flow.advance(1);
      root.col(unit) = problem.p;
    }
  }
  EXPECT_EQ(problem.damping(), system.damping);
  const MatrixXd rate = system.damping * system.mass.cwiseInverse().asDiagonal();
  EXPECT_LT((decay - matrix_exponential(-t * rate)).norm(), 1e-14);
  // Boole's rule over 200 intervals is exact to 1e-13 here.
  MatrixXd integral = MatrixXd::Zero(3, 3);
  constexpr int intervals = 800;
  for (int i = 0; i <= intervals; ++i) {
    const MatrixXd flow = matrix_exponential(-(t * i / intervals) * rate);
    const double weight = i % intervals == 0 ? 7.0 : i % 4 == 0 ? 14.0 : i % 2 == 0 ? 12.0 : 32.0;
    integral += weight * 2.0 / 45.0 * t / intervals * flow * 2.0 * problem.noise()->diffusion() * flow.transpose();
  }
  EXPECT_LT((root * root.transpose() - integral).norm(), 1e-13);
}

// A stepper leaves the friction of the problem alone: one that is made while another lives does the same.
TEST(Noise, SteppersOfOneProblemHaveItsFriction) {
  const Langevin system = three_particles();
  for (const char* name : {"baoab", "gauss(stages=2)", "gjf"}) {
    SCOPED_TRACE(name);
    const MethodCase& method = method_case(name);
    const Scheme scheme = method.method->langevin_scheme(method.options);
    const auto momenta_with = [&](bool has_other) {
      Problem problem = system.problem();
      problem.p = VectorXd::LinSpaced(3, 1.0, 2.0);
      const std::unique_ptr<Stepper> other = has_other ? make_stepper(scheme, problem, 0.3) : nullptr;
      EXPECT_EQ(problem.damping(), system.damping);
      std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, 0.3);
      stepper = make_stepper(scheme, problem, 0.3);  // the new one is made before the old one ends
      EXPECT_FALSE(stepper->advance(5));
      return problem.p;
    };
    EXPECT_EQ(momenta_with(true), momenta_with(false));
  }
}

// Of many particles damping and noise are sparse, and the flow is that of the parts that are joined. With one
// temperature its momenta keep the covariance kT M. Each entry of E kT M E^T + R R^T is a sum of 40 rounded terms of at
// most kT M.
TEST(Noise, PartsOfManyParticlesFlowByThemselves) {
  constexpr int n = 20;
  const Langevin few = three_particles();
  const std::vector<int> joined = {2, 11, 17};
  Langevin system{VectorXd::LinSpaced(n, 0.6, 2.1), MatrixXd::Identity(n, n), MatrixXd::Zero(n, n),
                  VectorXd::Constant(n, 0.7)};
  for (int i = 1; i < n; i += 3) system.damping(i, i) = 0.1 * i;  // 1, 4, ..., 19: others have none
  system.damping(joined, joined) = few.damping;
  Problem problem = system.problem();
  problem.p = VectorXd::LinSpaced(n, -1.0, 2.0);
  VectorXd drag(n);
  problem.drag(problem.q, problem.p, drag);
  EXPECT_LT((drag + system.damping * problem.p).cwiseAbs().maxCoeff(), 1e-15);
  if (!test_world().is_root()) return;
  constexpr double t = 0.9;
  MatrixXd root = MatrixXd::Zero(n, n), decay(n, n);
  OrnsteinUhlenbeck flow(problem, t);
  std::size_t unit = n;
  problem.noise()->set_source([&](std::int64_t, int, std::span<double> numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i == unit ? 1.0 : 0.0;
  });
  for (int i = 0; i < n; ++i) {
    problem.p = VectorXd::Unit(n, i);
    flow.advance(0);
    decay.col(i) = problem.p;
  }
  for (unit = 0; unit < n; ++unit) {
    problem.p.setZero();
    flow.advance(1);
    root.col(static_cast<Eigen::Index>(unit)) = problem.p;
  }
  const MatrixXd rate = system.damping * system.mass.cwiseInverse().asDiagonal(),
                 equilibrium = 0.7 * system.mass.asDiagonal();
  EXPECT_LT((decay - matrix_exponential(-t * rate)).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_LT((decay * equilibrium * decay.transpose() + root * root.transpose() - equilibrium).cwiseAbs().maxCoeff(),
            1e-14);
}

TEST(Noise, LedgerCloses) {
  constexpr int steps = 3000;
  constexpr double h = 0.2;
  const Langevin system = three_particles();
  for (const MethodCase& method : method_cases()) {
    if (!method.method->langevin.takes_noise) continue;
    SCOPED_TRACE(method.name);
    Problem problem = system.problem();
    problem.prepare(17, 4);
    const auto stepper = make_stepper(method.method->langevin_scheme(method.options), problem, h);
    const bool is_gamma = method.method->entry.name == "gamma";
    const double eta = is_gamma ? (0.5 - method.options.number("gamma")) * h : 0.0;
    // The gamma family conserves H + eta v.K q in a step without damping and noise; its ledger varies by the second
    // term only.
    double worst = 0.0, heat = 0.0;
    for (int step = 0; step < steps; ++step) {
      const double before = problem.dissipated;
      stepper->advance(1);
      heat += std::abs(problem.dissipated - before);
      const EnergyLedger ledger = problem.energies();
      if (!test_world().is_root()) continue;
      const double further = eta * problem.velocity().dot(system.stiffness * problem.q);
      worst = std::max(worst, std::abs(ledger.total() + further));
    }
    if (!test_world().is_root()) continue;
    EXPECT_GT(heat, 100.0);
    if (is_gamma || method.properties.quadratic_invariants) {
      // One rounding error of the sum per step.
      EXPECT_LT(worst, 2.3e-16 * steps * heat);
    } else {
      // h omega is 0.3: the energy error of the undamped steps is below its square times the energy exchanged.
      EXPECT_LT(worst, 0.01 * heat);
    }
  }
}

/// (q^2 - 1)^2 / 2.
class DoubleWell final : public Potential {
 public:
  double value(const VectorXd& q) const override { return 0.5 * std::pow(q[0] * q[0] - 1.0, 2); }
  void gradient(const VectorXd& q, VectorXd& gradient) const override {
    gradient = 2.0 * (q.array().square() - 1.0) * q.array();
  }
  void hessian(const VectorXd& q, MatrixXd& hessian) const override {
    hessian = MatrixXd::Constant(1, 1, 6.0 * q[0] * q[0] - 2.0);
  }
};

TEST(MpiNoise, IsTheInitialStateOfAWarmLine) {
  constexpr int sites = 299, steps = 2 * (sites + 1);
  constexpr double h = 0.07, damping = 0.6;
  RandomNumbers random(7);
  Scene closed;
  closed.system = random_particles(1, 1, random);
  closed.system.potential = std::make_shared<DoubleWell>();
  closed.lines = {{.constants = {.mass = damping * h, .stiffness = damping / h}, .sites = sites}};
  PhasePoint start = random_point(closed.size(), 0.4, random);
  start.u[0] = 0.0;
  start.p *= damping * h;
  start.p[0] = 0.8;
  Problem line_problem = make_problem(closed, test_world());
  set_state(line_problem, start);

  Scene open = closed;
  open.lines.clear();
  open.damping = MatrixXd::Constant(1, 1, damping);
  Problem noise_problem = make_problem(open, test_world());
  set_state(noise_problem, {start.u.head(1), start.p.head(1)});
  noise_problem.add_noise(MatrixXd::Constant(1, 1, 0.5 / h));  // an impulse is the number drawn for it
  const VectorXd mass = closed.system.mass;
  noise_problem.noise()->set_source([&](std::int64_t k, int, std::span<double> numbers) {
    const auto displacement = [&](std::int64_t j) { return j > sites ? 0.0 : start.u[j]; };
    const auto momentum = [&](std::int64_t j) { return j == 0 ? damping * h * start.p[0] / mass[0] : start.p[j]; };
    // First the incoming wave, then its reflection from the fixed end.
    const std::int64_t j = k <= sites ? k : 2 * sites + 1 - k;
    numbers[0] = damping * (displacement(j + 1) - displacement(j));
    if (k < sites) numbers[0] += momentum(j + 1);
    if (k > sites) numbers[0] -= momentum(j);
  });
  Section options;
  options.set("gamma", 0.0, {});
  const Method& gamma = *methods().find("gamma");
  const auto line_stepper = make_stepper(gamma.scheme(options), line_problem, h);
  const auto noise_stepper = make_stepper(gamma.langevin_scheme(options), noise_problem, h);
  double worst = 0.0, max_distance = 0.0;
  for (int step = 0; step < steps; ++step) {
    line_stepper->advance(1);
    noise_stepper->advance(1);
    worst = std::max(worst, std::abs(line_problem.q[0] - noise_problem.q[0]));
    max_distance = std::max(max_distance, std::abs(line_problem.q[0] - closed.system.q0[0]));
  }
  if (!test_world().is_root()) return;
  EXPECT_GT(max_distance, 0.3);
  // One rounding error of sites of that size per step, in a motion that is not chaotic.
  EXPECT_LT(worst, 1e-12);
}

}  // namespace
}  // namespace bathline::noise_test
