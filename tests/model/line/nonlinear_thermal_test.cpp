// Thermal starts of chains with nonlinear springs: averages against exact ones, and the same bits on any ranks.
#include "model/line/nonlinear_thermal.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/thermal/boltzmann_table.hpp"
#include "nonlinear_laws.hpp"
#include "random/streams.hpp"

namespace bathline::nonlinear_thermal_test {
namespace {

const NonlinearLaw fput = {"fput", potential_section("fput", {{"k", 1.0}, {"alpha", 0.0}, {"beta", 1.0}}), {}};
const NonlinearLaw toda = {"toda", potential_section("toda", {{"a", 1.0}, {"b", 1.0}}), {}};
const NonlinearLaw hertz = {"hertz", potential_section("hertz", {{"k", 1.0}, {"contact", 0.0}}), {}};
const NonlinearLaw phi4 = {
    "phi4", potential_section("harmonic", {{"k", 1.0}, {"rest_length", 0.0}}), {formula_section("x^4/4")}};

UniformNumber numbers(std::uint32_t realisation = 0) {
  return [=](std::int64_t draw, std::int64_t index) {
    return uniform_pair(streams::environment_starts.key(5, realisation),
                        static_cast<std::uint64_t>(draw * 100'000'000 + index))
        .first;
  };
}

Energy energy_of(std::shared_ptr<const LineLaw> law) {
  return [law](double s) { return law->springs->value(s); };
}

/// Averages by rectangles, of which the table knows nothing.
double average(const PairPotential& potential, double temperature, double pressure,
               const std::function<double(double)>& of) {
  double sum = 0.0, weights = 0.0;
  for (int i = -400'000; i <= 400'000; ++i) {
    const double s = 2e-4 * i, weight = std::exp(-(potential.value(s) + pressure * s) / temperature);
    sum += weight * of(s);
    weights += weight;
  }
  return sum / weights;
}

struct Stretch {
  double temperature, square, stiffness;
};

TEST(BoltzmannTable, MomentsOfNumbersAreThoseOfTheDensity) {
  // fourier.md, section 2, by quadrature to ten digits.
  const Stretch exact[] = {{0.1, 0.0817561404, 1.2452684212},
                           {0.5, 0.2896023863, 1.8688071590},
                           {1.0, 0.4679199170, 2.4037597509},
                           {2.0, 0.7319146425, 3.1957439274}};
  const auto law = fput.line_law();
  for (const Stretch& expected : exact) {
    const auto table = BoltzmannTable::of(energy_of(law), expected.temperature);
    ASSERT_TRUE(table);
    EXPECT_NEAR(table->variance(), expected.square, 2e-10);
    // The midpoints of equally likely parts.
    double square = 0.0, stiffness = 0.0;
    constexpr int parts = 2'000'000;
    for (int i = 0; i < parts; ++i) {
      const double s = table->quantile((i + 0.5) / parts);
      square += s * s / parts;
      stiffness += law->springs->second_derivative(s) / parts;
    }
    EXPECT_NEAR(square, expected.square, 2e-6 * expected.square);
    EXPECT_NEAR(stiffness, expected.stiffness, 2e-6 * expected.stiffness);
  }
  const auto free = BoltzmannTable::of(energy_of(toda.line_law()), 1.0);
  ASSERT_TRUE(free);
  EXPECT_NEAR(free->mean(), 0.5772156649, 2e-10);
  EXPECT_NEAR(free->variance(), 1.6449340668, 2e-10);
  const auto between_walls = BoltzmannTable::with_mean(energy_of(toda.line_law()), 1.0, 0.0);
  ASSERT_TRUE(between_walls);
  EXPECT_NEAR(between_walls->pressure(), 0.4616321450, 1e-7);  // psi(1 + P) = 0
  EXPECT_FALSE(BoltzmannTable::of(energy_of(hertz.line_law()), 1.0));
  EXPECT_TRUE(BoltzmannTable::with_mean(energy_of(hertz.line_law()), 1.0, 0.3));
}

// The places that are tried first are 50 apart there. Places have a round-off of 1e-13, a part of 1e-10 of a deviation.
TEST(BoltzmannTable, ANarrowDensityFarFromZeroIsFound) {
  const auto table = BoltzmannTable::of([](double s) { return 0.5e6 * (s - 1000.0) * (s - 1000.0); }, 1.0);
  ASSERT_TRUE(table);
  EXPECT_NEAR(table->mean(), 1000.0, 1e-11);
  EXPECT_NEAR(table->variance(), 1e-6, 1e-15);
  EXPECT_NEAR(table->quantile(std::erfc(-1.0 / std::sqrt(2.0)) / 2.0), 1000.001, 1e-9);
}

TEST(BoltzmannTable, LikelihoodOfASumIsThatOfNormalNumbers) {
  // Harmonic springs: a normal density, whose bound is its maximum.
  const auto law = nonlinear_laws()[0].line_law();
  const auto table = BoltzmannTable::of(energy_of(law), 0.6);
  ASSERT_TRUE(table);
  for (const std::int64_t count : {40, 4096, 123'456'789}) {
    const double deviation = std::sqrt(0.6 / 1.7 * static_cast<double>(count));
    for (const double x : {0.0, 0.7, -2.0}) {
      const double sum = static_cast<double>(count) * table->mean() + x * deviation;
      EXPECT_NEAR(table->likelihood_of_sum(count, sum), std::exp(-0.5 * x * x), 1e-7);
    }
  }
}

TEST(BoltzmannTable, CurvatureIsThatOfTheHighestEnergy) {
  EXPECT_NEAR(largest_curvature(*fput.line_law()->springs, 20.0), 25.0, 1e-9);
  EXPECT_NEAR(largest_curvature(*toda.line_law()->springs, std::exp(3.0) - 4.0), std::exp(3.0), 1e-8);
  EXPECT_NEAR(largest_curvature(*hertz.line_law()->springs, 0.4 * 32.0), 1.5 * 2.0, 1e-8);
}

struct Moments {
  double mean = 0.0, square = 0.0;
};

/// Of every spring or place of many chains, with the error of the mean square.
struct Sampled {
  std::vector<Moments> by_index;
  double square = 0.0, error = 0.0;
};

Sampled sample(const ThermalChain& chain, int chains, bool of_places) {
  Sampled sampled;
  const std::size_t count = static_cast<std::size_t>(chain.sites) + (!of_places && chain.last ? 1 : 0);
  sampled.by_index.resize(count);
  double squares = 0.0;
  for (int i = 0; i < chains; ++i) {
    double before = chain.first, sum = 0.0;
    std::size_t next = 0;
    const auto add = [&](double place) {
      const double x = of_places ? place : place - before;
      sampled.by_index[next].mean += x / chains;
      sampled.by_index[next++].square += x * x / chains;
      sum += x * x / static_cast<double>(count);
      before = place;
    };
    draw_thermal_places(chain, numbers(static_cast<std::uint32_t>(i)), [&](std::int64_t, double place) { add(place); });
    if (next < count) add(*chain.last);
    sampled.square += sum / chains;
    squares += sum * sum / chains;
  }
  sampled.error = std::sqrt((squares - sampled.square * sampled.square) / (chains - 1));
  return sampled;
}

TEST(NonlinearThermal, FreeSpringsAreIndependent) {
  const auto law = fput.line_law();
  const Sampled sampled = sample({law.get(), 1.0, 20'000, 0.3, {}}, 40, false);
  EXPECT_NEAR(sampled.square, 0.4679199170, 4.0 * sampled.error);
  EXPECT_LT(sampled.error, 2e-3);
}

TEST(NonlinearThermal, SpringsOfFixedLengthHaveTheConditionalDistribution) {
  // Three springs: exactly, by quadrature over two of them; every one has the same marginal distribution.
  for (const NonlinearLaw& of : {fput, toda, hertz}) {
    SCOPED_TRACE(of.name);
    const auto law = of.line_law();
    const double first = 0.2, last = -0.7;
    double weights = 0.0, squares = 0.0;
    const auto boltzmann = [&](double s) { return std::exp(-law->springs->value(s) / 0.8); };
    for (double a = -14.0; a <= 14.0; a += 0.02) {
      for (double b = -14.0; b <= 14.0; b += 0.02) {
        const double weight = boltzmann(a) * boltzmann(b) * boltzmann(last - first - a - b);
        weights += weight;
        squares += weight * a * a;
      }
    }
    const Sampled sampled = sample({law.get(), 0.8, 2, first, last}, 2'000, false);
    if (of.name != "hertz") {  // whose rectangles end too soon
      EXPECT_NEAR(sampled.square, squares / weights, 4.0 * sampled.error);
    }
    for (const Moments& moments : sampled.by_index) EXPECT_NEAR(moments.square, sampled.square, 0.3 * sampled.square);
  }
}

TEST(NonlinearThermal, LongChainsBetweenWallsHaveTheirPressure) {
  const auto law = toda.line_law();
  const Sampled sampled = sample({law.get(), 1.0, 30'000, 0.0, 0.0}, 16, false);
  const double pressure = 0.4616321450;
  const double expected = average(*law->springs, 1.0, pressure, [](double s) { return s * s; });
  EXPECT_NEAR(sampled.square, expected, 4.0 * sampled.error + 2.0 * expected / 30'000);
  EXPECT_LT(sampled.error, 5e-3);
}

TEST(NonlinearThermal, TheSumOfEnergiesFluctuatesAsBetweenFixedEnds) {
  // Var(sum V | length) = n (Var V - Cov(V, r)^2/Var r): shifting all stretches by one number would not give it.
  const auto law = toda.line_law();
  const double pressure = 0.4616321450;
  const auto mean_of = [&](auto of) { return average(*law->springs, 1.0, pressure, of); };
  const auto& springs = *law->springs;
  const double v = mean_of([&](double s) { return springs.value(s); }), r = mean_of([](double s) { return s; });
  const double vv = mean_of([&](double s) { return std::pow(springs.value(s) - v, 2); });
  const double rr = mean_of([&](double s) { return std::pow(s - r, 2); });
  const double vr = mean_of([&](double s) { return (springs.value(s) - v) * (s - r); });
  const ThermalChain chain{law.get(), 1.0, 299, 0.0, 0.0};
  constexpr int chains = 300;
  double sum = 0.0, squares = 0.0;
  for (int i = 0; i < chains; ++i) {
    double energy = 0.0, before = 0.0;
    const auto add = [&](double place) {
      energy += springs.value(place - before);
      before = place;
    };
    draw_thermal_places(chain, numbers(static_cast<std::uint32_t>(i)), [&](std::int64_t, double place) { add(place); });
    add(0.0);
    sum += energy / chains;
    squares += energy * energy / chains;
  }
  const double expected = 300.0 * (vv - vr * vr / rr);
  EXPECT_NEAR((squares - sum * sum) / expected, 1.0, 4.0 * std::sqrt(2.0 / chains));
}

TEST(NonlinearThermal, HeldSitesHaveTheAveragesOfTheTransferOperator) {
  // fourier.md, section 2: <q^2> of the infinite chain.
  const std::pair<double, double> exact[] = {{0.5, 0.2769242486}, {1.0, 0.4310649343}, {2.0, 0.6653140018}};
  const auto law = phi4.line_law();
  for (const auto& [temperature, square] : exact) {
    const Sampled sampled = sample({law.get(), temperature, 6'000, 0.4, -0.2}, 24, true);
    EXPECT_NEAR(sampled.square, square, 4.0 * sampled.error + 1e-3 * square);  // both ends
    EXPECT_LT(sampled.error, 0.01 * square);
  }
}

TEST(NonlinearThermal, HeldSitesBetweenFixedEndsHaveTheConditionalDistribution) {
  // Two harmonic sites in harmonic wells: a normal density, also of the second site, whose end is near.
  const NonlinearLaw held = {
      "held", potential_section("harmonic", {{"k", 1.0}, {"rest_length", 0.0}}), {formula_section("x^2/2")}};
  const auto law = held.line_law();
  const Sampled sampled = sample({law.get(), 0.5, 2, 1.0, -2.0}, 4'000, true);
  // 3 w_1 - w_2 = 1, 3 w_2 - w_1 = -2; the inverse of the matrix is (3, 1; 1, 3)/8.
  const double means[] = {1.0 / 8.0, -5.0 / 8.0};
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(sampled.by_index[i].mean, means[i], 4.0 * std::sqrt(0.1875 / 4'000));
    EXPECT_NEAR(sampled.by_index[i].square - means[i] * means[i], 0.1875, 5.0 * 0.1875 * std::sqrt(2.0 / 4'000));
  }
}

TEST(NonlinearThermal, WhatCannotBeDrawnIsSaid) {
  const auto reason = [](const NonlinearLaw& of, double temperature, std::optional<double> last) {
    const auto law = of.line_law();
    return thermal_unsupported_reason({law.get(), temperature, 100, 0.0, last});
  };
  EXPECT_EQ(reason(fput, 1.0, 0.0), "");
  EXPECT_EQ(reason(hertz, 1.0, 0.0), "");
  EXPECT_NE(reason(hertz, 1.0, {}).find("hold together"), std::string::npos);
  EXPECT_EQ(reason(phi4, 1.0, {}), "");
  const NonlinearLaw sine = {"sine", phi4.springs, {formula_section("1 - cos(x)")}};
  EXPECT_NE(reason(sine, 1.0, 0.0).find("does not hold the sites"), std::string::npos);
  const NonlinearLaw weak = {"weak", phi4.springs, {formula_section("1e-9*x^2")}};
  EXPECT_NE(reason(weak, 1.0, 0.0).find("too far away"), std::string::npos);
}

}  // namespace
}  // namespace bathline::nonlinear_thermal_test
