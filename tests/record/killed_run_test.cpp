// A run that is killed leaves a file that can be read up to the last flush.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "record/child_process.hpp"
#include "record/result_file.hpp"
#include "record/shared_folder.hpp"
#include "test_world.hpp"

namespace bathline::killed_run_test {
namespace {

constexpr const char* file_to_write = "BATHLINE_TEST_KILLED_FILE";

/// The program that is killed, run by the tests below: flushes 1500 rows, buffers more, and adds data to the file that
/// are not flushed.
TEST(MpiKilledRun, DISABLED_WritesAndDies) {
  const char* path = std::getenv(file_to_write);
  ASSERT_NE(path, nullptr);
  ResultFile file(path, test_world(), false);
  file.attribute("status", std::string("partial"));
  SeriesWriter writer = file.series({"closed", "time", {}, {{"energy", "J", "energy", {}}}});
  const double site = test_world().rank();
  SnapshotWriter line =
      file.snapshots("closed", "q", "m", "q", std::span(&site, 1), test_world().rank(), test_world().size());
  line.append(0.0, std::span(&site, 1), test_world().rank());
  for (int row = 0; row < 1500; ++row) writer.append(row, std::vector<double>{2.0 * row});
  writer.flush();
  for (int row = 1500; row < 4000; ++row) writer.append(row, std::vector<double>{2.0 * row});
  line.append(1.0, std::span(&site, 1), test_world().rank());
  file.attribute("status", std::string("complete"));
  file.array("late", {"x", "m", "x", {}}, {}, std::vector<double>{1.0});
  test_world().barrier();
  std::raise(SIGKILL);
}

void expect_readable_up_to_the_flush(const std::string& path, int ranks) {
  const ResultReader reader(path);
  EXPECT_EQ(reader.attribute("status"), "partial");
  const auto energy = reader.read("closed/energy");
  ASSERT_THAT(energy.shape, testing::ElementsAre(1500));
  EXPECT_EQ(reader.read("closed/time").shape.front(), 1500);
  for (std::size_t row = 0; row < 1500; ++row) ASSERT_EQ(energy.values[row], 2.0 * static_cast<double>(row));
  const auto line = reader.read("closed/q");
  ASSERT_THAT(line.shape, testing::ElementsAre(1, ranks));
  for (int rank = 0; rank < ranks; ++rank) EXPECT_EQ(line.values[static_cast<std::size_t>(rank)], rank);
  EXPECT_FALSE(reader.has("late"));
  const Outcome h5py =
      run_command("/usr/bin/python3 -c \"import h5py; print(h5py.File('" + path + "')['closed/energy'][-1])\"");
  EXPECT_EQ(h5py.output, "2998.0\n");
}

std::string dying_program(const std::string& path) {
  return std::string(file_to_write) + "=" + path + " LAUNCHER " + this_program() +
         " --gtest_filter=MpiKilledRun.DISABLED_WritesAndDies --gtest_also_run_disabled_tests";
}

std::string launched_by(std::string program, const std::string& launcher) {
  return program.replace(program.find("LAUNCHER"), 8, launcher);
}

TEST(KilledRun, IsReadableUpToTheLastFlush) {
  const SharedFolder folder;
  const Outcome outcome = run_command(launched_by(dying_program(folder.file("a.h5")), "env"));
  ASSERT_EQ(outcome.status, 128 + SIGKILL) << outcome.output;
  expect_readable_up_to_the_flush(folder.file("a.h5"), 1);
}

TEST(KilledRun, IsReadableUpToTheLastFlushOfAllRanks) {
  if (run_command("mpirun --version").status != 0) GTEST_SKIP() << "mpirun is not on the path";
  const SharedFolder folder;
  const Outcome outcome = run_command(launched_by(dying_program(folder.file("a.h5")), "mpirun -n 3"));
  ASSERT_EQ(outcome.status, 128 + SIGKILL) << outcome.output;
  expect_readable_up_to_the_flush(folder.file("a.h5"), 3);
}

}  // namespace
}  // namespace bathline::killed_run_test
