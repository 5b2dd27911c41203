// Sums over sites or oscillators whose values do not depend on the number of ranks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "parallel/communicator.hpp"
#include "parallel/layout.hpp"
#include "simd/simd_double.hpp"

namespace bathline {

/// Sums over leaves of fixed size, the unit of the layout, so that a rank holds whole leaves. The leaves are added in
/// order, with one message to rank 0. Within a leaf the order is up to the caller, or to `add`, whose eight interleaved
/// partial sums are fixed by the global index.
class ReproducibleSum {
 public:
  static constexpr int interleaved = 8;
  /// A size of leaves that depends on the total alone, a multiple of 64 within these limits: enough leaves for as many
  /// ranks, few enough for one message.
  static std::int64_t leaf_size(std::int64_t total, std::int64_t min, std::int64_t max);

  ReproducibleSum(const Layout& layout, const Communicator& communicator);

  /// This rank's elements: [first(), first() + count()).
  std::int64_t first() const { return first_; }
  std::int64_t count() const { return count_; }
  /// This rank's leaves; leaf i begins at local element i * leaf_size() and ends with the next or at count().
  std::int64_t leaves() const { return leaves_of(communicator_.rank()); }
  std::int64_t leaf_size() const { return layout_.unit(); }

  /// Storage for `width` sums per leaf of this rank, all zero.
  std::span<double> allocate(int width);
  /// The sums of leaf `leaf` in that storage.
  std::span<double> leaf(std::int64_t leaf) { return std::span(local_).subspan(leaf * width_, width_); }
  /// The sums over all leaves, on rank 0; `totals` is unchanged on the others. @note Collective.
  void reduce(std::span<double> totals);

  // The sum of one number per element in parts, while the elements are in the cache: `begin`, any number of `add`,
  // `end`. The summand is called as `value.operator()<Number>(site)` with a global index of this rank's piece: it
  // returns the number of that site if Number is double, those of simd_width sites from there on if it is SimdDouble.
  void begin();
  /// Adds this rank's elements before `stop` that have not been added yet; those from `zero_from` on are zero. Fewer
  /// than `interleaved` may be left for the next call.
  template <class Value>
  void add(Value&& value, std::int64_t stop, std::int64_t zero_from) {
    const std::int64_t end = first_ + count_;
    for (stop = stop < end ? stop / interleaved * interleaved : end; site_ < stop;) {
      const std::int64_t leaf_end = std::min(end, (site_ / leaf_size() + 1) * leaf_size());
      const std::int64_t next = std::min(stop, leaf_end);
      accumulate(value, site_, std::min(next, zero_from));
      site_ = next;
      if (site_ == leaf_end) finish_leaf();
    }
  }
  /// Adds the remaining elements and returns the sum, on every rank. @note Collective.
  template <class Value>
  double end(Value&& value, std::int64_t zero_from = std::numeric_limits<std::int64_t>::max()) {
    add(value, first_ + count_, zero_from);
    double sum = 0.0;
    reduce({&sum, 1});
    communicator_.broadcast(std::span<double>(&sum, 1));
    return sum;
  }

 private:
  std::int64_t leaves_of(int rank) const { return (layout_.count(rank) + layout_.unit() - 1) / layout_.unit(); }
  template <class Value>
  void accumulate(Value& value, std::int64_t site, std::int64_t stop) {
    const auto add_site = [&] { partial_[site % interleaved] += value.template operator()<double>(site); };
    for (; site < stop && site % interleaved != 0; ++site) add_site();
    constexpr int registers = interleaved / simd_width;
    SimdDouble sums[registers];  // locals, which stores of the sites cannot alias
    for (int i = 0; i < registers; ++i) sums[i] = load(partial_.data() + i * simd_width);
    for (; site + interleaved <= stop; site += interleaved) {
#pragma GCC unroll 4
      for (int i = 0; i < registers; ++i) sums[i] += value.template operator()<SimdDouble>(site + i * simd_width);
    }
    for (int i = 0; i < registers; ++i) store(sums[i], partial_.data() + i * simd_width);
    for (; site < stop; ++site) add_site();
  }
  void finish_leaf();

  Communicator communicator_;
  Layout layout_;
  std::int64_t first_, count_;
  std::int64_t site_ = 0;                      // the next one to be added
  std::array<double, interleaved> partial_{};  // of its leaf
  std::size_t width_ = 0;
  std::vector<double> local_, all_;
  std::vector<int> counts_, begins_;  // of the message, on rank 0
};

}  // namespace bathline
