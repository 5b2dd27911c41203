// Temperatures that depend on the time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

/// kT, J, as a function of the time that is positive at the start.
class TemperatureInTime {
 public:
  explicit TemperatureInTime(std::function<double(double)> kt) : kt_(std::move(kt)), start_(kt_(0.0)) {}
  double at(double t) const { return kt_(t); }
  /// The root of kT over that at the start: what noise at the time t is multiplied by.
  double amplitude(double t) const;

 private:
  std::function<double(double)> kt_;
  double start_;
};

/// Of each degree of freedom; empty where all temperatures are constant, nullptr where one is.
using TemperaturesInTime = std::vector<std::shared_ptr<const TemperatureInTime>>;

/// The key of a section's formula for kT after `keep_temperature_at_start`.
extern const std::string kt_in_time;

/// Where the environment's `kT` is a formula in `t`, moves it to the key `kt_in_time` and leaves its value at t = 0, so
/// that whatever asks for `kT` has that of the start.
void keep_temperature_at_start(Section& environment, Mistakes& mistakes);

/// nullptr where kT is constant.
std::shared_ptr<const TemperatureInTime> read_temperature_in_time(const Section& environment);

/// That of a particle of `count` by the formula `kT` of a section in `t`, its index `i` and `n`; nullptr, and a
/// mistake, where it is invalid.
std::shared_ptr<const TemperatureInTime> read_temperature_in_time(const Section& section, int particle, int count,
                                                                  Mistakes& mistakes);

/// Adds a mistake at `kT` where a temperature is negative at one of 1000 times until `end`.
void check_temperatures(const TemperaturesInTime& temperatures, double end, const Section& section, Mistakes& mistakes);

}  // namespace bathline
