// Lines solved as a user asks PETSc to, against the default.
#include "solve/line_solver.hpp"

#include <gtest/gtest.h>
#include <petscsys.h>

#include <cmath>
#include <utility>

#include "petsc_world.hpp"
#include "random_numbers.hpp"
#include "solve/solver_error.hpp"

namespace bathline {
namespace {

using Choice = std::vector<std::pair<const char*, const char*>>;

/// Options of PETSc for the length of a scope.
class Options {
 public:
  explicit Options(const Choice& choice) : choice_(choice) {
    for (const auto& [name, value] : choice_) PetscOptionsSetValue(nullptr, name, value);
  }
  ~Options() {
    for (const auto& [name, value] : choice_) PetscOptionsClearValue(nullptr, name);
  }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

 private:
  Choice choice_;
};

struct Solution {
  std::vector<std::vector<double>> fields;
  HeadRelation relation;
  bool converged = false;
  std::string failure;
};

Solution solve(const LineMatrix& matrix, std::int64_t size) {
  const Communicator& world = test_world();
  const Layout layout(size, world.size(), 40);
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

TEST(MpiLineSolver, EveryChoiceOfTheUserSolvesTheSameSystem) {
  const std::vector<Choice> choices = {{{"-ksp_type", "cg"}},
                                       {{"-ksp_type", "cg"}, {"-pc_type", "jacobi"}},
                                       {{"-ksp_type", "gmres"}, {"-pc_type", "bjacobi"}},
                                       {{"-ksp_type", "preonly"}, {"-pc_type", "redundant"}}};
  for (const double c : {0.25, 2.0}) {
    for (const std::int64_t size : {1, 7, 213}) {
      const LineMatrix matrix{c, 1.0 + 2.0 * c};
      const Solution expected = solve(matrix, size);
      for (const auto& choice : choices) {
        SCOPED_TRACE(testing::Message() << choice.front().second << ' ' << choice.back().second << ", size " << size);
        const Options options(choice);
        const Solution solution = solve(matrix, size);
        ASSERT_TRUE(solution.converged);
        EXPECT_NEAR(solution.relation.slope, expected.relation.slope, 1e-12);
        for (std::size_t f = 0; f < 2; ++f) {
          for (std::size_t j = 0; j < solution.fields[f].size(); ++j) {
            ASSERT_NEAR(solution.fields[f][j], expected.fields[f][j], 1e-11) << "row " << j;
          }
          if (test_world().is_root()) {
            EXPECT_NEAR(solution.relation.constant[f], expected.relation.constant[f], 1e-11);
          }
        }
      }
    }
  }
}

TEST(MpiLineSolver, SaysWhyItDidNotConverge) {
  const Options options(Choice{{"-ksp_type", "cg"}, {"-pc_type", "none"}, {"-ksp_max_it", "2"}});
  const Solution solution = solve({50.0, 101.0}, 413);
  EXPECT_FALSE(solution.converged);
  EXPECT_NE(solution.failure.find("2 iterations"), std::string::npos) << solution.failure;
  EXPECT_NE(solution.failure.find("DIVERGED_ITS"), std::string::npos) << solution.failure;
}

TEST(MpiLineSolver, RefusesTypesThatPetscDoesNotHave) {
  const Options options(Choice{{"-ksp_type", "no-such-solver"}});
  EXPECT_THROW(solve({1.0, 3.0}, 413), SolverError);
}

}  // namespace
}  // namespace bathline
