// Running other programs, or the test program itself, in a test.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

extern char** environ;

namespace bathline {

struct Outcome {
  int status = -1;     ///< of the shell: the exit code, or 128 + signal
  std::string output;  ///< standard output and error
};

/// Runs a shell command with this program's environment without the variables of mpirun: otherwise the child would join
/// the MPI job of this process.
inline Outcome run_command(const std::string& command) {
  std::string clean = "env";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name(*entry, std::string(*entry).find('='));
    if (name.starts_with("OMPI_") || name.starts_with("PMIX_") || name.starts_with("PRTE_")) clean += " -u " + name;
  }
  clean +=
      " OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1"
      " OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none ";
  Outcome outcome;
  FILE* pipe = popen((clean + command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> buffer{};
  for (std::size_t count = 0; (count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    outcome.output.append(buffer.data(), count);
  }
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

/// Path of this test program.
inline std::string this_program() {
  std::vector<char> path(4096);
  const auto length = readlink("/proc/self/exe", path.data(), path.size());
  return {path.data(), static_cast<std::size_t>(length > 0 ? length : 0)};
}

}  // namespace bathline
