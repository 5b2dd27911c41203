// The schema of recipes: the description of everything that a recipe can name. `bathline describe`, the validation of
// recipes and the tests all read the same entries.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bathline {

/// Kinds of values. `numbers` is a flat list of numbers; `rows` a list with one number or one list of numbers
/// per row (`q0 = [1.0, 2.0]` or `q0 = [[5.0, 0.0]]`); `table` and `tables` are checked against `members`.
enum class ValueType { boolean, integer, number, text, numbers, integers, texts, rows, table, tables };

/// The bound on a number (or each number of a list), which must also be finite.
enum class Bound { any, positive, nonnegative, negative, unit_interval };

/// The violated bound of `value` as a message, such as "must be positive"; nullptr where it is kept.
const char* broken_bound(double value, Bound bound);

struct CatalogueEntry;

/// The name of a parameter that describes every key without a parameter of its own: names that the user chooses.
inline const std::string wildcard_key = "*";

/// A key of a table of the recipe.
struct Parameter {
  std::string name;
  ValueType type = ValueType::number;
  std::string units = {};          ///< "" where the value is dimensionless or not a number
  std::string doc = {};            ///< one sentence
  std::string default_value = {};  ///< default value as TOML text; empty means that the key may be absent
  bool required = false;
  bool is_size = false;  ///< for environments: memory grows with this number
  Bound bound = Bound::any;
  std::vector<std::string> choices = {};  ///< allowed texts or integers; empty means any
  std::vector<Parameter> members = {};    ///< keys of a `table` or of each of the `tables`
  /// For a `table` instead of `members`: the argument of `bathline list` that shows the values of its key `kind`; the
  /// parameters of that entry are the other keys.
  std::string catalogue_name = {};
  std::shared_ptr<const std::vector<CatalogueEntry>> kinds = {};  ///< these entries, set when the schema is assembled
  /// Types that are allowed besides `type`: `integer`, `number`, `text` (one of `choices`, if any), `numbers` or
  /// `texts`.
  std::vector<ValueType> alternative_types = {};
};

// Parameters of tables: the key must be given, may be absent, has a default value, or is one of `choices`.
Parameter required(std::string name, ValueType type, std::string units, std::string doc, Bound bound = Bound::any);
Parameter optional(std::string name, ValueType type, std::string units, std::string doc, Bound bound = Bound::any);
Parameter defaulted(std::string name, ValueType type, std::string units, std::string default_value, std::string doc,
                    Bound bound = Bound::any);
Parameter choice(std::string name, std::vector<std::string> choices, std::string doc, std::string default_value = {});

/// Another name of an entry that recipes may use, and the keys that it sets: `midpoint` is `gauss` with `stages = 1`.
struct Alias {
  std::string name;
  std::vector<std::pair<std::string, std::string>> settings = {};  ///< keys and their values as TOML text
};

/// A named entry: a system, a potential, an environment, an integrator, a study.
struct CatalogueEntry {
  std::string name;
  std::string summary = {};   ///< one line for `bathline list`
  std::string equation = {};  ///< plain text, several lines allowed
  std::string source = {};    ///< citation key and equation: "limebeer2020, eqs. (16)-(20)"
  std::vector<Alias> aliases = {};
  std::vector<std::string> keywords = {};  ///< words of the literature by which `bathline describe` finds it
  std::vector<Parameter> parameters = {};
  std::string notes = {};  ///< further remarks for `bathline describe`: properties, limits; may be empty
};

/// All entries that a recipe may name.
struct CatalogueSchema {
  std::vector<CatalogueEntry> systems;
  std::vector<CatalogueEntry> potentials;
  std::vector<CatalogueEntry> environments;
  std::vector<CatalogueEntry> integrators;
  std::vector<CatalogueEntry> studies;
};

/// The entry called `name`, which may be an alias, or nullptr.
const CatalogueEntry* find_entry(std::span<const CatalogueEntry> entries, const std::string& name);

/// The entries that have `word` as a keyword, compared without case, spaces and hyphens.
std::vector<const CatalogueEntry*> entries_by_keyword(std::span<const CatalogueEntry> entries, const std::string& word);

/// The alias called `name`, or nullptr.
const Alias* find_alias(const CatalogueEntry& entry, const std::string& name);

/// The keys of a table whose key `kind` names `entry`: `kind` and the parameters of the entry.
std::vector<Parameter> keys_of_kind(const CatalogueEntry& entry);

/// Whether a text is a valid name: letters, digits and `_`, a letter first.
bool is_name(std::string_view text);

/// The parameters of a table with these keys: `wildcard_key` is replaced by a parameter for each key that no other
/// describes.
std::vector<Parameter> named_parameters(std::span<const Parameter> parameters, std::span<const std::string> keys);

/// The text of `bathline describe NAME` for one entry.
std::string describe(const CatalogueEntry& entry, const std::string& category);

}  // namespace bathline
