// Sums over the sites of a line whose values do not depend on the number of ranks.
#pragma once

#include <array>
#include <limits>
#include <vector>

#include "parallel/communicator.hpp"
#include "parallel/layout.hpp"
#include "simd/simd_double.hpp"

namespace bathline {

/// Adds up one number per site in an order fixed by the global index alone: blocks of `block` sites, inside a block
/// `interleaved` partial sums in turn, the blocks one after the other with a compensated sum. A block that lies on
/// several ranks is passed on from rank to rank.
///
/// The summand is called as `value.operator()<Number>(site)` with a global index of this rank's piece: it returns the
/// number of that site if Number is double, those of simd_width sites from there on if it is SimdDouble.
class ReproducibleSum {
 public:
  static constexpr std::int64_t block = 4096;
  static constexpr int interleaved = 8;
  using Partial = std::array<double, interleaved>;

  ReproducibleSum(const Layout& layout, const Communicator& communicator);

  /// The sum of `value` over all sites, on every rank. `value` is zero from site `zero_from` on.
  /// @note Collective.
  template <class Value>
  double operator()(Value&& value, std::int64_t zero_from = std::numeric_limits<std::int64_t>::max()) {
    begin();
    return end(value, zero_from);
  }

  // The same in parts, while the sites are in the cache: `begin`, any number of `add`, `end`.
  void begin();
  /// Adds this rank's sites before `stop` that have not been added yet, except those in a block that another rank
  /// began. Fewer than `interleaved` sites may be left for the next call.
  template <class Value>
  void add(Value&& value, std::int64_t stop, std::int64_t zero_from) {
    for (stop = stop < end_ ? stop / interleaved * interleaved : end_; site_ < stop;) {
      const std::int64_t next = std::min(stop, (site_ / block + 1) * block);
      accumulate(value, site_, std::min(next, zero_from), partial_);
      site_ = next;
      if (site_ % block == 0) finish_block();
    }
  }
  /// Adds the remaining sites and returns the sum, on every rank. @note Collective.
  template <class Value>
  double end(Value&& value, std::int64_t zero_from) {
    add(value, end_, zero_from);
    if (site_ % block != 0 && site_ > own_begin_) send_partial(partial_, end_);
    // The piece of a block that another rank began comes last: its partial sums have to arrive first.
    if (own_begin_ > first_) {
      Partial partial = receive();
      accumulate(value, first_, std::min(own_begin_, zero_from), partial);
      send_partial(partial, own_begin_);
    }
    return total();
  }

 private:
  template <class Value>
  static void accumulate(Value& value, std::int64_t site, std::int64_t stop, Partial& partial) {
    const auto add_site = [&] { partial[site % interleaved] += value.template operator()<double>(site); };
    for (; site < stop && site % interleaved != 0; ++site) add_site();
    constexpr int registers = interleaved / simd_width;
    SimdDouble sums[registers];  // locals, which stores of the sites cannot alias
    for (int i = 0; i < registers; ++i) sums[i] = load(partial.data() + i * simd_width);
    for (; site + interleaved <= stop; site += interleaved) {
#pragma GCC unroll 4
      for (int i = 0; i < registers; ++i) sums[i] += value.template operator()<SimdDouble>(site + i * simd_width);
    }
    for (int i = 0; i < registers; ++i) store(sums[i], partial.data() + i * simd_width);
    for (; site < stop; ++site) add_site();
  }
  Partial receive();
  void finish_block();
  /// Stores the sum of a block that is complete at `stop`, or sends its partial sums to the next rank.
  void send_partial(const Partial& partial, std::int64_t stop);
  double total();

  Communicator communicator_;
  std::int64_t total_sites_;
  std::int64_t first_;
  std::int64_t end_;
  std::int64_t own_begin_;      // begin of the first block that no other rank began
  std::int64_t site_ = 0;       // the next one to be added
  Partial partial_{};           // of the current block
  std::vector<double> blocks_;  // sums of the blocks that end here, in order
  bool has_foreign_block_;      // another rank began the first block: its sum is completed last
};

}  // namespace bathline
