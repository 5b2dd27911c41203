// Sites of a nonlinear line from the Gibbs distribution between its ends, exp(-(sum V(r_j) + sum U(w_j))/kT).
// Tested by tests/model/line/nonlinear_thermal_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

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

/// Why there is no such distribution, or no way to draw from it; "" where there is.
std::string thermal_unsupported_reason(const ThermalChain& chain);

/// Calls use(site, place) for all sites of a chain in their order. Without forces on the sites the stretches are
/// independent, given their sum; else each site is drawn given the one before it. Every rank draws the whole chain, in
/// about 0.1 us a site, or 3 us with forces on the sites. Throws std::runtime_error with `thermal_unsupported_reason`.
void draw_thermal_places(const ThermalChain& chain, const UniformNumber& uniform,
                         const std::function<void(std::int64_t site, double place)>& use);

}  // namespace bathline
