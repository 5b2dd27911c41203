// Tests of the escaping and truncation of text of users.
#include "text/printable_text.hpp"

#include <gtest/gtest.h>

namespace bathline::printable_text_test {

TEST(Printable, KeepsOrdinaryText) { EXPECT_EQ(printable("Störmer–Verlet 𝛾"), "Störmer–Verlet 𝛾"); }

TEST(Printable, EscapesControlCharacters) {
  EXPECT_EQ(printable("a\nb\tc\r\x1b[0m\x7f"), "a\\nb\\tc\\x0d\\x1b[0m\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");  // a control character beyond ASCII
}

TEST(Printable, EscapesInvalidUtf8) { EXPECT_EQ(printable("a\xff\xc3(b\xe2\x82"), "a\\xff\\xc3(b\\xe2\\x82"); }

TEST(Printable, TruncatesBetweenCharacters) {
  EXPECT_EQ(printable("äöü", 3), "äöü");
  EXPECT_EQ(printable("äöüß", 3), "äöü...");
}

TEST(IsUtf8, AcceptsExactlyUtf8) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("a \xc3\xa4 \xe2\x82\xac \xf0\x9d\x9b\xbe \xf4\x8f\xbf\xbf"));
  for (const char* wrong : {"\x80", "\xc1\xbf", "\xc3", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                            "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x28\xa1"}) {
    EXPECT_FALSE(is_utf8(wrong)) << printable(wrong);
  }
}

}  // namespace bathline::printable_text_test
