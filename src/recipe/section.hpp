// A validated table of a recipe.
#pragma once  // Public: programs of others may include this header.

#include <exception>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "recipe/location.hpp"

namespace bathline {

/// Thrown where a value is asked for that the recipe does not give in a form that could be read. The mistake itself is
/// reported by whoever read the recipe.
class UnreadableValue : public std::exception {
 public:
  const char* what() const noexcept override { return "a value of the recipe could not be read"; }
};

/// Does `judge`, which looks for further mistakes, as far as the values it asks for could be read; returns whether it
/// came to its end.
template <class Judge>
bool where_readable(Judge judge) {
  try {
    judge();
    return true;
  } catch (const UnreadableValue&) {
    return false;
  }
}

/// One table of a recipe after validation: every value has the type that its `Parameter` asks for, defaults are
/// filled in. Asking for a key that is absent or of another type is a bug and throws `std::logic_error`; asking for the
/// value of one that could not be read throws `UnreadableValue`.
class Section {
 public:
  using Rows = std::vector<std::vector<double>>;
  using Value = std::variant<bool, long, double, std::string, std::vector<double>, std::vector<long>,
                             std::vector<std::string>, Rows, std::vector<Section>>;

  explicit Section(Location where = {}) : where_(std::move(where)) {}

  /// Also true of a key whose value could not be read.
  bool has(const std::string& key) const { return places_.count(key) > 0; }
  bool is_readable(const std::string& key) const { return values_.count(key) > 0; }
  bool boolean(const std::string& key) const { return get<bool>(key); }
  long integer(const std::string& key) const { return get<long>(key); }
  double number(const std::string& key) const { return get<double>(key); }
  const std::string& text(const std::string& key) const { return get<std::string>(key); }
  const std::vector<double>& numbers(const std::string& key) const { return get<std::vector<double>>(key); }
  const std::vector<long>& integers(const std::string& key) const { return get<std::vector<long>>(key); }
  const std::vector<std::string>& texts(const std::string& key) const { return get<std::vector<std::string>>(key); }
  /// One row per entry; an entry that was a single number is a row of length one.
  const Rows& rows(const std::string& key) const { return get<Rows>(key); }
  const Section& table(const std::string& key) const;
  const std::vector<Section>& tables(const std::string& key) const { return get<std::vector<Section>>(key); }

  /// Its keys in alphabetical order, those filled in by default among them.
  std::vector<std::string> keys() const;
  /// Whether the value of `key` can be read and is of the type T.
  template <class T>
  bool holds(const std::string& key) const {
    const auto entry = values_.find(key);
    return entry != values_.end() && std::holds_alternative<T>(entry->second);
  }
  const Value& value(const std::string& key) const { return values_.at(key); }

  /// Where the character number `offset` of a text stands that is the value of `key`, or of element `index` of a list
  /// of texts. For a text that came from elsewhere than a file, where `key` stands.
  Location where_in_text(const std::string& key, std::size_t offset, std::size_t index = 0) const;
  /// Where `key` stands, or where the table begins when the key was filled in by default.
  Location where(const std::string& key) const;
  Location where() const { return where_; }

  void set(const std::string& key, Value value, Location where);
  /// Says where the characters of the texts at `key` stand: where each line of each text begins.
  void set_lines_of_texts(const std::string& key, std::vector<std::vector<Location>> lines);
  /// Marks a key that was given, or had to be, but whose value is not known because of a mistake.
  void set_unreadable(const std::string& key, Location where);

 private:
  template <class T>
  const T& get(const std::string& key) const;

  Location where_;
  std::map<std::string, Value> values_;
  std::map<std::string, Location> places_;
  std::map<std::string, std::vector<std::vector<Location>>> lines_of_texts_;
};

}  // namespace bathline
