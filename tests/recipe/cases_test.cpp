// Tests of `for_each`, of constants and of expressions in numbers: the recipe equals the one that is written out.
#include "recipe/cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_recipe.hpp"

namespace bathline::cases_test {

using testing::HasSubstr;

namespace {

const std::string integrator = "method = \"gamma\"\non = \"closed\"";
const std::string claims = R"(
[[claims]]
name = "a-1-p"
quantity = "gamma.a_p.max"
expect = 1
tolerance = 0.5
[[claims]]
name = "a-1-q"
quantity = "gamma.a_q.max"
expect = 1
tolerance = 0.5
[[claims]]
name = "b--2-p"
quantity = "gamma.b_p.max"
expect = -2
tolerance = 0.5
[[claims]]
name = "b--2-q"
quantity = "gamma.b_q.max"
expect = -2
tolerance = 0.5
)";

}  // namespace

TEST(Cases, EqualTheRecipeThatIsWrittenOut) {
  struct Case {
    std::string text, written_out;
  };
  const Case cases[] = {
      {sample_recipe + R"(
[[claims]]
for_each = { case = [{ v = "a", order = 1 }, { v = "b", order = -2 }], of = ["p", "q"] }
name = "{v}-{order}-{of}"
quantity = "gamma.{v}_{of}.max"
expect = "{order}"
tolerance = "1/2"
)",
       sample_recipe + claims},
      {sample_with("step = 0.1", "step = \"{T}/10\"") + "[constants]\nT = 1.0", sample_recipe},
      {sample_with("step = 0.1", "step = \"T/20\"") + "[constants]\nT = \"4*a/(a + 1)\"\na = 1", sample_recipe},
      {sample_with("sites = 10", "sites = \"2*five\"") + "[constants]\nfive = \"10/2\"", sample_recipe},
      {sample_with("sites = 10", "sites = \"{ten}\"") + "[constants]\nten = 10", sample_recipe},
      {sample_with("q0 = [1.0]", "q0 = [\"{x}^2\"]") + "[constants]\nx = -1", sample_recipe},
      {sample_with("q0 = [1.0]", "q0 = [\"cos(0)\"]"), sample_recipe},
      {sample_with("title = \"Sample\"", "title = \"{other} {n}{}\"") + "[constants]\nn = 3",
       sample_with("title = \"Sample\"", "title = \"{other} 3{}\"")},
      {sample_recipe + "[figure]\npanels = [{ for_each = { q = [\"a\", \"b\"] }, title = \"{q}\", series = [{ for_each "
                       "= { i = [1, 2] }, of = \"gamma.{q}{i}\" }] }]",
       sample_recipe +
           "[figure]\npanels = [{ title = \"a\", series = [{ of = \"gamma.a1\" }, { of = \"gamma.a2\" }] }, "
           "{ title = \"b\", series = [{ of = \"gamma.b1\" }, { of = \"gamma.b2\" }] }]"},
  };
  for (const Case& one : cases) {
    const Parsed parsed = parse(one.text);
    EXPECT_EQ(parsed.report, "") << one.text;
    EXPECT_EQ(parsed.recipe.resolved, parse(one.written_out).recipe.resolved) << one.text;
    EXPECT_NE(parsed.recipe.resolved, "") << one.text;
  }
}

TEST(Cases, AreWhatSettingsName) {
  const std::string text = sample_with(integrator,
                                       "for_each = { g = [0, 1] }\nmethod = \"gamma\"\non = \"closed\"\n"
                                       "gamma = \"{g}\"\nname = \"g{g}\"") +
                           "[constants]\nh = 0.1";
  const Parsed parsed = parse(text, {"integrators.1.gamma=0.5", "constants.h=0.3", "time.step=2*h"});
  EXPECT_EQ(parsed.report, "");
  ASSERT_EQ(parsed.recipe.integrators.size(), 2u);
  EXPECT_EQ(parsed.recipe.integrators[0].number("gamma"), 0.0);
  EXPECT_EQ(parsed.recipe.integrators[1].number("gamma"), 0.5);
  EXPECT_EQ(parsed.recipe.integrators[1].text("name"), "g1");
  EXPECT_EQ(parsed.recipe.time.number("step"), 0.6);
}

TEST(Cases, HaveTheirMistakesLocated) {
  struct Case {
    std::string text, report;
  };
  const auto with_integrator = [](const std::string& keys) {
    return sample_with(integrator, keys + "\n" + integrator);
  };
  const std::string many = "a = [0,1,2,3,4,5,6,7,8,9], b = [0,1,2,3,4,5,6,7,8,9], c = [0,1,2,3,4,5,6,7,8,9], d = [0,1]";
  const Case cases[] = {
      {with_integrator("for_each = { a = [1] }"), "r.toml:12:1: for_each: no text of this table contains {a}"},
      {with_integrator("for_each = [1]"), "r.toml:12:1: for_each must be a table of lists"},
      {with_integrator("for_each = { a = 1 }"), "r.toml:12:1: for_each must be a table of lists"},
      {with_integrator("for_each = { a = [] }"), "r.toml:12:1: for_each must be a table of lists"},
      {with_integrator("for_each = { " + many + " }"), "with at most 1000 cases"},
      {with_integrator("for_each = { a = [[1]] }\nname = \"x{a}\""), "r.toml:13:1: {a} is a list or a table"},
      {with_integrator("for_each = { a = [2.0] }\ngamma = \"{a}\""),
       "r.toml:13:1: gamma = 2.0: must lie between 0 and 1"},
      {with_integrator("for_each = { a = [2.0] }\ngama = \"{a}\""), "r.toml:13:1: unknown key `gama`"},
      {sample_with("step = 0.1", "step = \"2*T\""), "r.toml:9:1: step = \"2*T\": must be a number, not a text; as an "},
      {sample_with("step = 0.1", "step = \"1/0\""), "the value is not finite"},
      {sample_with("step = 0.1", "step = \"1 - 2\""), "r.toml:9:1: step = \"1 - 2\": must be positive"},
      {sample_with("sites = 10", "sites = \"7/2\""), "r.toml:7:1: sites = \"7/2\": must be an integer"},
      {"constants = 3\n" + sample_recipe, "r.toml:1:1: [constants] must be a table"},
      {sample_recipe + "[constants]\na = \"b\"\nb = \"a\"", "the constant `a`: "},
      {sample_recipe + "[constants]\nsin = 2", "`sin` cannot be the name of a constant"},
      {sample_recipe + "[constants]\nc = [1]", "the constant `c` must be a number or an expression"},
  };
  for (const Case& one : cases) EXPECT_THAT(parse(one.text).report, HasSubstr(one.report)) << one.text;
}

}  // namespace bathline::cases_test
