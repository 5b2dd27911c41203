// Tests of the printing of locations.
#include "recipe/location.hpp"

#include <gtest/gtest.h>

namespace bathline::location_test {

TEST(Location, PrintsFileLineAndColumn) { EXPECT_EQ(to_string(Location{"a.toml", 12, 5}), "a.toml:12:5"); }

TEST(Location, PrintsOnlyTheFileWithoutLine) {
  EXPECT_EQ(to_string(Location{"--set time.step=1", 0, 0}), "--set time.step=1");
}

}  // namespace bathline::location_test
