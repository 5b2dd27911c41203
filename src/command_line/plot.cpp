// Starting the plotting script.
// Tested by tests/command_line/plot_test.py.
#include "command_line/commands.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "driver/data_folder.hpp"
#include "recipe/mistakes.hpp"

namespace bathline {

namespace fs = std::filesystem;

int plot_result(const PlotRequest& request) {
  const fs::path script = find_data_folder("analysis", "BATHLINE_ANALYSIS") / "figure.py";
  std::error_code ignored;
  if (!fs::is_regular_file(script, ignored)) {
    throw UsageError(fmt::format("the plotting script {} does not exist; set BATHLINE_ANALYSIS to the folder analysis/",
                                 script.string()));
  }
  const char* interpreter = std::getenv("BATHLINE_PYTHON");
  // `--` because a path may begin with a dash.
  const std::vector<std::string> words = {
      interpreter ? interpreter : "/usr/bin/python3",
      script.string(),
      "-o",
      request.stem.empty() ? fs::path(request.result).replace_extension().string() : request.stem,
      "--",
      request.result};
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int reason = posix_spawnp(&child, arguments.front(), nullptr, nullptr, arguments.data(), environ)) {
    throw UsageError(
        fmt::format("cannot start the Python interpreter {}: {}; set BATHLINE_PYTHON to one with h5py and matplotlib",
                    words.front(), std::generic_category().message(reason)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace bathline
