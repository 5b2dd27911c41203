// What a node has to spare.
#include "parallel/memory.hpp"

#include <gtest/gtest.h>

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
