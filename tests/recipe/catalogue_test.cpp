// Catalogues of named entries.
#include "recipe/catalogue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bathline::catalogue_test {
namespace {

struct Kind {
  CatalogueEntry entry;
  int number = 0;
};

TEST(Catalogue, FindsByNameAndKeepsTheOrder) {
  Catalogue<Kind> all = {{{.name = "b"}, 1}, {{.name = "a"}, 2}};
  all.add({{.name = "c"}, 3});
  std::vector<int> numbers;
  for (const Kind& kind : all) numbers.push_back(kind.number);
  EXPECT_THAT(numbers, testing::ElementsAre(1, 2, 3));
  EXPECT_EQ(all.find("a")->number, 2);
  EXPECT_EQ(all.find("c")->number, 3);
  EXPECT_EQ(all.find("d"), nullptr);
  EXPECT_EQ(all.entries().at(1).name, "a");
}

TEST(Catalogue, RefusesDuplicateNames) {
  Catalogue<Kind> all = {{{.name = "a"}, 1}};
  EXPECT_THROW(all.add({{.name = "a"}, 2}), std::logic_error);
  EXPECT_EQ(all.find("a")->number, 1);
}

TEST(Catalogue, IsAValue) {
  const Catalogue<Kind> all = {{{.name = "a"}, 1}};
  Catalogue<Kind> more = all;
  more.add({{.name = "b"}, 2});
  EXPECT_EQ(all.find("b"), nullptr);
}

}  // namespace
}  // namespace bathline::catalogue_test
