// Flushing of subnormal numbers to zero.
#include "simd/subnormals.hpp"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace bathline {

void flush_subnormals() {
#if defined(__SSE2__)
  // The bits of MXCSR, not their intrinsics, which require SSE3: every processor with SSE2 but the first has both bits.
  constexpr unsigned results_are_zero = 0x8000, operands_are_zero = 0x0040;
  _mm_setcsr(_mm_getcsr() | results_are_zero | operands_are_zero);
#endif
}

}  // namespace bathline
