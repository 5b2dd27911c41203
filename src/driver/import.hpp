// Writing the environments of a bath that another program describes.
#pragma once

#include <string>

#include "driver/program.hpp"
#include "model/kernels/bath_import.hpp"

namespace bathline {

struct ImportRequest {
  BathSource source;   ///< without its text, which is read from its file
  std::string output;  ///< path of the TOML file; "": standard output
  bool overwrite = false;
};

/// Reads the bath on rank 0, and writes its environments and its table. Throws UsageError if that is impossible.
/// @note Collective.
void import_environments(const ImportRequest& request, const Program& program);

}  // namespace bathline
