// What an ensemble has found, in the result file.
#pragma once

#include "study/ensemble/run.hpp"

namespace bathline {

/// Writes the group ensemble/<integrator>. @note Collective; `total.sums` is the same on every rank.
void write_ensemble(const Experiment& experiment, const EnsembleOptions& options, const Case& one,
                    const EnsembleColumns& columns, const EnsembleTotals& total, ResultFile& file);

}  // namespace bathline
