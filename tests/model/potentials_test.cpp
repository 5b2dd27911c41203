// Pair potentials against closed forms: position, depth and stiffness of their minima.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/potentials/catalogue.hpp"
#include "model/potentials/closed_form.hpp"

namespace bathline::potentials_test {
namespace {

std::shared_ptr<const PairPotential> make(const std::string& kind,
                                          const std::vector<std::pair<std::string, double>>& numbers) {
  Section section;
  section.set("kind", kind, {});
  for (const auto& [key, value] : numbers) section.set(key, value, {});
  Mistakes mistakes;
  return build_potential(potentials(), section, mistakes);
}

TEST(Potentials, HarmonicIsASpringAroundItsRestLength) {
  const auto v = make("harmonic", {{"k", 3.0}, {"rest_length", 0.5}});
  EXPECT_EQ(v->value(2.5), 6.0);
  EXPECT_EQ(v->derivative(0.5), 0.0);
  EXPECT_EQ(v->derivative(-0.5), -3.0);
  EXPECT_EQ(v->second_derivative(7.0), 3.0);
  EXPECT_FALSE(v->is_quadratic());
  EXPECT_TRUE(make("harmonic", {{"k", 3.0}, {"rest_length", 0.0}})->is_quadratic());
}

TEST(Potentials, HertzIsZeroUntilTheContact) {
  const auto v = make("hertz", {{"k", 3.0}, {"contact", 0.5}});
  EXPECT_EQ(v->value(0.5), 0.0);
  EXPECT_EQ(v->derivative(2.0), 0.0);
  EXPECT_EQ(v->second_derivative(0.5), 0.0);
  EXPECT_EQ(v->value(-3.5), 0.4 * 3.0 * 32.0);
  EXPECT_EQ(v->derivative(-3.5), -3.0 * 8.0);
  EXPECT_EQ(v->second_derivative(-3.5), 4.5 * 2.0);
  EXPECT_TRUE(std::isnan(v->derivative(std::nan(""))));
}

TEST(Potentials, ClosedFormsAreTheirDerivatives) {
  Section formula;
  formula.set("kind", std::string("formula"), {});
  formula.set("V", std::string("(r - 1)^4/8 + 0.3*r^6 - 2"), {});
  Mistakes mistakes;
  const std::shared_ptr<const PairPotential> all[] = {
      make("harmonic", {{"k", 3.0}, {"rest_length", 0.5}}), make("quartic", {{"k", 2.0}, {"beta", 4.0}}),
      make("double-well", {{"barrier", 5.0}, {"half_distance", 2.0}}),
      make("fput", {{"k", 1.0}, {"alpha", 0.3}, {"beta", 0.7}}), build_potential(potentials(), formula, mistakes)};
  for (const auto& potential : all) {
    const ClosedForm form = closed_form_of(*potential);
    const auto& c = std::get<PolynomialLaw<5>>(form).c;
    for (const double s : {-1.3, -0.2, 0.0, 0.7, 2.1}) {
      double sum = 0.0;
      for (std::size_t k = c.size(); k-- > 0;) sum = sum * s + c[k];
      EXPECT_NEAR(sum, potential->derivative(s), 1e-14 * (10.0 + std::abs(sum)));
    }
  }
  formula.set("V", std::string("r^7"), {});
  EXPECT_TRUE(
      std::holds_alternative<std::monostate>(closed_form_of(*build_potential(potentials(), formula, mistakes))));
  formula.set("V", std::string("abs(r)^3"), {});
  EXPECT_TRUE(
      std::holds_alternative<std::monostate>(closed_form_of(*build_potential(potentials(), formula, mistakes))));
}

TEST(Potentials, QuarticStiffensOrSoftens) {
  const auto v = make("quartic", {{"k", 2.0}, {"beta", 4.0}});
  EXPECT_EQ(v->value(2.0), 4.0 + 16.0);
  EXPECT_EQ(v->derivative(2.0), 4.0 + 32.0);
  EXPECT_EQ(v->second_derivative(2.0), 2.0 + 48.0);
  EXPECT_EQ(v->value(-2.0), v->value(2.0));
  // If it softens, the force changes its sign at sqrt(-k/beta).
  EXPECT_NEAR(make("quartic", {{"k", 2.0}, {"beta", -0.5}})->derivative(2.0), 0.0, 1e-15);
  EXPECT_FALSE(v->is_quadratic());
}

TEST(Potentials, DoubleWellHasABarrierBetweenItsWells) {
  const auto v = make("double-well", {{"barrier", 5.0}, {"half_distance", 2.0}});
  EXPECT_EQ(v->value(0.0), 5.0);
  EXPECT_EQ(v->derivative(0.0), 0.0);
  EXPECT_EQ(v->second_derivative(0.0), -4.0 * 5.0 / 4.0);
  for (const double well : {-2.0, 2.0}) {
    EXPECT_EQ(v->value(well), 0.0);
    EXPECT_EQ(v->derivative(well), 0.0);
    EXPECT_EQ(v->second_derivative(well), 8.0 * 5.0 / 4.0);
  }
}

TEST(Potentials, MorseBindsWithItsDepth) {
  const auto v = make("morse", {{"depth", 5.0}, {"width", 0.5}, {"r0", 1.5}});
  EXPECT_EQ(v->value(1.5), -5.0);
  EXPECT_EQ(v->derivative(1.5), 0.0);
  EXPECT_EQ(v->second_derivative(1.5), 2.0 * 5.0 / 0.25);
  EXPECT_NEAR(v->value(1.5 - 0.5 * std::log(2.0)), 0.0, 1e-14);
  // The maximum of the force is at e = 1/2: depth / (2 width).
  EXPECT_NEAR(v->derivative(1.5 + 0.5 * std::log(2.0)), 5.0 / (2.0 * 0.5), 1e-14);
  EXPECT_NEAR(v->value(100.0), 0.0, 1e-80);
}

TEST(Potentials, LennardJonesHasItsWellAtTheSixthRootOfTwo) {
  const auto v = make("lennard-jones", {{"epsilon", 0.7}, {"sigma", 1.2}});
  const double r = std::pow(2.0, 1.0 / 6.0) * 1.2;
  EXPECT_NEAR(v->value(1.2), 0.0, 1e-14);
  EXPECT_NEAR(v->value(r), -0.7, 1e-14);
  EXPECT_NEAR(v->derivative(r), 0.0, 1e-13);
  EXPECT_NEAR(v->second_derivative(r), 72.0 * 0.7 / (r * r), 1e-12);
  EXPECT_FALSE(std::isfinite(v->value(0.0)));
}

TEST(Potentials, CatalogueRefusesUnknownKinds) { EXPECT_THROW(make("gravity", {}), std::logic_error); }

}  // namespace
}  // namespace bathline::potentials_test
