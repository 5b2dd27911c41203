// Tests of the TOML that the program writes.
#include "recipe/toml_writer.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>

#include <gtest/gtest.h>

namespace bathline::toml_writer_test {

using enum ValueType;

TEST(TomlNumber, IsTheShortestThatReadsBack) {
  for (const double value : {0.1, 1.0 / 3.0, 1e300, 5e-324, 1e16, 123456789.0, -2.5e-7, 1.7976931348623157e308}) {
    EXPECT_EQ(std::strtod(toml_number(value).c_str(), nullptr), value);
  }
  EXPECT_EQ(toml_number(0.1), "0.1");
  EXPECT_EQ(toml_number(1.0 / 3.0), "0.3333333333333333");
}

TEST(TomlNumber, IsNeverAnInteger) {
  EXPECT_EQ(toml_number(3), "3.0");
  EXPECT_EQ(toml_number(-0.0), "-0.0");
  EXPECT_EQ(toml_number(1e15), "1000000000000000.0");
  EXPECT_EQ(toml_number(1e300), "1e+300");
}

TEST(TomlNumber, WritesNonfiniteNumbers) {
  EXPECT_EQ(toml_number(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(toml_number(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(toml_number(-std::nan("")), "nan");
}

TEST(TomlText, EscapesIntoOneLine) {
  EXPECT_EQ(toml_text("a \"b\" \\ ä\n\t\r\x01\x7f"), "\"a \\\"b\\\" \\\\ ä\\n\\t\\u000D\\u0001\\u007F\"");
}

TEST(TomlKeys, FollowsTheOrderOfTheParameters) {
  Section section;
  section.set("b", 2L, {});
  section.set("a", std::vector<double>{1, 0.5}, {});
  section.set("r", Section::Rows{{1}, {2}}, {});
  section.set("s", Section::Rows{{1, 2}, {3, 4}}, {});
  section.set("t", std::vector<std::string>{"x", "y"}, {});
  section.set("i", std::vector<long>{}, {});
  section.set("flag", false, {});
  const std::vector<Parameter> parameters = {{.name = "b", .type = integer},  {.name = "absent"},
                                             {.name = "a", .type = numbers},  {.name = "r", .type = rows},
                                             {.name = "s", .type = rows},     {.name = "t", .type = texts},
                                             {.name = "i", .type = integers}, {.name = "flag", .type = boolean}};
  EXPECT_EQ(toml_keys(section, parameters, "x"),
            "b = 2\na = [1.0, 0.5]\nr = [1.0, 2.0]\ns = [[1.0, 2.0], [3.0, 4.0]]\nt = [\"x\", \"y\"]\ni = []\n"
            "flag = false\n");
}

TEST(TomlKeys, WritesTablesAfterTheOtherKeys) {
  Section series;
  series.set("of", std::string("q"), {});
  Section panel;
  panel.set("series", std::vector<Section>{series}, {});
  Section figure;
  figure.set("panels", std::vector<Section>{panel, Section()}, {});
  figure.set("none", std::vector<Section>{}, {});
  figure.set("kind", std::string("lines"), {});
  const std::vector<Parameter> parameters = {
      {.name = "panels",
       .type = tables,
       .members = {{.name = "series", .type = table, .members = {{.name = "of", .type = text}}}}},
      {.name = "none", .type = tables},
      {.name = "kind", .type = text}};
  EXPECT_EQ(toml_keys(figure, parameters, "figure"),
            "none = []\nkind = \"lines\"\n\n[[figure.panels]]\n\n[figure.panels.series]\nof = \"q\"\n"
            "\n[[figure.panels]]\n");
}

}  // namespace bathline::toml_writer_test
