// Sweeps in place have the bits of plain loops over all sites for one kick or drift after the other.
#include "model/line/explicit/in_place_sweeps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "random_numbers.hpp"

namespace bathline::in_place_sweeps_test {
namespace {

/// Numbers of kicks and drifts of level `index` of `number`.
using Kind = std::pair<int, int> (*)(int index, int number);

TEST(LineInPlaceSweeps, HaveTheBitsOfOneKickOrDriftAfterTheOther) {
  const Kind kinds[] = {[](int, int) { return std::pair(1, 1); },
                        [](int index, int) { return std::pair(index > 0 ? 1 : 0, 1); },
                        [](int index, int number) { return std::pair(1, index + 1 < number ? 1 : 0); },
                        [](int index, int number) { return std::pair(index > 0 ? 1 : 0, index + 1 < number ? 1 : 0); },
                        [](int, int) { return std::pair(2, 1); },
                        [](int index, int) { return std::pair(1 + index % 2, 1 + index / 2 % 2); }};
  RandomNumbers random(7);
  for (const std::int64_t length : {1, 17, 50, 191, 192, 193, 383, 384, 385, 577, 1000, 2003}) {
    for (int number = 1; number <= static_cast<int>(max_in_place_levels); ++number) {
      for (const Kind& kind : kinds) {
        std::vector<LineLevel> levels;
        std::int64_t margin = 0;
        for (int i = 0; i < number; ++i) {
          const auto [kicks, drifts] = kind(i, number);
          LineLevel level{.kicks = kicks, .drifts = drifts, .widens_stencil = kicks > 0};
          for (double* weights : {level.kick, level.drift}) std::ranges::copy(random.list(2), weights);
          levels.push_back(level);
          margin += level.widens_stencil ? 1 : 0;
        }
        if (length <= 2 * margin) continue;
        const auto count = static_cast<std::size_t>(length);
        const std::vector<double> stiffness = random.list(count + 1), inverse_mass = random.list(count);
        const std::vector<double> w = random.list(count), p = random.list(count);
        const auto compare = [&](const auto& sites, const char* kind) {
          SCOPED_TRACE(kind);
          std::vector<double> swept_w = w, swept_p = p, plain_w = w, plain_p = p;
          advance_in_place(sites, levels, 0, length, swept_w.data(), swept_p.data());
          std::int64_t edge = 0;
          for (const LineLevel& level : levels) {
            edge += level.widens_stencil ? 1 : 0;
            for (int i = 0; i < level.kicks; ++i) {
              kick_sites(sites, level.kick[i], edge, length - edge, plain_w.data(), plain_p.data());
            }
            for (int i = 0; i < level.drifts; ++i) {
              drift_sites(sites, level.drift[i], edge, length - edge, plain_w.data(), plain_p.data());
            }
          }
          for (std::int64_t j = margin; j < length - margin; ++j) {
            ASSERT_EQ(swept_w[j], plain_w[j]) << j;
            ASSERT_EQ(swept_p[j], plain_p[j]) << j;
          }
        };
        SCOPED_TRACE(testing::Message() << length << " sites, " << number << " levels, kind " << &kind - kinds);
        compare(UniformSites{.stiffness = 1.3, .mass = 0.7}, "uniform sites");
        compare(NonuniformSites<>{stiffness.data(), inverse_mass.data()}, "nonuniform sites");
      }
    }
  }
}

}  // namespace
}  // namespace bathline::in_place_sweeps_test
