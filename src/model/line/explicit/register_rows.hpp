// A row of the sites as registers of neighbours.
#pragma once

#include <cstdint>

#include "parallel/lanes.hpp"

namespace bathline {

/// The numbers of as many sites as there are lanes.
struct RowOfRegisters {
  const double* row;
  Lanes operator[](std::int64_t j) const { return load(row + j); }
};

}  // namespace bathline
