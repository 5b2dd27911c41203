// Lines solved with PETSc options of the user, against the default solver and against a dense matrix.
#include "solve/line_solver.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "petsc_options.hpp"
#include "petsc_world.hpp"
#include "random_numbers.hpp"
#include "solve/solver_error.hpp"

namespace bathline::line_solver_test {
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
  const HeadRelation* relation = solver.eliminate(pointers);
  solution.converged = relation != nullptr;
  solution.failure = solver.failure();
  if (relation == nullptr) return solution;
  solution.relation = *relation;
  solver.substitute(pointers, Eigen::MatrixXd{{0.7, -1.3}});
  return solution;
}

/// A uniform line with one stage.
struct Numbers {
  double coupling, last;
};

Solution solve(const Numbers& numbers, std::int64_t size) {
  const LineMatrix matrix{Eigen::MatrixXd::Constant(1, 1, numbers.coupling),
                          Eigen::MatrixXd::Constant(1, 1, numbers.last)};
  return solve_on(Layout(size, test_world().size(), 40), matrix);
}

/// A line whose sites differ.
Solution solve_nonuniform(double strength, std::int64_t size) {
  const Layout layout(size, test_world().size(), 40);
  const std::vector<double> spring = RandomNumbers(8).list(static_cast<std::size_t>(size) + 1, 0.3, 3.0);
  const std::vector<double> inverse_mass = RandomNumbers(9).list(static_cast<std::size_t>(size), 0.4, 2.5);
  const std::int64_t first = layout.first(test_world().rank());
  return solve_on(layout, NonuniformLineMatrix{.spring = spring.data() + first,
                                               .inverse_mass = inverse_mass.data() + first,
                                               .strength = Eigen::MatrixXd::Constant(1, 1, strength),
                                               .far_end = Eigen::MatrixXd::Constant(1, 1, 0.6)});
}

/// Residual of (1 + 2c) x_j - c x_{j-1} - c x_{j+1} = r_j, all ranks together.
double residual(const Numbers& matrix, std::int64_t size, const Solution& solution) {
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
      const double diagonal = j + 1 == x.size() ? matrix.last : 1.0 + 2.0 * matrix.coupling;
      worst = std::max(worst, std::abs(diagonal * x[j] - matrix.coupling * (left + next) - right[j]));
    }
  }
  world.broadcast(std::span<double>(&worst, 1));
  return worst;
}

