// Where a result comes from: the root attributes of every result file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "parallel/communicator.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// What the run knows of itself; the build, the libraries and the number of ranks are added when it is written.
struct Provenance {
  std::string title;
  std::string recipe;           ///< text as given
  std::string recipe_resolved;  ///< with `--set` and defaults
  std::string petsc_version;    ///< given by the caller: this room does not see PETSc
  std::string petsc_options;    ///< what followed `--` on the command line
  std::int64_t seed = 0;
  std::string started;  ///< `utc_now()` when the run began
};

/// The time now, ISO 8601 in UTC to the second: "2025-06-30T12:00:00Z".
std::string utc_now();

/// Writes all attributes, with `status` "partial" and no wall time yet. @note Collective.
void write_provenance(ResultFile& file, const Communicator& communicator, const Provenance& provenance);

/// The attributes in which two builds differ, with the values of this one. Builds that agree in them compute the same
/// bits.
std::vector<std::pair<std::string, std::string>> build_attributes();

/// Sets `status` ("partial", "failed", or "computed": complete but for its claims) and the wall time so far. @note
/// Collective.
void update_provenance(ResultFile& file, const std::string& status, double wall_time_s);

/// What `bathline --version` prints: the program, the commit, the build and the libraries, one a line.
std::string version_text(const std::string& petsc_version, const std::string& eigen_version);

}  // namespace bathline
