// Single numbers of a recipe by the paths that `--set` has: "system.k", "system.q0.1", "environments.bath.stiffness.0".
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "recipe/recipe.hpp"

namespace bathline {

/// A number of system or environments, to be read and replaced. Elements of lists are selected by index, tables of
/// lists also by their `name`.
class NumberAt {
 public:
  /// Throws std::runtime_error with what is wrong where the path leads to no number of the recipe.
  NumberAt(const std::string& path, const Recipe& recipe, const CatalogueSchema& catalogue_schema);

  double value() const { return value_; }
  /// The interval of its key, open or closed; infinite where it has no bound.
  std::pair<double, double> limits() const;
  /// Its parts between dots, as they were given.
  const std::vector<std::string>& path() const { return path_; }
  /// The name of the environment that has it; empty where it is of the system.
  const std::string& environment() const { return environment_; }
  /// Replaces it in a recipe with the same keys. The value is not checked.
  void set(Recipe& recipe, double value) const;

 private:
  std::vector<std::string> path_;
  std::string environment_;
  std::vector<Parameter> keys_;  // of the section where it begins
  double value_ = 0.0;
  Bound bound_ = Bound::any;
};

}  // namespace bathline
