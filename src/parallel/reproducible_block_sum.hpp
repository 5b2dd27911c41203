// Sums of several numbers at once over the oscillators of a bath, whose values do not depend on the number of ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parallel/communicator.hpp"
#include "parallel/layout.hpp"

namespace bathline {

/// Cuts `total` elements into leaves that depend on the total alone; a rank holds whole leaves. The caller adds up its
/// own leaves, element by element in order, and `reduce` adds the leaves in order, with one message.
class ReproducibleBlockSum {
 public:
  ReproducibleBlockSum(std::int64_t total, const Communicator& communicator);

  /// This rank's elements: [first(), first() + count()).
  std::int64_t first() const { return first_; }
  std::int64_t count() const { return count_; }
  /// This rank's leaves; leaf i begins at local element i * leaf_size() and ends with the next or at count().
  std::int64_t leaves() const { return leaves_; }
  std::int64_t leaf_size() const { return leaf_size_; }

  /// Storage for `width` sums per leaf of this rank, all zero.
  std::span<double> allocate(int width);
  /// The sums of leaf `leaf` in that storage.
  std::span<double> leaf(std::int64_t leaf) { return std::span(local_).subspan(leaf * width_, width_); }
  /// The sums over all leaves, on rank 0; `totals` is unchanged on the others. @note Collective.
  void reduce(std::span<double> totals);

 private:
  Communicator communicator_;
  Layout layout_;  // of the leaves
  std::int64_t leaf_size_;
  std::int64_t first_;
  std::int64_t count_;
  std::int64_t leaves_;
  std::size_t width_ = 0;
  std::vector<double> local_, all_;
  std::vector<int> counts_, begins_;  // of the message, on rank 0
};

}  // namespace bathline
