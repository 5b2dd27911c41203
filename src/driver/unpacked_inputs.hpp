// The recipe and the input files that a result or a checkpoint holds, put where the program can read them again.
#pragma once

#include <filesystem>
#include <string>

#include "driver/program.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// A temporary folder of rank 0 in which the input files lie beside the recipe as they once did; removed at the end.
class UnpackedInputs {
 public:
  /// Throws UsageError on every rank where an input file cannot be had: one with an absolute path has to be there
  /// still, unchanged. Only rank 0's file is read. @note Collective.
  UnpackedInputs(const ResultReader* file, const Program& program);
  ~UnpackedInputs();
  UnpackedInputs(const UnpackedInputs&) = delete;
  UnpackedInputs& operator=(const UnpackedInputs&) = delete;

  /// Where the recipe would stand. Rank 0 reads for all, so others need not see it.
  std::string recipe_file() const { return recipe_.string(); }

 private:
  void unpack(const ResultReader& file, const CatalogueSchema& catalogue_schema);

  std::filesystem::path folder_;  // rank 0 only
  std::filesystem::path recipe_;
};

}  // namespace bathline
