// Options of PETSc for the length of a scope.
#pragma once

#include <petscsys.h>

#include <utility>
#include <vector>

namespace bathline {

/// Names and values; the same on every rank.
using PetscChoice = std::vector<std::pair<const char*, const char*>>;

class PetscOptionsScope {
 public:
  explicit PetscOptionsScope(PetscChoice choice) : choice_(std::move(choice)) {
    for (const auto& [name, value] : choice_) PetscOptionsSetValue(nullptr, name, value);
  }
  ~PetscOptionsScope() {
    for (const auto& [name, value] : choice_) PetscOptionsClearValue(nullptr, name);
  }
  PetscOptionsScope(const PetscOptionsScope&) = delete;
  PetscOptionsScope& operator=(const PetscOptionsScope&) = delete;

 private:
  PetscChoice choice_;
};

}  // namespace bathline
