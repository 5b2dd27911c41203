// Recipes with [sweep]: one recipe for every combination of the listed values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "recipe/mistakes.hpp"

namespace bathline {

/// The settings of one element of a sweep, as for `--set`.
using SweepElement = std::vector<std::string>;

/// The product of the lists under [sweep], whose keys are the dotted keys of the recipe: the keys in alphabetical
/// order, the last one changing fastest. The keys of a list in `zip` change together, in the place of their first.
struct Sweep {
  struct Key {
    std::string name;
    std::vector<std::string> values;  ///< as TOML
    Location where;                   ///< of the key
  };
  using Axis = std::vector<Key>;  ///< keys that change together, with lists of one length
  std::vector<Axis> axes;
  Location where;         ///< of [sweep]
  std::size_t count = 0;  ///< number of elements; 0 if the recipe has no [sweep]

  SweepElement element(std::size_t index) const;
  /// A mistake in an element at its location in [sweep], if a setting of the sweep has caused it.
  Mistake located(Mistake mistake, const SweepElement& element) const;
};

/// `settings` are applied first and can change the sweep itself. Text that is not TOML has no sweep; `parse_recipe`
/// reports the error, and mistakes in settings of other tables.
Sweep read_sweep(const std::string& text, const std::string& file, const std::vector<std::string>& settings,
                 Mistakes& mistakes);

}  // namespace bathline
