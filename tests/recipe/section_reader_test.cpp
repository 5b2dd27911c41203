// Tests of which sections a recipe must and may have, and in which form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_recipe.hpp"

namespace bathline::section_reader_test {

using testing::AllOf;
using testing::HasSubstr;

TEST(SectionReader, FillsInAbsentSections) {
  const auto [recipe, report] = parse(sample_recipe);
  EXPECT_EQ(report, "");
  EXPECT_FALSE(recipe.paper.has("key"));
  EXPECT_EQ(recipe.study.text("kind"), "trajectory");
  EXPECT_EQ(recipe.output.integer("every"), 1);
  EXPECT_EQ(recipe.output.integer("site_stride"), 1);
  EXPECT_EQ(recipe.top.integer("seed"), 0);
  EXPECT_FALSE(recipe.output.has("snapshots"));
  EXPECT_TRUE(recipe.claims.empty());
  EXPECT_EQ(recipe.figure.text("kind"), "lines");
}

TEST(SectionReader, ReadsTheKeysOfTheChosenStudy) {
  EXPECT_EQ(parse(sample_recipe + "[study]\nkind = \"ensemble\"\n").recipe.study.integer("members"), 10);
  EXPECT_EQ(parse(sample_recipe + "[study]\nkind = \"ensemble\"\nmembers = 3\n").recipe.study.integer("members"), 3);
  EXPECT_THAT(parse(sample_recipe + "[study]\nmembers = 3\n").report, HasSubstr("unknown key `members` in [study]"));
}

TEST(SectionReader, NeedsTheRequiredSections) {
  EXPECT_EQ(parse("title = \"x\"").report,
            "r.toml: the recipe needs the table [system]: The particles and the forces between them.\n"
            "r.toml: the recipe needs the table [time]: Time step and length of the run.\n"
            "r.toml: the recipe needs at least one table [[integrators]]: The methods that are run, each with results "
            "of its own.");
  EXPECT_THAT(parse("").report, HasSubstr("the recipe needs the key `title`"));
  EXPECT_THAT(parse("integrators = []\n").report, HasSubstr("r.toml:1:1: the recipe needs at least one table"));
}

TEST(SectionReader, IgnoresSweeps) {
  EXPECT_EQ(parse(sample_recipe + "[sweep]\n\"time.step\" = [1, 2]\n").report, "");
  EXPECT_THAT(parse(sample_recipe + "[sweeping]\n\"time.step\" = [1, 2]\n").report,
              HasSubstr("r.toml:14:2: unknown key `sweeping` in the recipe"));
}

TEST(SectionReader, ReportsAMisspeltKeyAlone) {
  // Not the consequences of the absence of the intended key.
  expect_mistakes(parse(sample_with("step = 0.1", "stpe = 0.1")).report, {{"r.toml:9:1: ", "`step`"}});
  expect_mistakes(parse(sample_with("[time]", "[tmie]")).report, {{"r.toml:8:2: ", "`time`"}});
  expect_mistakes(parse(sample_with("[[environments]]", "[[enviroment]]")).report,
                  {{"r.toml:5:3: ", "`environments`"}});
  expect_mistakes(parse(sample_with("[[integrators]]", "[[integrator]]")).report, {{"r.toml:11:3: ", "`integrators`"}});
  expect_mistakes(parse(sample_with("kind = \"oscillator\"", "knid = \"oscillator\"")).report,
                  {{"r.toml:3:1: ", "`kind`"}});
  expect_mistakes(parse(sample_recipe + "[study]\nknid = \"ensemble\"\nmembers = 3\n").report,
                  {{"r.toml:15:1: ", "`kind`"}});
  expect_mistakes(parse(sample_with("method = \"gamma\"", "mehtod = \"gamma\"\ngamma = 0.0")).report,
                  {{"r.toml:12:1: ", "`method`"}});
}

// Every key and name that version 0.1 used is refused, and the message names what stands in its place.
TEST(SectionReader, NamesTheSuccessorsOfRetiredKeys) {
  const std::string ensemble = sample_recipe + "[study]\nkind = \"ensemble\"\n";
  const std::string claim = sample_recipe + "[[claims]]\nname = \"a\"\nquantity = \"b\"\nbounds = [0, 1]\n";
  struct Case {
    std::string text, message;
  };
  const Case cases[] = {
      {sample_with("[[environments]]", "[[environment]]"),
       "unknown key `environment` in the recipe: it is called `environments`"},
      {sample_with("q0 = [1.0]", "temperature = 1.0"), "unknown key `temperature` in [system]: it is called `kT`"},
      {sample_with("sites = 10", "sites = 10\ntemperature = 1.0"),
       "unknown key `temperature` in [[environments]]: it is called `kT`"},
      {sample_with("sites = 10", "sites = 10\nuntil = 1.0"),
       "unknown key `until` in [[environments]]: it is called `horizon`"},
      {sample_recipe + "label = \"x\"\n", "results are named by `name`, and the method is chosen by `method`"},
      {sample_recipe + "[output]\nseed = 1\n", "unknown key `seed` in [output]: `seed` stands beside `title`"},
      {sample_recipe + "[output]\nsection = { of = \"x\" }\n",
       "`section` in [output]: it is called `poincare_section`"},
      {claim + "id = \"x\"\n", "unknown key `id` in [[claims]]: it is called `name`"},
      {claim + "over = \"x\"\n", "unknown key `over` in [[claims]]: it is called `divided_by`"},
      {ensemble + "from = 1.0\n", "unknown key `from` in [study]: it is called `burn_in`"},
      {ensemble + "longest_lag = 1.0\n", "it is called `max_lag`"},
      {ensemble + "passages = []\n", "it is called `first_passages`"},
      {ensemble + "densities = []\n", "it is called `joint_histograms`"},
      {ensemble + "paths = 1\n", "it is called `saved_paths`"},
      {sample_recipe + "[study]\nkind = \"lyapunov\"\n", "not one of the studies: it is called `energy-transfer`"},
      {sample_recipe + "[study]\nkind = \"duplication\"\n", "it is called `doubled-variables`"},
      {sample_recipe + "[study]\nkind = \"substitution\"\n", "it is called `substituting-system`"},
      {sample_recipe + "[study]\nkind = \"memory\"\n", "it is called `memory-kernel`"},
  };
  for (const Case& retired : cases) EXPECT_THAT(parse(retired.text).report, HasSubstr(retired.message));
  EXPECT_THAT(parse(sample_recipe, {"environment.0.sites=3"}).report, HasSubstr(": it is called `environments`"));
}

TEST(SectionReader, ListsAllSectionsIfNoneIsClose) {
  EXPECT_THAT(parse(sample_recipe + "[zzzzzz]\n").report, AllOf(HasSubstr("known are"), HasSubstr("`environments`")));
  EXPECT_THAT(parse(sample_recipe + "[sweeps]\n").report, HasSubstr("did you mean `sweep`?"));
}

TEST(SectionReader, ReportsTheWrongKindOfBrackets) {
  expect_mistakes(parse(sample_with("[[environments]]", "[environments]")).report,
                  {{"r.toml:5:2: ", "write [[environments]]"}});
  expect_mistakes(parse(sample_with("[time]", "[[time]]")).report, {{"r.toml:8:3: ", "write [time]"}});
  expect_mistakes(parse(sample_recipe + "[output]\nevery = 2\n", {"output=3"}).report,
                  {{"--set output=3: ", "write [output]"}});
  EXPECT_THAT(parse(sample_recipe, {"claims=[1]"}).report, HasSubstr("claims must be a list of tables"));
}

}  // namespace bathline::section_reader_test
