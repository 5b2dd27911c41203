// The systems of several stages solved as a user asks PETSc to, against one dense matrix.
#include "solve/line_stage_solver.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "petsc_options.hpp"
#include "petsc_world.hpp"
#include "random_numbers.hpp"

namespace bathline {
namespace {

constexpr int fields = 2;

Eigen::MatrixXd random_list(Eigen::Index rows, Eigen::Index columns, std::uint64_t key) {
  RandomNumbers random(key);
  Eigen::MatrixXd list(rows, columns);
  for (double& value : list.reshaped()) value = random.uniform();
  return list;
}

struct Solution {
  Eigen::MatrixXd values;  // of all sites, stages x sites by fields; on rank 0
  StageRelation relation;
  std::string failure;  // nothing else where there is any
};

Eigen::MatrixXd right_sides(int stages, std::int64_t sites) { return random_list(sites * stages, fields, 5); }
Eigen::MatrixXd head(int stages) { return random_list(stages, fields, 6); }

Solution solve(const StageMatrix& matrix, std::int64_t sites) {
  const Communicator& world = test_world();
  const auto stages = static_cast<int>(matrix.coupling.rows());
  const Layout layout(sites, world.size(), 20);
  LineStageSolver solver(matrix, layout, world, fields);
  Eigen::MatrixXd mine =
      right_sides(stages, sites).middleRows(layout.first(world.rank()) * stages, layout.count(world.rank()) * stages);
  std::vector<double*> pointers;
  for (int f = 0; f < fields; ++f) pointers.push_back(mine.data() + f * mine.rows());
  Solution solution;
  const std::optional<StageRelation> relation = solver.eliminate(pointers);
  if (!relation) {
    solution.failure = solver.failure();
    return solution;
  }
  solution.relation = *relation;
  solver.substitute(pointers, head(stages));
  solution.values.resize(sites * stages, fields);
  for (int f = 0; f < fields; ++f) {
    const std::vector<double> all = world.gather(std::vector<double>(mine.col(f).begin(), mine.col(f).end()));
    if (world.is_root()) solution.values.col(f) = Eigen::Map<const Eigen::VectorXd>(all.data(), sites * stages);
  }
  return solution;
}

/// The assembled matrix, for the first site the head's block beside it left out.
Eigen::MatrixXd dense(const StageMatrix& matrix, std::int64_t sites) {
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
StageMatrix matrix_of(int stages, bool is_singular) {
  Eigen::MatrixXd coupling = 0.4 * Eigen::MatrixXd::Identity(stages, stages) + 0.1 * random_list(stages, stages, 7);
  if (is_singular) coupling.col(0).setZero();
  return {coupling, Eigen::MatrixXd::Identity(stages, stages) + 1.3 * coupling};
}

void expect_dense_solution(const StageMatrix& matrix, std::int64_t sites) {
  const auto stages = static_cast<int>(matrix.coupling.rows());
  const Solution found = solve(matrix, sites);
  ASSERT_EQ(found.failure, "");
  if (!test_world().is_root()) return;
  const auto inverse = dense(matrix, sites).partialPivLu();
  Eigen::MatrixXd right = right_sides(stages, sites);
  const Eigen::MatrixXd at_rest = inverse.solve(right);
  right.topRows(stages) += matrix.coupling * head(stages);
  Eigen::MatrixXd first = Eigen::MatrixXd::Zero(sites * stages, stages);
  first.topRows(stages) = matrix.coupling;
  // The solvers stop at a residual of 1e-14, and the inverse is no larger than about 2.
  EXPECT_LT((found.values - inverse.solve(right)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((found.relation.constant - at_rest.topRows(stages)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((found.relation.slope - inverse.solve(first).topRows(stages)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(MpiLineStageSolver, EveryChoiceOfTheUserSolvesTheSameSystem) {
  const std::vector<PetscChoice> choices = {
      {},
      {{"-ksp_type", "gmres"}, {"-pc_type", "jacobi"}},
      {{"-ksp_type", "bcgs"}, {"-pc_type", "bjacobi"}},
      {{"-ksp_type", "preonly"}, {"-pc_type", "redundant"}},
      // The direct solver is an exact preconditioner: one iteration is all that is left to do.
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

TEST(MpiLineStageSolver, SaysWhyItDidNotConverge) {
  const PetscOptionsScope options({{"-ksp_type", "gmres"}, {"-pc_type", "none"}, {"-ksp_max_it", "2"}});
  const Solution solution = solve(matrix_of(3, false), 100);
  EXPECT_NE(solution.failure.find("2 iterations"), std::string::npos) << solution.failure;
  EXPECT_NE(solution.failure.find("DIVERGED_ITS"), std::string::npos) << solution.failure;
}

}  // namespace
}  // namespace bathline
