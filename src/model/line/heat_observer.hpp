// Heat currents and temperatures along a folded chain.
#pragma once

#include "model/heat_conductor.hpp"
#include "model/line/state.hpp"

namespace bathline {

/// The observer of a folded chain of one axis. @note Collective.
std::unique_ptr<HeatObserver> make_heat_observer(LineState& line, bool is_ring, const HeatObservation& what);

}  // namespace bathline
