// A reference for ordinary differential equations that is independent of the program: Gragg's modified midpoint rule in
// long double, extrapolated to order 16 (Bulirsch and Stoer).
#pragma once

#include <functional>
#include <vector>

namespace bathline {

using LongState = std::vector<long double>;
using LongMotion = std::function<LongState(const LongState&)>;

/// x(duration) for x' = motion(x), in `pieces` steps of extrapolation.
inline LongState extrapolated(const LongMotion& motion, LongState x, long double duration, int pieces) {
  constexpr int columns = 8;
  const long double step = duration / pieces;
  const auto plus = [](const LongState& a, long double factor, const LongState& b) {
    LongState sum(a);
    for (std::size_t i = 0; i < a.size(); ++i) sum[i] += factor * b[i];
    return sum;
  };
  for (int piece = 0; piece < pieces; ++piece) {
    std::vector<LongState> table;
    for (int k = 0; k < columns; ++k) {
      const int n = 2 * (k + 1);
      const long double h = step / n;
      LongState previous = x;
      LongState current = plus(x, h, motion(x));
      for (int i = 1; i < n; ++i) {
        LongState next = plus(previous, 2.0L * h, motion(current));
        previous = std::move(current);
        current = std::move(next);
      }
      LongState end = plus(previous, h, motion(current));
      for (std::size_t i = 0; i < end.size(); ++i) end[i] = 0.5L * (end[i] + current[i]);
      table.push_back(std::move(end));
      // Neville's scheme in h^2, in place.
      for (int j = k - 1; j >= 0; --j) {
        const long double ratio = static_cast<long double>(n) / (2 * (j + 1));
        const auto lower = static_cast<std::size_t>(j);
        table[lower] =
            plus(table[lower + 1], 1.0L / (ratio * ratio - 1.0L), plus(table[lower + 1], -1.0L, table[lower]));
      }
    }
    x = table[0];
  }
  return x;
}

}  // namespace bathline
