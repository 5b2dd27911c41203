// Tests of whole recipes: what is read, and the resolved text.
#include "recipe/recipe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_recipe.hpp"

namespace bathline::recipe_test {

using testing::HasSubstr;

namespace {

// Every section and every kind of value.
const std::string full_recipe = R"(
title = "Full \u00e9 \"quoted\" \u0001"

[paper]
key = "limebeer2020"
figure = "6"
note = """two
lines"""

[system]
kind = "oscillator"
m = 0.1
damped = true
q0 = [[1, 2], [0.3333333333333333, 1e300]]
v0 = [0, 5e-324, 1_000]
axes = [0, 0x10, -9223372036854775808]
potential = { kind = "harmonic", c = -0.0 }

[[environments]]
kind = "line"
name = "left"
sites = 100

[[environments]]
kind = "bath"

[time]
step = 1e-3
steps = 10

[[integrators]]
method = "gamma"
name = "half"
on = "closed"
environments = ["left"]
gamma = 0

[[integrators]]
method = "gamma"
on = "open"
step = 1e22

[study]
kind = "ensemble"

[output]
snapshots = 5

[[claims]]
name = "a"
quantity = "half.energy_total.max"
expect = 1
relative_tolerance = 1e-12
supported = false

[[claims]]
name = "b"
quantity = "half.energy_total.min"
bounds = [0, 1]
from = 0.5

[figure]
width = 7
panels = [
  { title = "q", xlim = [0, 1], series = [{ of = "half.q", style = "dashed" }, { of = "gamma.q" }] },
  { yscale = "log", series = [] },
]
)";

}  // namespace

TEST(ParseRecipe, ReadsEverySection) {
  const auto [recipe, report] = parse(full_recipe);
  EXPECT_EQ(report, "");
  EXPECT_EQ(recipe.file, "r.toml");
  EXPECT_EQ(recipe.text, full_recipe);
  EXPECT_EQ(recipe.title, "Full é \"quoted\" \x01");
  EXPECT_EQ(recipe.paper.text("note"), "two\nlines");
  EXPECT_EQ(recipe.system.text("kind"), "oscillator");
  EXPECT_EQ(recipe.system.table("potential").text("kind"), "harmonic");
  ASSERT_EQ(recipe.environments.size(), 2u);
  EXPECT_EQ(recipe.environments[0].text("name"), "left");
  EXPECT_EQ(recipe.environments[1].number("kT"), 0.0);
  EXPECT_EQ(recipe.time.integer("steps"), 10);
  ASSERT_EQ(recipe.integrators.size(), 2u);
  EXPECT_EQ(recipe.integrators[0].number("gamma"), 0.0);
  EXPECT_EQ(recipe.integrators[1].number("step"), 1e22);
  EXPECT_EQ(recipe.study.integer("members"), 10);
  EXPECT_EQ(recipe.output.integer("snapshots"), 5);
  ASSERT_EQ(recipe.claims.size(), 2u);
  EXPECT_FALSE(recipe.claims[0].boolean("supported"));
  EXPECT_TRUE(recipe.claims[1].boolean("supported"));
  const auto& panels = recipe.figure.tables("panels");
  ASSERT_EQ(panels.size(), 2u);
  EXPECT_EQ(panels[0].text("x"), "time");
  EXPECT_EQ(panels[0].tables("series")[0].number("scale"), 1.0);
  EXPECT_TRUE(panels[1].tables("series").empty());
}

TEST(ParseRecipe, FillsInNames) {
  const auto recipe = parse(full_recipe).recipe;
  EXPECT_EQ(recipe.environments[1].text("name"), "environment-1");
  EXPECT_EQ(recipe.integrators[0].text("name"), "half");
  EXPECT_EQ(recipe.integrators[1].text("name"), "gamma");
  EXPECT_EQ(recipe.integrators[0].texts("environments"), std::vector<std::string>{"left"});
  EXPECT_EQ(recipe.integrators[1].texts("environments"), (std::vector<std::string>{"left", "environment-1"}));
}

