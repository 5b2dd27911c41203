// Minimisers and least squares against problems with known answers.
#include "solve/minimiser.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <vector>

#include "petsc_options.hpp"
#include "petsc_world.hpp"

namespace bathline::minimiser_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd vector_of(std::initializer_list<double> values) {
  return Eigen::Map<const VectorXd>(values.begin(), static_cast<Eigen::Index>(values.size()));
}

/// (1 - x)^2 + 100 (y - x^2)^2
struct Rosenbrock final : ConstrainedFunction {
  VectorXd at;
  double value(const VectorXd& x, VectorXd&) override {
    at = x;
    return std::pow(1.0 - x[0], 2) + 100.0 * std::pow(x[1] - x[0] * x[0], 2);
  }
  void gradient(const VectorXd&, VectorXd& slopes) override {
    const double s = at[1] - at[0] * at[0];
    slopes = vector_of({-2.0 * (1.0 - at[0]) - 400.0 * at[0] * s, 200.0 * s});
  }
};

TEST(Minimiser, FindsTheMinimumOfRosenbrocksFunctionFreeAndBounded) {
  Rosenbrock function;
  const SearchReport free = minimise(function, {.x = vector_of({-1.2, 1.0})});
  EXPECT_TRUE(free.converged) << free.reason;
  EXPECT_NEAR((free.point.x - vector_of({1.0, 1.0})).norm(), 0.0, 1e-7);
  EXPECT_GT(free.iterations, 5);
  EXPECT_GE(free.evaluations, free.iterations);
  // With x <= 1/2 the best y is 1/4.
  const SearchReport bounded = minimise(function, {.x = vector_of({-1.2, 1.0})},
                                        {.lower = vector_of({-2.0, -2.0}), .upper = vector_of({0.5, INFINITY})});
  EXPECT_TRUE(bounded.converged) << bounded.reason;
  EXPECT_EQ(bounded.point.x[0], 0.5);
  EXPECT_NEAR(bounded.point.x[1], 0.25, 1e-9);
  EXPECT_NEAR(bounded.value, 0.25, 1e-12);
}

TEST(Minimiser, ReportsEveryIteration) {
  Rosenbrock function;
  std::vector<double> values;
  const auto progress = [&](const SearchReport& report) {
    values.push_back(report.value);
    EXPECT_EQ(report.iterations, static_cast<int>(values.size()) - 1);
  };
  const SearchReport report = minimise(function, {.x = vector_of({-1.2, 1.0})}, {}, {}, progress);
  EXPECT_EQ(report.iterations, static_cast<int>(values.size()) - 1);
  EXPECT_EQ(values.front(), 24.199999999999996);
  for (std::size_t i = 1; i < values.size(); ++i) EXPECT_LE(values[i], values[i - 1]);
  EXPECT_EQ(report.value, values.back());
}

/// |x|^2/2 - b.x with A x = d.
struct Quadratic final : ConstrainedFunction {
  VectorXd b = vector_of({1.0, -2.0, 3.0, 0.5}), d = vector_of({1.0, -1.0}), at = {};
  MatrixXd a = (MatrixXd(2, 4) << 1.0, 1.0, 0.0, 2.0, 0.0, 1.0, -1.0, 0.5).finished();
  double value(const VectorXd& x, VectorXd& constraints) override {
    at = x;
    constraints = a * x - d;
    return 0.5 * x.squaredNorm() - b.dot(x);
  }
  void gradient(const VectorXd& weights, VectorXd& slopes) override { slopes = at - b + a.transpose() * weights; }
};

TEST(Minimiser, FindsMultipliersOfLinearConstraints) {
  Quadratic function;
  MatrixXd kkt = MatrixXd::Zero(6, 6);
  kkt.topLeftCorner(4, 4).setIdentity();
  kkt.bottomLeftCorner(2, 4) = function.a;
  kkt.topRightCorner(4, 2) = function.a.transpose();
  const VectorXd solution = kkt.lu().solve((VectorXd(6) << function.b, function.d).finished());
  const SearchReport report = minimise(function, {.x = VectorXd::Zero(4), .multipliers = VectorXd::Zero(2)});
  ASSERT_TRUE(report.converged) << report.reason << report.residual << " " << report.infeasibility;
  EXPECT_LE(report.infeasibility, 1e-10);
  EXPECT_NEAR((report.point.x - solution.head(4)).norm(), 0.0, 1e-7);
  EXPECT_NEAR((report.point.multipliers - solution.tail(2)).norm(), 0.0, 1e-7);
}

