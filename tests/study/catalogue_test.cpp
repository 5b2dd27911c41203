// The catalogue of studies.
#include "study/catalogue.hpp"

#include <gtest/gtest.h>

namespace bathline::catalogue_test {
namespace {

TEST(StudyCatalogue, EveryStudyCanBeMade) {
  EXPECT_EQ(studies().find("no-such-study"), nullptr);
  for (const StudyKind& kind : studies()) {
    EXPECT_EQ(studies().find(kind.entry.name), &kind);
    EXPECT_TRUE(kind.make != nullptr) << kind.entry.name;
  }
}

}  // namespace
}  // namespace bathline::catalogue_test
