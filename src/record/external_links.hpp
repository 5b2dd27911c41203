// What results and checkpoints do not have and HDF5 would follow; for .cpp files of record/ only.
#pragma once

#include <cstddef>
#include <string>

#include "record/hdf5_handle.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// A file leads out of itself, or round in circles.
class ExternalLinks : public FileError {
 public:
  using FileError::FileError;
};

/// A file may come from anybody, and HDF5 follows what is in it to other files, pipes and devices. Throws ExternalLinks
/// where there is a link to elsewhere, an object of two names, or a variable whose values lie in other files, and
/// hdf5::Failure where the file is torn.
void refuse_external_links(const hdf5::File& file, const std::string& path);

/// A few bytes on the disk can stand for terabytes of chunks that were never written, which nobody shall wait for or
/// run out of memory by. Throws hdf5::Failure where a variable of values of `width` bytes is larger than what is stored
/// of it can be, compressed as it may be.
void require_stored(const hdf5::Dataset& variable, std::size_t width);

}  // namespace bathline
