// The catalogues of studies and the vocabulary put together from all catalogues.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "driver/vocabulary.hpp"
#include "study/catalogue.hpp"

namespace bathline {
namespace {

TEST(StudyCatalogue, HasEveryStudyOnce) {
  std::set<std::string> names;
  for (const StudyKind& kind : study_kinds()) {
    EXPECT_TRUE(names.insert(kind.entry.name).second);
    EXPECT_EQ(find_study(kind.entry.name), &kind);
    EXPECT_TRUE(kind.check != nullptr && kind.make != nullptr);
  }
  EXPECT_EQ(find_study("no-such-study"), nullptr);
}

TEST(StudyCatalogue, EverythingInTheVocabularyDescribesItself) {
  std::set<std::string> names;
  const Vocabulary& words = vocabulary();
  for (const auto* entries :
       {&words.systems, &words.potentials, &words.environments, &words.integrators, &words.studies}) {
    EXPECT_FALSE(entries->empty());
    for (const Entry& entry : *entries) {
      SCOPED_TRACE(entry.name);
      EXPECT_TRUE(names.insert(entry.name).second) << "`bathline describe` could not tell them apart";
      EXPECT_FALSE(entry.summary.empty());
      EXPECT_FALSE(entry.equation.empty());
      EXPECT_FALSE(entry.source.empty());
      for (const Parameter& parameter : entry.parameters) {
        EXPECT_FALSE(parameter.doc.empty()) << parameter.name;
        EXPECT_FALSE(parameter.required && !parameter.fallback.empty()) << parameter.name;
      }
    }
  }
  EXPECT_THAT(find_entry(words.integrators, "rk4")->notes, testing::HasSubstr("Order 4, not symplectic"));
}

}  // namespace
}  // namespace bathline
