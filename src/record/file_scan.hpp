// Checks of files from untrusted sources: links and storage in other files, and whether all of a file is readable. Only
// for .cpp files of record/.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "record/hdf5_handle.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// A file may come from an untrusted source, and HDF5 would follow its links to other files, pipes and devices. Throws
/// ExternalLinks for a soft or external link, an object with two hard links, or a variable stored in other files, and
/// hdf5::Failure for a torn file.
void refuse_external_links(const hdf5::File& file, const std::string& path);

/// Chunks that were never written occupy no storage, so that a small file can declare terabytes. Throws hdf5::Failure
/// if a variable with values of `width` bytes is larger than its storage allows, even with the best compression.
void require_stored(const hdf5::Dataset& variable, std::size_t width);

/// As `ResultReader::read_everything`.
void read_everything(const hdf5::File& file, const std::string& path, const std::string& prefix,
                     const std::function<void(const std::string&)>& report);

}  // namespace bathline
