// The partitioned solver of nonuniform lines against a dense LU decomposition in higher precision.
#include "solve/nonuniform_tridiagonal.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <tuple>

#include "method_cases.hpp"
#include "random_numbers.hpp"
#include "self_world.hpp"
#include "test_world.hpp"

namespace bathline::nonuniform_tridiagonal_test {
namespace {

using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

/// A line that every rank knows, and the part of it that a rank passes to the solver.
struct Sites {
  /// Masses and springs differ by factors up to `contrast` squared.
  Sites(int size, double contrast, double strength) : strength(strength) {
    RandomNumbers random(41);
    const double reach = std::log(contrast);
    for (int j = 0; j < size; ++j) {
      inverse_mass.push_back(std::exp(random.uniform(-reach, reach)));
      spring.push_back(std::exp(random.uniform(-reach, reach)));
    }
    spring.push_back(spring.back());
  }
  NonuniformLineMatrix from(std::int64_t first) const {
    return {.spring = spring.data() + first,
            .inverse_mass = inverse_mass.data() + first,
            .strength = Eigen::MatrixXd::Constant(1, 1, strength),
            .far_end = Eigen::MatrixXd::Constant(1, 1, far_end)};
  }
  int size() const { return static_cast<int>(inverse_mass.size()); }
  double coupling(int j) const { return strength * spring[static_cast<std::size_t>(j)]; }
  /// For the velocities.
  Matrix dense() const {
    Matrix matrix = Matrix::Zero(size(), size());
    for (int j = 0; j < size(); ++j) {
      matrix(j, j) = 1.0L / inverse_mass[static_cast<std::size_t>(j)] + coupling(j) +
                     (j + 1 == size() ? far_end : coupling(j + 1));
      if (j > 0) matrix(j, j - 1) = matrix(j - 1, j) = -coupling(j);
    }
    return matrix;
  }

