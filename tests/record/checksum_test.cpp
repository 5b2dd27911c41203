// Detecting damage by checksums and by reading in a child process, and results in checkpoints.
#include "record/checksum.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "record/shared_folder.hpp"
#include "test_world.hpp"
#include "record/checkpoint_file.hpp"
#include "record/guarded_reader.hpp"

namespace bathline::checksum_test {
namespace {

void flip(const std::string& path, std::int64_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(offset);
  const char byte = static_cast<char>(file.get());
  file.seekp(offset);
  file.put(static_cast<char>(byte ^ 16));
}

/// Rows of a scalar and of a vector from `first` on, in the group "closed".
void write_rows(ResultFile& file, int first, int rows) {
  const SeriesLayout layout{
      "closed", "time", {{"particle", {0.0, 1.0, 2.0}, "1", ""}}, {{"q", "m", "", {"particle"}}, {"e", "J", "", {}}}};
  SeriesWriter series = file.series(layout);
  for (int i = first; i < first + rows; ++i) {
    const double q = 0.1 * i;
    series.append(i, std::vector{q, q + 1.0, q + 2.0, 1e6 + i});
  }
  series.flush();
}

TEST(GuardedReader, ReportsHowReadingEnds) {
  GuardedReader guard([](const std::string& path, const std::string& prefix, const auto& report) {
    report(prefix);
    if (path == "absent.h5") throw FileError("no such thing");
    if (path == "linked.h5") throw ExternalLinks("linked.h5 has links");
    if (path != "whole.h5") std::raise(std::stoi(path));
  });
  const auto reason_for = [&](const std::string& path) -> std::string {
    try {
      guard.require_readable(path, "closed/q");
    } catch (const ExternalLinks& error) {
      return std::string("links: ") + error.what();
    } catch (const FileError& error) {
      return error.what();
    }
    return "";
  };
  for (const int signal : {SIGSEGV, SIGFPE, SIGBUS, SIGABRT, SIGKILL}) {
    // One process reads one file after the other, until one of them ends it.
    EXPECT_EQ(reason_for("whole.h5"), "");
    EXPECT_EQ(reason_for("absent.h5"), "cannot read absent.h5: no such thing");
    EXPECT_EQ(reason_for("linked.h5"), "links: linked.h5 has links");
    EXPECT_EQ(reason_for("whole.h5"), "");
    const std::string path = std::to_string(signal);
    EXPECT_EQ(reason_for(path), "cannot read " + path + ": closed/q: " + strsignal(signal));
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

/// The bytes of a file; "" if there is none.
std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(MpiCheckpoint, HoldsTheResultAsItWas) {
  const SharedFolder folder;
  const std::string path = folder.file("a.h5"), saved = folder.file("a.checkpoint.30.h5");
  std::string original;
  {
    ResultFile file(path, test_world(), false);
    file.attribute("recipe_resolved", std::string("title = 'a'"));
    write_rows(file, 0, 30);
    {
      CheckpointWriter checkpoint(saved, test_world());
      checkpoint.file().attribute("checkpoint_format", std::int64_t{1});
      checkpoint.file().attribute("recipe_resolved", std::string("title = 'a'"));
      // More than the megabyte that is copied at once, in the state; the result has less.
      checkpoint.numbers("state", std::vector<double>(200000, 1.0));
      checkpoint.commit(file);
    }
    if (test_world().is_root()) original = content_of(path);
    test_world().barrier();
    file.number("late", "x", "m", "x", 1.0);
    file.close();
  }
  GuardedReader guard;
  const CheckpointReader checkpoint(saved, guard, test_world());
  EXPECT_EQ(checkpoint.numbers("state"), std::vector<double>(200000, 1.0));
  for (const std::string& target : {path, folder.file("elsewhere.h5")}) {
    checkpoint.restore_result(target, guard);
    if (test_world().is_root()) {
      EXPECT_EQ(content_of(target), original);
    }
  }
  test_world().barrier();
  // The copy is continued after its last row.
  ResultFile file(path, test_world());
  write_rows(file, 30, 45);
  file.close();
  EXPECT_EQ(ResultReader(path).read("closed/time").values.size(), 75u);
}

TEST(MpiCheckpoint, ReplacesNothingByAWrongCopy) {
  const SharedFolder folder;
  const std::string path = folder.file("a.h5"), saved = folder.file("a.checkpoint.30.h5");
  ResultFile file(path, test_world(), false);
  file.attribute("recipe_resolved", std::string("title = 'a'"));
  {
    CheckpointWriter checkpoint(saved, test_world());
    checkpoint.file().attribute("checkpoint_format", std::int64_t{1});
    checkpoint.file().attribute("recipe_resolved", std::string("title = 'b'"));
    checkpoint.commit(file);
  }
  file.close();
  if (test_world().is_root()) std::ofstream(path) << "precious";
  test_world().barrier();
  GuardedReader guard;
  EXPECT_THROW(CheckpointReader(saved, guard, test_world()).restore_result(path, guard), FileError);
  if (test_world().is_root()) {
    EXPECT_EQ(content_of(path), "precious");
    EXPECT_FALSE(std::filesystem::exists(path + ".unfinished"));
  }
  test_world().barrier();
}

}  // namespace
}  // namespace bathline::checksum_test
