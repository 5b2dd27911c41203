// The first sites of a line in registers, in lockstep with its head: what a LineWindow does, for as few sites as the
// head feels within some steps.
// Tested by tests/model/line/explicit/march_test.cpp.
#pragma once

#include <utility>

#include "integrate/scheme.hpp"
#include "model/line/explicit/register_rows.hpp"
#include "model/line/sites.hpp"

namespace bathline {

/// With every force the values of one site less, from the last one on, are worth anything.
template <Sites S, int count>
class LineNearHead {
 public:
  static_assert(count % lanes == 0);

  /// `w(j)` and `p(j)` are those of site j; the rows of `sites` must outlive the steps.
  template <class W, class P>
  void load(const S& sites, W w, P p) {
    sites_ = sites;
    for (int r = 0; r < registers; ++r) {
      w_[r] = register_of(r, w, std::make_integer_sequence<int, lanes>{});
      p_[r] = register_of(r, p, std::make_integer_sequence<int, lanes>{});
    }
  }
  double w(int j) const { return w_[j / lanes][j % lanes]; }
  double p(int j) const { return p_[j / lanes][j % lanes]; }

  /// Force on the head at `head`, in N.
  double force(double head) const { return force_of_spring(sites_, 0, w_[0][0] - head); }

  /// A kick or a drift of step size h with the head at `head`.
  void substep(const Substep& substep, double h, double head) {
    const double seconds = substep.weight * h;
    const auto sites = sites_.mapped([](const double* row) { return RowOfRegisters{row}; });
    if (substep.kind == Substep::Kind::kick) {
      Lanes pulls[registers + 1];
      for (int r = 0; r < registers; ++r) {
        pulls[r] = sites.pull(r * lanes, w_[r] - moved_on<1>(r > 0 ? w_[r - 1] : everywhere(head), w_[r]));
      }
      pulls[registers] = pulls[registers - 1];
      const Lanes strength = everywhere(seconds * sites.stiffness);
      for (int r = 0; r < registers; ++r) {
        p_[r] = kicked(p_[r], strength, pulls[r], moved_on<lanes - 1>(pulls[r], pulls[r + 1]));
      }
    } else {
      const Lanes rate = everywhere(seconds / sites.mass);
      for (int r = 0; r < registers; ++r) w_[r] = drifted(w_[r], sites.per_mass(r * lanes, rate), p_[r]);
    }
  }

 private:
  static constexpr int registers = count / lanes;
  template <class Number, int... lane>
  static Lanes register_of(int r, Number number, std::integer_sequence<int, lane...>) {
    return Lanes{number(r * lanes + lane)...};
  }

  S sites_;
  Lanes w_[registers], p_[registers];
};

}  // namespace bathline
