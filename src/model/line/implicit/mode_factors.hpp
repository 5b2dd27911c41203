// The numbers of a recursion's modes in registers, and what the sweeps of implicit steps do with them.
// Tested by tests/model/line/implicit/stage_tile_test.cpp.
#pragma once

#include <complex>

#include "model/line/implicit/recursion.hpp"
#include "simd/simd_double.hpp"

namespace bathline {

/// A pair's or a real number's factor in every lane.
struct ModeFactor {
  SimdDouble re, im;
  ModeFactor() = default;
  explicit ModeFactor(std::complex<double> x) : re(splat(x.real())), im(splat(x.imag())) {}
};

/// The numbers of all modes in one stream, and what a recursion does with them: a pair's numbers follow each other, the
/// real ones come last.
template <int pairs, int singles>
struct ModeFactors {
  static constexpr int modes = pairs + singles, numbers = 2 * pairs + singles;
  struct Modes {
    SimdDouble of[numbers];
  };

  explicit ModeFactors(const LineRecursion& recursion) {
    for (int m = 0; m < modes; ++m) {
      const auto at = static_cast<std::size_t>(m < pairs ? m : m - pairs);
      const LineRecursion::Mode& mode = m < pairs ? recursion.pairs[at] : recursion.singles[at];
      pole[m] = ModeFactor(mode.pole);
      input_momentum_weight[m] = ModeFactor(mode.input_momentum_weight);
      momentum_weight[m] = ModeFactor(-mode.momentum_weight);
      displacement_weight[m] = ModeFactor(-mode.displacement_weight);
    }
  }

  /// state = decay state + input
  [[gnu::always_inline]] void filter(Modes& state, const Modes& input) const {
    for (int m = 0; m < pairs; ++m) {
      SimdDouble& re = state.of[2 * m];
      SimdDouble& im = state.of[2 * m + 1];
      const SimdDouble in_re = multiply_add(-pole[m].im, im, input.of[2 * m]),
                       in_im = multiply_add(pole[m].im, re, input.of[2 * m + 1]);
      re = multiply_add(pole[m].re, re, in_re);
      im = multiply_add(pole[m].re, im, in_im);
    }
    for (int m = pairs; m < modes; ++m) {
      SimdDouble& re = state.of[pairs + m];
      re = multiply_add(pole[m].re, re, input.of[pairs + m]);
    }
  }
  /// sum + factors x, whose factors differ from lane to lane.
  [[gnu::always_inline]] static void add_product(Modes& sum, const Modes& factors, const Modes& x) {
    for (int m = 0; m < pairs; ++m) {
      SimdDouble& re = sum.of[2 * m];
      SimdDouble& im = sum.of[2 * m + 1];
      re = multiply_add(factors.of[2 * m], x.of[2 * m], multiply_add(-factors.of[2 * m + 1], x.of[2 * m + 1], re));
      im = multiply_add(factors.of[2 * m], x.of[2 * m + 1], multiply_add(factors.of[2 * m + 1], x.of[2 * m], im));
    }
    for (int m = pairs; m < modes; ++m) {
      sum.of[pairs + m] = multiply_add(factors.of[pairs + m], x.of[pairs + m], sum.of[pairs + m]);
    }
  }
  /// The sum and the real part of that of factors times numbers.
  [[gnu::always_inline]] static SimdDouble add(SimdDouble sum, const ModeFactor* factors, const Modes& z) {
    for (int m = 0; m < pairs; ++m) {
      sum = multiply_add(factors[m].re, z.of[2 * m], multiply_add(-factors[m].im, z.of[2 * m + 1], sum));
    }
    for (int m = pairs; m < modes; ++m) sum = multiply_add(factors[m].re, z.of[pairs + m], sum);
    return sum;
  }
  /// What w + lead p changes by.
  [[gnu::always_inline]] Modes input_change(SimdDouble change_w, SimdDouble change_p) const {
    Modes result;
    for (int m = 0; m < pairs; ++m) {
      result.of[2 * m] = multiply_add(input_momentum_weight[m].re, change_p, change_w);
      result.of[2 * m + 1] = input_momentum_weight[m].im * change_p;
    }
    for (int m = pairs; m < modes; ++m)
      result.of[pairs + m] = multiply_add(input_momentum_weight[m].re, change_p, change_w);
    return result;
  }

  ModeFactor pole[modes], input_momentum_weight[modes], momentum_weight[modes], displacement_weight[modes];
};

}  // namespace bathline
