// A level of kicks and drifts of sites whose laws are functions of a batch.
// Tested by tests/model/line/nonlinear_line_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "model/line/explicit/time_levels.hpp"
#include "model/line/lane_field.hpp"
#include "model/line/sites.hpp"
#include "simd/aligned_vector.hpp"

namespace bathline {

/// Whether the laws of the sites are functions of a batch.
template <class S>
inline constexpr bool evaluates_batches = requires(const S& sites, std::span<double> s) {
  sites.spring.pulls(s, s);
};

/// Does what a LevelPipeline of one level does in as many calls of `advance_site` for the sites [begin, end), a batch
/// of registers after the other: site j enters, site j - 1 is kicked and site j - 2 drifts.
template <class RowsOfParts>
void sweep_in_batches(const RowsOfParts& sites, const LineLevel& level, LaneRegister<1>* w, LaneRegister<1>* p,
                      std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t batch = 128 / simd_width;  // registers, which stay in the first-level cache
  alignas(cache_line_bytes) std::array<double, batch * simd_width> argument, pulls, holds;
  std::array<SimdDouble, 2> strength{}, step{};
  for (int i = 0; i < level.kicks; ++i) strength[i] = splat(level.kick[i] * sites.stiffness);
  for (int i = 0; i < level.drifts; ++i) step[i] = splat(level.drift[i] / sites.mass);
  SimdDouble left{};
  for (std::int64_t from = begin; from < end; from += batch) {
    const std::int64_t count = std::min(batch, end - from);
    const auto evaluate = [&](const BatchLaw& law, auto at, std::array<double, batch * simd_width>& values) {
      const auto numbers = static_cast<std::size_t>(count * simd_width);
      for (std::int64_t i = 0; i < count; ++i) store(at(from + i), argument.data() + i * simd_width);
      law.pulls(std::span(argument).first(numbers), std::span(values).first(numbers));
    };
    if (level.kicks > 0) {
      evaluate(
          sites.spring, [&](std::int64_t j) { return w[j].value[0] - w[j - 1].value[0]; }, pulls);
      if (sites.site.potential != nullptr)
        evaluate(
            sites.site, [&](std::int64_t j) { return w[j - 1].value[0]; }, holds);
      for (std::int64_t i = 0; i < count; ++i) {
        SimdDouble& momentum = p[from + i - 1].value[0];
        const SimdDouble right = load(pulls.data() + i * simd_width);
        SimdDouble force = right - left;
        if (sites.site.potential != nullptr) force -= load(holds.data() + i * simd_width);
        for (int k = 0; k < level.kicks; ++k) momentum = multiply_add(strength[k], force, momentum);
        left = right;
      }
    }
    for (int k = 0; k < level.drifts; ++k) {
      for (std::int64_t j = from - 2; j < from - 2 + count; ++j)
        w[j].value[0] = drifted(w[j].value[0], sites.per_mass(j, step[k]), p[j].value[0]);
    }
  }
}

}  // namespace bathline
