// The mistakes of a user, collected to be reported together.
#pragma once  // Public: programs of others may include this header.

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "recipe/location.hpp"

namespace bathline {

/// A mistake: its location, what is wrong and what would be right.
struct Mistake {
  Location where;
  std::string message;
};

/// Collects the mistakes of a phase - reading, building, checks whether cases can run -, so that it continues after the
/// first; its owner reports them at the end, and the next phase finds none.
class Mistakes {
 public:
  void add(Location where, std::string message);
  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }
  /// The first thousand mistakes, in the order in which they were added.
  const std::vector<Mistake>& kept() const { return kept_; }
  /// One line per mistake, in the order of the lines of the recipe; beyond twenty only their number.
  std::string report() const;
  /// Throws UsageError with the report if there are mistakes.
  void throw_if_any() const;

 private:
  std::vector<Mistake> kept_;
  std::size_t count_ = 0;
};

/// Thrown where nothing can be built from a value whose mistake has been added.
class InvalidValue : public std::exception {
 public:
  const char* what() const noexcept override { return "a value of the recipe is invalid"; }
};

/// Runs `part` of a phase up to its end or the first value from which nothing can be built; returns whether it was
/// completed.
template <class Part>
bool completes(Part part) {
  try {
    part();
    return true;
  } catch (const InvalidValue&) {
    return false;
  }
}

/// A mistake by the user that ends the program with exit code 2 before anything is written. Thrown on all ranks.
class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace bathline
