// The provenance of a result: the root attributes of every result file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "parallel/communicator.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// Attributes given by the run; the build, the libraries and the number of ranks are added when they are written.
struct Provenance {
  std::string title;
  std::string recipe;           ///< text as given
  std::string recipe_resolved;  ///< with `--set` and defaults
  std::string petsc_version;    ///< given by the caller, as this folder does not use PETSc
  std::string petsc_options;    ///< arguments after `--` on the command line
  std::int64_t seed = 0;
  std::string started;  ///< `utc_now()` at the start of the run
};

/// The time now, ISO 8601 in UTC to the second: "2025-06-30T12:00:00Z".
std::string utc_now();

/// Writes all attributes, with `status` "partial" and wall time 0. @note Collective.
void write_provenance(ResultFile& file, const Communicator& communicator, const Provenance& provenance);

/// The attributes that identify a build, with the values of this one: hash of the program and versions of the
/// libraries. Builds with equal attributes compute the same bits.
std::vector<std::pair<std::string, std::string>> build_attributes(const std::string& petsc_version);
/// The attributes in which the build of a result differs from this one, each on a line after a line break; empty for
/// the same build. For one rank.
std::string build_differences(const ResultReader& result, const std::string& petsc_version);

/// Sets `status` ("partial", "failed", or "computed": complete except for its claims) and the wall time so far. @note
/// Collective.
void update_provenance(ResultFile& file, const std::string& status, double wall_time_s);

/// The output of `bathline --version`: program, commit, build and libraries, one per line.
std::string version_text(const std::string& petsc_version, const std::string& eigen_version);

}  // namespace bathline
