// Counting the digits of printed numbers.
// Tested by tests/text/printed_precision_test.cpp.
#include "text/printed_precision.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string>

namespace bathline {

void PrintedPrecision::add(std::string_view number) {
  const std::size_t end = std::min(number.find_first_of("eE"), number.size());
  int digits = 0, decimals = 0;
  bool is_fraction = false;
  for (const char c : number.substr(0, end)) {
    if (c == '.') is_fraction = true;
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) continue;
    if (digits > 0 || c != '0') ++digits;
    if (is_fraction) ++decimals;
  }
  const int power = end < number.size() ? std::atoi(std::string(number.substr(end + 1)).c_str()) : 0;
  exponent_ = std::min(exponent_, power - decimals);
  significant_ = std::max(significant_, digits);
}

double PrintedPrecision::unit(double number) const {
  const double by_decimals = std::pow(10.0, exponent_);
  if (number == 0.0) return by_decimals;
  return std::max(by_decimals, std::pow(10.0, std::floor(std::log10(std::abs(number))) + 1.0 - significant_));
}

}  // namespace bathline
