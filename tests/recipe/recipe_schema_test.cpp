// Tests of the schema of recipes.
#include "recipe/recipe_schema.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bathline::recipe_schema_test {

namespace {

void expect_well_described(const std::vector<Parameter>& parameters, const std::string& where) {
  std::set<std::string> names;
  for (const Parameter& parameter : parameters) {
    EXPECT_TRUE(names.insert(parameter.name).second) << where << ": `" << parameter.name << "` twice";
    EXPECT_THAT(parameter.doc, testing::EndsWith(".")) << where << ": " << parameter.name;
    EXPECT_FALSE(parameter.required && !parameter.default_value.empty()) << where << ": " << parameter.name;
    expect_well_described(parameter.members, where + "." + parameter.name);
  }
}

bool has_key(const SectionSchema& section, const std::string& name) {
  return std::any_of(section.parameters.begin(), section.parameters.end(),
                     [&](const Parameter& parameter) { return parameter.name == name; });
}

}  // namespace

TEST(RecipeSchema, DescribesEveryKey) {
  expect_well_described(recipe_keys(), "recipe");
  for (const SectionSchema& section : recipe_sections()) {
    EXPECT_THAT(section.doc, testing::EndsWith("."));
    expect_well_described(section.parameters, section.name);
  }
}

TEST(RecipeSchema, ChoosesByKeysThatExist) {
  for (const SectionSchema& section : recipe_sections()) {
    EXPECT_EQ(section.entries == nullptr, section.chooser.empty());
    EXPECT_TRUE(section.chooser.empty() || has_key(section, section.chooser)) << section.name;
    for (const ExclusiveKeys& rule : section.exclusive_keys) {
      EXPECT_TRUE(rule.when.empty() || has_key(section, rule.when)) << rule.when;
      for (const std::string& key : rule.keys) EXPECT_TRUE(has_key(section, key)) << key;
    }
  }
}

TEST(RecipeSchema, FindsSectionsByName) {
  EXPECT_EQ(recipe_section("environments").header(), "[[environments]]");
  EXPECT_EQ(recipe_section("time").header(), "[time]");
  EXPECT_THROW(recipe_section("sweep"), std::logic_error);
}

}  // namespace bathline::recipe_schema_test
