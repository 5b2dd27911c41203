// The first sites of a line in registers, in lockstep with its head: a LineSegment of the few sites that act on the
// head within some steps.
// Tested by tests/model/line/explicit/stepper_test.cpp.
#pragma once

#include <utility>

#include "methods/scheme.hpp"
#include "model/line/explicit/register_rows.hpp"
#include "model/line/sites.hpp"

namespace bathline {

/// Every force evaluation makes one more site at the end invalid.
template <Sites S, int count>
class LineNearHead {
 public:
  static_assert(count % simd_width == 0);

  /// w(j) and p(j) return those of site j; the rows of `sites` must outlive the steps.
  template <class W, class P>
  void load(const S& sites, W w, P p) {
    sites_ = sites;
    for (int r = 0; r < registers; ++r) {
      w_[r] = gather_register(r, w, std::make_integer_sequence<int, simd_width>{});
      p_[r] = gather_register(r, p, std::make_integer_sequence<int, simd_width>{});
    }
  }
  double w(int j) const { return w_[j / simd_width][j % simd_width]; }
  double p(int j) const { return p_[j / simd_width][j % simd_width]; }

  /// Force on the head at `head`, N.
  double force(double head) const { return force_of_spring(sites_, 0, w_[0][0] - head); }

  /// A kick or a drift of a step h with the head at `head`.
  void substep(const Substep& substep, double h, double head) {
    const double weighted_step = substep.weight * h;
    const auto sites = sites_.mapped([](const double* row) { return RowOfRegisters{row}; });
    if (substep.kind == Substep::Kind::kick) {
      SimdDouble pulls[registers + 1];
      for (int r = 0; r < registers; ++r) {
        pulls[r] = sites.pull(r * simd_width, w_[r] - concat_shift<1>(r > 0 ? w_[r - 1] : splat(head), w_[r]));
      }
      pulls[registers] = pulls[registers - 1];
      const SimdDouble strength = splat(weighted_step * sites.stiffness);
      for (int r = 0; r < registers; ++r) {
        p_[r] = kicked(sites, w_[r], p_[r], strength, pulls[r], concat_shift<simd_width - 1>(pulls[r], pulls[r + 1]));
      }
    } else {
      const SimdDouble rate = splat(weighted_step / sites.mass);
      for (int r = 0; r < registers; ++r) w_[r] = drifted(w_[r], sites.per_mass(r * simd_width, rate), p_[r]);
    }
  }

 private:
  static constexpr int registers = count / simd_width;
  template <class Number, int... lane>
  static SimdDouble gather_register(int r, Number number, std::integer_sequence<int, lane...>) {
    return SimdDouble{number(r * simd_width + lane)...};
  }

  S sites_;
  SimdDouble w_[registers], p_[registers];
};

}  // namespace bathline
