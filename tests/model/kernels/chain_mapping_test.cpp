// Stars and chains: equal continued fractions, Lanczos vectors, chains known by formula, and the inverse mapping.
#include "model/kernels/chain_mapping.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "random_numbers.hpp"

namespace bathline::star_and_chain_test {
namespace {

using Oscillators = std::vector<BathOscillator>;

Oscillators random_star(int size, double decades, std::uint64_t seed) {
  RandomNumbers random(seed);
  Oscillators star;
  for (int j = 0; j < size; ++j) {
    star.push_back({7.0 * std::pow(10.0, 0.5 * decades * (random.uniform() - 1.0)), 1.5 + random.uniform()});
  }
  std::sort(star.begin(), star.end(), [](const auto& a, const auto& b) { return a.frequency < b.frequency; });
  return star;
}

/// Force on a head per displacement that grows as exp(sqrt(z) t), evaluated from the far end to the head.
long double by_continued_fraction(const std::vector<LineSite>& chain, long double z) {
  long double rest_of_chain = 0.0L;
  for (std::size_t j = chain.size(); j-- > 0;) {
    rest_of_chain = 1.0L / (1.0L / chain[j].stiffness + 1.0L / (chain[j].mass * z + rest_of_chain));
  }
  return rest_of_chain;
}

long double by_oscillators(const Oscillators& star, long double z) {
  long double sum = 0.0L;
  for (const BathOscillator& oscillator : star) {
    sum += oscillator.stiffness * z / (z + static_cast<long double>(oscillator.frequency) * oscillator.frequency);
  }
  return sum;
}

TEST(StarAndChain, AreTheSameToTheirHead) {
  for (const int size : {1, 2, 3, 8, 41}) {
    const Oscillators star = random_star(size, 2.0, 5);
    const std::vector<LineSite> chain = chain_from_star(star, size);
    ASSERT_EQ(static_cast<int>(chain.size()), size);
    for (const long double z : {1e-3L, 0.3L, 5.0L, 60.0L, 1e4L}) {
      const auto expected = static_cast<double>(by_oscillators(star, z));
      EXPECT_NEAR(static_cast<double>(by_continued_fraction(chain, z)), expected, 1e-13 * expected) << size;
    }
  }
}

// The start vector w sqrt(k) and the matrix w^2, every vector made orthogonal twice to all before: the matrix of the
// chain in sqrt(M) times its displacements, (lambda_j + lambda_{j+1})/M_j on and -lambda_{j+1}/sqrt(M_j M_{j+1}) beside
// the diagonal, its norm that of lambda_1/sqrt(M_1).
TEST(StarAndChain, ChainIsThatOfLanczos) {
  constexpr int size = 120;
  const Oscillators star = random_star(size, 1.0, 6);
  const std::vector<LineSite> chain = chain_from_star(star, size);
  Eigen::VectorXd squares(size), v(size);
  for (int j = 0; j < size; ++j) {
    squares[j] = star[j].frequency * star[j].frequency;
    v[j] = star[j].frequency * std::sqrt(star[j].stiffness);
  }
  EXPECT_NEAR(chain[0].stiffness / std::sqrt(chain[0].mass), v.norm(), 1e-13 * v.norm());
  v.normalize();
  Eigen::MatrixXd basis(size, size);
  for (int k = 0; k + 1 < size; ++k) {
    basis.col(k) = v;
    Eigen::VectorXd next = squares.cwiseProduct(v);
    const double diagonal = v.dot(next);
    EXPECT_NEAR((chain[k].stiffness + chain[k + 1].stiffness) / chain[k].mass, diagonal, 1e-11 * diagonal) << k;
    for (int pass = 0; pass < 2; ++pass) {
      next -= basis.leftCols(k + 1) * (basis.leftCols(k + 1).transpose() * next).eval();
    }
    EXPECT_NEAR(chain[k + 1].stiffness / std::sqrt(chain[k].mass * chain[k + 1].mass), next.norm(),
                1e-11 * squares.maxCoeff())
        << k;
    v = next.normalized();
  }
}

// n equal sites between a head and a free end have w_j = 2 sqrt(lambda/M) sin((2 j - 1) pi / (4 n + 2)), and the
// stiffness of each is (4 lambda / (2 n + 1)) cos^2 of that angle.
TEST(StarAndChain, EqualSitesHaveTheirNormalModes) {
  constexpr int sites = 60;
  constexpr double mass = 0.3, stiffness = 2.4;
  const std::vector<LineSite> chain(sites, {mass, stiffness});
  const Oscillators star = star_from_chain(chain);
  Oscillators expected;
  for (int j = 1; j <= sites; ++j) {
    const double angle = (2 * j - 1) * std::numbers::pi / (4 * sites + 2);
    expected.push_back({2.0 * std::sqrt(stiffness / mass) * std::sin(angle),
                        4.0 * stiffness / (2 * sites + 1) * std::pow(std::cos(angle), 2)});
  }
  for (int j = 0; j < sites; ++j) {
    EXPECT_NEAR(star[j].frequency, expected[j].frequency, 1e-13);
    EXPECT_NEAR(star[j].stiffness, expected[j].stiffness, 1e-13);
  }
  for (const LineSite& site : chain_from_star(expected, sites)) {
    EXPECT_NEAR(site.mass, mass, 1e-11);
    EXPECT_NEAR(site.stiffness, stiffness, 1e-11);
  }
}

TEST(StarAndChain, FirstSitesKnowNothingOfTheOthers) {
  const Oscillators star = random_star(51, 1.0, 7);
  const std::vector<LineSite> all = chain_from_star(star, 51), some = chain_from_star(star, 12);
  ASSERT_EQ(some.size(), 12u);
  for (std::size_t j = 0; j < some.size(); ++j) EXPECT_EQ(some[j], all[j]) << j;
  EXPECT_EQ(chain_from_star(star, 1000).size(), 51u);
}

// The errors of frequencies are round-off of the highest one, times the number of steps of the recursion.
TEST(StarAndChain, ThereAndBackAgain) {
  constexpr int size = 400;
  Oscillators even;
  for (int j = 0; j < size; ++j) even.push_back({7.0 * (j + 0.5) / size, 1.0 + 0.5 * std::sin(j)});
  for (const Oscillators& star : {even, random_star(size, 3.0, 8)}) {
    const Oscillators back = star_from_chain(chain_from_star(star, size));
    ASSERT_EQ(back.size(), star.size());
    for (std::size_t j = 0; j < star.size(); ++j) {
      EXPECT_NEAR(back[j].frequency, star[j].frequency, size * 1e-15 * 7.0) << j;
    }
    for (const double t : {0.0, 1.0, 17.0, 300.0}) {
      double expected = 0.0, result = 0.0;
      for (const BathOscillator& oscillator : star)
        expected += oscillator.stiffness * std::cos(oscillator.frequency * t);
      for (const BathOscillator& oscillator : back) result += oscillator.stiffness * std::cos(oscillator.frequency * t);
      EXPECT_NEAR(result, expected, 1e-11 * size) << t;
    }
  }
}

// A chain ends where its weights would underflow, without effect on its head.
TEST(StarAndChain, LeavesOutWhatNumbersCannotHold) {
  const Oscillators star = random_star(400, 0.5, 8);
  const std::vector<LineSite> chain = chain_from_star(star, 400);
  EXPECT_LT(chain.size(), 400u);
  for (const LineSite& site : chain) EXPECT_GT(site.mass, 1e-250);
  for (const long double z : {1e-3L, 5.0L, 1e4L}) {
    const auto expected = static_cast<double>(by_oscillators(star, z));
    EXPECT_NEAR(static_cast<double>(by_continued_fraction(chain, z)), expected, 1e-13 * expected);
  }
}

}  // namespace
}  // namespace bathline::star_and_chain_test
