// The provenance of a result in its root attributes.
#include "record/provenance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/shared_folder.hpp"
#include "test_world.hpp"

namespace bathline::provenance_test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

TEST(MpiProvenance, IsCompleteAndUpdated) {
  const SharedFolder folder;
  const std::string path = folder.file("a.h5");
  const Provenance provenance{"a title", "text", "resolved text", "3.18.4", "-ksp_type cg", 42, "2025-06-30T12:00:00Z"};
  ResultFile file(path, test_world(), false);
  write_provenance(file, test_world(), provenance);
  file.flush();
  {
    const ResultReader reader(path);
    EXPECT_EQ(reader.attribute("status"), "partial");
    EXPECT_EQ(reader.attribute("wall_time_s"), "0");
  }
  test_world().barrier();
  update_provenance(file, "complete", 1.5);
  file.close();

  const ResultReader reader(path);
  for (const char* name :
       {"title", "recipe", "recipe_resolved", "status", "bathline_version", "git_commit", "git_dirty", "mpi_ranks",
        "compiler", "compiler_flags", "build_id", "libc_version", "petsc_version", "petsc_options", "hdf5_version",
        "mpi_version", "seed", "started", "wall_time_s"}) {
    EXPECT_TRUE(reader.has_attribute(name)) << name;
  }
  EXPECT_FALSE(reader.has_attribute("hostname"));
  EXPECT_EQ(reader.attribute("title"), "a title");
  EXPECT_EQ(reader.attribute("recipe"), "text");
  EXPECT_EQ(reader.attribute("recipe_resolved"), "resolved text");
  EXPECT_EQ(reader.attribute("status"), "complete");
  EXPECT_EQ(reader.attribute("wall_time_s"), "1.5");
  EXPECT_EQ(reader.attribute("mpi_ranks"), std::to_string(test_world().size()));
  EXPECT_EQ(reader.attribute("petsc_version"), "3.18.4");
  EXPECT_EQ(reader.attribute("petsc_options"), "-ksp_type cg");
  EXPECT_EQ(reader.attribute("seed"), "42");
  EXPECT_EQ(reader.attribute("started"), "2025-06-30T12:00:00Z");
  EXPECT_THAT(reader.attribute("git_dirty"), MatchesRegex("[01]"));
  EXPECT_THAT(reader.attribute("hdf5_version"), MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(reader.attribute("bathline_version"), MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(reader.attribute("git_commit"), MatchesRegex("unknown|[0-9a-f]+"));
  EXPECT_NE(reader.attribute("mpi_version"), "");
  EXPECT_EQ(reader.attribute("mpi_version").find('\n'), std::string::npos);
}

TEST(Provenance, TimesAreUtcInIsoForm) {
  EXPECT_THAT(utc_now(), MatchesRegex("20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z"));
}

TEST(Provenance, VersionNamesEveryLibraryOnALine) {
  const std::string text = version_text("3.18.4", "3.4.0");
  EXPECT_THAT(text, testing::StartsWith("bathline "));
  for (const char* line : {"\ncommit ", "\ncompiler ", "\nflags ", "\nbuild id  ", "\nMPI ", "\nPETSc     3.18.4\n",
                           "\nHDF5      1.", "\nEigen     3.4.0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 9);
}

}  // namespace
}  // namespace bathline::provenance_test
