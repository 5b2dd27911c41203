// The lock of a result: one holder at a time, also while lock files are removed and created again.
#include "record/result_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "recipe/mistakes.hpp"
#include "record/shared_folder.hpp"
#include "self_world.hpp"

namespace bathline::result_lock_test {
namespace {

namespace fs = std::filesystem;

TEST(MpiResultLock, IsRefusedOnAllRanksWhileItIsHeld) {
  const SharedFolder folder;
  const std::string result = folder.file("out.h5");
  for (int round = 0; round < 2; ++round) {
    const ResultLock lock(result, test_world());
    try {
      const ResultLock second(result, test_world());
      FAIL() << "two locks of one result";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), testing::ContainsRegex("out.h5 is being written by process [0-9]+ on .+ since 20.+Z"));
    }
    EXPECT_NO_THROW(ResultLock(folder.file("other.h5"), test_world()));
    test_world().barrier();
  }
  test_world().barrier();
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(ResultLock, IsTheSameForAllPathsOfAResult) {
  const SharedFolder folder;
  std::ofstream(folder.file("out.h5")) << "a result";
  fs::create_directory(folder.file("elsewhere"));
  fs::create_symlink(folder.file("out.h5"), folder.file("elsewhere/link.h5"));
  const ResultLock lock(folder.file("out.h5"), self_world());
  EXPECT_THROW(ResultLock(folder.file("elsewhere/link.h5"), self_world()), UsageError);
  EXPECT_THROW(ResultLock(folder.file("elsewhere/../out.h5"), self_world()), UsageError);
}

TEST(ResultLock, OfAKilledProcessLocksNothing) {
  const SharedFolder folder;
  std::ofstream(folder.file("out.h5.lock")) << "bathline writes: process 1 on nowhere since long ago\n";
  EXPECT_NO_THROW(ResultLock(folder.file("out.h5"), self_world()));
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(ResultLock, HasOneHolderWhileItsFileIsRemovedAndCreated) {
  // A process that opens the file just before its holder removes it must not keep a lock on the removed file.
  const SharedFolder folder;
  const Communicator world = self_world();
  std::atomic<int> holders = 0, overlaps = 0, rounds = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i) {
    threads.emplace_back([&] {
      while (rounds < 400) {
        try {
          const ResultLock lock(folder.file("out.h5"), world);
          if (++holders > 1) ++overlaps;
          ++rounds;
          std::this_thread::sleep_for(std::chrono::microseconds(300));
          --holders;
        } catch (const UsageError&) {
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(overlaps, 0);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace bathline::result_lock_test
