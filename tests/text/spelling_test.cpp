// Tests of suggestions for misspelt names.
#include "text/spelling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string_view>
#include <vector>

namespace bathline::spelling_test {

namespace {

std::string closest(const std::string& name, const std::vector<std::string>& candidates) {
  return closest_name(name, candidates);
}

/// The distance by its definition, from the ends of both names; for short ones.
std::size_t distance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const auto shorter = [](std::string_view text, std::size_t by) { return text.substr(0, text.size() - by); };
  std::size_t min = std::min({distance(shorter(a, 1), b) + 1, distance(a, shorter(b, 1)) + 1,
                              distance(shorter(a, 1), shorter(b, 1)) + (a.back() == b.back() ? 0 : 1)});
  const bool swapped = a.size() > 1 && b.size() > 1 && a.back() == b[b.size() - 2] && b.back() == a[a.size() - 2];
  if (swapped) min = std::min(min, distance(shorter(a, 2), shorter(b, 2)) + 1);
  return min;
}

/// The name that is closest by that distance.
std::string closest_by_definition(const std::string& name, const std::vector<std::string>& candidates) {
  std::size_t nearest = std::max<std::size_t>(1, name.size() / 3) + 1;
  std::string closest;
  for (const std::string& candidate : candidates) {
    const std::size_t d = distance(name, candidate);
    if (d >= nearest || d >= std::max(name.size(), candidate.size())) continue;
    nearest = d;
    closest = candidate;
  }
  return closest;
}

}  // namespace

TEST(ClosestName, CountsEachKindOfErrorAsOne) {
  for (const char* mobility : {"sitez", "site", "ssites", "sties"})
    EXPECT_EQ(closest(mobility, {"step", "sites"}), "sites");
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

TEST(ClosestName, AgreesWithTheDefinition) {
  std::mt19937 random(4);
  const auto word = [&] {
    std::string text(2 + random() % 6, ' ');
    for (char& c : text) c = "abcd\xe4"[random() % 5];
    return text;
  };
  int close = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = word();
    std::vector<std::string> candidates(10);
    std::generate(candidates.begin(), candidates.end(), word);
    const std::string expected = closest_by_definition(name, candidates);
    EXPECT_EQ(closest(name, candidates), expected) << name;
    close += expected.empty() ? 0 : 1;
  }
  EXPECT_GT(close, 100);
  EXPECT_LT(close, 900);
}

}  // namespace bathline::spelling_test
