// The catalogue of integrators describes itself completely.
#include "methods/catalogue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <utility>

#include "method_cases.hpp"

namespace bathline::catalogue_test {
namespace {

TEST(MethodCatalogue, HasEveryMethodOnceWithItsSource) {
  std::set<std::string> names;
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.entry.name);
    EXPECT_TRUE(names.insert(method.entry.name).second);
    EXPECT_EQ(methods().find(method.entry.name), &method);
    EXPECT_FALSE(method.entry.summary.empty());
    EXPECT_FALSE(method.entry.equation.empty());
    EXPECT_THAT(method.entry.source, testing::ContainsRegex("[a-z]+[0-9][0-9][0-9][0-9]"));
    EXPECT_FALSE(describe_properties(method).empty());
  }
  EXPECT_EQ(methods().find("no-such-method"), nullptr);
}

TEST(MethodCatalogue, StatesThePropertiesOfTheDefaults) {
  EXPECT_THAT(describe_properties(*methods().find("gamma")),
              testing::AllOf(testing::HasSubstr("Order 1, symplectic, not time-reversible"),
                             testing::HasSubstr("h omega = 2."), testing::HasSubstr("default options")));
  EXPECT_THAT(describe_properties(*methods().find("explicit-euler")),
              testing::HasSubstr("Unstable for undamped oscillations"));
  EXPECT_THAT(describe_properties(*methods().find("implicit-euler")),
              testing::HasSubstr("Stable for oscillations at any step"));
}

TEST(MethodCatalogue, DescribesMethodsWithOptionsOfAnyTypeAndWithoutDefaults) {
  Method method = *methods().find("stoermer-verlet");
  const std::string plain = describe_properties(method);
  method.entry.parameters = {{.name = "flag", .type = ValueType::boolean, .default_value = "true"},
                             {.name = "weights", .type = ValueType::numbers, .default_value = "[0.5, 0.5]"},
                             {.name = "free", .type = ValueType::text}};
  method.properties = [properties = method.properties](const Section& options) {
    EXPECT_TRUE(options.boolean("flag"));
    EXPECT_EQ(options.numbers("weights").size(), 2u);
    EXPECT_FALSE(options.has("free"));
    return properties(options);
  };
  EXPECT_THAT(describe_properties(method), testing::HasSubstr(plain.substr(0, plain.find("Stable"))));
  for (const bool required : {false, true}) {
    method.entry.parameters = {{.name = "weight", .required = required}};
    method.properties = [](const Section& options) {
      return MethodProperties{.order = static_cast<int>(options.number("weight"))};
    };
    EXPECT_THAT(describe_properties(method), testing::HasSubstr("depend on the options"));
  }
}

TEST(MethodCatalogue, StatesWhichMethodsSupportContactSystems) {
  EXPECT_THAT(describe_properties(*methods().find("herglotz")),
              testing::AllOf(testing::HasSubstr("Order 1, conformally contact"), testing::HasSubstr("default options"),
                             testing::Not(testing::HasSubstr("Conserves"))));
  EXPECT_EQ(methods().find("herglotz")->domain, Method::Domain::contact);
  EXPECT_EQ(methods().find("exact")->domain, Method::Domain::both);
  EXPECT_EQ(methods().find("rk4")->domain, Method::Domain::mechanical);
}

// The pair with two stages is the Stoermer-Verlet method; with three, oscillations grow above h omega = 2 sqrt(2).
// Limits are searched once and known from then on.
TEST(MethodCatalogue, LimitsOfLobattoAreThoseOfItsStagesHoweverOftenTheyAreAsked) {
  for (int turn = 0; turn < 2; ++turn) {
    for (const auto& [name, limit] : {std::pair("lobatto(stages=2)", 2.0), {"lobatto(stages=3)", std::sqrt(8.0)}}) {
      const MethodCase& method = method_case(name);
      EXPECT_NEAR(method.method->properties(method.options).imaginary_axis_limit, limit, 1e-12) << name;
    }
  }
}

TEST(MethodCatalogue, TimeCentredIsTheMiddleOfTheGammaFamily) {
  const auto& time_centred = std::get<PartitionedRungeKutta>(method_case("time-centred").scheme);
  const auto& middle = std::get<PartitionedRungeKutta>(method_case("gamma(gamma=0.500000)").scheme);
  EXPECT_EQ(time_centred.a, middle.a);
  EXPECT_EQ(time_centred.a_hat, middle.a_hat);
  EXPECT_EQ(time_centred.b, middle.b);
}

TEST(MethodCatalogue, GammaIsExplicitAtBothEnds) {
  EXPECT_TRUE(std::holds_alternative<ExplicitScheme>(method_case("gamma(gamma=0.000000)").scheme));
  EXPECT_TRUE(std::holds_alternative<ExplicitScheme>(method_case("gamma(gamma=1.000000)").scheme));
  const auto& scheme = std::get<PartitionedRungeKutta>(method_case("gamma(gamma=0.250000)").scheme);
  EXPECT_EQ(scheme.a, Eigen::MatrixXd::Constant(1, 1, 0.75));
  EXPECT_EQ(scheme.a_hat, Eigen::MatrixXd::Constant(1, 1, 0.25));
  EXPECT_EQ(scheme.b, Eigen::VectorXd::Ones(1));
}

}  // namespace
}  // namespace bathline::catalogue_test
