// Tables of a function, interpolated by cubic or straight pieces.
#pragma once

#include <span>
#include <string>

namespace bathline {

/// The number that the first operand of `Operation::table` has to be for the interpolant of these values at two or more
/// increasing knots: the cubic spline with continuous second derivatives that is one cubic on the first two intervals
/// and one on the last two (not-a-knot), or straight lines. The tables are the process's, each once, so that programs
/// and machine code find them by this number. Its derivatives are the following three numbers.
double table_number(const std::string& name, std::span<const double> knots, std::span<const double> values,
                    bool is_linear);
/// The interpolant, or the derivative, with this number at x. The outermost pieces go on for the length of an interval,
/// since substeps of a method may lie outside the run; beyond that the value is NaN. Number 0 is the function that
/// vanishes.
double table_value(double number, double x);
/// The number of the derivative; 0 after the third, which is piecewise constant.
double table_derivative(double number);
/// How messages call the value at x, with the range of the table.
std::string table_text(double number, double x);

}  // namespace bathline
