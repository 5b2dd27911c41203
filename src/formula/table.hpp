// Tables of a function, interpolated by cubic or straight pieces.
#pragma once

#include <memory>
#include <span>
#include <string>

namespace bathline {

/// The number that the first operand of `Operation::table` has to be for an interpolant, so that programs and machine
/// code find it. The interpolant exists as long as a copy of this pointer.
using TableNumber = std::shared_ptr<const double>;

/// The number of the interpolant of these values at two or more increasing knots: the cubic spline with continuous
/// second derivatives that is one cubic on the first two intervals and one on the last two (not-a-knot), or straight
/// lines. Its derivatives are the following three numbers. Equal tables are one. Not thread-safe.
TableNumber table_number(const std::string& name, std::span<const double> knots, std::span<const double> values,
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
