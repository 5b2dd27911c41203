// Tests of finding names, misspelt ones included.
#include "recipe/vocabulary.hpp"

#include <gtest/gtest.h>

namespace bathline::vocabulary_test {

namespace {

std::string closest(const std::string& name, const std::vector<std::string>& candidates) {
  return closest_name(name, candidates);
}

}  // namespace

TEST(FindEntry, FindsByExactName) {
  const std::vector<Entry> entries = {{.name = "rk4"}, {.name = "gauss"}};
  EXPECT_EQ(find_entry(entries, "gauss"), &entries[1]);
  EXPECT_EQ(find_entry(entries, "gaus"), nullptr);
  EXPECT_EQ(find_entry({}, "gauss"), nullptr);
}

TEST(KeysOfKind, AreTheKindAndItsParameters) {
  const std::vector<Parameter> keys = keys_of_kind({.name = "soft", .parameters = {{.name = "k"}, {.name = "r0"}}});
  ASSERT_EQ(keys.size(), 3u);
  EXPECT_EQ(keys[0].name, "kind");
  EXPECT_EQ(keys[0].type, ValueType::text);
  EXPECT_TRUE(keys[0].required);
  EXPECT_EQ(keys[2].name, "r0");
}

TEST(ClosestName, CountsEachKindOfSlipAsOne) {
  for (const char* slip : {"sitez", "site", "ssites", "sties"}) EXPECT_EQ(closest(slip, {"step", "sites"}), "sites");
}

TEST(ClosestName, AllowsAThirdOfTheLength) {
  EXPECT_EQ(closest("stormer-verlet", {"stoermer-verlet"}), "stoermer-verlet");
  EXPECT_EQ(closest("abcdefghi", {"abcdefxyz"}), "abcdefxyz");
  EXPECT_EQ(closest("abcdefgh", {"abcdexyz"}), "");
  EXPECT_EQ(closest("ab", {"cd"}), "");
}

TEST(ClosestName, PrefersTheNearest) {
  EXPECT_EQ(closest("gamma1", {"gamut1", "gamma"}), "gamma");
  EXPECT_EQ(closest("K0", {"M0", "k0"}), "k0");
}

TEST(ClosestName, FindsNothingInCommonBetweenSingleLetters) {
  EXPECT_EQ(closest("x", {"k", "b"}), "");
  EXPECT_EQ(closest("m", {"k", "M"}), "M");
}

}  // namespace bathline::vocabulary_test
