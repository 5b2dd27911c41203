// A warm start of a line: momenta and the elongations of its springs drawn from the Gibbs distribution around its head.
//
//   <p_j^2> = M_j kT,  elongations e_j = w_j - w_{j-1} with <e_j^2> = kT/lambda_j, independent of each other; between a
//   head and a fixed end they add up to nothing, which takes off each its share of their sum, as its compliance
//   1/lambda_j is to that of all
// Tested by tests/model/line/line_test.cpp.
#include <algorithm>
#include <cmath>

#include "model/line/line.hpp"

namespace bathline {

namespace {

/// Springs whose elongations are added up one after the other; the sums of such blocks are passed between the ranks.
constexpr std::int64_t block = 4096;

/// Some springs together: what they are longer by, in units of sqrt(kT/lambda), and their compliance in units of
/// 1/lambda, with the lambda at the far end.
struct Stretch {
  double elongation = 0.0, compliance = 0.0;

  Stretch& operator+=(const Stretch& other) {
    elongation += other.elongation;
    compliance += other.compliance;
    return *this;
  }
};

/// A site with the spring before it, in the same units; the momentum in kg m/s.
struct WarmSite {
  double elongation, compliance, momentum;
};

}  // namespace

void Line::draw_thermal_start(const RngKey& key, int axis) {
  const bool fixed = state_.constants.far_end == FarEnd::fixed;
  const std::int64_t springs = fixed ? state_.sites() + 1 : state_.sites();
  const double temperature = state_.options.temperature, stiffness = state_.constants.stiffness;
  const auto scale_of = [&](std::int64_t spring) -> WarmSite {
    const LineSite site = state_.site(std::min(spring, state_.sites() - 1));
    const double compliance = stiffness / site.stiffness;
    return {std::sqrt(compliance), compliance, std::sqrt(temperature * site.mass)};
  };
  const bool equal = state_.has_uniform_sites();
  const WarmSite first_scale = scale_of(0);
  const auto draw = [&](std::int64_t spring) -> WarmSite {
    const auto [stretch, kick] = normal_pair(key, static_cast<std::uint64_t>(spring * state_.axes + axis));
    const WarmSite scale = equal ? first_scale : scale_of(spring);
    return {scale.elongation * stretch, scale.compliance, scale.momentum * kick};
  };
  // Whoever holds the first site of a block adds it up, to its end, wherever that lies.
  const std::int64_t first = state_.first_site(), end = first + state_.count;
  const bool holds_last = state_.at_far_end;
  std::vector<double> mine;
  for (std::int64_t begin = (first + block - 1) / block * block; begin < (holds_last ? springs : end); begin += block) {
    Stretch sum;
    for (std::int64_t spring = begin; spring < std::min(springs, begin + block); ++spring) {
      const WarmSite one = draw(spring);
      sum += {one.elongation, one.compliance};
    }
    mine.insert(mine.end(), {sum.elongation, sum.compliance});
  }
  std::vector<double> numbers = communicator().gather(mine);
  const std::int64_t blocks = (springs + block - 1) / block;
  numbers.resize(static_cast<std::size_t>(2 * blocks));
  communicator().broadcast(std::span<double>(numbers));
  const auto of_block = [&](std::int64_t i) -> Stretch {
    const auto at = static_cast<std::size_t>(2 * i);
    return {numbers[at], numbers[at + 1]};
  };
  const auto of_blocks_before = [&](std::int64_t i) {
    Stretch sum;
    for (std::int64_t j = 0; j < i; ++j) sum += of_block(j);
    return sum;
  };
  const Stretch all = of_blocks_before(blocks);
  const double share = fixed ? all.elongation / all.compliance : 0.0;
  if (state_.count == 0) return;
  const std::int64_t from = first / block * block;
  Stretch before = of_blocks_before(from / block), in_block;
  const double unit = std::sqrt(temperature / stiffness);
  for (std::int64_t site = from; site < end; ++site) {
    if (site % block == 0 && site > from) {
      before += of_block(site / block - 1);
      in_block = {};
    }
    const WarmSite one = draw(site);
    in_block += {one.elongation, one.compliance};
    if (site < first) continue;
    const double taken = (before.compliance + in_block.compliance) * share;
    state_.own(state_.w[axis])[site - first] = unit * ((before.elongation + in_block.elongation) - taken);
    state_.own(state_.p[axis])[site - first] = one.momentum;
  }
}

}  // namespace bathline
