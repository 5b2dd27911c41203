// The modes of a recursion in registers, and the operations of implicit sweeps on them.
// Tested by tests/model/line/implicit/stage_tile_test.cpp.
#pragma once

#include <complex>

#include "model/line/implicit/recursion.hpp"
#include "simd/simd_double.hpp"

namespace bathline {

/// A complex factor, the same in all lanes.
struct ModeFactor {
  SimdDouble re, im;
  ModeFactor() = default;
  explicit ModeFactor(std::complex<double> x) : re(splat(x.real())), im(splat(x.imag())) {}
};

/// Factors of all modes. Values of the modes at a site are real and imaginary part of each pair, followed by the real
/// ones.
template <int pairs, int singles>
struct ModeFactors {
  static constexpr int modes = pairs + singles, numbers = 2 * pairs + singles;
  struct Modes {
    SimdDouble value[numbers];
  };

  explicit ModeFactors(const LineRecursion& recursion) {
    for (int m = 0; m < modes; ++m) {
      const auto index = static_cast<std::size_t>(m < pairs ? m : m - pairs);
      const LineRecursion::Mode& mode = m < pairs ? recursion.pairs[index] : recursion.singles[index];
      pole[m] = ModeFactor(mode.pole);
      input_momentum_weight[m] = ModeFactor(mode.input_momentum_weight);
      momentum_weight[m] = ModeFactor(-mode.momentum_weight);
      displacement_weight[m] = ModeFactor(-mode.displacement_weight);
    }
  }

  /// state = pole state + input
  [[gnu::always_inline]] void filter(Modes& state, const Modes& input) const {
    for (int m = 0; m < pairs; ++m) {
      SimdDouble& re = state.value[2 * m];
      SimdDouble& im = state.value[2 * m + 1];
      const SimdDouble in_re = multiply_add(-pole[m].im, im, input.value[2 * m]),
                       in_im = multiply_add(pole[m].im, re, input.value[2 * m + 1]);
      re = multiply_add(pole[m].re, re, in_re);
      im = multiply_add(pole[m].re, im, in_im);
    }
    for (int m = pairs; m < modes; ++m) {
      SimdDouble& re = state.value[pairs + m];
      re = multiply_add(pole[m].re, re, input.value[pairs + m]);
    }
  }
  /// sum += factors x, with factors that differ between lanes.
  [[gnu::always_inline]] static void add_product(Modes& sum, const Modes& factors, const Modes& x) {
    for (int m = 0; m < pairs; ++m) {
      SimdDouble& re = sum.value[2 * m];
      SimdDouble& im = sum.value[2 * m + 1];
      re = multiply_add(factors.value[2 * m], x.value[2 * m],
                        multiply_add(-factors.value[2 * m + 1], x.value[2 * m + 1], re));
      im = multiply_add(factors.value[2 * m], x.value[2 * m + 1],
                        multiply_add(factors.value[2 * m + 1], x.value[2 * m], im));
    }
    for (int m = pairs; m < modes; ++m) {
      sum.value[pairs + m] = multiply_add(factors.value[pairs + m], x.value[pairs + m], sum.value[pairs + m]);
    }
  }
  /// sum + Re(sum over the modes of factor z).
  [[gnu::always_inline]] static SimdDouble add(SimdDouble sum, const ModeFactor* factors, const Modes& z) {
    for (int m = 0; m < pairs; ++m) {
      sum = multiply_add(factors[m].re, z.value[2 * m], multiply_add(-factors[m].im, z.value[2 * m + 1], sum));
    }
    for (int m = pairs; m < modes; ++m) sum = multiply_add(factors[m].re, z.value[pairs + m], sum);
    return sum;
  }
  /// The change of w + l p, see recursion.hpp.
  [[gnu::always_inline]] Modes input_change(SimdDouble change_w, SimdDouble change_p) const {
    Modes result;
    for (int m = 0; m < pairs; ++m) {
      result.value[2 * m] = multiply_add(input_momentum_weight[m].re, change_p, change_w);
      result.value[2 * m + 1] = input_momentum_weight[m].im * change_p;
    }
    for (int m = pairs; m < modes; ++m)
      result.value[pairs + m] = multiply_add(input_momentum_weight[m].re, change_p, change_w);
    return result;
  }

  ModeFactor pole[modes], input_momentum_weight[modes], momentum_weight[modes], displacement_weight[modes];
};

}  // namespace bathline
