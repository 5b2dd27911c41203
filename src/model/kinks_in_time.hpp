// Forces that are not smooth in time.
#pragma once

#include <vector>

namespace bathline {

/// A `Force`, `Drive` or `Lagrangian` that knows when it is not smooth.
class KinksInTime {
 public:
  virtual ~KinksInTime() = default;
  /// Times after `from` and up to `to`, s, in any order.
  virtual std::vector<double> kinks(double from, double to) const = 0;
};

/// Those of a force of any kind; none where it does not know them, or where it is null.
template <class Force>
std::vector<double> kinks_of(const Force* force, double from, double to) {
  const auto* known = dynamic_cast<const KinksInTime*>(force);
  return known == nullptr ? std::vector<double>() : known->kinks(from, to);
}

}  // namespace bathline
