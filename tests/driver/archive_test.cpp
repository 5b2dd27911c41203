// Writing state to a checkpoint and restoring it.
#include "driver/archive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "record/shared_folder.hpp"
#include "test_world.hpp"

namespace bathline::archive_test {
namespace {

using testing::ElementsAre;

struct Series {
  std::vector<double> time, value;
  void serialise(Archive& archive) {
    archive.numbers("time", time);
    archive.numbers("value", value, time.size());
  }
};

/// A state with every kind of value that an archive supports.
struct State {
  double a = 0.0, b = 0.0;
  std::int64_t steps = 0;
  std::array<double, 2> pair{};
  std::vector<double> tail = {};
  std::vector<Series> list = {};
  std::map<std::string, Series> named = {};

  void serialise(Archive& archive) {
    archive.numbers("single", {&a, &b});
    archive.counts("steps", {&steps});
    const std::vector<std::span<double>> parts = {pair, tail};
    archive.numbers("parts", parts);
    const auto series = [](Archive& group, Series& element) { element.serialise(group); };
    Archive lists = archive.group("list"), names = archive.group("named");
    lists.each(list, series);
    names.each(named, series);
  }
};

class MpiArchive : public testing::Test {
 protected:
  void write(State state) {
    CheckpointWriter writer(path(), test_world());
    writer.file().attribute("checkpoint_format", std::int64_t{1});
    Archive archive(writer, "state");
    state.serialise(archive);
    ResultFile result(folder_.file("r.h5"), test_world(), true);
    writer.commit(result);
    result.close();
  }
  std::string path() const { return folder_.file("r.h5.checkpoint.1.h5"); }

 private:
  SharedFolder folder_;
};

State sample() {
  return {.a = 1.5,
          .b = -2.0,
          .steps = 7,
          .pair = {3.0, 4.0},
          .tail = {5.0},
          .list = {{{0.0, 1.0}, {2.0, 3.0}}, {}},
          .named = {{"x", {{8.0}, {9.0}}}}};
}

TEST_F(MpiArchive, RestoresTheStateOfRankZeroOnEveryRank) {
  write(test_world().is_root() ? sample() : State{.tail = {0.0}, .list = std::vector<Series>(2), .named = {{"x", {}}}});
  GuardedReader guard;
  const CheckpointReader reader(path(), guard, test_world());
  State state{.tail = {0.0}};
  Archive archive(reader, "state");
  state.serialise(archive);
  EXPECT_EQ(state.a, 1.5);
  EXPECT_EQ(state.b, -2.0);
  EXPECT_EQ(state.steps, 7);
  EXPECT_THAT(state.pair, ElementsAre(3.0, 4.0));
  EXPECT_THAT(state.tail, ElementsAre(5.0));
  ASSERT_EQ(state.list.size(), 2u);
  EXPECT_THAT(state.list[0].value, ElementsAre(2.0, 3.0));
  EXPECT_TRUE(state.list[1].time.empty());
  ASSERT_EQ(state.named.count("x"), 1u);
  EXPECT_THAT(state.named["x"].value, ElementsAre(9.0));
}

TEST_F(MpiArchive, RefusesOtherSizes) {
  write(sample());
  GuardedReader guard;
  const CheckpointReader reader(path(), guard, test_world());
  Archive archive(reader, "state");
  double number = 0.0;
  EXPECT_THROW(archive.numbers("single", {&number}), std::out_of_range);
  std::int64_t count = 0, other = 0;
  EXPECT_THROW(archive.counts("steps", {&count, &other}), std::out_of_range);
  EXPECT_THROW(archive.counts("single", {&count, &other}), std::out_of_range) << "1.5 is not a count";
  std::vector<double> list;
  EXPECT_THROW(archive.numbers("parts", list, 4), std::out_of_range);
  EXPECT_NO_THROW(archive.numbers("parts", list, 3));
}

}  // namespace
}  // namespace bathline::archive_test
