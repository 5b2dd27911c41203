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
  // Beside bin/ of an installed program, or in the sources, above the build folder of any preset.
  fs::path prefix = program.parent_path().parent_path();
  for (fs::path above = prefix; above.has_relative_path(); above = above.parent_path()) {
    for (const fs::path& folder : {above / "share" / "bathline" / name, above / name}) {
      if (fs::is_directory(folder, error)) return folder;
    }
  }
  return prefix / name;
}

}  // namespace bathline
