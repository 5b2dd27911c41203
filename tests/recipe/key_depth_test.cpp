// Tests of the guard against very long dotted keys.
#include "recipe/key_depth.hpp"

#include <string>

#include <gtest/gtest.h>

namespace bathline::key_depth_test {

namespace {

using Place = std::pair<int, int>;

std::string repeated(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

}  // namespace

TEST(FindDeepKey, FindsKeysAndHeadersBeyondTheLimit) {
  EXPECT_EQ(find_deep_key("a.b.c = 1", 3), std::nullopt);
  EXPECT_EQ(find_deep_key("a.b.c.d = 1", 3), (Place{1, 6}));
  EXPECT_EQ(find_deep_key("x = 1\n  [ä . \"b.b\" . 'c'.d]", 3), (Place{2, 19}));
  EXPECT_EQ(find_deep_key("x = {y = 1, a.b.c.d = 2}", 3), (Place{1, 18}));
}

TEST(FindDeepKey, CountsEveryKeySeparately) {
  EXPECT_EQ(find_deep_key(repeated("a.b = 1.5\n", 100), 3), std::nullopt);
  EXPECT_EQ(find_deep_key("x = [" + repeated("1.5, ", 100) + "]", 3), std::nullopt);
}

TEST(FindDeepKey, IgnoresDotsInStringsAndComments) {
  for (const char* text : {"x = \"....\"", "x = '....'", "# ....", "x = 1 # ....", "x = \"\"\"..\n..\"\"\"",
                           "x = '''..\n'..'''", R"(x = "\"....")", "x = '\\' # ....", R"(x = """\"""....""")",
                           "x = \"\"\"..\"\"\"\"\" # ....", "x = \"....\\\""}) {
    EXPECT_EQ(find_deep_key(text, 3), std::nullopt) << text;
  }
}

TEST(FindDeepKey, ContinuesAfterStrings) {
  for (const char* text : {"\"x\".b.c.d = 1", "x = '\\'\na.b.c.d = 1", "x = \"\"\"it's\"\"\"\na.b.c.d = 'y'",
                           "x = \"\"\"y\"\"\"\"\"\na.b.c.d = 1", "x = ''\na.b.c.d = 1", "# it's\na.b.c.d = 1"}) {
    EXPECT_NE(find_deep_key(text, 3), std::nullopt) << text;
  }
}

}  // namespace bathline::key_depth_test
