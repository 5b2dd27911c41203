// Collecting and writing the provenance of a result.
#include "record/provenance.hpp"

#include <gnu/libc-version.h>
#include <mpi.h>

#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "record/build_facts.hpp"
#include "record/hdf5_handle.hpp"

namespace bathline {

namespace {

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version = text;  // OpenMPI includes the terminating zero in the length
  return version.substr(0, version.find_first_of("\r\n"));
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

void write_provenance(ResultFile& file, const Communicator& communicator, const Provenance& provenance) {
  file.attribute("title", provenance.title);
  file.attribute("recipe", provenance.recipe);
  file.attribute("recipe_resolved", provenance.recipe_resolved);
  file.attribute("git_dirty", std::int64_t{build_facts::dirty});
  for (const auto& [name, value] : build_attributes(provenance.petsc_version)) file.attribute(name, value);
  file.attribute("mpi_ranks", std::int64_t{communicator.size()});
  file.attribute("petsc_options", provenance.petsc_options);
  file.attribute("seed", provenance.seed);
  file.attribute("started", provenance.started);
  update_provenance(file, "partial", 0.0);
}

std::vector<std::pair<std::string, std::string>> build_attributes(const std::string& petsc_version) {
  return {{"bathline_version", build_facts::version}, {"git_commit", build_facts::commit},
          {"compiler", build_facts::compiler},        {"compiler_flags", build_facts::flags},
          {"build_id", build_facts::build_id()},      {"petsc_version", petsc_version},
          {"hdf5_version", hdf5_version()},           {"mpi_version", mpi_version()},
          {"libc_version", gnu_get_libc_version()}};
}

std::string build_differences(const ResultReader& result, const std::string& petsc_version) {
  std::string differences;
  for (const auto& [name, here] : build_attributes(petsc_version)) {
    const std::string there = result.has_attribute(name) ? result.attribute(name) : "not known";
    if (there != here) differences += fmt::format("\n  {} is {} there, {} here", name, there, here);
  }
  return differences;
}

void update_provenance(ResultFile& file, const std::string& status, double wall_time_s) {
  file.attribute("status", status);
  file.attribute("wall_time_s", wall_time_s);
}

std::string version_text(const std::string& petsc_version, const std::string& eigen_version) {
  const std::pair<const char*, std::string> lines[] = {
      {"commit", fmt::format("{}{}", build_facts::commit, build_facts::dirty ? "-dirty" : "")},
      {"compiler", build_facts::compiler},
      {"flags", build_facts::flags},
      {"build id", build_facts::build_id()},
      {"MPI", mpi_version()},
      {"PETSc", petsc_version},
      {"HDF5", hdf5_version()},
      {"Eigen", eigen_version},
  };
  std::string text = fmt::format("bathline {}\n", build_facts::version);
  for (const auto& [name, value] : lines) text += fmt::format("{:<9} {}\n", name, value);
  return text;
}

}  // namespace bathline