/// The pendulum q'' = -sin q - q'/5 + u from rest below to rest above in 5 with the least int u^2/2, by
/// kick-drift-kick with the damping of the velocity before (first half) and after the kick; the unknowns are
/// sqrt(h w_k) u_k. Its adjoint is written out.
struct Pendulum final : ConstrainedFunction {
  static constexpr int steps = 200;
  static constexpr double h = 5.0 / steps, damping = 0.2;
  std::vector<double> angles;  // at the kicks
  VectorXd at;

  /// u at a kick, of half the weight at the ends.
  static double scale(int kick) { return std::sqrt(kick == 0 || kick == steps ? 0.5 * h : h); }
  double value(const VectorXd& x, VectorXd& constraints) override {
    at = x;
    angles.clear();
    double q = 0.0, p = 0.0;
    for (int kick = 0; kick <= steps; ++kick) {
      angles.push_back(q);
      const double weight = scale(kick) * scale(kick), u = x[kick] / scale(kick);
      // Implicit midpoint of the damping within a kick.
      const double half = 0.5 * weight * damping;
      p = ((1.0 - half) * p + weight * (u - std::sin(q))) / (1.0 + half);
      if (kick < steps) q += h * p;
    }
    constraints = vector_of({q - std::numbers::pi, p});
    return 0.5 * x.squaredNorm();
  }
  void gradient(const VectorXd& weights, VectorXd& slopes) override {
    slopes = at;
    double alpha = weights[0], beta = weights[1];
    for (int kick = steps; kick >= 0; --kick) {
      if (kick < steps) beta += h * alpha;
      const double weight = scale(kick) * scale(kick), half = 0.5 * weight * damping, mu = beta / (1.0 + half);
      slopes[kick] += weight / scale(kick) * mu;
      alpha -= weight * std::cos(angles[static_cast<std::size_t>(kick)]) * mu;
      beta = (1.0 - half) * mu;
    }
  }
};

// The references of the continuous problem are by shooting; the scheme's error at 160 steps is 1e-4, of order 2.
TEST(Minimiser, SwingsUpAPendulumAtTheLeastEffortFreeAndBounded) {
  Pendulum function;
  VectorXd start(Pendulum::steps + 1);
  for (int kick = 0; kick <= Pendulum::steps; ++kick)
    start[kick] = 0.5 * Pendulum::scale(kick) * std::cos(Pendulum::h * kick);
  const auto solve = [&](double largest) {
    VectorXd bound(start.size());
    for (int kick = 0; kick <= Pendulum::steps; ++kick) bound[kick] = largest * Pendulum::scale(kick);
    return minimise(function, {.x = start, .multipliers = VectorXd::Zero(2)}, {.lower = -bound, .upper = bound});
  };
  const SearchReport free = solve(100.0), bounded = solve(1.1);
  for (const SearchReport& report : {free, bounded}) {
    EXPECT_TRUE(report.converged) << report.reason << report.residual << " " << report.infeasibility;
    EXPECT_LT(report.evaluations, 1500);
    RecordProperty("evaluations", report.evaluations);
  }
  EXPECT_NEAR(free.value, 1.664126143333, 1.2e-4);
  EXPECT_NEAR(free.point.x[Pendulum::steps / 2] / Pendulum::scale(1), 0.718700542, 1e-3);
  EXPECT_NEAR(bounded.value, 1.7085462930, 1.2e-4);
}

/// x - log x, which has no value left of 0.
struct Logarithm final : ConstrainedFunction {
  double at = 0.0;
  int failures = 0;
  double value(const VectorXd& x, VectorXd&) override {
    at = x[0];
    failures += at <= 0.0 ? 1 : 0;
    return at > 0.0 ? at - std::log(at) : std::nan("");
  }
  void gradient(const VectorXd&, VectorXd& slopes) override { slopes[0] = 1.0 - 1.0 / at; }
};

TEST(Minimiser, TreatsFailedEvaluationsAsPointsToAvoid) {
  Logarithm function;
  const SearchReport failed = minimise(function, {.x = vector_of({-1.0})});
  EXPECT_FALSE(failed.converged);
  EXPECT_EQ(failed.evaluations, 1);
  EXPECT_NE(failed.reason, "");
  EXPECT_EQ(failed.point.x[0], -1.0);
  const SearchReport found = minimise(function, {.x = vector_of({0.3})});
  EXPECT_TRUE(found.converged) << found.reason;
  EXPECT_NEAR(found.point.x[0], 1.0, 1e-8);
}

