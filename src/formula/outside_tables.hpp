// Where formulas have left a table, for messages.
#pragma once

#include <string>

namespace bathline {

/// The last finite place outside of a table since the last call, as `table_text` calls it; empty if there was none.
std::string take_place_outside_tables();

}  // namespace bathline
