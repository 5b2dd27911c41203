// A disk that becomes full while a file is written: all ranks get the error, none hangs, and no written data are lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "record/claims.hpp"
#include "record/result_file.hpp"
#include "record/shared_folder.hpp"
#include "test_world.hpp"

namespace bathline::full_disk_test {
namespace {

using testing::HasSubstr;

/// A disk of 6 MiB, if this user may mount one.
class SmallDisk {
 public:
  SmallDisk() {
    std::string problem;
    if (test_world().is_root() && mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=6m") != 0) {
      problem = std::string("cannot mount a small tmpfs: ") + std::strerror(errno);
    }
    problem_ = test_world().broadcast(problem);
  }
  ~SmallDisk() {
    test_world().barrier();
    if (test_world().is_root() && problem_.empty()) umount2(folder_.path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  const std::string& problem() const { return problem_; }
  std::string file(const std::string& name) const { return folder_.file(name); }
  /// Fills the disk up to `rest` free bytes.
  void fill_except(std::uintmax_t rest) const {
    if (test_world().is_root()) {
      const auto space = std::filesystem::space(folder_.path());
      std::ofstream(file("ballast")) << std::string(space.available - rest, 'x');
    }
    test_world().barrier();
  }

 private:
  SharedFolder folder_;
  std::string problem_;
};

class MpiFullDisk : public testing::Test {
 protected:
  void SetUp() override {
    disk_.emplace();
    if (!disk_->problem().empty()) GTEST_SKIP() << disk_->problem();
  }
  void TearDown() override { disk_.reset(); }

  std::optional<SmallDisk> disk_;
};

/// Appends until that fails; returns the number of successes and the message of the failure.
template <class Append>
std::pair<int, std::string> append_until_full(Append&& append) {
  for (int count = 0; count < 1000; ++count) {
    try {
      append(count);
    } catch (const FileError& error) {
      return {count, error.what()};
    }
  }
  return {1000, "no failure"};
}

TEST_F(MpiFullDisk, StopsASeriesOnAllRanksAndKeepsItsRows) {
  const std::string path = disk_->file("a.h5");
  ResultFile file(path, test_world(), false);
  file.attribute("status", std::string("partial"));
  int flushed = 0;
  {
    SeriesWriter writer =
        file.series({"closed", "time", {{"i", std::vector<double>(100, 0.0), "1", "i"}}, {{"q", "m", "q", {"i"}}}});
    const auto [count, message] = append_until_full([&](int step) {
      for (int row = 0; row < 200; ++row) writer.append(step, std::vector<double>(100, step));
      writer.flush();
    });
    flushed = count;
    EXPECT_THAT(message, HasSubstr("No space left on device"));
    EXPECT_THAT(message, HasSubstr(path));
    EXPECT_GT(count, 5);
    EXPECT_LT(count, 50);
  }
  file.attribute("status", std::string("failed"));
  file.close();
  const ResultReader reader(path);
  EXPECT_EQ(reader.attribute("status"), "failed");
  const auto q = reader.read("closed/q");
  ASSERT_THAT(q.shape, testing::ElementsAre(200 * flushed, 100));
  for (std::size_t i = 0; i < q.values.size(); ++i) {
    const std::size_t batch = i / 20000;
    ASSERT_EQ(q.values[i], static_cast<double>(batch));
  }
}

TEST_F(MpiFullDisk, StopsSnapshotsOnAllRanksAndKeepsThem) {
  const std::string path = disk_->file("a.h5");
  const std::int64_t local = 20000;
  const std::int64_t total = local * test_world().size();
  const std::int64_t first = local * test_world().rank();
  const std::vector<double> sites(static_cast<std::size_t>(local), test_world().rank());
  ResultFile file(path, test_world(), false);
  int written = 0;
  {
    SnapshotWriter writer = file.snapshots("closed", "q", "m", "q", sites, first, total);
    const auto [count, message] = append_until_full(
        [&](int row) { writer.append(row, std::vector<double>(static_cast<std::size_t>(local), row), first); });
    written = count;
    EXPECT_THAT(message, HasSubstr("No space left on device"));
    EXPECT_GT(count, 2);
    EXPECT_LT(count, 40);
  }
  file.close();
  const auto q = ResultReader(path).read("closed/q");
  ASSERT_THAT(q.shape, testing::ElementsAre(written, total));
  for (std::size_t i = 0; i < q.values.size(); ++i) {
    const std::size_t row = i / static_cast<std::size_t>(total);
    ASSERT_EQ(q.values[i], static_cast<double>(row));
  }
}

TEST_F(MpiFullDisk, KeepsTheOldFileIfTheNewOneCannotBeCreated) {
  const std::string path = disk_->file("a.h5");
  {
    ResultFile file(path, test_world(), false);
    file.attribute("title", std::string("old"));
    file.close();
  }
  disk_->fill_except(100 * 1024);
  std::string message;
  try {
    ResultFile file(path, test_world(), true);
  } catch (const FileError& error) {
    message = error.what();
  }
  EXPECT_THAT(message, HasSubstr("No space left on device"));
  EXPECT_EQ(ResultReader(path).attribute("title"), "old");
  EXPECT_THROW(ResultFile(disk_->file("b.h5"), test_world(), false), FileError);
  EXPECT_FALSE(std::filesystem::exists(disk_->file("b.h5")));
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(disk_->file("."))) ++entries;
  EXPECT_EQ(entries, 2u);  // the old file and the ballast
}

TEST_F(MpiFullDisk, RefusesClaimsAndLeavesTheFileAlone) {
  const std::string path = disk_->file("a.h5");
  {
    ResultFile file(path, test_world(), false);
    file.attribute("status", std::string("complete"));
    file.close();
  }
  disk_->fill_except(10 * 1024);
  if (test_world().is_root()) {
    ClaimResult claim;
    claim.note = std::string(20000, 'x');
    EXPECT_THROW(write_claims(path, std::vector{claim}), FileError);
    const ResultReader reader(path);
    EXPECT_EQ(reader.attribute("status"), "complete");
    EXPECT_FALSE(reader.has("claims"));
  }
  test_world().barrier();
}

TEST_F(MpiFullDisk, RefusesArraysTextsAndAttributesOnAllRanks) {
  ResultFile file(disk_->file("a.h5"), test_world(), false);
  const std::string message = [&]() -> std::string {
    try {
      file.attribute("recipe", std::string(7 << 20, 'x'));
    } catch (const FileError& error) {
      return error.what();
    }
    return "";
  }();
  EXPECT_THAT(message, HasSubstr("No space left on device"));
  EXPECT_THROW(
      file.array("g", {"x", "m", "x", {}}, std::vector<Dimension>{{"i", std::vector<double>(500000, 0.0), "1", "i"}},
                 std::vector<double>(500000)),
      FileError);
  EXPECT_THROW(file.texts("g", "t", "j", std::vector<std::string>(7, std::string(1 << 20, 'x')), "t"), FileError);
  file.array("g", {"x", "m", "x", {}}, {}, std::vector<double>{1.0});
  file.close();
  EXPECT_THAT(ResultReader(disk_->file("a.h5")).read("g/x").values, testing::ElementsAre(1.0));
}

}  // namespace
}  // namespace bathline::full_disk_test
