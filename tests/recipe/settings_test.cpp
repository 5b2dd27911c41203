// Tests of `--set`, through the recipe that comes out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_recipe.hpp"

namespace bathline::settings_test {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

std::string report_of(const std::string& setting) { return parse(sample_recipe, {setting}).report; }

const std::string claim = R"(
[[claims]]
name = "drift"
quantity = "gamma.energy_total.max"
expect = 1.0
tolerance = 0.5
)";

}  // namespace

TEST(Settings, ReplaceValues) {
  const auto [recipe, report] =
      parse(sample_recipe, {"time.step=0.005", "environments.0.sites = 1_000", "system.q0.0=3"});
  EXPECT_EQ(report, "");
  EXPECT_EQ(recipe.time.number("step"), 0.005);
  EXPECT_EQ(recipe.environments[0].integer("sites"), 1000);
  EXPECT_EQ(recipe.system.rows("q0"), (Section::Rows{{3.0}}));
}

TEST(Settings, AddKeysAndMissingSections) {
  const auto [recipe, report] = parse(sample_recipe, {"environments.0.M=0.5", "output.every=7", "seed=1"});
  EXPECT_EQ(report, "");
  EXPECT_EQ(recipe.environments[0].number("M"), 0.5);
  EXPECT_EQ(recipe.output.integer("every"), 7);
  EXPECT_EQ(recipe.top.integer("seed"), 1);
}

TEST(Settings, TreatOtherThanTomlAsText) {
  const auto [recipe, report] = parse(
      sample_recipe, {"title=A \"quoted\" \\ title = x", "integrators.0.name=a-b", "paper.note=", "paper.key=1\nb=2"});
  EXPECT_EQ(report, "");
  EXPECT_EQ(recipe.title, "A \"quoted\" \\ title = x");
  EXPECT_EQ(recipe.integrators[0].text("name"), "a-b");
  EXPECT_EQ(recipe.paper.text("note"), "");
  EXPECT_EQ(recipe.paper.text("key"), "1\nb=2");
}

TEST(Settings, TakeListsAndTables) {
  const auto [recipe, report] =
      parse(sample_recipe, {"system.q0=[[1, 2], [3, 4]]", "system.potential={kind=\"quartic\"}", "system.potential.c=7",
                            "environments=[{kind=\"line\", sites=3}, {kind=\"bath\"}]"});
  EXPECT_EQ(report, "");
  EXPECT_EQ(recipe.system.rows("q0"), (Section::Rows{{1, 2}, {3, 4}}));
  EXPECT_EQ(recipe.system.table("potential").number("c"), 7);
  EXPECT_EQ(recipe.environments.size(), 2u);
}

TEST(Settings, ApplyInOrder) {
  EXPECT_EQ(parse(sample_recipe, {"time.step=1", "time.step=2"}).recipe.time.number("step"), 2);
  EXPECT_EQ(parse(sample_recipe, {"time={step=1, end=2}", "time.end=3"}).recipe.time.number("end"), 3);
}

TEST(Settings, LeaveTheTextOfTheRecipeAlone) {
  const auto recipe = parse(sample_recipe, {"time.step=7"}).recipe;
  EXPECT_EQ(recipe.text, sample_recipe);
  EXPECT_THAT(recipe.resolved, HasSubstr("step = 7.0\n"));
}

TEST(Settings, ReplaceExclusiveKeys) {
  const auto by_steps = parse(sample_recipe, {"time.steps=5"});
  EXPECT_EQ(by_steps.report, "");
  EXPECT_FALSE(by_steps.recipe.time.has("end"));
  const auto by_end = parse(sample_with("end = 2", "steps = 5"), {"time.end=2"});
  EXPECT_EQ(by_end.report, "");
  EXPECT_FALSE(by_end.recipe.time.has("steps"));
}

TEST(Settings, ReplaceTheOtherFormOfAClaim) {
  const auto bounds = parse(sample_recipe + claim, {"claims.0.bounds=[0, 1]"});
  EXPECT_EQ(bounds.report, "");
  EXPECT_FALSE(bounds.recipe.claims[0].has("expect"));
  EXPECT_FALSE(bounds.recipe.claims[0].has("tolerance"));
  const auto expect =
      parse(sample_recipe + claim, {"claims.0.bounds=[0, 1]", "claims.0.expect=2", "claims.0.relative_tolerance=3"});
  EXPECT_EQ(expect.report, "");
  EXPECT_FALSE(expect.recipe.claims[0].has("bounds"));
  EXPECT_EQ(expect.recipe.claims[0].number("relative_tolerance"), 3);
  const auto relative = parse(sample_recipe + claim, {"claims.0.relative_tolerance=0.1"});
  EXPECT_EQ(relative.report, "");
  EXPECT_FALSE(relative.recipe.claims[0].has("tolerance"));
}

