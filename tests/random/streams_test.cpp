// Random numbers for different purposes are independent: no two streams have the same key.
#include "random/streams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "random/normal_batch.hpp"

namespace bathline::streams_test {
namespace {

TEST(Streams, AreDisjoint) {
  for (const StreamRange& range : streams::all) {
    ASSERT_GT(range.count, 0u) << range.purpose;
    // The last stream is that before the first of the next range, without overflow.
    const std::uint32_t last = range.first + (range.count - 1);
    EXPECT_GE(last, range.first) << range.purpose;
    for (const StreamRange& other : streams::all) {
      if (other.first == range.first && std::string(other.purpose) == range.purpose) continue;
      EXPECT_TRUE(other.first > last || other.first + (other.count - 1) < range.first)
          << range.purpose << " and " << other.purpose;
    }
  }
}

// The first numbers of every range, at seed 0 and realisation 0, where all other words of the keys coincide.
TEST(Streams, HaveDifferentNumbers) {
  std::vector<double> all;
  for (const StreamRange& range : streams::all) {
    for (std::uint32_t index = 0; index < std::min(range.count, 4u); ++index) {
      std::array<double, 4> numbers;
      fill_normals(range.key(0, 0, index), 0, numbers);
      EXPECT_EQ(range.index_of(range.key(0, 0, index)), index);
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

// Results of earlier versions can be repeated only as long as these words stay the same.
TEST(Streams, KeepTheirWords) {
  EXPECT_EQ(streams::environment_starts.key(1, 2, 3).stream, 3u);
  EXPECT_EQ(streams::environment_noise.key(1, 2, 6).stream, 0x40000006u);
  EXPECT_EQ(streams::white_noise.key(1, 2).stream, 0x80000000u);
  EXPECT_EQ(streams::particle_momenta.key(1, 2).stream, 0x80000010u);
  EXPECT_EQ(streams::particle_positions.key(1, 2).stream, 0x80000011u);
  EXPECT_EQ(streams::convergence_starts.key(1, 2).stream, 0x80000020u);
  EXPECT_EQ(streams::control_starts.key(1, 2).stream, 0x80000053u);
  EXPECT_EQ(streams::quantum_noise.key(1, 2, 3).stream, 0xC0000003u);
}

}  // namespace
}  // namespace bathline::streams_test
