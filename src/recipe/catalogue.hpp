// Catalogues of what recipes can name, each entry with its own description.
#pragma once  // Public: programs of others may include this header.

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// All entries of one kind, in the order of `bathline list`. A `Kind` has an `entry`, by whose name it is found.
/// Catalogues are values: programs can add entries to a copy.
template <class Kind>
class Catalogue {
 public:
  Catalogue() = default;
  Catalogue(std::initializer_list<Kind> kinds) {
    for (const Kind& kind : kinds) add(kind);
  }

  /// Throws std::logic_error if the name exists already. Invalidates pointers from `find`.
  void add(Kind kind) {
    if (find(kind.entry.name) != nullptr)
      throw std::logic_error("the catalogue has two entries called " + kind.entry.name);
    kinds_.push_back(std::move(kind));
  }
  /// nullptr if nothing has that name.
  const Kind* find(const std::string& name) const {
    const auto kind = std::find_if(begin(), end(), [&](const Kind& other) { return other.entry.name == name; });
    return kind == end() ? nullptr : &*kind;
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
