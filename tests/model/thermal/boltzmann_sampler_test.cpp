// Positions of the Gibbs distribution, by each method, against quadratures and transfer matrices.
#include "model/thermal/boltzmann_sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <memory>
#include <vector>

#include "model/thermal/thermal_start.hpp"

namespace bathline::boltzmann_sampler_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::HasSubstr;

ParticleSystem system_of(std::shared_ptr<const Potential> potential, const VectorXd& q0) {
  ParticleSystem system;
  system.particles = static_cast<int>(q0.size());
  system.mass = VectorXd::LinSpaced(q0.size(), 1.0, 1.5);
  system.potential = std::move(potential);
  system.q0 = q0;
  system.v0 = VectorXd::Zero(q0.size());
  return system;
}

/// sum_i a (q_i^2 - 1)^2 / 4 + c (q_i - q_i+1)^2 / 2.
class CoupledWells final : public Potential {
 public:
  CoupledWells(double a, double c) : a_(a), c_(c) {}
  double value(const VectorXd& q) const override {
    double sum = 0.0;
    for (Eigen::Index i = 0; i < q.size(); ++i) {
      sum += 0.25 * a_ * std::pow(q[i] * q[i] - 1.0, 2);
      if (i > 0) sum += 0.5 * c_ * std::pow(q[i] - q[i - 1], 2);
    }
    return sum;
  }
  void gradient(const VectorXd& q, VectorXd& gradient) const override {
    gradient = a_ * q.array() * (q.array().square() - 1.0);
    for (Eigen::Index i = 1; i < q.size(); ++i) {
      gradient[i] += c_ * (q[i] - q[i - 1]);
      gradient[i - 1] -= c_ * (q[i] - q[i - 1]);
    }
  }
  void hessian(const VectorXd& q, MatrixXd& hessian) const override {
    hessian = (a_ * (3.0 * q.array().square() - 1.0)).matrix().asDiagonal();
    for (Eigen::Index i = 1; i < q.size(); ++i) {
      hessian(i, i) += c_;
      hessian(i - 1, i - 1) += c_;
      hessian(i, i - 1) = hessian(i - 1, i) = -c_;
    }
  }

 private:
  double a_, c_;
};

/// The potential of a bond that breaks.
class Bond final : public Potential {
 public:
  double value(const VectorXd& q) const override { return 100.0 * std::pow(1.0 - std::exp(-q[0]), 2); }
  void gradient(const VectorXd& q, VectorXd& gradient) const override {
    gradient = VectorXd::Constant(1, 200.0 * (1.0 - std::exp(-q[0])) * std::exp(-q[0]));
  }
  void hessian(const VectorXd&, MatrixXd& hessian) const override { hessian = MatrixXd::Constant(1, 1, 200.0); }
};

struct Mean {
  double mean = 0.0, error = 0.0;
};
template <class Function>
Mean mean_of(const BoltzmannSampler& positions, int count, Function function) {
  double sum = 0.0, squares = 0.0;
  for (int i = 0; i < count; ++i) {
    const double value = function(positions.draw({3, static_cast<std::uint32_t>(i), 11}));
    sum += value / count;
    squares += value * value / count;
  }
  return {sum, std::sqrt((squares - sum * sum) / (count - 1))};
}

TEST(BoltzmannSampler, IsTheExactGaussianOfAQuadraticPotential) {
  const MatrixXd stiffness{{2.0, -0.6}, {-0.6, 0.9}};
  std::string unsupported_reason;
  const auto positions = make_boltzmann_sampler(
      system_of(std::make_shared<QuadraticPotential>(stiffness), VectorXd{{5.0, 1.0}}), 0.4, unsupported_reason);
  ASSERT_TRUE(positions) << unsupported_reason;
  const MatrixXd expected = 0.4 * stiffness.inverse();
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j <= i; ++j) {
      const Mean moment = mean_of(*positions, 40000, [&](const VectorXd& q) { return q[i] * q[j]; });
      EXPECT_NEAR(moment.mean, expected(i, j), 4.0 * moment.error);
    }
  }
}

TEST(BoltzmannSampler, FollowsTheDistributionOfOneCoordinate) {
  const CoupledWells wells(4.0, 0.0);
  const double kt = 0.35;
  std::string unsupported_reason;
  const auto positions = make_boltzmann_sampler(
      system_of(std::make_shared<CoupledWells>(wells), VectorXd::Constant(1, 0.9)), kt, unsupported_reason);
  ASSERT_TRUE(positions) << unsupported_reason;
  // Kolmogorov's test: the largest distance of the distributions is below 1.95/sqrt(n) for all but one seed in a
  // thousand.
  constexpr int count = 20000;
  std::vector<double> drawn;
  for (int i = 0; i < count; ++i) drawn.push_back(positions->draw({3, static_cast<std::uint32_t>(i), 11})[0]);
  std::sort(drawn.begin(), drawn.end());
  constexpr int cells = 20000;
  const auto density = [&](double x) { return std::exp(-wells.value(VectorXd::Constant(1, x)) / kt); };
  std::vector<double> sums = {0.0};
  for (int i = 0; i < cells; ++i) sums.push_back(sums.back() + density(-3.0 + 6.0 * (i + 0.5) / cells));
  double worst = 0.0;
  for (int i = 0; i < count; ++i) {
    const double position = (drawn[static_cast<std::size_t>(i)] + 3.0) / 6.0 * cells;
    const auto cell = static_cast<std::size_t>(position);
    const double distribution =
        (sums[cell] + (position - static_cast<double>(cell)) * (sums[cell + 1] - sums[cell])) / sums.back();
    worst = std::max(worst, std::abs(distribution - (i + 0.5) / count));
  }
  EXPECT_LT(worst, 1.95 / std::sqrt(count));
}

