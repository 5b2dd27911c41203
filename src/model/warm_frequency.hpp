// Environments whose frequencies depend on the energy.
#pragma once

namespace bathline {

class WarmFrequency {
 public:
  virtual ~WarmFrequency() = default;
  /// A frequency that no motion at this kT, J, exceeds in so many steps, rad/s.
  virtual double highest_frequency_at(double temperature, double steps) const = 0;
};

}  // namespace bathline
