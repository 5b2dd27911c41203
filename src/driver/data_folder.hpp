// Finding the data folders that are installed with the program.
#pragma once

#include <filesystem>

namespace bathline {

/// The path of the folder `name` ("experiments", "analysis"): the value of the environment variable `variable` if that
/// is set, else share/bathline/NAME of an installation, else the folder beside the build folder of a checkout.
std::filesystem::path find_data_folder(const char* name, const char* variable);

}  // namespace bathline
