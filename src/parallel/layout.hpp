// How the sites of an environment are cut over the ranks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace bathline {

/// Contiguous pieces of `total` sites, in the order of the ranks and as even as whole units allow: a rank holds a
/// multiple of `unit` sites or none at all, and the last of those that hold something also the rest. They come first.
class Layout {
 public:
  Layout(std::int64_t total, int ranks, std::int64_t unit)
      : total_(total),
        ranks_(ranks),
        unit_(unit),
        units_(total / unit),
        active_ranks_(std::clamp<std::int64_t>(units_, 1, ranks)) {}

  std::int64_t total() const { return total_; }
  int ranks() const { return ranks_; }
  std::int64_t unit() const { return unit_; }
  /// Number of ranks that hold sites.
  int active_ranks() const { return static_cast<int>(active_ranks_); }
  /// First site of `rank`; first(r + 1) is its end.
  std::int64_t first(int rank) const {
    if (rank >= active_ranks_) return total_;
    return unit_ * (units_ / active_ranks_ * rank + std::min<std::int64_t>(units_ % active_ranks_, rank));
  }
  std::int64_t count(int rank) const { return first(rank + 1) - first(rank); }
  /// The fewest sites of a rank that holds sites, without the rest.
  std::int64_t min_count() const { return active_ranks_ == 1 ? total_ : unit_ * (units_ / active_ranks_); }

 private:
  std::int64_t total_;
  int ranks_;
  std::int64_t unit_, units_;
  std::int64_t active_ranks_;
};

}  // namespace bathline
