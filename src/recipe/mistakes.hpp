// The mistakes of a user, collected so that all of them are reported together.
#pragma once  // Public: programs of others may include this header.

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "recipe/location.hpp"

namespace bathline {

/// One mistake: where it stands, what is wrong and what would be right.
struct Mistake {
  Location where;
  std::string message;
};

/// Collects mistakes. Whoever validates adds to it and goes on; whoever owns it asks at the end.
class Mistakes {
 public:
  void add(Location where, std::string message);
  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }
  /// The mistakes in the order in which they were added; the first thousand, should there be more.
  const std::vector<Mistake>& found() const { return found_; }
  /// One line a mistake, in the order of the lines of the recipe; beyond twenty only how many more there are.
  std::string report() const;

 private:
  std::vector<Mistake> found_;
  std::size_t count_ = 0;
};

/// A mistake by the user that ends the program with exit code 2 before anything is written.
/// Thrown on every rank alike.
class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace bathline