TEST(Settings, FindElementsByTheirNames) {
  const std::string two = sample_recipe + "name = \"first\"\n[[integrators]]\nmethod = \"gamma\"\non = \"open\"\n";
  const auto [recipe, report] = parse(two + claim, {"integrators.first.on=open", "integrators.gamma.on=closed",
                                                    "claims.drift.expect=3.0", "claims.drift.tolerance=1.0"});
  EXPECT_EQ(report, "");
  EXPECT_EQ(recipe.integrators[0].text("on"), "open");
  EXPECT_EQ(recipe.integrators[1].text("on"), "closed");
  EXPECT_EQ(recipe.claims[0].number("expect"), 3.0);
  EXPECT_THAT(
      parse(two, {"integrators.second.on=open"}).report,
      HasSubstr("`second` is not an index: `integrators` has the indices 0 to 1, or the names `first`, `gamma`"));
  // A name that is not unique is refused.
  EXPECT_THAT(parse(sample_recipe + "[[integrators]]\nmethod = \"gamma\"\non = \"open\"\nname = \"gamma\"\n",
                    {"integrators.gamma.on=open"})
                  .report,
              HasSubstr("`gamma` is not an index"));
}

TEST(Settings, RemoveKeys) {
  const auto [recipe, report] = parse(sample_with("end = 2", "steps = 3\nend = 2"), {"!time.end"});
  EXPECT_EQ(report, "");
  EXPECT_FALSE(recipe.time.has("end"));
  EXPECT_THAT(report_of("!time.end"), HasSubstr("[time] needs"));
  EXPECT_THAT(report_of("!time.every"), HasSubstr("--unset time.every: the recipe has no key `time.every`"));
  EXPECT_THAT(report_of("!system.q0.0"), HasSubstr("the recipe has no key `system.q0.0`"));
  EXPECT_THAT(report_of("!integrators.0.on"), HasSubstr("needs the key `on`"));
}

TEST(Settings, AreLocationsOfMistakes) {
  expect_mistakes(report_of("environments.0.sitez=32"), {{"--set environments.0.sitez=32: ", "`sites`"}});
  expect_mistakes(report_of("time.step=-1"), {{"--set time.step=-1: ", "positive"}});
  EXPECT_EQ(report_of("time={end=1}").substr(0, 42), "--set time={end=1}: [time] needs the key `");
  expect_mistakes(report_of("system.q0.0=x"), {{"--set system.q0.0=x: ", "number"}});
  expect_mistakes(report_of("system.q0=[1, nan]"), {{"--set system.q0=[1, nan]: ", "finite"}});
  EXPECT_THAT(report_of("ouput.every=1"),
              StartsWith("--set ouput.every=1: unknown key `ouput` in the recipe; did you"));
}

TEST(Settings, KeepTheLocationsOfOtherKeys) {
  EXPECT_THAT(parse(sample_with("end = 2", "end = -2"), {"time.step=1", "output.every=2"}).report,
              StartsWith("r.toml:10:1: end = -2"));
}

TEST(Settings, ComplainAboutWrongPaths) {
  EXPECT_THAT(report_of("time.step"), HasSubstr("--set time.step: has no `=`"));
  EXPECT_THAT(report_of("=3"), HasSubstr("has an empty key"));
  EXPECT_THAT(report_of("time..step=3"), HasSubstr("has an empty key"));
  EXPECT_THAT(report_of("environments.1.sites=3"),
              HasSubstr("`1` is not an index: `environments` has only the index 0"));
  EXPECT_THAT(report_of("environments.1={}"), HasSubstr("`1` is not an index"));
  EXPECT_THAT(report_of("environments.x.sites=3"), HasSubstr("`x` is not an index"));
  EXPECT_THAT(report_of("environments.-1.sites=3"), HasSubstr("`-1` is not an index"));
  EXPECT_THAT(report_of("environments.sites=3"), HasSubstr("`sites` is not an index"));
  EXPECT_THAT(report_of("environments.99999999999999999999.sites=3"), HasSubstr("is not an index"));
  EXPECT_THAT(report_of("system.q0.1=3"), HasSubstr("`1` is not an index: `system.q0` has only the index 0"));
  EXPECT_THAT(report_of("time.step.x=3"), HasSubstr("`time.step` is a value and has no keys"));
  EXPECT_THAT(report_of("time.step.x.y=3"), HasSubstr("`time.step` is a value and has no keys"));
  EXPECT_THAT(report_of("claims.0.expect=3"), HasSubstr("the recipe has no table or list `claims`"));
  EXPECT_THAT(report_of("system.potential.c=3"), HasSubstr("the recipe has no table or list `system.potential`"));
  EXPECT_THAT(parse(sample_with("[1.0]", "[]"), {"system.q0.0=1"}).report, HasSubstr("`system.q0` is empty"));
}

TEST(Settings, ReportAllOfTheirMistakes) {
  const std::string report = parse(sample_recipe, {"a", "b", "time.stop=1"}).report;
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 2);
}

TEST(Settings, SurviveInvalidInput) {
  EXPECT_THAT(report_of("title=\xff"), HasSubstr("not valid UTF-8"));
  std::string deep = "system.q0=";
  for (int i = 0; i < 100'000; ++i) deep += "{a.a=";
  EXPECT_THAT(report_of(deep), HasSubstr("must be a list"));
  std::string dots = "title={a";
  for (int i = 0; i < 1'000'000; ++i) dots += ".a";
  EXPECT_EQ(report_of(dots + "=1}"), "");  // deeper than any key may be, hence a text
  EXPECT_THAT(report_of(dots.substr(6) + "=1"), Not(HasSubstr("\n")));
  EXPECT_LT(report_of(std::string(1'000'000, 'x') + "=1").size(), 1000u);
}

}  // namespace bathline::settings_test
