// Orders in the step of quantities of an ensemble, fitted over cases with several steps.
#pragma once

#include "study/ensemble/columns.hpp"
#include "study/theory/line_fit.hpp"

namespace bathline {

/// The table `slopes` of [study].
Parameter slopes_parameter();
/// Reads the table: quantities and integrators by their names. Invalid values are added to the mistakes.
std::vector<EnsembleSlope> read_slopes(const Section& study, const Experiment& experiment,
                                       const Measurements& measurements, Mistakes& mistakes);

/// The exponent of |y| ~ x^slope and its standard error, for standard errors `error` of the y: least squares in
/// logarithms, with the weights (y/error)^2. NaN where fewer than two x differ.
LineFit weighted_slope(std::span<const double> x, std::span<const double> y, std::span<const double> error);

/// Writes ensemble/<name>_slope and its error. `totals` is by case.
void write_slopes(const Experiment& experiment, const EnsembleOptions& options,
                  const std::vector<EnsembleTotals>& totals, ResultFile& file);

}  // namespace bathline