TEST(BoltzmannSampler, ReachesAllWellsFromOne) {
  const double kt = 1.0, a = 1.0, c = 1.0;
  std::string unsupported_reason;
  const auto positions = make_boltzmann_sampler(system_of(std::make_shared<CoupledWells>(a, c), VectorXd::Ones(5)), kt,
                                                unsupported_reason);
  ASSERT_TRUE(positions) << unsupported_reason;
  EXPECT_THAT(positions->description(), HasSubstr("split-R"));
  // <q_1^2> and <q_3^2> by transfer matrices on a grid.
  constexpr int points = 241;
  const VectorXd x = VectorXd::LinSpaced(points, -4.0, 4.0);
  MatrixXd transfer(points, points);
  for (int i = 0; i < points; ++i) {
    for (int j = 0; j < points; ++j) {
      const double own = 0.125 * a * (std::pow(x[i] * x[i] - 1.0, 2) + std::pow(x[j] * x[j] - 1.0, 2));
      transfer(i, j) = std::exp(-(own + 0.5 * c * std::pow(x[i] - x[j], 2)) / kt);
    }
  }
  const VectorXd end = (-0.125 * a / kt * (x.array().square() - 1.0).square()).exp();
  const auto square = [&](int site) {
    VectorXd left = end, right = end;
    for (int i = 0; i < site; ++i) left = transfer.transpose() * left;
    for (int i = site; i < 4; ++i) right = transfer * right;
    const VectorXd weight = left.cwiseProduct(right);
    return weight.dot(x.cwiseAbs2()) / weight.sum();
  };
  for (const int site : {0, 2}) {
    const Mean mean = mean_of(*positions, 4000, [&](const VectorXd& q) { return q[site] * q[site]; });
    EXPECT_NEAR(mean.mean, square(site), 4.0 * mean.error) << site;
  }
  const Mean centre = mean_of(*positions, 4000, [&](const VectorXd& q) { return q.mean(); });
  EXPECT_NEAR(centre.mean, 0.0, 4.0 * centre.error);
}

TEST(BoltzmannSampler, RefusesUnboundPotentialsAndHighBarriers) {
  const auto unsupported_reason_of = [](std::shared_ptr<const Potential> potential, const VectorXd& q0, double kt) {
    std::string unsupported_reason;
    EXPECT_FALSE(make_boltzmann_sampler(system_of(std::move(potential), q0), kt, unsupported_reason));
    return unsupported_reason;
  };
  EXPECT_THAT(unsupported_reason_of(std::make_shared<Bond>(), VectorXd::Zero(1), 1.0), HasSubstr("does not bind"));
  // The centre of mass is free.
  EXPECT_THAT(unsupported_reason_of(std::make_shared<QuadraticPotential>(MatrixXd{{1.0, -1.0}, {-1.0, 1.0}}),
                                    VectorXd::Zero(2), 1.0),
              HasSubstr("does not bind"));
  // A barrier of 100 kT.
  EXPECT_THAT(unsupported_reason_of(std::make_shared<CoupledWells>(4.0, 0.5), VectorXd::Ones(2), 0.01),
              HasSubstr("split-R"));
}

TEST(ThermalStart, DrawsPositionsAndMomentaOrMomentaAlone) {
  const ParticleSystem wells = system_of(std::make_shared<CoupledWells>(4.0, 0.0), VectorXd::Zero(1));
  ParticleSystem thermal = wells;
  thermal.start = ParticleSystem::Start::thermal;
  std::string unsupported_reason;
  const auto start = make_thermal_start(thermal, VectorXd::Constant(1, 0.5), unsupported_reason);
  ASSERT_TRUE(start) << unsupported_reason;
  const VectorXd mass = VectorXd::Ones(1);
  VectorXd q = VectorXd::Zero(1), p = q, other_q = q, other_p = q;
  start->draw(1, 2, mass, q, p);
  start->draw(1, 3, mass, other_q, other_p);
  EXPECT_NE(q[0], 0.0);
  EXPECT_NE(q[0], other_q[0]);
  EXPECT_NE(p[0], other_p[0]);
  thermal.start = ParticleSystem::Start::thermal_momenta;
  other_q.setZero();
  make_thermal_start(thermal, VectorXd::Constant(1, 0.5), unsupported_reason)->draw(1, 2, mass, other_q, other_p);
  EXPECT_EQ(other_q[0], 0.0);
  EXPECT_EQ(other_p[0], p[0]);
}

}  // namespace
}  // namespace bathline::boltzmann_sampler_test
