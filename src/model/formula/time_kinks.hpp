// Where formulas are not smooth in time.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "formula/program.hpp"

namespace bathline {

/// The times at which an argument of abs, sign, step, select, min or max that depends on the time alone changes its
/// piece, or that of a table passes a knot.
class TimeKinks {
 public:
  /// Of all `values`, in the variable with the index `time`. Throws FormulaTooLarge.
  TimeKinks(const ExpressionGraph& graph, std::span<const Expression> values, int time);
  /// The first numbers behind each change, after `from` and up to `to`, s, in no order. Pieces shorter than a 16th of
  /// the interval may be missed.
  std::vector<double> between(double from, double to) const;

 private:
  /// One argument, or two that are compared, as outputs of the program; the number of the table, if it is one of that.
  struct Argument {
    std::size_t first, second;
    std::optional<double> table;
  };
  /// A number that differs between pieces.
  double piece(const Argument& argument, double t) const;

  std::vector<Argument> arguments_;
  std::optional<FormulaProgram> program_;
  mutable std::vector<double> variables_, outputs_;
};

}  // namespace bathline
