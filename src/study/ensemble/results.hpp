// Writes the results of an ensemble to the result file.
#pragma once

#include "study/ensemble/columns.hpp"

namespace bathline {

/// Writes the group ensemble/<integrator>. @note Collective; `total.moments` is the same on every rank.
void write_ensemble(const Experiment& experiment, const EnsembleOptions& options, const Case& this_case,
                    const EnsembleColumns& columns, const EnsembleTotals& total, ResultFile& file);
/// Logs a warning if averages over time are not those of a stationary motion.
void warn_unless_stationary(const EnsembleOptions& options, const Case& this_case, const EnsembleColumns& columns,
                            const EnsembleMoments& moments);

}  // namespace bathline
