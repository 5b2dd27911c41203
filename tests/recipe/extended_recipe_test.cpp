// Tests of recipes that extend others: what is replaced, and where mistakes are located.
#include "recipe/extended_recipe.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipe/sweep.hpp"
#include "sample_recipe.hpp"

namespace bathline::extended_recipe_test {

using testing::HasSubstr;

namespace {

// The recipe `text` of the file r.toml, beside and above which are the files `others`.
Parsed parse_with(const std::string& text, const std::map<std::string, std::string>& others) {
  const auto read = [&](const std::string& path) {
    const auto file = others.find(path);
    return file == others.end() ? std::nullopt : std::optional(file->second);
  };
  return parse(with_extended_recipes(text, "r.toml", read));
}

const std::map<std::string, std::string> sample_file = {{"base.toml", sample_recipe}};
const std::string extends = "extends = \"base.toml\"\n";

}  // namespace

TEST(ExtendedRecipe, EqualsTheRecipeThatIsWrittenOut) {
  struct Change {
    std::string changes, written_out;
  };
  const Change cases[] = {
      {"", sample_recipe},
      {"title = \"Other\"", sample_with("title = \"Sample\"", "title = \"Other\"")},
      {"time.step = 0.2", sample_with("step = 0.1", "step = 0.2")},
      {"[time]\nsteps = 7", sample_with("end = 2", "steps = 7")},
      {"[system]\nm = 2.0", sample_with("q0 = [1.0]", "q0 = [1.0]\nm = 2.0")},
      {"[system]\nq0 = [3.0, 4.0]", sample_with("q0 = [1.0]", "q0 = [3.0, 4.0]")},
      {"[system]\nkind = \"kepler\"", sample_with("kind = \"oscillator\"\nq0 = [1.0]", "kind = \"kepler\"")},
      {"[output]\nevery = 3", sample_recipe + "[output]\nevery = 3"},
      {"environments = []", sample_with("[[environments]]\nkind = \"line\"\nsites = 10\n", "")},
      {"[[environments]]\nkind = \"bath\"", sample_with("kind = \"line\"\nsites = 10", "kind = \"bath\"")},
  };
  for (const Change& change : cases) {
    const Parsed extended = parse_with(extends + change.changes, sample_file);
    EXPECT_EQ(extended.report, "") << change.changes;
    EXPECT_EQ(extended.recipe.resolved, parse(change.written_out).recipe.resolved) << change.changes;
    EXPECT_NE(extended.recipe.resolved, "") << change.changes;
    EXPECT_EQ(extended.recipe.text, extends + change.changes);
  }
}

TEST(ExtendedRecipe, MayExtendFurtherOnesInOtherFolders) {
  const Parsed parsed =
      parse_with("extends = \"a/b.toml\"\n[time]\nstep = 0.5",
                 {{"a/b.toml", "extends = \"../c.toml\"\n[time]\nstep = 0.25\nend = 8"}, {"c.toml", sample_recipe}});
  EXPECT_EQ(parsed.report, "");
  EXPECT_EQ(parsed.recipe.time.number("step"), 0.5);
  EXPECT_EQ(parsed.recipe.time.number("end"), 8.0);
}

TEST(ExtendedRecipe, HasItsMistakesInTheRightFile) {
  struct Case {
    std::string text, base, report;
  };
  const Case cases[] = {
      {extends + "[time]\nstep = -1", sample_recipe, "r.toml:3:1: step = -1"},
      {extends + "[time]\nstep = 1.0", sample_with("end = 2", "end = -2"), "base.toml:10:1: end = -2"},
      {extends + "[time]\nstop = 1.0", sample_recipe, "r.toml:3:1: unknown key `stop`"},
      {extends + "[time]\nend = 1.0\nsteps = 2", sample_recipe, "r.toml:4:1: [time] must have one of `end`, `steps`"},
      {extends, sample_with("[time]", "[time"), "base.toml:8:6: not valid TOML"},
      {"title = \"x\"\nextends = 3", "", "r.toml:2:11: extends: must be the path of another recipe"},
      {"title = \"x\"\nextends = \"none.toml\"", "", "r.toml:2:11: extends: cannot read the recipe none.toml"},
      {extends, "extends = \"gone/none.toml\"", "base.toml:1:11: extends: cannot read the recipe gone/none.toml"},
      {"extends = \"r.toml\"", "", "r.toml:1:11: extends: r.toml extends itself"},
      {extends, "\nextends = \"a/../r.toml\"", "base.toml:2:11: extends: r.toml extends itself"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(parse_with(c.text, {{"base.toml", c.base}}).report, HasSubstr(c.report)) << c.text;
  }
}

TEST(ExtendedRecipe, IsRefusedIfItHasTooManyPredecessors) {
  std::map<std::string, std::string> files;
  for (int i = 0; i < 100; ++i) {
    files[std::to_string(i) + ".toml"] = "extends = \"" + std::to_string(i + 1) + ".toml\"";
  }
  EXPECT_THAT(parse_with("extends = \"0.toml\"", files).report,
              HasSubstr("14.toml:1:11: extends: at most 16 recipes may extend one another"));
}

TEST(ExtendedRecipe, TakesTheSweepOfTheOther) {
  Mistakes mistakes;
  const std::string text = with_extended_recipes(
      extends, "r.toml", [](const std::string&) { return sample_recipe + "[sweep]\ntime.step = [0.1, 0.2]\n"; });
  EXPECT_EQ(read_sweep(text, "r.toml", {}, mistakes).count, 2u);
  EXPECT_TRUE(mistakes.empty());
}

}  // namespace bathline::extended_recipe_test
