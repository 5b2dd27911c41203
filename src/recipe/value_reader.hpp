// Single TOML values -> C++ values, with the messages for what is wrong about them.
#pragma once

#include <optional>
#include <span>
#include <string>

#include <toml++/toml.h>

#include "recipe/mistakes.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// Reads booleans, numbers and texts. Every function adds a mistake at `where` and gives nothing when the value is not
/// what it must be; `name` is how the message calls it: "sites" or "q0[1]".
class ValueReader {
 public:
  explicit ValueReader(Mistakes& mistakes) : mistakes_(mistakes) {}

  std::optional<bool> boolean(const toml::node& node, const std::string& name, const Location& where);
  std::optional<long> integer(const toml::node& node, const std::string& name, Bound bound, const Location& where,
                              std::span<const std::string> choices = {});
  /// Accepts integers too; always finite.
  std::optional<double> number(const toml::node& node, const std::string& name, Bound bound, const Location& where);
  /// One of `choices`, or any text where there are none.
  std::optional<std::string> text(const toml::node& node, const std::string& name, std::span<const std::string> choices,
                                  const Location& where);

  /// Adds the mistake "name = value: message".
  void reject(const toml::node& node, const std::string& name, const Location& where, const std::string& message);

 private:
  Mistakes& mistakes_;
};

/// What `node` is, for "must be a number, not ...".
std::string type_found(const toml::node& node);

}  // namespace bathline
