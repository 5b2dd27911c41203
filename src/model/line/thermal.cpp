// Thermal start of a line: momenta and elongations of its springs from the Gibbs distribution around the head.
//
//   <p_j^2> = M_j kT,   e_j = w_j - w_{j-1},   <e_j^2> = kT/lambda_j,   all independent
//
// Between the head and a fixed end the elongations add up to zero: each is reduced by a part of their sum proportional
// to its compliance 1/lambda_j.
// Tested by tests/model/line/line_test.cpp.
#include <algorithm>
#include <cmath>

#include "model/line/line.hpp"

namespace bathline {

namespace {

/// Springs of a block, whose elongations are summed in order; the ranks exchange the sums of blocks.
constexpr std::int64_t block = 4096;

/// Elongation of springs in series, in units of sqrt(kT/lambda), and their compliance in units of 1/lambda, with the
/// lambda at the far end.
struct Stretch {
  double elongation = 0.0, compliance = 0.0;

  Stretch& operator+=(const Stretch& other) {
    elongation += other.elongation;
    compliance += other.compliance;
    return *this;
  }
};

/// A site and the spring before it, in the same units; the momentum in kg m/s.
struct ThermalSite {
  double elongation, compliance, momentum;
};

}  // namespace

void Line::draw_thermal_start(const RngKey& key, int axis) {
  const bool fixed = state_.constants.far_end == FarEnd::fixed;
  const std::int64_t spring_count = fixed ? state_.sites() + 1 : state_.sites();
  const double temperature = state_.options.temperature, stiffness = state_.constants.stiffness;
  const auto scale_of = [&](std::int64_t spring) -> ThermalSite {
    const LineSite site = state_.site(std::min(spring, state_.sites() - 1));
    const double compliance = stiffness / site.stiffness;
    return {std::sqrt(compliance), compliance, std::sqrt(temperature * site.mass)};
  };
  const bool uniform = state_.has_uniform_sites();
  const ThermalSite first_scale = scale_of(0);
  const auto draw = [&](std::int64_t spring) -> ThermalSite {
    const auto [stretch, momentum] = normal_pair(key, static_cast<std::uint64_t>(spring * state_.axes + axis));
    const ThermalSite scale = uniform ? first_scale : scale_of(spring);
    return {scale.elongation * stretch, scale.compliance, scale.momentum * momentum};
  };
  // A block is summed by the rank of its first site, including sites of the next ranks.
  const std::int64_t first = state_.first_site(), end = first + state_.count;
  const bool holds_last = state_.at_far_end;
  std::vector<double> local;
  for (std::int64_t begin = (first + block - 1) / block * block; begin < (holds_last ? spring_count : end);
       begin += block) {
    Stretch sum;
    for (std::int64_t spring = begin; spring < std::min(spring_count, begin + block); ++spring) {
      const ThermalSite drawn = draw(spring);
      sum += {drawn.elongation, drawn.compliance};
    }
    local.insert(local.end(), {sum.elongation, sum.compliance});
  }
  std::vector<double> sums = communicator().gather(local);
  const std::int64_t blocks = (spring_count + block - 1) / block;
  sums.resize(static_cast<std::size_t>(2 * blocks));
  communicator().broadcast(std::span<double>(sums));
  const auto block_sum = [&](std::int64_t i) -> Stretch {
    const auto index = static_cast<std::size_t>(2 * i);
    return {sums[index], sums[index + 1]};
  };
  const auto sum_before = [&](std::int64_t i) {
    Stretch sum;
    for (std::int64_t j = 0; j < i; ++j) sum += block_sum(j);
    return sum;
  };
  const Stretch total = sum_before(blocks);
  const double mean_strain = fixed ? total.elongation / total.compliance : 0.0;
  if (state_.count == 0) return;
  const std::int64_t first_summed = first / block * block;
  Stretch before = sum_before(first_summed / block), in_block;
  const double unit = std::sqrt(temperature / stiffness);
  for (std::int64_t site = first_summed; site < end; ++site) {
    if (site % block == 0 && site > first_summed) {
      before += block_sum(site / block - 1);
      in_block = {};
    }
    const ThermalSite drawn = draw(site);
    in_block += {drawn.elongation, drawn.compliance};
    if (site < first) continue;
    const double correction = (before.compliance + in_block.compliance) * mean_strain;
    state_.own(state_.w[axis])[site - first] = unit * ((before.elongation + in_block.elongation) - correction);
    state_.own(state_.p[axis])[site - first] = drawn.momentum;
  }
}

}  // namespace bathline
