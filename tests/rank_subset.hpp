// Cases of long loops on several ranks.
#pragma once

#include <cstddef>

#include "test_world.hpp"

namespace bathline {

/// Chooses the cases of a loop over many combinations that are computed: all on one rank; on several, where the
/// exchange between ranks is in each of them and every rank repeats the rest, one in `period`, others on each number of
/// ranks.
class RankSubset {
 public:
  explicit RankSubset(std::size_t period) : period_(period) {}

  /// Whether the next case is computed. To be called once for each case.
  bool takes_next() {
    const auto ranks = static_cast<std::size_t>(test_world().size());
    return number_++ % period_ == ranks % period_ || ranks == 1;
  }

 private:
  std::size_t period_, number_ = 0;
};

}  // namespace bathline
