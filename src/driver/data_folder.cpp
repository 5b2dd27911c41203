// Finding the data folders that are installed with the program.
// Tested by tests/install/install_test.py.
#include "driver/data_folder.hpp"

#include <cstdlib>
#include <system_error>

namespace bathline {

namespace fs = std::filesystem;

fs::path find_data_folder(const char* name, const char* variable) {
  if (const char* folder = std::getenv(variable)) return folder;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return name;
  const fs::path prefix = program.parent_path().parent_path();
  const fs::path installed = prefix / "share" / "bathline" / name;
  return fs::is_directory(installed, error) ? installed : prefix / name;
}

}  // namespace bathline
