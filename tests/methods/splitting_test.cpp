// Splittings built from tables, and their stability limits against those known in closed form.
#include "methods/splitting.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace bathline::splitting_test {
namespace {

using Kind = Substep::Kind;

TEST(Splitting, PalindromesAddUpToOne) {
  EXPECT_EQ(palindrome(std::vector<double>{0.25}, 3), (std::vector<double>{0.25, 0.5, 0.25}));
  EXPECT_EQ(palindrome(std::vector<double>{0.75}, 4), (std::vector<double>{0.75, -0.25, -0.25, 0.75}));
  EXPECT_EQ(palindrome({}, 1), std::vector<double>{1.0});
}

TEST(Splitting, CompositionsShareTheDriftBetweenTwoSteps) {
  const ExplicitScheme expected = splitting({{Kind::drift, 0.125},
                                             {Kind::kick, 0.125},
                                             {Kind::kick, 0.125, true},
                                             {Kind::drift, 0.5},
                                             {Kind::kick, 0.375},
                                             {Kind::kick, 0.375, true},
                                             {Kind::drift, 0.375}});
  EXPECT_EQ(composition(std::vector<double>{0.25, 0.75}), expected);
}

TEST(Splitting, AlternatingBeginsAndEndsWithTheOuterKind) {
  const double outer[] = {0.25, 0.75}, inner[] = {1.0};
  EXPECT_EQ(alternating_splitting(Kind::drift, outer, inner),
            splitting({{Kind::drift, 0.25}, {Kind::kick, 0.5}, {Kind::kick, 0.5, true}, {Kind::drift, 0.75}}));
  EXPECT_EQ(alternating_splitting(Kind::kick, outer, inner), splitting({{Kind::kick, 0.125},
                                                                        {Kind::kick, 0.125, true},
                                                                        {Kind::drift, 1.0},
                                                                        {Kind::kick, 0.375},
                                                                        {Kind::kick, 0.375, true}}));
}

TEST(Splitting, KnownLimits) {
  const ExplicitScheme verlet = composition(std::vector<double>{1.0});
  EXPECT_NEAR(imaginary_axis_limit(verlet), 2.0, 1e-12);
  EXPECT_TRUE(std::isinf(real_axis_limit(verlet)));
  // Two halves one after the other: twice as far.
  EXPECT_NEAR(imaginary_axis_limit(composition(std::vector<double>{0.5, 0.5})), 4.0, 1e-12);
  // A kick with the velocity before, 1 - z, is at -1 for z = 2.
  EXPECT_NEAR(real_axis_limit(splitting({{Kind::drift, 0.5}, {Kind::kick, 1.0}, {Kind::drift, 0.5}})), 2.0, 1e-12);
  // Where the stability polynomials of the triple jump leave [-1, 1], computed by hand from their roots.
  const double c = 1.0 / (2.0 - std::cbrt(2.0));
  const double limit = imaginary_axis_limit(composition(std::vector<double>{c, 1.0 - 2.0 * c, c}));
  EXPECT_NEAR(limit, 1.5734, 1e-4);
}

}  // namespace
}  // namespace bathline::splitting_test
