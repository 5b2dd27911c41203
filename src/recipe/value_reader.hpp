// Single TOML values -> C++ values, with messages for invalid ones.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

#include <toml++/toml.h>

#include "recipe/constants.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// Reads booleans, numbers and texts. Every function adds a mistake at `where` and returns nothing if the value is
/// invalid; `name` is its name in the message: "sites" or "q0[1]".
class ValueReader {
 public:
  explicit ValueReader(Mistakes& mistakes, Constants constants = {})
      : mistakes_(mistakes), constants_(std::move(constants)) {}

  std::optional<bool> boolean(const toml::node& node, const std::string& name, const Location& where);
  /// Accepts expressions in the constants, as `number` does.
  std::optional<long> integer(const toml::node& node, const std::string& name, Bound bound, const Location& where,
                              std::span<const std::string> choices = {});
  /// Accepts integers and expressions such as "2*pi/omega/100" too; always finite.
  std::optional<double> number(const toml::node& node, const std::string& name, Bound bound, const Location& where,
                               const std::string& units = "");
  /// One of `choices`, or any text if there are none.
  std::optional<std::string> text(const toml::node& node, const std::string& name, std::span<const std::string> choices,
                                  const Location& where);

  /// Whether `node` is a text that is an expression in the constants.
  bool is_expression(const toml::node& node) const;

  /// Adds the mistake "name = value: message".
  void reject(const toml::node& node, const std::string& name, const Location& where, const std::string& message);

 private:
  /// The number at `node`, or the value of the expression; adds a mistake that begins with `expected` otherwise.
  std::optional<double> value(const toml::node& node, const std::string& name, const Location& where,
                              const std::string& expected);

  Mistakes& mistakes_;
  Constants constants_;
};

/// The type of `node`, for "must be a number, not ...".
std::string type_found(const toml::node& node);

}  // namespace bathline
