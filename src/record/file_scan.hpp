// Reading an HDF5 file completely to check that it is readable.
#pragma once

#include <functional>
#include <string>

namespace bathline {

/// Reads every attribute and every value of a file and calls `report` with the object that is being read. Throws
/// FileError naming the first object that cannot be read.
void read_everything(const std::string& path, const std::function<void(const std::string&)>& report);

}  // namespace bathline
