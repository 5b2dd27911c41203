// Which options of PETSc count as known.
#include "solve/petsc_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <petscsys.h>

#include "petsc_world.hpp"
#include "solve/line_solver.hpp"

namespace bathline {
namespace {

/// The unknown ones among `names` once the solvers of a run are set up.
std::vector<std::string> unknown_among(const std::vector<const char*>& names) {
  for (const char* name : names) PetscOptionsSetValue(nullptr, name, "1");
  const Layout layout(100, test_world().size(), 40);
  const LineSolver solver({0.5, 2.0}, layout, test_world(), 1);
  const std::vector<std::string> unknown = petsc_world->session().unknown_options();
  for (const char* name : names) PetscOptionsClearValue(nullptr, name);
  return unknown;
}

TEST(MpiPetscSession, FindsMisspeltOptionsAndOnlyThose) {
  EXPECT_THAT(unknown_among({"-ksp_tipe"}), testing::ElementsAre("-ksp_tipe"));
  EXPECT_THAT(unknown_among({"-snes_max_it", "-no_such_thing"}), testing::ElementsAre("-no_such_thing"));
  EXPECT_THAT(unknown_among({"-snes_rtol", "-ksp_rtol", "-particles_ksp_rtol", "-reference_ts_max_steps"}),
              testing::IsEmpty());
  EXPECT_THAT(unknown_among({"-ksp_view", "-ksp_converged_reason", "-snes_converged_reason"}), testing::IsEmpty());
}

TEST(PetscSession, NamesItsVersionAndItsIndices) {
  EXPECT_THAT(petsc_version(), testing::ContainsRegex("^[0-9]+\\.[0-9]+\\.[0-9]+, (32|64)-bit indices$"));
}

}  // namespace
}  // namespace bathline
