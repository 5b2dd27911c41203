// Folders that come with the program.
#pragma once

#include <filesystem>

namespace bathline {

/// Where the folder `name` ("experiments", "analysis") is: where the environment variable `variable` says; beside the
/// folder of the program, as in a checkout; or in share/bathline beside that, as `cmake --install` puts it.
std::filesystem::path find_data_folder(const char* name, const char* variable);

}  // namespace bathline
