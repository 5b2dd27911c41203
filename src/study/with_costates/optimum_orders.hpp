// The order of optima: their costs and controls over a list of steps against a reference.
#pragma once

#include <Eigen/Core>
#include <span>
#include <string>
#include <vector>

#include "driver/study.hpp"

namespace bathline {

/// The optimum of an integrator with one step.
struct SteppedOptimum {
  double cost = 0.0;              ///< where the conditions hold exactly, to first order by their multipliers
  double residual = 0.0;          ///< of the search
  Eigen::VectorXd controls = {};  ///< at times that all steps have in common, N
};

/// Writes, for an integrator, the errors of its optima over `steps`, s, from the largest to the smallest, and their
/// orders, as those of the study `convergence` are fitted. The reference is the last of `reference`; its error is taken
/// for its difference from the one before, and for the residuals of both searches, of costs their squares. Logs
/// warnings.
void write_orders(ResultFile& file, const std::string& name, const std::vector<double>& steps, double end,
                  std::span<const SteppedOptimum> optima, std::span<const SteppedOptimum> reference);

}  // namespace bathline