TEST(ParseRecipe, ResolvesAliasesOfMethods) {
  const auto [recipe, report] = parse(sample_with("method = \"gamma\"", "method = \"position-verlet\""));
  EXPECT_EQ(report, "");
  EXPECT_EQ(recipe.integrators[0].text("method"), "verlet");
  EXPECT_EQ(recipe.integrators[0].text("order"), "drift");
  EXPECT_EQ(recipe.integrators[0].text("name"), "position-verlet");
  // The resolved text names the method, and stands for the same recipe.
  EXPECT_EQ(parse(recipe.resolved).recipe.resolved, recipe.resolved);

  const auto named = parse(sample_recipe, {"integrators.0.method=leapfrog", "integrators.0.name=mine"});
  EXPECT_EQ(named.report, "");
  EXPECT_EQ(named.recipe.integrators[0].text("name"), "mine");
  EXPECT_EQ(named.recipe.integrators[0].text("order"), "kick");

  const std::string contradiction = "method = \"position-verlet\"\norder = \"kick\"";
  EXPECT_EQ(parse(sample_with("method = \"gamma\"", contradiction)).report,
            "r.toml:13:1: `position-verlet` is `verlet` with order = \"drift\": leave `order` out, or write method = "
            "\"verlet\"");
  const std::string agreement = "method = \"position-verlet\"\norder = \"drift\"";
  EXPECT_EQ(parse(sample_with("method = \"gamma\"", agreement)).report, "");
  EXPECT_THAT(parse(sample_with("\"gamma\"", "\"strang-splitting\"")).report,
              testing::HasSubstr("did you mean \"verlet\"?"));
}

TEST(ParseRecipe, KnowsTheLocationsOfKeys) {
  const auto recipe = parse(sample_recipe).recipe;
  EXPECT_EQ(to_string(recipe.environments[0].where()), "r.toml:5:1");
  EXPECT_EQ(to_string(recipe.environments[0].where("sites")), "r.toml:7:1");
  EXPECT_EQ(to_string(recipe.environments[0].where("name")), "r.toml:5:1");
  EXPECT_EQ(to_string(parse(sample_recipe, {"time.step=3"}).recipe.time.where("step")), "--set time.step=3");
}

TEST(ParseRecipe, FindsAllMistakesInOnePass) {
  const std::string report =
      parse(sample_with("step = 0.1", "step = -0.1") + "[[claims]]\nname = 3\n[output]\nevry = 1\n", {"system.m=0"})
          .report;
  for (const char* part : {"--set system.m=0: m = 0: must be positive", "r.toml:9:1: step = -0.1",
                           "r.toml:14:1: [[claims]] needs the key `quantity`", "r.toml:14:1: [[claims]] needs one of",
                           "r.toml:15:1: name = 3", "r.toml:17:1: unknown key `evry`"}) {
    EXPECT_THAT(report, HasSubstr(part));
  }
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 5);
}

TEST(ResolvedRecipe, IsWrittenInTheOrderOfTheSchema) {
  EXPECT_EQ(parse(sample_recipe, {"output.every=3"}).recipe.resolved,
            R"(title = "Sample"
seed = 0

[system]
kind = "oscillator"
start = "given"
m = 1.0
damped = false
q0 = [1.0]

[[environments]]
kind = "line"
name = "environment-0"
sites = 10

[time]
step = 0.1
end = 2.0

[[integrators]]
method = "gamma"
name = "gamma"
on = "closed"
environments = ["environment-0"]
noise = true
allow_unstable = false
gamma = 0.5

[study]
kind = "trajectory"

[output]
every = 3
site_stride = 1
particles_only = false
work_rules = false

[figure]
kind = "lines"
)");
}

TEST(ResolvedRecipe, IsReadBackAsTheSameRecipe) {
  for (const std::string& text : {sample_recipe, full_recipe}) {
    const auto first = parse(text);
    const auto second = parse(first.recipe.resolved);
    EXPECT_EQ(second.report, "");
    EXPECT_EQ(second.recipe.resolved, first.recipe.resolved);
  }
  const auto again = parse(parse(full_recipe).recipe.resolved).recipe;
  EXPECT_EQ(again.system.numbers("v0"), (std::vector<double>{0, 5e-324, 1000}));
  EXPECT_EQ(again.system.rows("q0"), (Section::Rows{{1, 2}, {1.0 / 3.0, 1e300}}));
  EXPECT_EQ(again.system.integers("axes"), (std::vector<long>{0, 16, std::numeric_limits<long>::min()}));
  EXPECT_TRUE(std::signbit(again.system.table("potential").number("c")));
  EXPECT_EQ(again.title, "Full é \"quoted\" \x01");
}

TEST(ResolvedRecipe, IsAbsentAfterMistakes) { EXPECT_EQ(parse("").recipe.resolved, ""); }

}  // namespace bathline::recipe_test
