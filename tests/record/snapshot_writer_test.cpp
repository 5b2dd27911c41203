// Snapshots of lines that are distributed over the ranks in various ways.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "record/result_file.hpp"
#include "record/shared_folder.hpp"
#include "test_world.hpp"

namespace bathline::snapshot_writer_test {
namespace {

using testing::ElementsAre;

/// The sites of one rank.
struct LocalSites {
  std::int64_t first = 0, count = 0;
};

/// Numbers of sites that grow with the rank; with more than two ranks, rank 1 has none.
LocalSites sites_of(int rank, std::int64_t total) {
  const int ranks = test_world().size();
  const auto weight = [&](int r) { return ranks > 2 && r == 1 ? 0 : r + 1; };
  std::int64_t weights = 0, before = 0;
  for (int r = 0; r < ranks; ++r) {
    if (r < rank) before += weight(r);
    weights += weight(r);
  }
  const std::int64_t first = total * before / weights;
  return {first, total * (before + weight(rank)) / weights - first};
}

std::vector<double> numbered(LocalSites sites, double offset) {
  std::vector<double> values(static_cast<std::size_t>(sites.count));
  std::iota(values.begin(), values.end(), static_cast<double>(sites.first) + offset);
  return values;
}

void expect_line(const std::vector<double>& values, std::size_t row, std::int64_t total, double offset) {
  for (std::int64_t site = 0; site < total; ++site) {
    ASSERT_EQ(values[row * static_cast<std::size_t>(total) + static_cast<std::size_t>(site)],
              static_cast<double>(site) + offset)
        << "row " << row << ", site " << site;
  }
}

class MpiSnapshotWriter : public testing::TestWithParam<std::int64_t> {};

TEST_P(MpiSnapshotWriter, WritesEverySiteAtItsIndex) {
  const std::int64_t total = GetParam();
  const LocalSites local = sites_of(test_world().rank(), total);
  const SharedFolder folder;
  ResultFile file(folder.file("a.h5"), test_world(), false);
  {
    SnapshotWriter writer =
        file.snapshots("closed", "displacement", "m", "displacement", numbered(local, 0.5), local.first, total);
    for (int row = 0; row < 3; ++row) writer.append(0.1 * row, numbered(local, 1e6 * row), local.first);
  }
  file.close();
  const ResultReader reader(folder.file("a.h5"));
  EXPECT_THAT(reader.read("closed/snapshot_time").values, ElementsAre(0.0, 0.1, 0.2));
  EXPECT_EQ(reader.attribute("units", "closed/snapshot_time"), "s");
  EXPECT_EQ(reader.scale("closed/displacement", 0), "closed/snapshot_time");
  EXPECT_EQ(reader.scale("closed/displacement", 1), "closed/site");
  expect_line(reader.read("closed/site").values, 0, total, 0.5);
  const auto displacement = reader.read("closed/displacement");
  EXPECT_EQ(displacement.units, "m");
  ASSERT_THAT(displacement.shape, ElementsAre(3, total));
  for (std::size_t row = 0; row < 3; ++row)
    expect_line(displacement.values, row, total, 1e6 * static_cast<double>(row));
}

// Fewer sites than ranks, and more than a chunk holds.
INSTANTIATE_TEST_SUITE_P(Lines, MpiSnapshotWriter, testing::Values(1, 3, 1000, 65536, 200001));

TEST(MpiSnapshots, VariablesOfAGroupShareTimesAndSites) {
  const std::int64_t total = 10;
  const LocalSites local = sites_of(test_world().rank(), total);
  const SharedFolder folder;
  ResultFile file(folder.file("a.h5"), test_world(), false);
  {
    const auto create = [&](const std::string& name) {
      return file.snapshots("closed", name, "m", name, numbered(local, 0), local.first, total);
    };
    SnapshotWriter q = create("displacement");
    SnapshotWriter p = create("momentum");
    for (int row = 0; row < 2; ++row) q.append(row, numbered(local, 10.0 * row), local.first);
    for (int row = 0; row < 2; ++row) p.append(row + 100.0, numbered(local, -10.0 * row), local.first);
    EXPECT_THROW(create("momentum"), std::logic_error);
  }
  file.close();
  const ResultReader reader(folder.file("a.h5"));
  EXPECT_THAT(reader.names("closed"), ElementsAre("displacement", "momentum", "site", "snapshot_time"));
  EXPECT_THAT(reader.read("closed/snapshot_time").values, ElementsAre(0, 1));
  expect_line(reader.read("closed/displacement").values, 1, total, 10.0);
  expect_line(reader.read("closed/momentum").values, 1, total, -10.0);
}

TEST(MpiSnapshots, RefusesIncompleteLinesOnAllRanks) {
  const std::int64_t total = 10;
  LocalSites local = sites_of(test_world().rank(), total);
  const SharedFolder folder;
  ResultFile file(folder.file("a.h5"), test_world(), false);
  {
    SnapshotWriter writer = file.snapshots("closed", "q", "m", "q", numbered(local, 0), local.first, total);
    EXPECT_THROW(file.snapshots("open", "q", "m", "q", numbered(local, 0), local.first, total + 1), std::logic_error);
    EXPECT_THROW(file.snapshots("closed", "p", "m", "p", {}, 0, 0), std::logic_error);
    EXPECT_THROW(writer.append(0.0, numbered(local, 0), local.first + 1), std::logic_error);
    if (local.count > 0 && local.first + local.count == total) --local.count;  // the last site
    EXPECT_THROW(writer.append(0.0, numbered(local, 0), local.first), std::logic_error);
  }
  file.close();
  EXPECT_THAT(ResultReader(folder.file("a.h5")).shape("closed/q"), ElementsAre(0, 10));
}

// A row of more than 2^31 bytes on one rank takes 4 GiB of disk and a minute; set BATHLINE_BIG_TESTS to run it.
TEST(MpiSnapshots, WritesRowsBeyondTwoGibibytesOfOneRank) {
  if (std::getenv("BATHLINE_BIG_TESTS") == nullptr) GTEST_SKIP() << "takes long; BATHLINE_BIG_TESTS is not set";
  const std::int64_t large = (std::int64_t{1} << 28) + 12345;
  const std::int64_t small = 1001;
  const int ranks = test_world().size();
  const int last = ranks - 1;
  const std::int64_t total = large + small * last;
  const LocalSites local{small * test_world().rank(), test_world().rank() == last ? large : small};
  const SharedFolder folder;
  {
    ResultFile file(folder.file("a.h5"), test_world(), false);
    SnapshotWriter writer = file.snapshots("closed", "q", "m", "q", numbered(local, 0), local.first, total);
    writer.append(0.0, numbered(local, 0.25), local.first);
  }
  if (test_world().is_root()) {
    const auto q = ResultReader(folder.file("a.h5")).read("closed/q");
    ASSERT_THAT(q.shape, ElementsAre(1, total));
    expect_line(q.values, 0, total, 0.25);
  }
}

}  // namespace
}  // namespace bathline::snapshot_writer_test
