// A warm start of a line: momenta and the elongations of its springs drawn from the Gibbs distribution around its head.
//
//   <p_j^2> = M kT,  elongations e_j = w_j - w_{j-1} with <e_j^2> = kT/lambda, independent of each other; between a
//   head and a fixed end they add up to nothing, which takes their mean off each of them.
// Tested by tests/model/line/line_test.cpp.
#include <cmath>
#include <numeric>

#include "model/line/line.hpp"

namespace bathline {

namespace {

/// Springs whose elongations are added up one after the other; the sums of such blocks are passed between the ranks.
constexpr std::int64_t block = 4096;

}  // namespace

void Line::warm_up(const RandomKey& key, int axis) {
  const bool fixed = state_.constants.far_end == FarEnd::fixed;
  const std::int64_t springs = fixed ? state_.sites() + 1 : state_.sites();
  const double elongation = std::sqrt(state_.options.temperature / state_.constants.stiffness);
  const double momentum = std::sqrt(state_.options.temperature * state_.constants.mass);
  const auto draw = [&](std::int64_t spring) {
    return normal_pair(key, static_cast<std::uint64_t>(spring * state_.axes + axis));
  };
  // Whoever holds the first site of a block adds it up, to its end, wherever that lies.
  const std::int64_t first = state_.first_site(), end = first + state_.count;
  const bool holds_last = state_.at_far_end;
  std::vector<double> mine;
  for (std::int64_t begin = (first + block - 1) / block * block; begin < (holds_last ? springs : end); begin += block) {
    double sum = 0.0;
    for (std::int64_t spring = begin; spring < std::min(springs, begin + block); ++spring) sum += draw(spring).first;
    mine.push_back(sum);
  }
  std::vector<double> sums = communicator().gather(mine);
  sums.resize(static_cast<std::size_t>((springs + block - 1) / block));
  communicator().broadcast(std::span<double>(sums));
  const double mean = fixed ? std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(springs) : 0.0;
  if (state_.count == 0) return;
  const std::int64_t from = first / block * block;
  double sum = std::accumulate(sums.begin(), sums.begin() + from / block, 0.0);
  double in_block = 0.0;
  for (std::int64_t site = from; site < end; ++site) {
    if (site % block == 0 && site > from) {
      sum += sums[static_cast<std::size_t>(site / block - 1)];
      in_block = 0.0;
    }
    const auto [first_number, second_number] = draw(site);
    in_block += first_number;
    if (site < first) continue;
    state_.own(state_.w[axis])[site - first] = elongation * ((sum + in_block) - static_cast<double>(site + 1) * mean);
    state_.own(state_.p[axis])[site - first] = momentum * second_number;
  }
}

}  // namespace bathline
