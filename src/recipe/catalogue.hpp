// Lists of what recipes can name, each line with its own description.
#pragma once  // Public: programs of others may include this header.

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// All things of one kind, in the order of `bathline list`. A `Kind` has an `entry`, by whose name it is found. It is a
/// value: whoever has a copy can add lines of their own.
template <class Kind>
class Catalogue {
 public:
  Catalogue() = default;
  Catalogue(std::initializer_list<Kind> kinds) {
    for (const Kind& kind : kinds) add(kind);
  }

  /// Throws std::logic_error where the name is taken. Invalidates what `find` has returned.
  void add(Kind kind) {
    if (find(kind.entry.name) != nullptr) throw std::logic_error("there are two things called " + kind.entry.name);
    kinds_.push_back(std::move(kind));
  }
  /// Nullptr where nothing has that name.
  const Kind* find(const std::string& name) const {
    const auto found = std::find_if(begin(), end(), [&](const Kind& kind) { return kind.entry.name == name; });
    return found == end() ? nullptr : &*found;
  }
  auto begin() const { return kinds_.begin(); }
  auto end() const { return kinds_.end(); }

  std::vector<CatalogueEntry> entries() const {
    std::vector<CatalogueEntry> entries;
    for (const Kind& kind : kinds_) entries.push_back(kind.entry);
    return entries;
  }

 private:
  std::vector<Kind> kinds_;
};

}  // namespace bathline
