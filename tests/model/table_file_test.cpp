// Tables of two columns: their values, and the messages about wrong lines.
#include "model/table_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "record/shared_folder.hpp"
#include "test_world.hpp"

namespace bathline::table_file_test {
namespace {

using testing::HasSubstr;
using Rows = std::vector<std::array<double, 2>>;

constexpr TableForm oscillators{
    .row = "oscillator", .first = {"frequency", "rad/s"}, .second = {"stiffness", "N/m"}, .rising = true};
constexpr TableForm sites{.row = "site", .first = {"mass", "kg"}, .second = {"stiffness", "N/m"}};

class MpiTableFile : public testing::Test {
 protected:
  std::optional<Rows> read(const std::string& text, const TableForm& form) {
    if (test_world().is_root()) std::ofstream(folder_.file("table.txt")) << text;
    test_world().barrier();
    // The path is relative to the recipe's folder.
    Section section({folder_.file("recipe.toml"), 3, 1});
    section.set("file", std::string("table.txt"), {folder_.file("recipe.toml"), 4, 1});
    Mistakes mistakes;
    const std::optional<Rows> rows = read_table_file(section, form, test_world(), mistakes);
    test_world().barrier();
    report_ = mistakes.empty() ? "" : mistakes.report();
    return rows;
  }
  std::string reason(const std::string& text, const TableForm& form = oscillators) {
    EXPECT_EQ(read(text, form), std::nullopt);
    const std::string before = "recipe.toml:4:1: file = \"table.txt\": ";
    const std::size_t position = report_.find(before);
    return position == std::string::npos ? report_ : report_.substr(position + before.size());
  }

  SharedFolder folder_;
  std::string report_;
};

TEST_F(MpiTableFile, ReadsNumbersAndSkipsComments) {
  const auto rows = read("# frequency stiffness\n\n 1.0 0.5\n2e0\t.25 # the second\r\n   \n3 1", oscillators);
  EXPECT_EQ(report_, "");
  EXPECT_EQ(rows, (Rows{{1.0, 0.5}, {2.0, 0.25}, {3.0, 1.0}}));
}

TEST_F(MpiTableFile, ChecksThatTheFirstColumnRisesIfItMust) {
  EXPECT_EQ(reason("1.0 1.0\n\n1.0 2.0"), "line 3: frequency 1 must be greater than that of the row before, 1");
  EXPECT_EQ(reason("2.0 1.0\n1.5 2.0"), "line 2: frequency 1.5 must be greater than that of the row before, 2");
  EXPECT_EQ(read("2.0 1.0\n1.5 2.0", sites), (Rows{{2.0, 1.0}, {1.5, 2.0}}));
}

TEST_F(MpiTableFile, ReportsWhatIsWrongAndWhere) {
  EXPECT_EQ(reason(""), "the file contains no oscillator");
  EXPECT_EQ(reason("# nothing\n\n", sites), "the file contains no site");
  for (const char* line : {"2.0", "2.0 1.0 3.0", "two 1.0", "2.0 one", "2.0, 1.0", "2.0 1.0x", "nan 1.0", "2.0 inf",
                           "1e999 1.0", "2.0 0x10"}) {
    EXPECT_THAT(reason(std::string("# two numbers\n1.0 1.0\n") + line + "\n4.0 1.0\n"),
                HasSubstr("line 3: must be two numbers, a frequency (rad/s) and a stiffness (N/m)"))
        << line;
  }
  EXPECT_EQ(reason("-1.0 1.0"), "line 1: frequency -1 must be positive");
  EXPECT_EQ(reason("0 1.0", sites), "line 1: mass 0 must be positive");
  EXPECT_EQ(reason("1.0 1.0\n2.0 0.0"), "line 2: stiffness 0 must be positive");
  EXPECT_EQ(reason("1.0 -3.0"), "line 1: stiffness -3 must be positive");
}

TEST_F(MpiTableFile, SkipsAByteOrderMark) {
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "1.0 0.5\r\n2.0 0.25\r\n",
                 oscillators),
            (Rows{{1.0, 0.5}, {2.0, 0.25}}));
  EXPECT_EQ(read("\xEF\xBB\xBF# frequency, stiffness\n1.0 0.5\n", oscillators), (Rows{{1.0, 0.5}}));
}

TEST_F(MpiTableFile, SaysWhatItFound) {
  const std::pair<std::string, const char*> cases[] = {
      {"1.0 0.5 0.1", "line 1: .*, but there are 3; leave out the other columns"},
      {"1.0", "line 1: .*, but there is only one"},
      {"frequency stiffness\n1.0 0.5", "line 1: .*`frequency stiffness` has none; begin a header or comment with #"},
      {"w,k\n1.0,0.5", "line 1: .*`w,k` has none; begin a header"},
      {"% w k\n1.0 0.5", "line 1: .*begin a header or comment with #"},
      {"1.0 0.5\ntwo 0.5", "line 2: .*`two` is not a finite number"},
      {"1.0 1e999", "line 1: .*`1e999` is not a finite number"},
      {"1.0,0.5", "line 1: .*`1.0,0.5` has commas or semicolons; separate the columns by spaces or tabs"},
      {"1.0, 0.5", "line 1: .*`1.0, 0.5` has commas or semicolons"},
      {"1,0;0,5", "line 1: .*has commas or semicolons.*decimal points"},
      {std::string("\xFF\xFE"
                   "1\0 \0"
                   "2\0\n\0",
                   9),
       "line 1: .*is not text in UTF-8"}};
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(reason(text), testing::ContainsRegex(message)) << text;
  }
}

TEST_F(MpiTableFile, ReportsThePathThatCannotBeRead) {
  Section section({"/somewhere/recipe.toml", 3, 1});
  section.set("file", std::string("none.txt"), {"/somewhere/recipe.toml", 4, 1});
  Mistakes mistakes;
  EXPECT_EQ(read_table_file(section, sites, test_world(), mistakes), std::nullopt);
  EXPECT_THAT(mistakes.report(),
              HasSubstr("cannot be read; relative paths start at the recipe's folder, so this is /somewhere/none.txt"));
}

}  // namespace
}  // namespace bathline::table_file_test
