// Which options reach PETSc, from users and from files.
#include "solve/petsc_options.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "recipe/mistakes.hpp"
#include "test_world.hpp"

namespace bathline::petsc_options_test {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// "" or why the options of a file are refused.
std::string refusal_of_file(const std::string& words) {
  try {
    options_of_file(words_of(words), "strange.h5");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string refusal_of_user(const std::string& words) {
  try {
    user_options(words_of(words), test_world());
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(PetscOptions, TakesNumbersAndTypesFromAFile) {
  const std::string words =
      "-ksp_type cg -pc_type jacobi -sub_pc_type ilu -ksp_rtol 1e-13 -ksp_max_it 0 -snes_max_funcs -1 -snes_type qn "
      "-particles_ksp_type gmres -particles_pc_type none -tao_gatol 1e-9 -tao_type bqnkls -tao_max_funcs 50 "
      "-tao_blmvm_mat_lmvm_scale_type none";
  EXPECT_EQ(options_of_file(words_of(words), "strange.h5"), words_of(words));
  EXPECT_THAT(options_of_file({}, "strange.h5"), testing::IsEmpty());
}

TEST(PetscOptions, IgnoresLogViewOfAFile) {
  EXPECT_EQ(options_of_file(words_of("-log_view :/etc/passwd -ksp_type cg -log_view"), "strange.h5"),
            words_of("-ksp_type cg"));
}

TEST(PetscOptions, RefusesAllOtherOptionsOfAFileByName) {
  for (const char* words : {"-dll_prepend x.so",
                            "-info :x",
                            "-start_in_debugger",
                            "-x_virtual",
                            "-options_file x",
                            "-on_error_abort",
                            "-options_string_yaml x",
                            "-prefix_push x",
                            "-log_trace x",
                            "-log_view_memory",
                            "-ksp_view",
                            "-snes_monitor",
                            "-ksp_view_mat x",
                            "-ksp_type python",
                            "-ksp_type hpddm",
                            "-pc_type shell",
                            "-pc_type python",
                            "-snes_type shell",
                            "-tao_type pounders",
                            "-tao_monitor",
                            "-particles_pc_type mat",
                            "-KSP_RTOL 1e-9",
                            "-ksp_rtol -1",
                            "-ksp_rtol nan",
                            "-ksp_rtol",
                            "-ksp_rtol 1e-9x",
                            "-ksp_max_it 2.5",
                            "-ksp_type",
                            "-ksp_rtol --dll_prepend=x",
                            "-mat_type aij",
                            "-other_ksp_rtol 1e-9"}) {
    const std::string name = words_of(words).front();
    EXPECT_THAT(refusal_of_file(words), testing::HasSubstr("strange.h5 contains PETSc's option `" + name)) << words;
    EXPECT_NE(refusal_of_file(std::string("-ksp_type cg ") + words + " -pc_type none"), "") << words;
  }
  EXPECT_THAT(refusal_of_file("-ksp_type cg x.so"), testing::HasSubstr("`x.so` among the options of strange.h5"));
}

TEST(MpiPetscOptions, UsersKeepThePowersOfPetsc) {
  for (const char* words : {"-snes_monitor -ksp_view -log_view -on_error_abort", "-ksp_type python -pc_type mat",
                            "-ksp_view_mat :/tmp/bathline-matrix:ascii_matlab", "-ksp_max_it default", "-ts_type rk"}) {
    EXPECT_EQ(user_options(words_of(words), test_world()), words_of(words));
  }
}

TEST(MpiPetscOptions, NamesMistakesOfUsersOnEveryRank) {
  for (const char* words :
       {"-snes_max_it -5", "-snes_type shell", "-ksp_rtol nan", "-snes_rtol inf", "-ksp_max_it 2.5",
        "-particles_snes_rtol -1", "-log_view :/no/such/folder", "-ksp_view ascii:/no/such/folder:x"}) {
    EXPECT_THAT(refusal_of_user(words), testing::HasSubstr(fmt::format("option `{}`: ", words)));
  }
  EXPECT_THAT(refusal_of_user("-snes_rtol -ksp_type cg"), testing::HasSubstr("option `-snes_rtol`: it needs a value"));
  EXPECT_THAT(refusal_of_user("cg"), testing::HasSubstr("`cg` after `--` belongs to no option"));
}

}  // namespace
}  // namespace bathline::petsc_options_test
