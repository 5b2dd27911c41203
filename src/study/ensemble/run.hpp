// Runs an ensemble: realisations in batches, distributed over the ranks.
#pragma once

#include <memory>

#include "driver/study.hpp"
#include "study/ensemble/options.hpp"

namespace bathline {

/// Bytes on rank 0 for the largest case, an upper bound for the other ranks, and bytes of the results of all cases.
struct EnsembleBytes {
  double memory, result;
};
EnsembleBytes ensemble_bytes(const Experiment& experiment, const EnsembleOptions& options);

/// `recipe` is that of the experiment; the study copies it.
std::unique_ptr<Study> make_ensemble(const Recipe& recipe, const Experiment& experiment, EnsembleOptions options);

}  // namespace bathline
