// How the sites of an environment are cut over the ranks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace bathline {

/// Contiguous pieces of `total` sites, in the order of the ranks and as even as `minimum` allows: a rank holds at
/// least `minimum` sites or none at all, except that rank 0 always holds the first sites of a shorter line. The ranks
/// that hold something come first.
class Layout {
 public:
  Layout(std::int64_t total, int ranks, std::int64_t minimum)
      : total_(total), ranks_(ranks), active_ranks_(std::clamp<std::int64_t>(total / minimum, 1, ranks)) {}

  std::int64_t total() const { return total_; }
  int ranks() const { return ranks_; }
  /// Number of ranks that hold sites.
  int active_ranks() const { return static_cast<int>(active_ranks_); }
  /// First site of `rank`; first(r + 1) is its end.
  std::int64_t first(int rank) const {
    const std::int64_t r = std::min<std::int64_t>(rank, active_ranks_);
    return total_ / active_ranks_ * r + std::min(total_ % active_ranks_, r);
  }
  std::int64_t count(int rank) const { return first(rank + 1) - first(rank); }

 private:
  std::int64_t total_;
  int ranks_;
  std::int64_t active_ranks_;
};

}  // namespace bathline
