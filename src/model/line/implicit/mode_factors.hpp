// The numbers of a recursion's modes in registers, and what the sweeps of implicit steps do with them.
// Tested by tests/model/line/implicit/stage_tile_test.cpp.
#pragma once

#include <complex>

#include "model/line/implicit/recursion.hpp"
#include "parallel/lanes.hpp"

namespace bathline {

/// A pair's or a real number's factor in every lane.
struct ModeFactor {
  Lanes re, im;
  ModeFactor() = default;
  explicit ModeFactor(std::complex<double> x) : re(everywhere(x.real())), im(everywhere(x.imag())) {}
};

/// The numbers of all modes in one stream, and what a recursion does with them: a pair's numbers follow each other, the
/// real ones come last.
template <int pairs, int singles>
struct ModeFactors {
  static constexpr int modes = pairs + singles, numbers = 2 * pairs + singles;
  struct Modes {
    Lanes of[numbers];
  };

  explicit ModeFactors(const LineRecursion& recursion) {
    for (int m = 0; m < modes; ++m) {
      const auto at = static_cast<std::size_t>(m < pairs ? m : m - pairs);
      const LineRecursion::Mode& mode = m < pairs ? recursion.pairs[at] : recursion.singles[at];
      decay[m] = ModeFactor(mode.decay);
      lead[m] = ModeFactor(mode.lead);
      kick[m] = ModeFactor(-mode.kick);
      slip[m] = ModeFactor(-mode.slip);
    }
  }

  /// state = decay state + input
  [[gnu::always_inline]] void filter(Modes& state, const Modes& input) const {
    for (int m = 0; m < pairs; ++m) {
      Lanes& re = state.of[2 * m];
      Lanes& im = state.of[2 * m + 1];
      const Lanes in_re = fused(-decay[m].im, im, input.of[2 * m]), in_im = fused(decay[m].im, re, input.of[2 * m + 1]);
      re = fused(decay[m].re, re, in_re);
      im = fused(decay[m].re, im, in_im);
    }
    for (int m = pairs; m < modes; ++m) {
      Lanes& re = state.of[pairs + m];
      re = fused(decay[m].re, re, input.of[pairs + m]);
    }
  }
  /// sum + factors x, whose factors differ from lane to lane.
  [[gnu::always_inline]] static void add_product(Modes& sum, const Modes& factors, const Modes& x) {
    for (int m = 0; m < pairs; ++m) {
      Lanes& re = sum.of[2 * m];
      Lanes& im = sum.of[2 * m + 1];
      re = fused(factors.of[2 * m], x.of[2 * m], fused(-factors.of[2 * m + 1], x.of[2 * m + 1], re));
      im = fused(factors.of[2 * m], x.of[2 * m + 1], fused(factors.of[2 * m + 1], x.of[2 * m], im));
    }
    for (int m = pairs; m < modes; ++m) {
      sum.of[pairs + m] = fused(factors.of[pairs + m], x.of[pairs + m], sum.of[pairs + m]);
    }
  }
  /// The sum and the real part of that of factors times numbers.
  [[gnu::always_inline]] static Lanes add(Lanes sum, const ModeFactor* factors, const Modes& z) {
    for (int m = 0; m < pairs; ++m) {
      sum = fused(factors[m].re, z.of[2 * m], fused(-factors[m].im, z.of[2 * m + 1], sum));
    }
    for (int m = pairs; m < modes; ++m) sum = fused(factors[m].re, z.of[pairs + m], sum);
    return sum;
  }
  /// What w + lead p changes by.
  [[gnu::always_inline]] Modes led(Lanes change_w, Lanes change_p) const {
    Modes result;
    for (int m = 0; m < pairs; ++m) {
      result.of[2 * m] = fused(lead[m].re, change_p, change_w);
      result.of[2 * m + 1] = lead[m].im * change_p;
    }
    for (int m = pairs; m < modes; ++m) result.of[pairs + m] = fused(lead[m].re, change_p, change_w);
    return result;
  }

  ModeFactor decay[modes], lead[modes], kick[modes], slip[modes];
};

}  // namespace bathline
