// On the characteristic grid the closed explicit scheme and the reduced one agree to round-off for 2 (N + 1) steps, and
// not one step longer (limebeer2020, Theorem IV.1; farshi2018, eq. (65)); a matched end never echoes.
#include <gtest/gtest.h>

#include <algorithm>

#include "method_cases.hpp"
#include "quartic_potential.hpp"
#include "simulation.hpp"
#include "test_world.hpp"

namespace bathline::discrete_reduction_test {
namespace {

struct Pair {
  Scene closed, open;
  double h = 0.0;
};

/// A line on the characteristic grid, D = sqrt(lambda M) and h sqrt(lambda/M) = 1, and the damper to which it is
/// equivalent.
Pair make_pair(const ParticleSystem& system, const std::vector<Attachment::Weight>& weights, FarEnd far_end,
               std::int64_t sites, double damping, double h) {
  Pair pair;
  pair.h = h;
  pair.closed.system = pair.open.system = system;
  pair.closed.lines = {
      {weights, {.mass = damping * h, .stiffness = damping / h, .far_end = far_end, .dashpot = 0.0}, sites}};
  pair.open.damping = Eigen::MatrixXd::Zero(system.size(), system.size());
  for (const Attachment::Weight& v : weights) {
    for (const Attachment::Weight& w : weights) {
      for (int axis = 0; axis < system.axes; ++axis) {
        pair.open.damping(v.particle * system.axes + axis, w.particle * system.axes + axis) +=
            damping * v.weight * w.weight;
      }
    }
  }
  return pair;
}

/// The largest difference of a coordinate step by step, relative to the largest coordinate.
std::vector<double> differences(const Pair& pair, std::int64_t steps) {
  const Scheme& scheme = method_case("gamma(gamma=0.000000)").scheme;
  Simulation closed(pair.closed, scheme, pair.h), open(pair.open, scheme, pair.h);
  std::vector<double> result;
  double amplitude = open.q().cwiseAbs().maxCoeff();
  for (std::int64_t k = 0; k < steps; ++k) {
    closed.advance(1);
    open.advance(1);
    amplitude = std::max(amplitude, open.q().cwiseAbs().maxCoeff());
    result.push_back((closed.q() - open.q()).cwiseAbs().maxCoeff() / amplitude);
  }
  return result;
}

void expect_equal_until(const Pair& pair, std::int64_t last_equal) {
  const std::vector<double> difference = differences(pair, last_equal + 1);
  EXPECT_LT(*std::max_element(difference.begin(), difference.end() - 1),
            1e-13 * (10.0 + static_cast<double>(last_equal)));
  EXPECT_GT(difference.back(), 1e-6);
}

std::vector<std::pair<std::string, Pair>> pairs(FarEnd far_end, std::int64_t sites, RandomNumbers& random) {
  const double h = random.uniform(0.02, 0.1), damping = random.uniform(0.5, 2.0);
  std::vector<std::pair<std::string, Pair>> all;
  ParticleSystem single = random_particles(1, 1, random);
  single.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Constant(1, 1, random.uniform(0.5, 2.0)));
  all.emplace_back("single oscillator", make_pair(single, {{0, 1.0}}, far_end, sites, damping, h));
  ParticleSystem dual = random_particles(2, 1, random);
  const double first = random.uniform(0.5, 2.0), second = random.uniform(0.5, 2.0);
  dual.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd{{first, 0.0}, {0.0, second}});
  all.emplace_back("dual oscillator", make_pair(dual, {{0, 1.0}, {1, -1.0}}, far_end, sites, damping, h));
  ParticleSystem nonlinear = random_particles(2, 2, random);
  const Eigen::MatrixXd half = random_matrix(4, 4, random);
  nonlinear.potential = std::make_shared<QuarticPotential>(half * half.transpose(), 1.5);
  all.emplace_back("planar anharmonic particles", make_pair(nonlinear, {{1, 1.0}}, far_end, sites, damping, h));
  return all;
}

TEST(MpiDiscreteReduction, IsExactUntilTheEchoAndNoLonger) {
  RandomNumbers random(91);
  for (const std::int64_t sites : {1, 2, 30, 100, 211}) {
    for (const auto& [name, pair] : pairs(FarEnd::fixed, sites, random)) {
      SCOPED_TRACE(testing::Message() << name << ", " << sites << " sites");
      expect_equal_until(pair, 2 * (sites + 1));
    }
  }
}

// A wave is reflected at a free end half a site earlier than at a wall, so it is back one step earlier.
TEST(MpiDiscreteReduction, AFreeEndEchoesOneStepEarlier) {
  RandomNumbers random(92);
  for (const std::int64_t sites : {1, 2, 100}) {
    for (const auto& [name, pair] : pairs(FarEnd::free, sites, random)) {
      SCOPED_TRACE(testing::Message() << name << ", " << sites << " sites");
      expect_equal_until(pair, 2 * sites + 1);
    }
  }
}

TEST(MpiDiscreteReduction, AMatchedEndNeverEchoes) {
  RandomNumbers random(93);
  for (const std::int64_t sites : {1, 2, 100}) {
    for (const auto& [name, pair] : pairs(FarEnd::matched, sites, random)) {
      SCOPED_TRACE(testing::Message() << name << ", " << sites << " sites");
      const std::vector<double> difference = differences(pair, 12 * (sites + 1));
      EXPECT_LT(*std::max_element(difference.begin(), difference.end()),
                1e-13 * (10.0 + 12.0 * static_cast<double>(sites)));
    }
  }
}

}  // namespace
}  // namespace bathline::discrete_reduction_test
