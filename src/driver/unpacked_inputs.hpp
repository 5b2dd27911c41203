// Unpacking the input files that a result or a checkpoint contains, so that its recipe can be read again.
#pragma once

#include <filesystem>
#include <string>

#include "driver/program.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// A temporary folder on rank 0 with the input files at their paths relative to the recipe; removed by the destructor.
class UnpackedInputs {
 public:
  /// Throws UsageError on every rank if an input file is missing; a file with an absolute path must still exist,
  /// unchanged. `file` is used on rank 0 alone. @note Collective.
  UnpackedInputs(const ResultReader* file, const Program& program);
  ~UnpackedInputs();
  UnpackedInputs(const UnpackedInputs&) = delete;
  UnpackedInputs& operator=(const UnpackedInputs&) = delete;

  /// The path that the recipe would have in the folder, which need exist on rank 0 alone.
  std::string recipe_file() const { return recipe_.string(); }

 private:
  void unpack(const ResultReader& file, const CatalogueSchema& catalogue_schema);

  std::filesystem::path folder_;  // rank 0 only
  std::filesystem::path recipe_;
};

}  // namespace bathline