TEST(MpiLineSolver, DefaultIsExactToRoundOff) {
  for (const double c : {1e-3, 0.25, 10.0}) {
    const Numbers matrix{c, 1.0 + c};
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
    EXPECT_NEAR(solution.relation.slope(0, 0), expected.relation.slope(0, 0), 1e-12);
    for (std::size_t f = 0; f < 2; ++f) {
      for (std::size_t j = 0; j < solution.fields[f].size(); ++j) {
        EXPECT_NEAR(solution.fields[f][j], expected.fields[f][j], 1e-11) << "row " << j;
      }
      if (test_world().is_root()) {
        EXPECT_NEAR(solution.relation.constant(0, f), expected.relation.constant(0, f), 1e-11);
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
      expect_choices_to_agree(choices, [&] { return solve_nonuniform(c, size); });
    }
  }
}

// The direct solver is an exact preconditioner: one iteration suffices.
TEST(MpiLineSolver, OneIterationIsEnoughBesideTheDirectSolver) {
  const std::vector<PetscChoice> once = {
      {{"-ksp_type", "richardson"}, {"-ksp_max_it", "1"}, {"-ksp_convergence_test", "skip"}, {"-pc_type", "bathline"}}};
  expect_choices_to_agree(once, [] { return solve({0.7, 2.1}, 213); });
  expect_choices_to_agree(once, [] { return solve_nonuniform(0.7, 213); });
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

constexpr int fields = 2;

Eigen::MatrixXd random_list(Eigen::Index rows, Eigen::Index columns, std::uint64_t key) {
  RandomNumbers random(key);
  Eigen::MatrixXd list(rows, columns);
  for (double& value : list.reshaped()) value = random.uniform();
  return list;
}

struct StageSolution {
  Eigen::MatrixXd values;  // of all sites, stages x sites by fields; on rank 0
  HeadRelation relation;
  std::string failure;  // the other members are empty where it is set
};

Eigen::MatrixXd right_sides(int stages, std::int64_t sites) { return random_list(sites * stages, fields, 5); }
Eigen::MatrixXd head(int stages) { return random_list(stages, fields, 6); }

StageSolution solve_stages(const LineMatrix& matrix, std::int64_t sites) {
  const Communicator& world = test_world();
  const auto stages = static_cast<int>(matrix.coupling.rows());
  const Layout layout(sites, world.size(), 20);
  LineSolver solver(matrix, layout, world, fields);
  Eigen::MatrixXd local =
      right_sides(stages, sites).middleRows(layout.first(world.rank()) * stages, layout.count(world.rank()) * stages);
  std::vector<double*> pointers;
  for (int f = 0; f < fields; ++f) pointers.push_back(local.data() + f * local.rows());
  StageSolution solution;
  const HeadRelation* relation = solver.eliminate(pointers);
  if (relation == nullptr) {
    solution.failure = solver.failure();
    return solution;
  }
  solution.relation = *relation;
  solver.substitute(pointers, head(stages));
  solution.values.resize(sites * stages, fields);
  for (int f = 0; f < fields; ++f) {
    const std::vector<double> all = world.gather(std::vector<double>(local.col(f).begin(), local.col(f).end()));
    if (world.is_root()) solution.values.col(f) = Eigen::Map<const Eigen::VectorXd>(all.data(), sites * stages);
  }
  return solution;
}

/// The assembled matrix, without the block that couples the first site to the head.
Eigen::MatrixXd dense(const LineMatrix& matrix, std::int64_t sites) {
  const Eigen::Index s = matrix.coupling.rows();
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(sites * s, sites * s);
  for (Eigen::Index j = 0; j < sites; ++j) {
    all.block(j * s, j * s, s, s) =
        j + 1 == sites ? matrix.last : Eigen::MatrixXd(Eigen::MatrixXd::Identity(s, s) + 2.0 * matrix.coupling);
    if (j > 0) all.block(j * s, (j - 1) * s, s, s) = all.block((j - 1) * s, j * s, s, s) = -matrix.coupling;
  }
  return all;
}

/// A coupling that is neither symmetric nor, with `is_singular`, invertible.
LineMatrix matrix_of(int stages, bool is_singular) {
  Eigen::MatrixXd coupling = 0.4 * Eigen::MatrixXd::Identity(stages, stages) + 0.1 * random_list(stages, stages, 7);
  if (is_singular) coupling.col(0).setZero();
  return {coupling, Eigen::MatrixXd::Identity(stages, stages) + 1.3 * coupling};
}

void expect_dense_solution(const LineMatrix& matrix, std::int64_t sites) {
  const auto stages = static_cast<int>(matrix.coupling.rows());
  const StageSolution solution = solve_stages(matrix, sites);
  ASSERT_EQ(solution.failure, "");
  if (!test_world().is_root()) return;
  const auto inverse = dense(matrix, sites).partialPivLu();
  Eigen::MatrixXd right = right_sides(stages, sites);
  const Eigen::MatrixXd at_rest = inverse.solve(right);
  right.topRows(stages) += matrix.coupling * head(stages);
  Eigen::MatrixXd first = Eigen::MatrixXd::Zero(sites * stages, stages);
  first.topRows(stages) = matrix.coupling;
  // The solvers stop at a residual of 1e-14, and the inverse is no larger than about 2.
  EXPECT_LT((solution.values - inverse.solve(right)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((solution.relation.constant - at_rest.topRows(stages)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((solution.relation.slope - inverse.solve(first).topRows(stages)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(MpiLineSolverOfStages, EveryChoiceOfTheUserSolvesTheSameSystem) {
  const std::vector<PetscChoice> choices = {
      {},
      {{"-ksp_type", "gmres"}, {"-pc_type", "jacobi"}},
      {{"-ksp_type", "bcgs"}, {"-pc_type", "bjacobi"}},
      {{"-ksp_type", "preonly"}, {"-pc_type", "redundant"}},
      // The direct solver is an exact preconditioner: one iteration suffices.
      {{"-ksp_type", "richardson"}, {"-ksp_max_it", "1"}, {"-ksp_convergence_test", "skip"}},
      {{"-ksp_type", "cg"}}};
  for (const PetscChoice& choice : choices) {
    const PetscOptionsScope options(choice);
    for (const int stages : {2, 5}) {
      for (const bool is_singular : {false, true}) {
        for (const std::int64_t sites : {1, 7, 53}) {
          SCOPED_TRACE(testing::Message() << (choice.empty() ? "default" : choice[0].second) << ", " << stages
                                          << (is_singular ? " stages, singular, " : " stages, ") << sites << " sites");
          expect_dense_solution(matrix_of(stages, is_singular), sites);
        }
      }
    }
  }
}

TEST(MpiLineSolverOfStages, SaysWhyItDidNotConverge) {
  const PetscOptionsScope options({{"-ksp_type", "gmres"}, {"-pc_type", "none"}, {"-ksp_max_it", "2"}});
  const StageSolution solution = solve_stages(matrix_of(3, false), 100);
  EXPECT_NE(solution.failure.find("2 iterations"), std::string::npos) << solution.failure;
  EXPECT_NE(solution.failure.find("DIVERGED_ITS"), std::string::npos) << solution.failure;
}

}  // namespace
}  // namespace bathline::line_solver_test
