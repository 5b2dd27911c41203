// What a line is made of: its forces are the slopes of its energies, whatever the units that it counts in.
#include "model/line/sites.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace bathline::sites_test {
namespace {

/// By central differences, which are exact for energies up to the third power of the stretch but for round-off.
template <Sites S>
void expect_forces_to_be_slopes(const S& sites, std::int64_t springs) {
  constexpr double step = 0.125;
  for (std::int64_t j = 0; j < springs; ++j) {
    for (const double stretch : {-0.7, 0.0, 0.4}) {
      const double slope = (sites.energy(j, stretch + step) - sites.energy(j, stretch - step)) / (2.0 * step);
      EXPECT_NEAR(force_of_spring(sites, j, stretch), slope, 1e-14) << j;
    }
  }
}

/// The energy that is added up over a line is that of a site with its momentum and of the spring behind it.
template <Sites S>
void expect_energies_to_be_of_site_and_spring(const S& sites, std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) {
    const double p = 0.3 + 0.1 * static_cast<double>(j), stretch = 0.9 - 0.2 * static_cast<double>(j);
    const double velocity = sites.per_mass(j, p) / sites.mass;
    EXPECT_NEAR(0.5 / sites.mass * sites.energy(j, p, stretch), 0.5 * p * velocity + sites.energy(j + 1, stretch),
                1e-14)
        << j;
  }
}

TEST(LineSites, ForcesAreSlopesOfEnergies) {
  const UniformSites equal{.stiffness = 2.3, .mass = 0.7};
  expect_forces_to_be_slopes(equal, 1);
  expect_energies_to_be_of_site_and_spring(equal, 1);
  EXPECT_DOUBLE_EQ(force_of_spring(equal, 5, 0.5), 1.15);
  EXPECT_DOUBLE_EQ(equal.per_mass(5, 1.4) / equal.mass, 2.0);
  const std::vector<double> spring = {0.5, 2.0, 1.2, 3.0}, inverse_mass = {2.0, 0.5, 4.0};
  const NonuniformSites<> unequal{spring.data(), inverse_mass.data()};
  expect_forces_to_be_slopes(unequal, 4);
  expect_energies_to_be_of_site_and_spring(unequal, 3);
  EXPECT_DOUBLE_EQ(force_of_spring(unequal, 3, 0.5), 1.5);
  EXPECT_DOUBLE_EQ(unequal.per_mass(1, 1.4) / unequal.mass, 0.7);
}

// Rows elsewhere are the same sites, and sites from one on begin there.
TEST(LineSites, KeepTheirRowsTogether) {
  const std::vector<double> spring = {0.5, 2.0, 1.2, 3.0}, inverse_mass = {2.0, 0.5, 4.0};
  const NonuniformSites<> sites{spring.data(), inverse_mass.data()};
  const NonuniformSites<> later = sites_from(sites, 2);
  EXPECT_EQ(later.pull(0, 1.0), 1.2);
  EXPECT_EQ(later.per_mass(0, 1.0), 4.0);
  std::vector<const double*> rows;
  for_each_row(sites, [&](const double* row) { rows.push_back(row); });
  EXPECT_EQ(rows, (std::vector<const double*>{spring.data(), inverse_mass.data()}));
  for_each_row(UniformSites{}, [](const double*) { FAIL() << "equal sites have no rows"; });
}

}  // namespace
}  // namespace bathline::sites_test
