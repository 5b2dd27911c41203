// The constants of a recipe, and the values of expressions in them.
#pragma once

#include <string>

#include <toml++/toml.h>

#include "formula/parser.hpp"
#include "recipe/mistakes.hpp"

namespace bathline {

/// Numbers by name.
class Constants {
 public:
  /// Reads and removes the table `[constants]` of a recipe: numbers, and expressions in other constants.
  static Constants take_from(toml::table& recipe, const std::string& file, Mistakes& mistakes);

  /// The value of an expression in numbers, functions and these constants, such as "2*pi/omega/100". Throws
  /// FormulaError where it is not an expression or not finite.
  double value_of(const std::string& expression) const;

  /// The constants as TOML, whole numbers as integers.
  const toml::table& values() const { return values_; }

 private:
  toml::table values_;
};

}  // namespace bathline
