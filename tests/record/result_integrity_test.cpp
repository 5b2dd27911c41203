// Detecting damage: by checksums, by digests of records, and by reading in a child process.
#include "record/result_integrity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <fstream>

#include "record/shared_folder.hpp"
#include "test_world.hpp"
#include "record/checksum_trailer.hpp"
#include "record/run_in_child_process.hpp"
#include "record/file_scan.hpp"

namespace bathline::result_integrity_test {
namespace {

using testing::HasSubstr;

void flip(const std::string& path, std::int64_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(offset);
  const char byte = static_cast<char>(file.get());
  file.seekp(offset);
  file.put(static_cast<char>(byte ^ 16));
}

/// The offset of the bytes of a value in a file.
std::int64_t offset_of_value(const std::string& path, double value) {
  std::ifstream file(path, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)), {});
  return static_cast<std::int64_t>(content.find(std::string(reinterpret_cast<const char*>(&value), sizeof value)));
}

/// Rows of a scalar and of a vector from `first` on, in the group "closed".
void write_rows(ResultFile& file, int first, int rows) {
  const SeriesLayout layout{
      "closed", "time", {{"particle", {0.0, 1.0, 2.0}, "1", ""}}, {{"q", "m", "", {"particle"}}, {"e", "J", "", {}}}};
  SeriesWriter series = file.series(layout, first == 0 ? std::nullopt : std::optional<std::int64_t>(first));
  for (int i = first; i < first + rows; ++i) {
    const double q = 0.1 * i;
    series.append(i, std::vector{q, q + 1.0, q + 2.0, 1e6 + i});
  }
  series.flush();
}

TEST(ChildProcess, ReportsHowItsWorkEnds) {
  EXPECT_EQ(run_in_child_process([](const auto& report) { report("x"); }), "");
  EXPECT_EQ(run_in_child_process([](const auto&) { throw FileError("no such thing"); }), "no such thing");
  for (const int signal : {SIGSEGV, SIGFPE, SIGBUS, SIGABRT}) {
    const std::string reason = run_in_child_process([&](const auto& report) {
      report("closed/q");
      std::raise(signal);
    });
    EXPECT_EQ(reason, std::string("closed/q: ") + strsignal(signal));
  }
}

TEST(MpiChecksum, CoversEveryByte) {
  const SharedFolder folder;
  const std::string path = folder.file("a.h5");
  {
    ResultFile file(path, test_world(), false);
    write_rows(file, 0, 50);
    file.close();
  }
  EXPECT_EQ(verify_checksum(path, "result", test_world()), ChecksumState::missing);
  append_result_checksum(path, test_world());
  EXPECT_EQ(verify_checksum(path, "result", test_world()), ChecksumState::valid);
  EXPECT_EQ(verify_checksum(path, "checkpoint", test_world()), ChecksumState::missing);
  test_world().barrier();
  EXPECT_EQ(verify_checksum(path, "result"), ChecksumState::valid);
  const std::int64_t size = size_of_file(path);
  for (const std::int64_t offset : {std::int64_t{0}, std::int64_t{700}, size / 2, size - 90, size - 5}) {
    test_world().barrier();
    if (test_world().is_root()) flip(path, offset);
    test_world().barrier();
    EXPECT_EQ(verify_checksum(path, "result", test_world()), ChecksumState::invalid) << offset;
    test_world().barrier();
    if (test_world().is_root()) flip(path, offset);
  }
  test_world().barrier();
  EXPECT_EQ(verify_checksum(path, "result", test_world()), ChecksumState::valid);
  // HDF5 truncates the line when it changes the file.
  {
    ResultFile file(path, test_world());
    file.attribute("title", std::string("changed"));
    file.close();
  }
  EXPECT_EQ(verify_checksum(path, "result", test_world()), ChecksumState::missing);
}

TEST(MpiRecords, MatchTheirDigests) {
  const SharedFolder folder;
  const std::string path = folder.file("a.h5");
  ResultFile file(path, test_world(), false);
  write_rows(file, 0, 30);
  const int ranks = test_world().size();
  // Every rank's part of the first rows, and of those that are added later.
  RecordDigests initial = record_digests(path, {}, test_world().rank(), ranks);
  const RecordDigests first = record_digests(path, {}, 0, 1);
  write_rows(file, 30, 45);
  RecordDigests added = record_digests(path, first, test_world().rank(), ranks);
  const RecordDigests all = record_digests(path, {}, 0, 1);
  ASSERT_EQ(all.size(), 4u);  // time, q, e and the particles
  for (const auto& [name, digest] : all) {
    const auto sum = static_cast<std::int64_t>(initial.at(name).sum + added.at(name).sum);
    EXPECT_EQ(added.at(name).rows, digest.rows);
    EXPECT_EQ(static_cast<std::uint64_t>(test_world().sum(sum)), digest.sum) << name;
  }
  file.close();

  const auto reason = [&](const RecordDigests& digests) {
    return run_in_child_process([&](const auto& report) { compare_records(path, digests, report); });
  };
  test_world().barrier();
  if (test_world().is_root()) {
    EXPECT_EQ(reason(all), "");
    EXPECT_EQ(reason(first), "");
    flip(path, offset_of_value(path, 1e6 + 40.0));
    EXPECT_EQ(reason(first), "");
    EXPECT_THAT(reason(all), HasSubstr("the first 75 records of closed/e of"));
    flip(path, offset_of_value(path, 0.1 * 7 + 1.0));
    EXPECT_THAT(reason(first), HasSubstr("the first 30 records of closed/q of"));
    EXPECT_THAT(reason({{"closed/time", {76, 0}}}), HasSubstr("75 records, fewer than 76"));
  }
  test_world().barrier();
}

TEST(Records, OfLargeResultsHaveDigestsInCheckpoints) {
  const SharedFolder folder;
  const std::string path = folder.file("large.h5"), saved = folder.file("large.checkpoint.1.h5");
  ResultFile file(path, test_world(), false);
  // The result is too large for a copy, so that its digests are stored. Each rank writes its sites.
  constexpr std::int64_t total = CheckpointWriter::max_copy_bytes / 8 + 1000;
  const std::int64_t first = total * test_world().rank() / test_world().size();
  const std::int64_t end = total * (test_world().rank() + 1) / test_world().size();
  std::vector<double> sites(static_cast<std::size_t>(end - first));
  for (std::size_t i = 0; i < sites.size(); ++i) sites[i] = static_cast<double>(first) + static_cast<double>(i);
  file.write_distributed("line/sites", sites, first, total);
  file.flush();
  RecordDigests digests;
  {
    CheckpointWriter checkpoint(saved, test_world());
    checkpoint.file().attribute("checkpoint_format", std::int64_t{1});
    write_digests(checkpoint.file(), path, digests, test_world());
    checkpoint.keep_copy(path);
    checkpoint.commit();
  }
  file.close();
  const CheckpointReader checkpoint(saved, test_world());
  ASSERT_EQ(read_digests(checkpoint.reader()).size(), 1u);
  std::string unverified = "?";
  restore_result(path, ChecksumState::missing, checkpoint, unverified, test_world());
  EXPECT_EQ(unverified, "");
  test_world().barrier();
  if (test_world().is_root()) flip(path, offset_of_value(path, static_cast<double>(total - 1)));
  test_world().barrier();
  EXPECT_THROW(restore_result(path, ChecksumState::missing, checkpoint, unverified, test_world()), FileError);
}

}  // namespace
}  // namespace bathline::result_integrity_test
