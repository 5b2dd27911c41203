// Sites of a nonlinear line from the Gibbs distribution between its ends, exp(-(sum V(r_j) + sum U(w_j))/kT).
// Tested by tests/model/line/nonlinear_thermal_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "model/line/state.hpp"

namespace bathline {

/// A chain between the places of its ends.
struct ThermalChain {
  const LineLaw* law = nullptr;
  double temperature = 0.0;  ///< kT, J
  std::int64_t sites = 0;
  double first = 0.0;          ///< the place before the first site
  std::optional<double> last;  ///< that behind the last; nothing at a free end
};

/// A number, uniform in (0, 1], of a spring or site in one of its draws, from 1.
using UniformNumber = std::function<double(std::int64_t draw, std::int64_t index)>;

/// The places of a chain in their order, computed one from the other when they are asked for.
class ThermalPlaces {
 public:
  virtual ~ThermalPlaces() = default;
  /// Draws what they depend on. @note Collective.
  virtual void draw(const Communicator&) {}
  /// Calls use(site, place) for the sites [begin, end) in their order. The bits depend on the random numbers alone.
  void for_each(std::int64_t begin, std::int64_t end, const std::function<void(std::int64_t, double)>& use) const;

 protected:
  /// Springs or sites of a block, the first of which does not depend on how the ranks share the line.
  static constexpr std::int64_t block = 4096;

 private:
  /// A site at or before the first one of a block, and the place before it.
  virtual std::pair<std::int64_t, double> start_of_block(std::int64_t first) const = 0;
  virtual double next(std::int64_t site, double before) const = 0;
};

/// Why there is no such distribution, or no way to draw from it; "" where there is.
std::string thermal_unsupported_reason(const ThermalChain& chain);

/// Draws the places; the law must outlive them. Without forces on the sites the stretches are independent, given their
/// sum; else each site is drawn given the one before it. Throws std::runtime_error with `thermal_unsupported_reason`.
/// @note Collective.
std::unique_ptr<ThermalPlaces> draw_thermal_places(const ThermalChain& chain, UniformNumber uniform,
                                                   const Communicator& communicator);

}  // namespace bathline
