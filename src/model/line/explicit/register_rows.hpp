// A row of sites read as registers of consecutive sites.
#pragma once

#include <cstdint>

#include "simd/simd_double.hpp"

namespace bathline {

/// Element j is the register of the sites j, j + 1, ...
struct RowOfRegisters {
  const double* row;
  SimdDouble operator[](std::int64_t j) const { return load(row + j); }
};

}  // namespace bathline
