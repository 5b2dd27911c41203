// Paths to numbers of recipes.
#include "recipe/number_at.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "recipe_text.hpp"

namespace bathline::number_at_test {
namespace {

using testing::HasSubstr;

const std::string text = R"(title = "t"
[system]
kind = "formula"
coordinates = ["x", "y"]
masses = [1.5, 2.5]
V = "k*x^2/2 + y^2"
q0 = [1.0, 2.0]
damping = [0.1, 0.2]
[system.parameters]
k = 3.0
[[environments]]
name = "soft"
kind = "memory"
stiffness = [0.5, 0.25]
rate = [1.0, 0.0]
[[environments]]
name = "friction"
kind = "damper"
damping = 0.7
[time]
step = 0.1
end = 1.0
[[integrators]]
method = "gamma"
on = "closed"
gamma = 0.5
)";

TEST(MpiNumberAt, ReadsAndReplaces) {
  const ReadRecipe read = read_recipe(text);
  ASSERT_TRUE(read.mistakes.empty()) << read.report();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const struct {
    const char* path;
    double value;
    double lower, upper;
  } cases[] = {
      {"system.parameters.k", 3.0, -infinity, infinity}, {"system.masses.1", 2.5, 0.0, infinity},
      {"system.q0.1", 2.0, -infinity, infinity},         {"environments.soft.stiffness.1", 0.25, 0.0, infinity},
      {"environments.0.rate.0", 1.0, 0.0, infinity},     {"environments.friction.damping", 0.7, 0.0, infinity}};
  for (const auto& [path, value, lower, upper] : cases) {
    SCOPED_TRACE(path);
    const NumberAt number(path, *read.recipe, test_program().catalogue_schema());
    EXPECT_EQ(number.value(), value);
    EXPECT_EQ(number.limits(), std::pair(lower, upper));
    Recipe changed = *read.recipe;
    number.set(changed, 7.5);
    for (const auto& other : cases) {
      const double now = NumberAt(other.path, changed, test_program().catalogue_schema()).value();
      EXPECT_EQ(now, std::string(other.path) == path ? 7.5 : other.value) << other.path;
    }
  }
}

TEST(MpiNumberAt, SaysWhereAPathGoesWrong) {
  const ReadRecipe read = read_recipe(text);
  const std::pair<const char*, const char*> cases[] = {
      {"", "must begin with `system.` or `environments.`"},
      {"time.step", "must begin with `system.` or `environments.`"},
      {"system", "it is a table: add one of its keys"},
      {"system.parameters", "it is a table: add one of its keys"},
      {"system.parameters.c", "there is no key `c`"},
      {"system.q0", "it is a list: add an index from 0 to 1"},
      {"system.q0.2", "it is a list: add an index from 0 to 1"},
      {"system.kind", "it is no number"},
      {"environments.friction.damping.0", "it is one number, without an index"},
      {"environments.hard.stiffness.0", "it is a list: add an index from 0 to 1"},
      {"environments", "it is a list"}};
  for (const auto& [path, message] : cases) {
    SCOPED_TRACE(path);
    try {
      NumberAt(path, *read.recipe, test_program().catalogue_schema());
      ADD_FAILURE() << "accepted";
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  }
}

}  // namespace
}  // namespace bathline::number_at_test
