// Time series of rank 0: all rows are written in order, in chunks of bounded size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/result_file.hpp"
#include "record/shared_folder.hpp"
#include "test_world.hpp"

namespace bathline::series_writer_test {
namespace {

using testing::ElementsAre;

SeriesLayout two_particles() {
  return {"closed",
          "time",
          {{"particle", {0, 1}, "1", "particle"}, {"axis", {0, 1, 2}, "1", "axis"}},
          {{"q", "m", "position", {"particle", "axis"}}, {"energy_total", "J", "total energy", {}}}};
}

/// Row number `step`: q counts up, the energy is the step's negative.
std::vector<double> row_of(int step) {
  std::vector<double> row;
  for (int i = 0; i < 6; ++i) row.push_back(step + i / 10.0);
  row.push_back(-step);
  return row;
}

TEST(MpiSeriesWriter, WritesRowsInTheOrderOfTheLayout) {
  const SharedFolder folder;
  ResultFile file(folder.file("a.h5"), test_world(), false);
  {
    SeriesWriter writer = file.series(two_particles());
    int step = 0;
    for (const int rows : {1, 0, 1500, 700}) {
      for (int i = 0; i < rows; ++i, ++step) writer.append(0.5 * step, row_of(step));
      EXPECT_EQ(writer.buffered_rows(), test_world().is_root() ? static_cast<std::size_t>(rows) : 0u);
      writer.flush();
      EXPECT_EQ(writer.buffered_rows(), 0u);
    }
  }
  file.close();

  const ResultReader reader(folder.file("a.h5"));
  const auto time = reader.read("closed/time");
  const auto q = reader.read("closed/q");
  const auto energy = reader.read("closed/energy_total");
  EXPECT_THAT(time.shape, ElementsAre(2201));
  EXPECT_THAT(q.shape, ElementsAre(2201, 2, 3));
  EXPECT_THAT(energy.shape, ElementsAre(2201));
  for (int step = 0; step < 2201; ++step) {
    const auto s = static_cast<std::size_t>(step);
    ASSERT_EQ(time.values[s], 0.5 * step);
    ASSERT_EQ(energy.values[s], -step);
    for (std::size_t i = 0; i < 6; ++i) ASSERT_EQ(q.values[6 * s + i], row_of(step)[i]);
  }
}

TEST(MpiSeriesWriter, DescribesVariablesAndDimensions) {
  const SharedFolder folder;
  ResultFile file(folder.file("a.h5"), test_world(), false);
  { SeriesWriter writer = file.series(two_particles()); }
  file.close();
  const ResultReader reader(folder.file("a.h5"));
  EXPECT_EQ(reader.attribute("units", "closed/time"), "s");
  EXPECT_EQ(reader.attribute("long_name", "closed/time"), "time");
  EXPECT_EQ(reader.attribute("long_name", "closed/q"), "position");
  EXPECT_EQ(reader.read("closed/energy_total").units, "J");
  EXPECT_EQ(reader.attribute("long_name", "closed/particle"), "particle");
  EXPECT_THAT(reader.read("closed/axis").values, ElementsAre(0, 1, 2));
  EXPECT_EQ(reader.scale("closed/q", 0), "closed/time");
  EXPECT_EQ(reader.scale("closed/q", 1), "closed/particle");
  EXPECT_EQ(reader.scale("closed/q", 2), "closed/axis");
  EXPECT_EQ(reader.scale("closed/energy_total", 0), "closed/time");
  EXPECT_TRUE(reader.grows("closed/q"));
  EXPECT_THAT(reader.shape("closed/q"), ElementsAre(0, 2, 3));
}

TEST(MpiSeriesWriter, WritesRowsLargerThanAChunk) {
  const SharedFolder folder;
  // 3 x 200000 doubles: 4.8 MB a row against chunks of 1 MiB.
  const std::size_t width = 600000;
  const SeriesLayout layout{
      "wide",
      "time",
      {{"side", {0, 1, 2}, "1", "side"}, {"oscillator", std::vector<double>(200000, 1.0), "1", "oscillator"}},
      {{"q", "m", "position", {"side", "oscillator"}}}};
  ResultFile file(folder.file("a.h5"), test_world(), false);
  {
    SeriesWriter writer = file.series(layout);
    std::vector<double> row(width);
    for (int step = 0; step < 3; ++step) {
      for (std::size_t i = 0; i < width; ++i) row[i] = step * 1e6 + static_cast<double>(i);
      writer.append(step, row);
    }
    writer.flush();
  }
  file.close();
  const auto q = ResultReader(folder.file("a.h5")).read("wide/q");
  EXPECT_THAT(q.shape, ElementsAre(3, 3, 200000));
  for (std::size_t i = 0; i < q.values.size(); i += 997) {
    const std::size_t row = i / width;
    ASSERT_EQ(q.values[i], static_cast<double>(row) * 1e6 + static_cast<double>(i % width));
  }
}

TEST(MpiSeriesWriter, KeepsSeveralGroupsApart) {
  const SharedFolder folder;
  ResultFile file(folder.file("a.h5"), test_world(), false);
  {
    SeriesLayout other = two_particles();
    other.group = "reduced/open";
    other.time = "t";
    SeriesWriter closed = file.series(two_particles());
    SeriesWriter open = file.series(other);
    closed.append(1.0, row_of(1));
    open.append(2.0, row_of(2));
    open.append(3.0, row_of(3));
    open.flush();
    closed.flush();
  }
  file.close();
  const ResultReader reader(folder.file("a.h5"));
  EXPECT_THAT(reader.read("closed/time").values, ElementsAre(1));
  EXPECT_THAT(reader.read("reduced/open/t").values, ElementsAre(2, 3));
  EXPECT_EQ(reader.scale("reduced/open/q", 1), "reduced/open/particle");
}

TEST(MpiSeriesWriter, RefusesInvalidLayoutsAndRows) {
  const SharedFolder folder;
  ResultFile file(folder.file("a.h5"), test_world(), false);
  {
    SeriesWriter writer = file.series(two_particles());
    if (test_world().is_root()) {
      EXPECT_THROW(writer.append(0.0, std::vector<double>(3)), std::logic_error);
    }
    EXPECT_EQ(writer.buffered_rows(), 0u);
    EXPECT_THROW(file.series(two_particles()), std::logic_error);
    SeriesLayout unknown{"other", "time", {}, {{"q", "m", "position", {"particle"}}}};
    EXPECT_THROW(file.series(unknown), std::logic_error);
    SeriesLayout twice{"other", "time", {{"i", {0, 1}, "1", "i"}}, {{"m", "1", "matrix", {"i", "i"}}}};
    EXPECT_THROW(file.series(twice), std::logic_error);
    SeriesLayout empty{"other", "time", {{"i", {}, "1", "i"}}, {{"m", "1", "nothing", {"i"}}}};
    EXPECT_THROW(file.series(empty), std::logic_error);
    EXPECT_THROW(file.close(), std::logic_error);  // the writer still exists
  }
  EXPECT_NO_THROW(file.close());
}

}  // namespace
}  // namespace bathline::series_writer_test
