// Look-up of names in the catalogue schema.
#include "recipe/catalogue_schema.hpp"

#include <gtest/gtest.h>

namespace bathline::catalogue_schema_test {

TEST(FindEntry, FindsByExactName) {
  const std::vector<CatalogueEntry> entries = {{.name = "rk4"}, {.name = "gauss"}};
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

}  // namespace bathline::catalogue_schema_test
