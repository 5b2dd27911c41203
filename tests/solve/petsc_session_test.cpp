// Which options of PETSc count as known.
#include "solve/petsc_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <petscsys.h>

#include <utility>

#include "petsc_world.hpp"
#include "solve/line_solver.hpp"

namespace bathline::petsc_session_test {
namespace {

/// The unknown ones among `options` once the solvers of a run are set up.
std::vector<std::string> unknown_among(const std::vector<std::pair<const char*, const char*>>& options) {
  for (const auto& [name, value] : options) PetscOptionsSetValue(nullptr, name, value);
  const Layout layout(100, test_world().size(), 40);
  const auto number = [](double x) { return Eigen::MatrixXd::Constant(1, 1, x); };
  const LineSolver solver(LineMatrix{number(0.5), number(2.0)}, layout, test_world(), 1);
  const std::vector<std::string> unknown = petsc_world->session().unknown_options();
  for (const auto& [name, value] : options) PetscOptionsClearValue(nullptr, name);
  return unknown;
}

TEST(MpiPetscSession, FindsMisspeltOptionsAndOnlyThose) {
  EXPECT_THAT(unknown_among({{"-ksp_tipe", "cg"}}), testing::ElementsAre("-ksp_tipe"));
  EXPECT_THAT(unknown_among({{"-snes_max_it", "7"}, {"-no_such_thing", nullptr}}),
              testing::ElementsAre("-no_such_thing"));
  EXPECT_THAT(unknown_among({{"-snes_rtol", "1e-9"}, {"-ksp_rtol", "1e-9"}}), testing::IsEmpty());
  EXPECT_THAT(unknown_among({{"-ksp_view", nullptr}, {"-ksp_converged_reason", nullptr}, {"-log_view", nullptr}}),
              testing::IsEmpty());
}

TEST(PetscSession, NamesItsVersionAndItsIndices) {
  EXPECT_THAT(petsc_version(), testing::ContainsRegex("^[0-9]+\\.[0-9]+\\.[0-9]+, (32|64)-bit indices$"));
}

}  // namespace
}  // namespace bathline::petsc_session_test