TEST(Minimiser, ThrowsWhatItsFunctionsThrow) {
  struct Thrown {};
  struct Thrower final : ConstrainedFunction {
    double value(const VectorXd&, VectorXd&) override { throw Thrown(); }
    void gradient(const VectorXd&, VectorXd&) override {}
  } thrower;
  Rosenbrock function;
  EXPECT_THROW(minimise(thrower, {.x = VectorXd::Zero(1)}), Thrown);
  EXPECT_THROW(minimise(function, {.x = VectorXd::Zero(2)}, {}, {}, [](const SearchReport&) { throw Thrown(); }),
               Thrown);
  EXPECT_THROW(
      least_squares([](const VectorXd&, VectorXd&, MatrixXd&) -> bool { throw Thrown(); }, 1, VectorXd::Zero(1)),
      Thrown);
}

TEST(Minimiser, PetscsOptionsReplaceLimitsAndMethods) {
  Rosenbrock function;
  {
    const PetscOptionsScope options(PetscChoice{{"-tao_max_funcs", "4"}});
    const SearchReport report = minimise(function, {.x = vector_of({-1.2, 1.0})});
    EXPECT_FALSE(report.converged);
    EXPECT_LE(report.evaluations, 6);
    EXPECT_EQ(report.reason, "DIVERGED_MAXFCN");
  }
  const int usual = minimise(function, {.x = vector_of({-1.2, 1.0})}).evaluations;
  const PetscOptionsScope options(PetscChoice{{"-tao_type", "bncg"}});
  const SearchReport report = minimise(function, {.x = vector_of({-1.2, 1.0})});
  EXPECT_TRUE(report.converged);
  EXPECT_NE(report.evaluations, usual);
}

// Of a exp(-b t) + noise; the reference is Gauss and Newton's method from the truth.
struct Decay {
  std::vector<double> times, data;
  Decay() {
    for (int i = 0; i < 20; ++i) {
      times.push_back(0.2 * i);
      data.push_back(2.0 * std::exp(-0.7 * 0.2 * i) + 0.05 * std::sin(9.0 * i));
    }
  }
  bool operator()(const VectorXd& x, VectorXd& residuals, MatrixXd& jacobian) const {
    for (int i = 0; i < 20; ++i) {
      const double t = times[static_cast<std::size_t>(i)], factor = std::exp(-x[1] * t);
      residuals[i] = x[0] * factor - data[static_cast<std::size_t>(i)];
      jacobian.row(i) << factor, -x[0] * t * factor;
    }
    return true;
  }
};

TEST(Minimiser, FitsByLeastSquaresFreeAndBounded) {
  const Decay decay;
  VectorXd truth = vector_of({2.0, 0.7}), residuals(20);
  MatrixXd jacobian(20, 2);
  for (int i = 0; i < 20; ++i) {
    decay(truth, residuals, jacobian);
    truth -= (jacobian.transpose() * jacobian).ldlt().solve(jacobian.transpose() * residuals);
  }
  int calls = 0;
  const SearchReport fit =
      least_squares(decay, 20, vector_of({0.5, 2.0}), {}, {.residual = 1e-10}, [&](const SearchReport&) { ++calls; });
  EXPECT_TRUE(fit.converged) << fit.reason;
  EXPECT_NEAR((fit.point.x - truth).norm(), 0.0, 1e-8);
  EXPECT_NEAR(fit.value, 0.5 * residuals.squaredNorm(), 1e-12);
  EXPECT_GT(calls, 2);
  EXPECT_LT(fit.evaluations, 80);
  EXPECT_LE(fit.residual, 1e-10);
  // A bound on b that holds: a is the linear fit.
  const SearchReport bounded =
      least_squares(decay, 20, vector_of({0.5, 0.2}), {.lower = vector_of({0.0, 0.0}), .upper = vector_of({9.0, 0.5})});
  EXPECT_TRUE(bounded.converged) << bounded.reason;
  EXPECT_NEAR(bounded.point.x[1], 0.5, 1e-12);
  decay(vector_of({0.0, 0.5}), residuals, jacobian);
  EXPECT_NEAR(bounded.point.x[0], -jacobian.col(0).dot(residuals) / jacobian.col(0).squaredNorm(), 1e-7);
}

}  // namespace
}  // namespace bathline::minimiser_test
