// Tests of tables, lists and defaults, through recipes that hold them.
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_recipe.hpp"

namespace bathline::toml_reader_test {

using testing::HasSubstr;
using testing::StartsWith;

namespace {

Parsed with_system_key(const std::string& line) { return parse(sample_with("q0 = [1.0]\n", line + "\n")); }

}  // namespace

TEST(TomlReader, ReadsEveryTypeOfList) {
  const auto [recipe, report] = with_system_key("v0 = [1, 2.5]\naxes = [0, 1]\nq0 = [1, 2]");
  EXPECT_EQ(report, "");
  EXPECT_EQ(recipe.system.numbers("v0"), (std::vector<double>{1, 2.5}));
  EXPECT_EQ(recipe.system.integers("axes"), (std::vector<long>{0, 1}));
  EXPECT_EQ(recipe.system.rows("q0"), (Section::Rows{{1}, {2}}));
  EXPECT_EQ(with_system_key("q0 = [[5, 0.0]]").recipe.system.rows("q0"), (Section::Rows{{5, 0}}));
  EXPECT_EQ(with_system_key("q0 = []").recipe.system.rows("q0"), Section::Rows{});
}

TEST(TomlReader, ReportsTheLocationOfEveryWrongElement) {
  expect_mistakes(with_system_key("v0 = [1, \"s\",\n true]").report,
                  {{"r.toml:4:10: ", "number"}, {"r.toml:5:2: ", "number"}});
  expect_mistakes(with_system_key("axes = [0.0]").report, {{"r.toml:4:9: ", "write 0"}});
  expect_mistakes(with_system_key("q0 = [[1, \"s\"]]").report, {{"r.toml:4:11: ", "number"}});
}

TEST(TomlReader, ReportsValuesInPlaceOfLists) {
  expect_mistakes(with_system_key("q0 = 1").report, {{"r.toml:4:1: ", "list"}});
  expect_mistakes(with_system_key("v0 = \"1\"").report, {{"r.toml:4:1: ", "list"}});
}

TEST(TomlReader, ReportsRaggedRows) {
  expect_mistakes(with_system_key("q0 = [[1, 2], [3]]").report, {{"r.toml:4:15: ", "equally long"}});
  expect_mistakes(with_system_key("q0 = [1, [2, 3]]").report, {{"r.toml:4:10: ", "equally long"}});
  EXPECT_THAT(with_system_key("q0 = [[], [1]]").report, StartsWith("r.toml:4:7: q0[0] is an empty list"));
  EXPECT_EQ(with_system_key("q0 = [1, [2]]").report, "");
}

TEST(TomlReader, FillsInDefaultsAndPlacesThemAtTheTable) {
  const auto system = parse(sample_recipe).recipe.system;
  EXPECT_EQ(system.number("m"), 1.0);
  EXPECT_FALSE(system.boolean("damped"));
  EXPECT_FALSE(system.has("v0"));
  EXPECT_EQ(to_string(system.where("m")), "r.toml:2:1");
  EXPECT_EQ(to_string(system.where("q0")), "r.toml:4:1");
}

TEST(TomlReader, ReportsMissingKeysAtTheTable) {
  expect_mistakes(parse(sample_with("sites = 10\n", "")).report, {{"r.toml:5:1: ", "needs the key `sites`"}});
  expect_mistakes(with_system_key("potential = {c = 1}").report, {{"r.toml:4:13: ", "needs the key `kind`"}});
}

TEST(TomlReader, ReportsUnknownKeysWithAdvice) {
  expect_mistakes(parse(sample_with("sites = 10", "sites = 10\n sitez = 3")).report, {{"r.toml:8:2: ", "`sites`"}});
  expect_mistakes(parse(sample_with("sites = 10", "sites = 10\nfoo = 3")).report,
                  {{"r.toml:8:1: ", "unknown key `foo`"}});
  expect_mistakes(with_system_key("potential = {kind = \"quartic\", d = 1}").report,
                  {{"r.toml:4:32: ", "unknown key `d`"}});
  EXPECT_THAT(parse("tilte = \"x\"\n" + sample_recipe).report, HasSubstr("unknown key `tilte` in the recipe; did you"));
}

TEST(TomlReader, ReadsTablesHoweverTheyAreWritten) {
  for (const char* text :
       {"potential = {kind = \"quartic\"}", "potential.kind = \"quartic\"", "[system.potential]\nkind = \"quartic\""}) {
    const auto [recipe, report] = with_system_key(text);
    EXPECT_EQ(report, "") << text;
    EXPECT_EQ(recipe.system.table("potential").text("kind"), "quartic");
    EXPECT_EQ(recipe.system.table("potential").number("c"), 2.5);
  }
}

TEST(TomlReader, ReportsValuesInPlaceOfTables) {
  expect_mistakes(with_system_key("potential = 3").report, {{"r.toml:4:1: ", "table"}});
  expect_mistakes(parse(sample_recipe + "[figure.panels]\n").report, {{"r.toml:14:9: ", "list of tables"}});
  EXPECT_THAT(parse(sample_recipe + "[figure]\npanels = [{}, 3]").report, HasSubstr("must be a list of tables"));
  EXPECT_EQ(parse(sample_recipe + "[figure]\npanels = []").report, "");
}

TEST(TomlReader, NamesTheTableInsideTables) {
  EXPECT_THAT(parse(sample_recipe + "[[figure.panels]]\nseries = [{}]").report,
              StartsWith("r.toml:15:11: [[figure.panels.series]] needs the key `of`"));
}

TEST(TomlReader, ReportsAnUnknownKindOnce) {
  expect_mistakes(parse(sample_with("\"oscillator\"", "\"oscilator\"\nfoo = 1\nbar = 2")).report,
                  {{"r.toml:3:1: ", "\"oscillator\""}});
  expect_mistakes(parse(sample_with("\"line\"", "\"x\"")).report, {{"r.toml:6:1: ", "not one of the environments"}});
  expect_mistakes(parse(sample_with("kind = \"oscillator\"", "kind = 3")).report, {{"r.toml:3:1: ", "write \"3\""}});
  expect_mistakes(parse(sample_with("kind = \"oscillator\"\n", "")).report, {{"r.toml:2:1: ", "needs the key `kind`"}});
}

TEST(TomlReader, ChecksTheCommonKeysOfAnUnknownKind) {
  expect_mistakes(
      parse(sample_with("method = \"gamma\"\non = \"closed\"", "method = \"gama\"\nstep = -1\nfoo = 3")).report,
      {{"r.toml:11:1: ", "needs the key `on`"}, {"r.toml:12:1: ", "\"gamma\""}, {"r.toml:13:1: ", "positive"}});
}

TEST(TomlReader, LeavesOutInvalidValues) {
  const struct {
    const char* lines;
    const char* key;
  } cases[] = {{"q0 = [1]\nm = -1", "m"},
               {"q0 = [1]\nv0 = [1, \"s\"]", "v0"},
               {"q0 = [[1, 2], [3]]", "q0"},
               {"q0 = [1]\npotential = 3", "potential"},
               {"q0 = [1]\ndamped = 0", "damped"},
               {"q0 = [1]\naxis = [0]", "axes"},
               {"q0 = [1]\ndampde = true", "damped"}};
  for (const auto& [lines, key] : cases) {
    SCOPED_TRACE(lines);
    const auto read = with_system_key(lines);
    EXPECT_NE(read.report, "");
    EXPECT_FALSE(read.recipe.system.has(key));
    EXPECT_EQ(read.recipe.system.text("kind"), "oscillator");
  }
}

TEST(TomlReader, DoesNotReportAMisspeltKeyAsMissing) {
  expect_mistakes(parse(sample_with("sites = 10", "sitez = 10")).report, {{"r.toml:7:1: ", "`sites`"}});
  expect_mistakes(parse(sample_with("title", "titel")).report, {{"r.toml:1:1: ", "`title`"}});
}

TEST(TomlReader, TreatsAWrongDefaultAsABug) {
  for (const char* default_value : {"-1", "\"x\"", "nan", "not toml", "1\nx = 2"}) {
    CatalogueSchema catalogue_schema = sample_schema();
    catalogue_schema.systems[0].parameters[0].default_value = default_value;
    Mistakes mistakes;
    EXPECT_THROW(parse_recipe(sample_recipe, "r.toml", {}, catalogue_schema, mistakes), std::logic_error)
        << default_value;
  }
}

TEST(TomlReader, FillsInWholeTables) {
  CatalogueSchema catalogue_schema = sample_schema();
  catalogue_schema.systems[0].parameters.back().default_value = "{ kind = \"harmonic\" }";
  Mistakes mistakes;
  const auto system = parse_recipe(sample_recipe, "r.toml", {}, catalogue_schema, mistakes).system;
  EXPECT_EQ(mistakes.report(), "");
  EXPECT_EQ(system.table("potential").number("c"), 2.5);
  EXPECT_EQ(to_string(system.table("potential").where("kind")), "r.toml:2:1");
}

}  // namespace bathline::toml_reader_test
