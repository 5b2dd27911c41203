// Lines solved as a user asks PETSc to, against the default.
#include "solve/line_solver.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "petsc_options.hpp"
#include "petsc_world.hpp"
#include "random_numbers.hpp"
#include "solve/solver_error.hpp"

namespace bathline {
namespace {

struct Solution {
  std::vector<std::vector<double>> fields;
  HeadRelation relation;
  bool converged = false;
  std::string failure;
};

template <class Matrix>
Solution solve_on(const Layout& layout, const Matrix& matrix) {
  const Communicator& world = test_world();
  const std::int64_t size = layout.total();
  const auto first = static_cast<std::size_t>(layout.first(world.rank()));
  const auto count = static_cast<std::size_t>(layout.count(world.rank()));
  LineSolver solver(matrix, layout, world, 2);
  Solution solution;
  std::vector<double*> pointers;
  for (std::uint64_t field : {0, 1}) {
    const std::vector<double> right = RandomNumbers(field).list(static_cast<std::size_t>(size));
    solution.fields.emplace_back(right.begin() + static_cast<std::ptrdiff_t>(first),
                                 right.begin() + static_cast<std::ptrdiff_t>(first + count));
  }
  for (std::vector<double>& field : solution.fields) pointers.push_back(field.data());
  const std::optional<HeadRelation> relation = solver.eliminate(pointers);
  solution.converged = relation.has_value();
  solution.failure = solver.failure();
  if (!relation) return solution;
  solution.relation = *relation;
  const double head[] = {0.7, -1.3};
  solver.substitute(pointers, head);
  return solution;
}

Solution solve(const LineMatrix& matrix, std::int64_t size) {
  return solve_on(Layout(size, test_world().size(), 40), matrix);
}

/// Of sites that differ.
Solution solve_unequal(double strength, std::int64_t size) {
  const Layout layout(size, test_world().size(), 40);
  const std::vector<double> spring = RandomNumbers(8).list(static_cast<std::size_t>(size) + 1, 0.3, 3.0);
  const std::vector<double> inverse_mass = RandomNumbers(9).list(static_cast<std::size_t>(size), 0.4, 2.5);
  const std::int64_t first = layout.first(test_world().rank());
  return solve_on(layout, UnequalLineMatrix{.spring = spring.data() + first,
                                            .inverse_mass = inverse_mass.data() + first,
                                            .strength = strength,
                                            .far_end = 0.6});
}

/// Residual of (1 + 2c) x_j - c x_{j-1} - c x_{j+1} = r_j, all ranks together.
double residual(const LineMatrix& matrix, std::int64_t size, const Solution& solution) {
  const Communicator& world = test_world();
  double worst = 0.0;
  const double head[] = {0.7, -1.3};
  for (std::size_t f = 0; f < 2; ++f) {
    const std::vector<double> x = world.gather(solution.fields[f]);
    if (!world.is_root()) continue;
    const std::vector<double> right = RandomNumbers(f).list(static_cast<std::size_t>(size));
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double left = j == 0 ? head[f] : x[j - 1];
      const double next = j + 1 == x.size() ? 0.0 : x[j + 1];
      const double diagonal = j + 1 == x.size() ? matrix.last_diagonal : 1.0 + 2.0 * matrix.coupling;
      worst = std::max(worst, std::abs(diagonal * x[j] - matrix.coupling * (left + next) - right[j]));
    }
  }
  world.broadcast(std::span<double>(&worst, 1));
  return worst;
}

TEST(MpiLineSolver, DefaultIsExactToRoundOff) {
  for (const double c : {1e-3, 0.25, 10.0}) {
    const LineMatrix matrix{c, 1.0 + c};
    const Solution solution = solve(matrix, 413);
    ASSERT_TRUE(solution.converged);
    EXPECT_EQ(solution.failure, "");
    EXPECT_LT(residual(matrix, 413, solution), 1e-14 * (1.0 + 4.0 * c));
  }
}

/// `solve` under every choice against the default. @note Collective.
template <class Solve>
void expect_choices_to_agree(const std::vector<PetscChoice>& choices, const Solve& solve) {
  const Solution expected = solve();
  for (const auto& choice : choices) {
    SCOPED_TRACE(testing::Message() << choice.front().second << ' ' << choice.back().second);
    const PetscOptionsScope options(choice);
    const Solution solution = solve();
    ASSERT_TRUE(solution.converged);
    EXPECT_NEAR(solution.relation.slope, expected.relation.slope, 1e-12);
    for (std::size_t f = 0; f < 2; ++f) {
      for (std::size_t j = 0; j < solution.fields[f].size(); ++j) {
        EXPECT_NEAR(solution.fields[f][j], expected.fields[f][j], 1e-11) << "row " << j;
      }
      if (test_world().is_root()) {
        EXPECT_NEAR(solution.relation.constant[f], expected.relation.constant[f], 1e-11);
      }
    }
  }
}

TEST(MpiLineSolver, EveryChoiceOfTheUserSolvesTheSameSystem) {
  const std::vector<PetscChoice> choices = {{{"-ksp_type", "cg"}},
                                            {{"-ksp_type", "cg"}, {"-pc_type", "jacobi"}},
                                            {{"-ksp_type", "gmres"}, {"-pc_type", "bjacobi"}},
                                            {{"-ksp_type", "preonly"}, {"-pc_type", "redundant"}}};
  for (const double c : {0.25, 2.0}) {
    for (const std::int64_t size : {1, 7, 213}) {
      SCOPED_TRACE(testing::Message() << "size " << size << ", " << c);
      expect_choices_to_agree(choices, [&] { return solve({c, 1.0 + 2.0 * c}, size); });
      expect_choices_to_agree(choices, [&] { return solve_unequal(c, size); });
    }
  }
}

// The direct solver is an exact preconditioner: one iteration is all that is left to do.
TEST(MpiLineSolver, OneIterationIsEnoughBesideTheDirectSolver) {
  const std::vector<PetscChoice> once = {
      {{"-ksp_type", "richardson"}, {"-ksp_max_it", "1"}, {"-ksp_convergence_test", "skip"}, {"-pc_type", "bathline"}}};
  expect_choices_to_agree(once, [] { return solve({0.7, 2.1}, 213); });
  expect_choices_to_agree(once, [] { return solve_unequal(0.7, 213); });
}

TEST(MpiLineSolver, SaysWhyItDidNotConverge) {
  const PetscOptionsScope options({{"-ksp_type", "cg"}, {"-pc_type", "none"}, {"-ksp_max_it", "2"}});
  const Solution solution = solve({50.0, 101.0}, 413);
  EXPECT_FALSE(solution.converged);
  EXPECT_NE(solution.failure.find("2 iterations"), std::string::npos) << solution.failure;
  EXPECT_NE(solution.failure.find("DIVERGED_ITS"), std::string::npos) << solution.failure;
}

TEST(MpiLineSolver, RefusesTypesThatPetscDoesNotHave) {
  const PetscOptionsScope options({{"-ksp_type", "no-such-solver"}, {"-pc_type", "jacobi"}});
  EXPECT_THROW(solve({1.0, 3.0}, 413), SolverError);
}

}  // namespace
}  // namespace bathline
