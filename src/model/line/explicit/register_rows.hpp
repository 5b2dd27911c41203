// A row of the sites as registers of neighbours.
#pragma once

#include <cstdint>

#include "simd/simd_double.hpp"

namespace bathline {

/// The numbers of as many sites as there are lanes.
struct RowOfRegisters {
  const double* row;
  SimdDouble operator[](std::int64_t j) const { return load(row + j); }
};

}  // namespace bathline
