// How precisely a column of numbers is printed.
#pragma once

#include <string_view>

namespace bathline {

/// The unit of the last digit of numbers that are printed with the same number of decimals, or with the same number of
/// significant digits, perhaps without zeros at the end.
class PrintedPrecision {
 public:
  /// A number as printed.
  void add(std::string_view number);
  /// Of a number of this size; infinite before any has been added.
  double unit(double number) const;

 private:
  int exponent_ = 400;   // of ten: the smallest of the units of last digits
  int significant_ = 0;  // the most digits
};

}  // namespace bathline
