// Sums over the sites of a line whose value does not depend on the number of ranks.
#pragma once

#include <array>
#include <vector>

#include "parallel/communicator.hpp"
#include "parallel/layout.hpp"

namespace bathline {

/// Adds up one number per site in an order fixed by the global index alone: blocks of `block` sites, inside a block
/// `lanes` interleaved partial sums, the blocks one after the other with a compensated sum. A block that lies on
/// several ranks is passed on from rank to rank.
class OrderedSum {
 public:
  static constexpr std::int64_t block = 4096;
  static constexpr int lanes = 8;
  using Partial = std::array<double, lanes>;

  OrderedSum(const Layout& layout, const Communicator& communicator);

  /// The sum of `value(site)` over all sites, on every rank; `value` takes a global index of this rank's piece.
  /// @note Collective.
  template <class Value>
  double operator()(Value&& value) {
    begin();
    std::int64_t site = first_;
    // The piece of a block that another rank began comes last: its partial sums have to arrive first.
    const std::int64_t own = std::min(end_, (first_ + block - 1) / block * block);
    for (site = own; site < end_;) {
      const std::int64_t stop = std::min(end_, site + block);
      Partial partial{};
      accumulate(value, site, stop, partial);
      finish_block(partial, stop);
      site = stop;
    }
    if (own > first_) {
      Partial partial = receive();
      accumulate(value, first_, own, partial);
      finish_block(partial, own);
    }
    return end();
  }

 private:
  template <class Value>
  static void accumulate(Value& value, std::int64_t site, std::int64_t stop, Partial& partial) {
    for (; site < stop && site % lanes != 0; ++site) partial[site % lanes] += value(site);
    for (; site + lanes <= stop; site += lanes) {
      for (int lane = 0; lane < lanes; ++lane) partial[lane] += value(site + lane);
    }
    for (; site < stop; ++site) partial[site % lanes] += value(site);
  }
  void begin();
  Partial receive();
  /// A block that ends at `stop` is complete, or goes on at the next rank.
  void finish_block(const Partial& partial, std::int64_t stop);
  double end();

  Communicator communicator_;
  std::int64_t total_;
  std::int64_t first_;
  std::int64_t end_;
  std::vector<double> blocks_;   // sums of the blocks that end here, in order
  bool first_block_is_foreign_;  // its sum is produced last and belongs first
};

}  // namespace bathline
