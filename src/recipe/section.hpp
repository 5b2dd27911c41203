// A validated table of a recipe.
#pragma once  // Public: programs of others may include this header.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "recipe/location.hpp"

namespace bathline {

/// A table of a recipe after validation: every value has the type of its `Parameter`, defaults are filled in. Access to
/// a key that is absent or of another type is a bug and throws `std::logic_error`.
class Section {
 public:
  using Rows = std::vector<std::vector<double>>;
  using Value = std::variant<bool, long, double, std::string, std::vector<double>, std::vector<long>,
                             std::vector<std::string>, Rows, std::vector<Section>>;

  explicit Section(Location where = {}) : where_(std::move(where)) {}

  bool has(const std::string& key) const { return values_.count(key) > 0; }
  bool boolean(const std::string& key) const { return get<bool>(key); }
  long integer(const std::string& key) const { return get<long>(key); }
  double number(const std::string& key) const { return get<double>(key); }
  const std::string& text(const std::string& key) const { return get<std::string>(key); }
  const std::vector<double>& numbers(const std::string& key) const { return get<std::vector<double>>(key); }
  const std::vector<long>& integers(const std::string& key) const { return get<std::vector<long>>(key); }
  const std::vector<std::string>& texts(const std::string& key) const { return get<std::vector<std::string>>(key); }
  /// One row per entry; a single number is a row of length one.
  const Rows& rows(const std::string& key) const { return get<Rows>(key); }
  const Section& table(const std::string& key) const;
  const std::vector<Section>& tables(const std::string& key) const { return get<std::vector<Section>>(key); }

  /// The keys in alphabetical order, defaults included.
  std::vector<std::string> keys() const;
  /// Whether there is a value of the type T at `key`.
  template <class T>
  bool holds(const std::string& key) const {
    const auto entry = values_.find(key);
    return entry != values_.end() && std::holds_alternative<T>(entry->second);
  }
  const Value& value(const std::string& key) const { return values_.at(key); }

  /// Location of the byte `offset` of the text at `key`, or of element `index` of a list of texts. For a text that is
  /// not from a file, the location of `key`.
  Location where_in_text(const std::string& key, std::size_t offset, std::size_t index = 0) const;
  /// Location of `key`, or of the table if the key has its default.
  Location where(const std::string& key) const;
  Location where() const { return where_; }

  void set(const std::string& key, Value value, Location where);
  /// Sets the locations of the texts at `key`: the beginning of each line of each text.
  void set_lines_of_texts(const std::string& key, std::vector<std::vector<Location>> lines);

  /// Texts of the files that the section reads, by their names, so that everything is built from the same text even if
  /// a file changes during the run. Without value for sections that may not read files, or have not done so yet.
  std::optional<std::map<std::string, std::string>> files;

 private:
  template <class T>
  const T& get(const std::string& key) const;

  Location where_;
  std::map<std::string, Value> values_;
  std::map<std::string, Location> locations_;
  std::map<std::string, std::vector<std::vector<Location>>> lines_of_texts_;
};

}  // namespace bathline
