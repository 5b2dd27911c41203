// Available memory of a node, a process and control groups.
#include "parallel/memory_budget.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "test_world.hpp"

namespace bathline::memory_budget_test {
namespace {

TEST(MpiMemoryBudget, AddsUpTheRanksOfANode) {
  const Communicator& world = test_world();
  // All ranks of a test run on one node.
  const MemoryBudget memory = memory_budget(world, 1000 + world.rank());
  EXPECT_EQ(memory.needed, 1000 * world.size() + world.size() * (world.size() - 1) / 2);
  EXPECT_GT(memory.available, 0x1p20);
  EXPECT_LT(memory.available, 0x1p50);
}

TEST(MpiMemoryBudget, PeakIsTheSumOverTheRanks) {
  const Communicator& world = test_world();
  const std::int64_t before = peak_memory(world);
  constexpr std::int64_t size = 128 << 20;
  {
    // Touched page by page.
    std::vector<char> large(size);
    for (std::size_t i = 0; i < large.size(); i += 4096) large[i] = 1;
    volatile char value = large[size / 2];
    (void)value;
  }
  const std::int64_t after = peak_memory(world);
  // Tests before this one may have had as much already.
  EXPECT_GE(after, before);
  EXPECT_GE(after, size * world.size());
  EXPECT_LT(after - before, (size + (std::int64_t{64} << 20)) * world.size());
}

TEST(MpiMemoryBudget, IsTheSameOnEveryRank) {
  const Communicator& world = test_world();
  const MemoryBudget memory = memory_budget(world, 0x1p20);
  double numbers[] = {memory.needed, memory.available, memory.is_rank_limit ? 1.0 : 0.0};
  world.broadcast(std::span<double>(numbers));
  EXPECT_EQ(memory.needed, numbers[0]);
  EXPECT_EQ(memory.available, numbers[1]);
  EXPECT_EQ(memory.is_rank_limit, numbers[2] != 0.0);
}

TEST(MpiMemoryBudget, CountsRequestsBeyondAnyNode) {
  const Communicator& world = test_world();
  const MemoryBudget memory = memory_budget(world, 0x1p83);
  EXPECT_EQ(memory.needed, 0x1p83 * world.size());
  EXPECT_LT(memory.available, memory.needed);
}

TEST(MpiMemoryBudget, RespectsTheLimitsOfAProcess) {
  const Communicator& world = test_world();
  constexpr double room = 256 << 20;
  // The column of statm that counts: address space is the first, data the sixth.
  for (const auto& [resource, column] : {std::pair(RLIMIT_AS, 0), std::pair(RLIMIT_DATA, 5)}) {
    rlimit before{};
    ASSERT_EQ(getrlimit(resource, &before), 0);
    double pages = 0.0;
    std::ifstream statm("/proc/self/statm");
    for (int i = 0; i <= column; ++i) statm >> pages;
    rlimit limited = before;
    limited.rlim_cur = static_cast<rlim_t>(pages * static_cast<double>(sysconf(_SC_PAGESIZE)) + room);
    // Only the last rank has the limit; all ranks report it.
    const bool is_last = world.rank() == world.size() - 1;
    if (is_last) {
      ASSERT_EQ(setrlimit(resource, &limited), 0);
    }
    const MemoryBudget memory = memory_budget(world, is_last ? 1.0 : 0.0);
    if (is_last) setrlimit(resource, &before);
    EXPECT_TRUE(memory.is_rank_limit);
    EXPECT_EQ(memory.needed, 1.0);
    EXPECT_GT(memory.available, 0.5 * room);
    EXPECT_LE(memory.available, room);
  }
}

class ControlGroups : public testing::Test {
 protected:
  ControlGroups() { std::filesystem::remove_all(folder_); }
  ~ControlGroups() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text;
  }
  double spare() const { return cgroup_available_bytes(folder_ / "groups", folder_ / "mount"); }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("bathline_groups_" + std::to_string(test_world().rank()));
};

TEST_F(ControlGroups, OfVersionTwoLimitTheirDescendants) {
  write("groups", "0::/job/step\n");
  EXPECT_TRUE(std::isinf(spare()));
  write("mount/job/step/memory.max", "max\n");
  write("mount/job/step/memory.current", "700\n");
  EXPECT_TRUE(std::isinf(spare()));
  write("mount/job/memory.max", "1000\n");
  write("mount/job/memory.current", "900\n");
  EXPECT_EQ(spare(), 100.0);
  // Cached files are reclaimable.
  write("mount/job/memory.stat", "anon 300\nactive_file 50\ninactive_file 250\n");
  EXPECT_EQ(spare(), 350.0);
  write("mount/memory.max", "1000\n");
  write("mount/memory.current", "990\n");
  EXPECT_EQ(spare(), 10.0);
}

TEST_F(ControlGroups, OfVersionOneLimitTheirDescendants) {
  write("groups", "5:cpu,cpuacct:/elsewhere\n4:memory:/job\n");
  write("mount/memory/elsewhere/memory.limit_in_bytes", "1\n");
  write("mount/memory/elsewhere/memory.usage_in_bytes", "1\n");
  write("mount/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("mount/memory/memory.usage_in_bytes", "5\n");
  EXPECT_GT(spare(), 1e18);
  write("mount/memory/job/memory.limit_in_bytes", "2000\n");
  write("mount/memory/job/memory.usage_in_bytes", "1500\n");
  write("mount/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 400\n");
  EXPECT_EQ(spare(), 900.0);
}

}  // namespace
}  // namespace bathline::memory_budget_test
