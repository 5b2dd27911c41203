// What a node has to spare.
#include "parallel/memory.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "test_world.hpp"

namespace bathline {
namespace {

TEST(MpiMemory, AddsUpTheRanksOfANode) {
  const Communicator& world = test_world();
  // All ranks of a test run on one node.
  const NodeMemory memory = node_memory(world, 1000 + world.rank());
  EXPECT_EQ(memory.needed, 1000 * world.size() + world.size() * (world.size() - 1) / 2);
  EXPECT_GT(memory.available, 1 << 20);
  EXPECT_LT(memory.available, std::int64_t{1} << 50);
}

TEST(MpiMemory, RemembersTheMostThatWasThere) {
  const Communicator& world = test_world();
  const std::int64_t before = peak_memory(world);
  constexpr std::int64_t size = 256 << 20;
  {
    // Touched page by page, on one rank alone.
    std::vector<char> large(world.is_root() ? size : 0);
    for (std::size_t i = 0; i < large.size(); i += 4096) large[i] = 1;
    volatile char kept = large.empty() ? '\0' : large[size / 2];
    (void)kept;
  }
  const std::int64_t after = peak_memory(world);
  // Tests before this one may have had as much already.
  EXPECT_GE(after, before);
  EXPECT_GE(after, size);
  EXPECT_LT(after - before, size + (std::int64_t{64} << 20) * world.size());
}

TEST(MpiMemory, IsTheSameOnEveryRank) {
  const Communicator& world = test_world();
  const NodeMemory memory = node_memory(world, 1 << 20);
  std::int64_t numbers[] = {memory.needed, memory.available};
  world.broadcast(std::span<std::int64_t>(numbers));
  EXPECT_EQ(memory.needed, numbers[0]);
  EXPECT_EQ(memory.available, numbers[1]);
}

}  // namespace
}  // namespace bathline
