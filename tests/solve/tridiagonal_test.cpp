// The partitioned tridiagonal solver against a dense LU decomposition of the same matrix.
#include "solve/tridiagonal.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <tuple>

#include "random_numbers.hpp"
#include "test_world.hpp"

namespace bathline::tridiagonal_test {
namespace {

/// For one stage.
LineMatrix line_matrix(double coupling, double last) {
  return {Eigen::MatrixXd::Constant(1, 1, coupling), Eigen::MatrixXd::Constant(1, 1, last)};
}

Eigen::MatrixXd dense_matrix(const LineMatrix& line, int size) {
  const double coupling = line.coupling(0, 0);
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(size, size);
  for (int i = 0; i < size; ++i) {
    matrix(i, i) = i + 1 == size ? line.last(0, 0) : 1.0 + 2.0 * coupling;
    if (i > 0) matrix(i, i - 1) = matrix(i - 1, i) = -coupling;
  }
  return matrix;
}

/// Diagonals of the last row for a fixed, a free and a matched end.
std::vector<double> last_diagonals(double c) { return {1.0 + 2.0 * c, 1.0 + c, 1.0 + c + std::sqrt(c)}; }

class MpiTridiagonal : public testing::TestWithParam<std::tuple<double, int>> {};

TEST_P(MpiTridiagonal, EqualsDenseElimination) {
  const auto [coupling, minimum] = GetParam();
  const Communicator& world = test_world();
  for (const int size : {1, 2, 3, 5, 7, 81, 333}) {
    for (const double last : last_diagonals(coupling)) {
      SCOPED_TRACE(testing::Message() << "size " << size << ", last diagonal " << last);
      const LineMatrix line = line_matrix(coupling, last);
      const Layout layout(size, world.size(), minimum);
      const auto first = static_cast<std::size_t>(layout.first(world.rank()));
      const auto count = static_cast<std::size_t>(layout.count(world.rank()));
      constexpr int fields = 2;
      const auto solver = make_tridiagonal(line, layout, world, fields);
      const Eigen::MatrixXd matrix = dense_matrix(line, size);
      const Eigen::PartialPivLU<Eigen::MatrixXd> reference(matrix);

      // Twice, as the first solution must not influence the second.
      for (std::uint64_t seed : {1, 2}) {
        RandomNumbers random(seed);
        Eigen::MatrixXd right(size, fields);
        for (int f = 0; f < fields; ++f) {
          for (int i = 0; i < size; ++i) right(i, f) = random.uniform();
        }
        Eigen::MatrixXd head(1, fields);
        head << random.uniform(), seed == 1 ? 0.0 : random.uniform();
        std::vector<std::vector<double>> local(fields);
        std::vector<double*> pointers;
        for (int f = 0; f < fields; ++f) {
          for (std::size_t i = 0; i < count; ++i) local[f].push_back(right(static_cast<int>(first + i), f));
          local[f].push_back(-77.0);  // behind the piece, must not change
          pointers.push_back(local[f].data());
        }
        const HeadRelation relation = solver->eliminate(pointers);
        solver->substitute(pointers, head);

        Eigen::MatrixXd whole = right;
        for (int f = 0; f < fields; ++f) whole(0, f) += coupling * head(0, f);
        const Eigen::MatrixXd expected = reference.solve(whole);
        // The errors of both solutions are bounded by the condition number.
        const double condition = std::min(1.0 + 4.0 * coupling, static_cast<double>(size) * size);
        const double tolerance = expected.cwiseAbs().maxCoeff() * (2e-14 + 2e-16 * condition);
        for (int f = 0; f < fields; ++f) {
          for (std::size_t i = 0; i < count; ++i) {
            ASSERT_NEAR(local[f][i], expected(static_cast<int>(first + i), f), tolerance) << "row " << first + i;
          }
          EXPECT_EQ(local[f][count], -77.0);
          // The relation is the first row of the inverse.
          EXPECT_NEAR(relation.constant(0, f) + relation.slope(0, 0) * head(0, f), expected(0, f), tolerance);
        }
        EXPECT_NEAR(relation.slope(0, 0), coupling * reference.solve(Eigen::VectorXd::Unit(size, 0))[0], 1e-13);

        // Residual of the solution on all ranks.
        const std::vector<double> x = world.gather({local[0].data(), count});
        if (world.is_root()) {
          const Eigen::VectorXd solution = Eigen::Map<const Eigen::VectorXd>(x.data(), size);
          const double residual = (matrix * solution - whole.col(0)).cwiseAbs().maxCoeff();
          EXPECT_LT(residual, 1e-14 * (1.0 + 4.0 * coupling) * (solution.cwiseAbs().maxCoeff() + 1.0));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Couplings, MpiTridiagonal,
                         testing::Combine(testing::Values(0.0, 1e-6, 0.1, 1.0, 100.0, 1e6), testing::Values(1, 40)));

// Long pieces use the last pivot of the table repeatedly. A known solution, as a dense reference would be too large.
TEST(MpiTridiagonal, RecoversAKnownSolutionOfALongLine) {
  const Communicator& world = test_world();
  for (const double coupling : {1e-6, 0.1, 1.0, 100.0, 1e6}) {
    constexpr std::int64_t size = 30011;
    const LineMatrix line = line_matrix(coupling, 1.0 + 2.0 * coupling);
    const auto solution = [](std::int64_t j) { return std::sin(0.37 * static_cast<double>(j)) + 0.5; };
    const Layout layout(size, world.size(), 40);
    const std::int64_t first = layout.first(world.rank());
    std::vector<double> x;
    for (std::int64_t j = first; j < first + layout.count(world.rank()); ++j) {
      const double left = j == 0 ? 0.0 : solution(j - 1);
      const double right = j + 1 == size ? 0.0 : solution(j + 1);
      x.push_back((1.0 + 2.0 * coupling) * solution(j) - coupling * (left + right));
    }
    if (world.is_root()) x[0] -= coupling * 3.0;
    const auto solver = make_tridiagonal(line, layout, world, 1);
    double* const fields[] = {x.data()};
    solver->eliminate(fields);
    solver->substitute(fields, Eigen::MatrixXd::Constant(1, 1, 3.0));
    // The condition number is 1 + 4c at most, and c only when the size of the line allows it.
    const double tolerance = 1e-15 * std::min(1.0 + 4.0 * coupling, 1e5) * 20.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_NEAR(x[i], solution(first + static_cast<std::int64_t>(i)), tolerance)
          << "coupling " << coupling << ", row " << first + static_cast<std::int64_t>(i);
    }
  }
}

}  // namespace
}  // namespace bathline::tridiagonal_test
