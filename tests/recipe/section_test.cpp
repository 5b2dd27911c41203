// Tests of the access to validated tables.
#include "recipe/section.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace bathline::section_test {

namespace {

Section sample() {
  Section inner({"r", 5, 1});
  inner.set("c", 2.5, {"r", 6, 1});
  Section section({"r", 1, 1});
  section.set("flag", true, {"r", 2, 1});
  section.set("count", 3L, {"r", 3, 1});
  section.set("step", 0.5, {"r", 4, 1});
  section.set("kind", std::string("line"), section.where());
  section.set("rows", Section::Rows{{1.0}, {2.0}}, section.where());
  section.set("potential", std::vector<Section>{inner}, {"r", 5, 1});
  return section;
}

}  // namespace

TEST(Section, GivesValuesByType) {
  const Section section = sample();
  EXPECT_TRUE(section.boolean("flag"));
  EXPECT_EQ(section.integer("count"), 3);
  EXPECT_EQ(section.number("step"), 0.5);
  EXPECT_EQ(section.text("kind"), "line");
  EXPECT_EQ(section.rows("rows"), (Section::Rows{{1.0}, {2.0}}));
  EXPECT_EQ(section.table("potential").number("c"), 2.5);
  EXPECT_EQ(section.tables("potential").size(), 1u);
}

TEST(Section, KnowsWhatItHas) {
  EXPECT_TRUE(sample().has("step"));
  EXPECT_FALSE(sample().has("steps"));
}

TEST(Section, TreatsWrongKeysAndTypesAsBugs) {
  const Section section = sample();
  EXPECT_THROW(section.number("steps"), std::logic_error);
  EXPECT_THROW(section.number("count"), std::logic_error);
  EXPECT_THROW(section.table("step"), std::logic_error);
}

TEST(Section, RefusesToTreatSeveralTablesAsOne) {
  Section section = sample();
  section.set("panels", std::vector<Section>(2), {"r", 7, 1});
  EXPECT_EQ(section.tables("panels").size(), 2u);
  EXPECT_THROW(section.table("panels"), std::logic_error);
}

TEST(Section, KnowsTheLocationsOfKeys) {
  const Section section = sample();
  EXPECT_EQ(to_string(section.where("step")), "r:4:1");
  EXPECT_EQ(to_string(section.where("absent")), "r:1:1");
  EXPECT_EQ(to_string(section.where()), "r:1:1");
}

TEST(Section, ReplacesValues) {
  Section section = sample();
  section.set("step", 0.25, {"r", 9, 9});
  EXPECT_EQ(section.number("step"), 0.25);
  EXPECT_EQ(to_string(section.where("step")), "r:9:9");
}

}  // namespace bathline::section_test
