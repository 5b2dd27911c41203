// Currents, profiles and conductivities from the means of blocks.
#pragma once

#include <optional>
#include <string>

#include "study/transport/block_table.hpp"
#include "study/transport/chains.hpp"

namespace bathline {

/// The blocks of a case, with what is known of them.
struct TransportBlocks {
  const Case& this_case;
  std::span<const Chain> chains;
  std::int64_t realisations;
  double seconds;   ///< of a block
  double interval;  ///< of observations, s
  BlockTable table;
};

/// From which block on the motion is steady: where both halves of the rest have the same currents and temperatures, and
/// where chains have taken up no energy since.
struct Steadiness {
  std::size_t first = 0;
  bool is_steady = false;
};
/// At most the first half is left out. With fewer than `min_steady_blocks` nothing is steady.
Steadiness find_steady_blocks(const TransportBlocks& blocks);
inline constexpr std::size_t min_steady_blocks = 16;

/// The energy that a chain has taken up since block `first`, a second, and its standard error.
BlockTable::Mean net_heat(const TransportBlocks& blocks, const Chain& chain, std::size_t first);

/// The result with the largest relative error: of the currents that a difference of temperatures drives, and of the
/// conductivities of rings at their longest lag.
struct WorstResult {
  std::string name;
  BlockTable::Mean mean;
  double relative_error() const;
};
/// Nothing where there is no such result, or with fewer than two blocks.
std::optional<WorstResult> find_worst_result(const TransportBlocks& blocks);

/// Writes the group `transport/<case>`, with one group for each chain and each series. @note Collective.
void write_transport(const TransportBlocks& blocks, const TransportOptions& options, ResultFile& file);

}  // namespace bathline
