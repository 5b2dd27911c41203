// Broadcasts, gathers and reductions on any number of ranks, also of more values than one message holds.
#include "parallel/communicator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "test_world.hpp"

namespace bathline::communicator_test {
namespace {

// Beyond the 2^22 values of a message, and no multiple of it.
constexpr std::size_t several_messages = (std::size_t{1} << 22) + 12345;

/// Values that identify their rank and index.
std::vector<double> values_of(int rank, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = rank * 1e9 + static_cast<double>(i);
  return values;
}

TEST(MpiCommunicator, RankIsWithinSize) {
  const auto& world = test_world();
  EXPECT_GE(world.rank(), 0);
  EXPECT_LT(world.rank(), world.size());
  EXPECT_EQ(world.is_root(), world.rank() == 0);
  EXPECT_EQ(world.sum(1), world.size());
  EXPECT_EQ(world.sum(world.rank()), static_cast<std::int64_t>(world.size()) * (world.size() - 1) / 2);
}

TEST(MpiCommunicator, BroadcastsFromEveryRank) {
  const auto& world = test_world();
  for (int from = 0; from < world.size(); ++from) {
    auto values = values_of(world.rank(), 17);
    world.broadcast(std::span<double>(values), from);
    EXPECT_EQ(values, values_of(from, 17));
    std::vector<std::int64_t> numbers(3, world.rank());
    world.broadcast(std::span<std::int64_t>(numbers), from);
    EXPECT_EQ(numbers, std::vector<std::int64_t>(3, from));
    EXPECT_EQ(world.broadcast(std::string("rank ") + std::to_string(world.rank()), from),
              "rank " + std::to_string(from));
    EXPECT_TRUE(world.broadcast(world.rank() == from, from));
    EXPECT_FALSE(world.broadcast(world.rank() != from, from));
  }
}

TEST(MpiCommunicator, BroadcastsNothingAndTextsOfDifferentLength) {
  const auto& world = test_world();
  world.broadcast(std::span<double>());
  EXPECT_EQ(world.broadcast(world.is_root() ? std::string() : std::string("something else")), "");
  EXPECT_EQ(world.broadcast(world.is_root() ? std::string("a\0b", 3) : std::string()), std::string("a\0b", 3));
}

TEST(MpiCommunicator, BroadcastsMoreThanOneMessageHolds) {
  const auto& world = test_world();
  const int from = world.size() - 1;
  auto values = values_of(world.rank(), several_messages);
  world.broadcast(std::span<double>(values), from);
  EXPECT_TRUE(values == values_of(from, several_messages));
}

TEST(MpiCommunicator, GathersEqualLengthsEverywhere) {
  const auto& world = test_world();
  for (const std::size_t count : {std::size_t{0}, std::size_t{3}, several_messages / 2}) {
    const auto all = world.gather_all(values_of(world.rank(), count));
    ASSERT_EQ(all.size(), count * static_cast<std::size_t>(world.size()));
    for (int rank = 0; rank < world.size(); ++rank) {
      const auto expected = values_of(rank, count);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), all.begin() + static_cast<std::ptrdiff_t>(rank * count)))
          << "rank " << rank << " of " << count << " values";
    }
  }
}

/// Different on every rank, and none at all on rank 1.
std::size_t length_on(int rank, std::size_t scale) {
  return rank == 1 ? 0 : scale * static_cast<std::size_t>(rank + 1) + static_cast<std::size_t>(rank);
}

std::vector<double> joined_values(int ranks, std::size_t scale) {
  std::vector<double> all;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto piece = values_of(rank, length_on(rank, scale));
    all.insert(all.end(), piece.begin(), piece.end());
  }
  return all;
}

TEST(MpiCommunicator, GathersDifferentLengthsOnRankZero) {
  const auto& world = test_world();
  for (const std::size_t scale : {std::size_t{0}, std::size_t{2}, several_messages / 4}) {
    const auto all = world.gather(values_of(world.rank(), length_on(world.rank(), scale)));
    if (world.is_root()) {
      EXPECT_TRUE(all == joined_values(world.size(), scale)) << scale;
    } else {
      EXPECT_TRUE(all.empty());
    }
  }
}

TEST(MpiCommunicator, ScattersTheRequestedLengths) {
  const auto& world = test_world();
  for (const std::size_t scale : {std::size_t{0}, std::size_t{2}, several_messages / 4}) {
    const auto all = world.is_root() ? joined_values(world.size(), scale) : std::vector<double>{};
    std::vector<double> own(length_on(world.rank(), scale), -1.0);
    world.scatter(all, own);
    EXPECT_TRUE(own == values_of(world.rank(), own.size())) << scale;
  }
}

TEST(MpiCommunicator, RefusesToScatterAnotherLengthOnAllRanks) {
  const auto& world = test_world();
  const std::vector<double> all(world.is_root() ? static_cast<std::size_t>(world.size()) + 1 : 0, 1.0);
  std::vector<double> own(1);
  EXPECT_THROW(world.scatter(all, own), std::logic_error);
}

TEST(MpiCommunicator, AnyIsTrueIfOneRankIsTrue) {
  const auto& world = test_world();
  EXPECT_FALSE(world.any(false));
  for (int rank = 0; rank < world.size(); ++rank) EXPECT_TRUE(world.any(world.rank() == rank));
}

TEST(MpiCommunicator, MaximumIsThatOfAllRanksAndKeepsNan) {
  const auto& world = test_world();
  EXPECT_EQ(world.max(-1.0 - world.rank()), -1.0);
  EXPECT_EQ(world.max(world.rank()), world.size() - 1);
  for (int rank = 0; rank < world.size(); ++rank) {
    EXPECT_TRUE(std::isnan(world.max(world.rank() == rank ? std::nan("") : 1.0))) << "NaN on rank " << rank;
  }
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(world.max(world.is_root() ? infinity : 0.0), infinity);
}

TEST(MpiCommunicator, SumsNumbersBeyondThirtyTwoBits) {
  const auto& world = test_world();
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_EQ(world.sum(large), large * world.size());
}

TEST(MpiCommunicator, SplitsIntoGroupsInTheOrderOfTheRanks) {
  const auto& world = test_world();
  const Communicator half = world.split(world.rank() % 2);
  EXPECT_EQ(half.size(), (world.size() + 1 - world.rank() % 2) / 2);
  EXPECT_EQ(half.rank(), world.rank() / 2);
  EXPECT_EQ(half.max(world.rank()), world.size() - 1 - (world.size() - 1 - world.rank()) % 2);
}

TEST(MpiCommunicator, CountsTheRanksOfANode) {
  const auto& world = test_world();
  const int ranks = world.ranks_on_node();
  EXPECT_GE(ranks, 1);
  EXPECT_LE(ranks, world.size());
  world.barrier();
}

TEST(MpiCommunicator, SecondSessionLeavesMessagePassingRunning) {
  {
    const MpiSession inner;
    EXPECT_EQ(inner.world().size(), test_world().size());
  }
  EXPECT_EQ(test_world().sum(1), test_world().size());
}

}  // namespace
}  // namespace bathline::communicator_test