  std::vector<double> spring, inverse_mass;
  double strength;
  double far_end = 0.0;
};

/// This rank's part of every field, followed by a number that must not change.
struct Fields {
  Fields(const Eigen::MatrixXd& right, std::size_t first, std::size_t count) : values(2) {
    for (int f = 0; f < 2; ++f) {
      for (std::size_t i = 0; i < count; ++i) values[f].push_back(right(static_cast<int>(first + i), f));
      values[f].push_back(-77.0);
      pointers.push_back(values[f].data());
    }
  }
  std::vector<std::vector<double>> values;
  std::vector<double*> pointers;
};

Eigen::MatrixXd random_right(int size, std::uint64_t seed, double low) {
  RandomNumbers random(seed);
  Eigen::MatrixXd right(size, 2);
  for (double& r : right.reshaped()) r = random.uniform(low, 1.0);
  return right;
}

class MpiNonuniformTridiagonal : public testing::TestWithParam<std::tuple<double, int>> {};

TEST_P(MpiNonuniformTridiagonal, EqualsDenseElimination) {
  const auto [strength, minimum] = GetParam();
  const Communicator& world = test_world();
  for (const int size : {1, 2, 3, 5, 7, 81, 133}) {
    Sites sites(size, 3.0, strength);
    // A fixed end, a free one and a dashpot.
    for (const double far_end : {sites.coupling(size), 0.0, 0.7 * std::sqrt(strength)}) {
      SCOPED_TRACE(testing::Message() << "size " << size << ", behind the last " << far_end);
      sites.far_end = far_end;
      const Layout layout(size, world.size(), minimum);
      const auto first = static_cast<std::size_t>(layout.first(world.rank()));
      const auto count = static_cast<std::size_t>(layout.count(world.rank()));
      const auto solver = make_nonuniform_tridiagonal(sites.from(layout.first(world.rank())), layout, world, 2);
      const Matrix matrix = sites.dense();
      const Eigen::PartialPivLU<Matrix> reference(matrix);
      for (std::size_t i = 0; i < count; ++i) {
        const LineRow row = solver->row(static_cast<std::int64_t>(i));
        const auto j = static_cast<int>(first + i);
        EXPECT_NEAR(row.diagonal(0, 0), static_cast<double>(matrix(j, j)), 1e-14 * row.diagonal(0, 0));
        EXPECT_EQ(row.before(0, 0), sites.coupling(j));
        EXPECT_EQ(row.behind(0, 0), j + 1 == size ? 0.0 : sites.coupling(j + 1));
        EXPECT_EQ(row.unit, 1.0 / sites.inverse_mass[static_cast<std::size_t>(j)]);
      }

      // Twice, as the first solution must not influence the second.
      for (const std::uint64_t seed : {1, 2}) {
        const Eigen::MatrixXd right = random_right(size, seed, -1.0);
        const Eigen::MatrixXd head{{0.8, seed == 1 ? 0.0 : -0.6}};
        Fields local(right, first, count);
        const HeadRelation relation = solver->eliminate(local.pointers);
        solver->substitute(local.pointers, head);
        // The error is bounded by the condition number: largest over smallest row sum.
        const double condition = 1.0 + std::min(4.0 * 9.0 * strength, static_cast<double>(size) * size);
        for (int f = 0; f < 2; ++f) {
          Vector whole = right.col(f).cast<long double>();
          whole[0] += sites.coupling(0) * head(0, f);
          const Eigen::VectorXd expected = reference.solve(whole).eval().cast<double>();
          const double tolerance = 2e-15 * condition * expected.cwiseAbs().maxCoeff();
          for (std::size_t i = 0; i < count; ++i) {
            const double velocity = local.values[f][i] * sites.inverse_mass[first + i];
            EXPECT_NEAR(velocity, expected[static_cast<int>(first + i)], tolerance) << "row " << first + i;
          }
          EXPECT_EQ(local.values[f][count], -77.0);
          EXPECT_NEAR(relation.constant(0, f) + relation.slope(0, 0) * head(0, f), expected[0], tolerance);
        }
        const Vector unit = reference.solve(Vector::Unit(size, 0) * static_cast<long double>(sites.coupling(0)));
        EXPECT_NEAR(relation.slope(0, 0), static_cast<double>(unit[0]), 1e-13);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Strengths, MpiNonuniformTridiagonal,
                         testing::Combine(testing::Values(0.0, 1e-6, 0.1, 1.0, 100.0, 1e6), testing::Values(1, 40)));

// Without negative numbers there is no cancellation in a piece, and every site has a small relative error.
TEST(NonuniformTridiagonal, IsRightSiteBySiteHoweverMuchSitesDiffer) {
  for (const double strength : {1e-3, 1.0, 1e3}) {
    Sites sites(60, 1e4, strength);
    sites.far_end = sites.coupling(60);
    const auto solver = make_nonuniform_tridiagonal(sites.from(0), Layout(60, 1, 40), self_world(), 2);
    const Eigen::MatrixXd right = random_right(60, 3, 0.0);
    Fields local(right, 0, 60);
    solver->eliminate(local.pointers);
    solver->substitute(local.pointers, Eigen::MatrixXd{{0.5, 0.0}});
    for (int f = 0; f < 2; ++f) {
      Vector whole = right.col(f).cast<long double>();
      if (f == 0) whole[0] += 0.5L * sites.coupling(0);
      const Vector expected = sites.dense().partialPivLu().solve(whole);
      for (int j = 0; j < 60; ++j) {
        const auto momentum = static_cast<double>(expected[j] / sites.inverse_mass[static_cast<std::size_t>(j)]);
        EXPECT_NEAR(local.values[f][j], momentum, 1e-13 * momentum) << "site " << j << ", strength " << strength;
      }
    }
  }
}

// Ranks neglect influences that have decayed. A known solution, as a dense reference would be too large.
TEST(MpiNonuniformTridiagonal, RecoversAKnownSolutionOfALongLine) {
  const Communicator& world = test_world();
  constexpr int size = 30011;
  for (const double strength : {1e-6, 0.1, 1.0, 100.0, 1e6}) {
    Sites sites(size, 2.0, strength);
    sites.far_end = sites.coupling(size);
    const auto velocity = [](std::int64_t j) { return std::sin(0.37 * static_cast<double>(j)) + 0.5; };
    const Layout layout(size, world.size(), 40);
    const std::int64_t first = layout.first(world.rank()), count = layout.count(world.rank());
    std::vector<double> x;
    for (std::int64_t j = first; j < first + count; ++j) {
      const auto site = static_cast<std::size_t>(j);
      const double left = j == 0 ? 3.0 : velocity(j - 1), right = j + 1 == size ? 0.0 : velocity(j + 1);
      x.push_back(velocity(j) / sites.inverse_mass[site] + sites.coupling(static_cast<int>(j)) * (velocity(j) - left) +
                  sites.coupling(static_cast<int>(j) + 1) * (velocity(j) - right));
    }
    const auto solver = make_nonuniform_tridiagonal(sites.from(first), layout, world, 1);
    double* const fields[] = {x.data()};
    solver->eliminate(fields);
    solver->substitute(fields, Eigen::MatrixXd::Constant(1, 1, 3.0));
    const double tolerance = 4e-14 * std::min(1.0 + 16.0 * strength, 1e6);
    for (std::int64_t i = 0; i < count; ++i) {
      const double actual = x[static_cast<std::size_t>(i)] * sites.inverse_mass[static_cast<std::size_t>(first + i)];
      EXPECT_NEAR(actual, velocity(first + i), tolerance) << "strength " << strength << ", row " << first + i;
    }
  }
}

// As in a step that is too short to change a momentum.
TEST(MpiNonuniformTridiagonal, MomentaThatNothingChangesKeepTheirBits) {
  const Communicator& world = test_world();
  const Sites sites(133, 3.0, 1e-40);
  const Layout layout(133, world.size(), 1);
  const auto count = static_cast<std::size_t>(layout.count(world.rank()));
  const auto solver = make_nonuniform_tridiagonal(sites.from(layout.first(world.rank())), layout, world, 2);
  Fields local(random_right(133, 5, -1.0), static_cast<std::size_t>(layout.first(world.rank())), count);
  const Fields before = local;
  solver->eliminate(local.pointers);
  solver->substitute(local.pointers, Eigen::MatrixXd{{0.5, 0.0}});
  EXPECT_EQ(local.values, before.values);
}

/// With several stages: the matrix of the springs, that of the far end, and a name.
struct Stages {
  std::string name;
  Eigen::MatrixXd strength, far_end;
};

/// The matrices of methods, with h^2 = 4 and a dashpot, and a pair without structure.
std::vector<Stages> all_stages() {
  std::vector<Stages> all;
  for (const char* name : {"gauss(stages=2)", "gauss(stages=4)", "lobatto(stages=3)", "lobatto(stages=5)"}) {
    const auto scheme = std::get<PartitionedRungeKutta>(method_case(name).scheme);
    all.push_back({name, 4.0 * scheme.a_hat * scheme.a, 1.4 * scheme.a_hat});
  }
  all.push_back({"lopsided", Eigen::MatrixXd{{0.9, 0.2}, {-0.3, 0.4}}, Eigen::MatrixXd{{0.5, 0.7}, {0.1, 0.3}}});
  return all;
}

TEST(MpiNonuniformTridiagonalOfStages, EqualsDenseElimination) {
  const Communicator& world = test_world();
  for (const Stages& stages : all_stages()) {
    const Eigen::Index s = stages.strength.rows();
    for (const int size : {1, 2, 5, 81, 133}) {
      SCOPED_TRACE(testing::Message() << stages.name << ", size " << size);
      const Sites sites(size, 2.0, 1.0);
      const Layout layout(size, world.size(), size == 81 ? 40 : 1);
      const std::int64_t first = layout.first(world.rank()), count = layout.count(world.rank());
      const auto solver = make_nonuniform_tridiagonal({.spring = sites.spring.data() + first,
                                                       .inverse_mass = sites.inverse_mass.data() + first,
                                                       .strength = stages.strength,
                                                       .far_end = stages.far_end},
                                                      layout, world, 2);
      EXPECT_EQ(solver->stages(), s);
      Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(size * s, size * s);
      for (int j = 0; j < size; ++j) {
        const Eigen::MatrixXd before = sites.coupling(j) * stages.strength;
        const Eigen::MatrixXd behind =
            j + 1 == size ? stages.far_end : Eigen::MatrixXd(sites.coupling(j + 1) * stages.strength);
        const Eigen::MatrixXd mass = Eigen::MatrixXd::Identity(s, s) / sites.inverse_mass[static_cast<std::size_t>(j)];
        matrix.block(j * s, j * s, s, s) = mass + before + behind;
        if (j > 0) matrix.block(j * s, (j - 1) * s, s, s) = matrix.block((j - 1) * s, j * s, s, s) = -before;
        if (j < first || j >= first + count) continue;
        const LineRow row = solver->row(j - first);
        EXPECT_LT((row.diagonal - mass - before - behind).norm(), 1e-14 * row.diagonal.norm());
        EXPECT_LT((row.before - before).norm(), 1e-15);
        EXPECT_LT((row.behind - (j + 1 == size ? 0.0 : 1.0) * behind).norm(), 1e-15);
      }
      const Eigen::PartialPivLU<Eigen::MatrixXd> reference(matrix);
      const Eigen::MatrixXd right = random_right(size * static_cast<int>(s), 6, -1.0);
      const Eigen::MatrixXd head = random_right(static_cast<int>(s), 7, -1.0);
      Fields local(right, static_cast<std::size_t>(first * s), static_cast<std::size_t>(count * s));
      const HeadRelation relation = solver->eliminate(local.pointers);
      solver->substitute(local.pointers, head);

      const Eigen::MatrixXd at_rest = reference.solve(right);
      Eigen::MatrixXd whole = right, unit = Eigen::MatrixXd::Zero(size * s, s);
      unit.topRows(s) = sites.coupling(0) * stages.strength;
      whole.topRows(s) += unit.topRows(s) * head;
      const Eigen::MatrixXd expected = reference.solve(whole);
      const double tolerance = 2e-13 * (1.0 + expected.cwiseAbs().maxCoeff());
      EXPECT_LT((relation.slope - reference.solve(unit).topRows(s)).cwiseAbs().maxCoeff(), tolerance);
      EXPECT_LT((relation.constant - at_rest.topRows(s)).cwiseAbs().maxCoeff(), tolerance);
      for (int f = 0; f < 2; ++f) {
        for (std::int64_t i = 0; i < count * s; ++i) {
          const auto site = static_cast<std::size_t>(first + i / s);
          EXPECT_NEAR(local.values[f][static_cast<std::size_t>(i)] * sites.inverse_mass[site],
                      expected(first * s + i, f), tolerance)
              << "row " << first * s + i;
        }
        EXPECT_EQ(local.values[f][static_cast<std::size_t>(count * s)], -77.0);
      }
    }
  }
}

}  // namespace
}  // namespace bathline::nonuniform_tridiagonal_test
