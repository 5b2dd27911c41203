// Tests of the rules between the keys of a recipe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_recipe.hpp"

namespace bathline::recipe_checks_test {

using testing::HasSubstr;

namespace {

std::string report_with(const std::string& more) { return parse(sample_recipe + more).report; }

std::string integrator(const std::string& lines) { return "[[integrators]]\nmethod = \"verlet\"\n" + lines + "\n"; }

}  // namespace

TEST(Title, MustNotBeEmpty) {
  expect_mistakes(parse(sample_with("\"Sample\"", "\"\"")).report, {{"r.toml:1:1: ", "empty"}});
}

TEST(Labels, MustBeUnique) {
  EXPECT_EQ(report_with(integrator("on = \"open\"")), "");
  expect_mistakes(report_with("[[integrators]]\nmethod = \"gamma\"\non = \"open\"\n"), {{"r.toml:14:1: ", "unique"}});
  EXPECT_THAT(report_with(integrator("on = \"open\"\nname = \"gamma\"")), HasSubstr("r.toml:17:1: name = \"gamma\""));
}

TEST(Labels, MustBeNamesOfGroups) {
  EXPECT_EQ(report_with(integrator("on = \"open\"\nname = \"Verlet_2-b\"")), "");
  for (const char* label : {"", "a b", "a/b", "ä", "a.b"}) {
    EXPECT_THAT(report_with(integrator("on = \"open\"\nname = \"" + std::string(label) + "\"")),
                HasSubstr("must consist of letters, digits, `_` and `-`"))
        << label;
  }
  for (const char* label : {"claims", "certificate", "trajectory", "ensemble"}) {
    EXPECT_THAT(report_with(integrator("on = \"open\"\nname = \"" + std::string(label) + "\"")),
                HasSubstr("is reserved for the program"))
        << label;
  }
}

TEST(ClosedRuns, NeedNoEnvironment) {
  const std::string no_environment = sample_with("[[environments]]\nkind = \"line\"\nsites = 10\n", "");
  EXPECT_EQ(parse(no_environment).report, "");
  EXPECT_EQ(parse(no_environment, {"integrators.0.on=open"}).report, "");
  EXPECT_EQ(report_with(integrator("on = \"closed\"\nenvironments = []")), "");
}

TEST(ClosedRuns, NameEnvironmentsThatExist) {
  EXPECT_EQ(report_with(integrator("on = \"closed\"\nenvironments = [\"environment-0\"]")), "");
  expect_mistakes(report_with(integrator("on = \"closed\"\nenvironments = [\"environment-1\"]")),
                  {{"r.toml:17:1: ", "\"environment-0\""}});
  EXPECT_THAT(report_with(integrator("on = \"open\"\nenvironments = [\"x\"]")),
              HasSubstr("is called \"x\"; known are"));
  EXPECT_THAT(report_with(integrator("on = \"closed\"\nenvironments = [\"environment-0\", \"environment-0\"]")),
              HasSubstr("\"environment-0\" is named twice"));
}

TEST(ClosedRuns, KnowTheNameOfAnEnvironmentOfUnknownKind) {
  expect_mistakes(parse(sample_with("kind = \"line\"", "kind = \"lime\"\nname = \"left\"") +
                        integrator("on = \"closed\"\nenvironments = [\"left\"]"))
                      .report,
                  {{"r.toml:6:1: ", "\"line\""}});
}

TEST(EnvironmentNames, MustBeUniqueAndNotEmpty) {
  const std::string second = "[[environments]]\nkind = \"bath\"\n";
  EXPECT_EQ(report_with(second + "name = \"x\"\n"), "");
  EXPECT_THAT(report_with(second + "name = \"environment-0\"\n"), HasSubstr("r.toml:16:1: name = \"environment-0\""));
  EXPECT_THAT(report_with(second + "name = \"\"\n"), HasSubstr("r.toml:16:1: name = \"\": must not be empty"));
}

TEST(Claims, MustBeValid) {
  const auto report = [](const std::string& lines) { return report_with("[[claims]]\n" + lines); };
  const std::string good = "name = \"a\"\nquantity = \"b\"\nbounds = [0, 1]\n";
  EXPECT_EQ(report(good + "from = 1\nuntil = 1"), "");
  expect_mistakes(report(good + "from = 2\nuntil = 1"), {{"r.toml:19:1: ", "before"}});
  EXPECT_THAT(report(good + "[[claims]]\n" + good), HasSubstr("r.toml:19:1: name = \"a\": must be unique"));
  EXPECT_THAT(report("name = \"\"\nquantity = \"b\"\nbounds = [0, 1]"), HasSubstr("name = \"\": must not be empty"));
  EXPECT_THAT(report("name = \"a\"\nquantity = \"\"\nbounds = [0, 1]"),
              HasSubstr("quantity = \"\": must not be empty"));
  EXPECT_THAT(report("name = \"a\"\nquantity = \"b\"\nbounds = [2, 1]"),
              HasSubstr("bounds = [2, 1]: must be [low, high]"));
  EXPECT_THAT(report("name = \"a\"\nquantity = \"b\"\nbounds = [1]"), HasSubstr("bounds has 1 numbers: must be two"));
}

TEST(Figures, MustHaveLimitsInOrder) {
  EXPECT_EQ(report_with("[[figure.panels]]\nxlim = [0, 1]\n"), "");
  EXPECT_THAT(report_with("[[figure.panels]]\nxlim = [1, 1]\n"), HasSubstr("r.toml:15:1: xlim = [1, 1]: must be"));
  EXPECT_THAT(report_with("[[figure.panels]]\nylim = [0, 1, 2]\n"), HasSubstr("ylim has 3 numbers: must be two"));
}

TEST(Figures, ShowWhatIsRecorded) {
  for (const std::string kind : {"convergence", "work", "norms"}) {
    const std::string figure = "[figure]\nkind = \"" + kind + "\"\n";
    EXPECT_THAT(report_with(figure), HasSubstr("a figure of the kind `" + kind + "` draws results of the study"));
    EXPECT_EQ(report_with(figure + "[[figure.panels]]\nxlim = [0, 1]\n"), "");
  }
  const std::string wave = "[figure]\nkind = \"wave\"\n";
  EXPECT_THAT(report_with(wave), HasSubstr("store them by `snapshots = 10` in [output]"));
  EXPECT_EQ(report_with(wave + "[output]\nsnapshots = 10\n"), "");
}

}  // namespace bathline::recipe_checks_test
