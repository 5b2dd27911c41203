// The sites of a line: forces are the gradients of energies, in any internal units.
#include "model/line/sites.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace bathline::sites_test {
namespace {

/// By central differences, which are exact to round-off for energies up to the third power of the stretch.
template <Sites S>
void expect_forces_to_be_gradients(const S& sites, std::int64_t springs) {
  constexpr double step = 0.125;
  for (std::int64_t j = 0; j < springs; ++j) {
    for (const double stretch : {-0.7, 0.0, 0.4}) {
      const double gradient = (sites.energy(j, stretch + step) - sites.energy(j, stretch - step)) / (2.0 * step);
      EXPECT_NEAR(force_of_spring(sites, j, stretch), gradient, 1e-14) << j;
    }
  }
}

/// The energy summed over a line is the kinetic energy of a site and the energy of the spring behind it.
template <Sites S>
void expect_energies_to_be_of_site_and_spring(const S& sites, std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) {
    const double p = 0.3 + 0.1 * static_cast<double>(j), stretch = 0.9 - 0.2 * static_cast<double>(j);
    const double velocity = sites.per_mass(j, p) / sites.mass;
    EXPECT_NEAR(0.5 / sites.mass * sites.energy(j, p, stretch, 0.4), 0.5 * p * velocity + sites.energy(j + 1, stretch),
                1e-14)
        << j;
  }
}

TEST(LineSites, ForcesAreGradientsOfEnergies) {
  const UniformSites uniform{.stiffness = 2.3, .mass = 0.7};
  expect_forces_to_be_gradients(uniform, 1);
  expect_energies_to_be_of_site_and_spring(uniform, 1);
  EXPECT_DOUBLE_EQ(force_of_spring(uniform, 5, 0.5), 1.15);
  EXPECT_DOUBLE_EQ(uniform.per_mass(5, 1.4) / uniform.mass, 2.0);
  const std::vector<double> spring = {0.5, 2.0, 1.2, 3.0}, inverse_mass = {2.0, 0.5, 4.0};
  const NonuniformSites<> nonuniform{spring.data(), inverse_mass.data()};
  expect_forces_to_be_gradients(nonuniform, 4);
  expect_energies_to_be_of_site_and_spring(nonuniform, 3);
  EXPECT_DOUBLE_EQ(force_of_spring(nonuniform, 3, 0.5), 1.5);
  EXPECT_DOUBLE_EQ(nonuniform.per_mass(1, 1.4) / nonuniform.mass, 0.7);
}

// Mapped rows are the same sites, and `sites_from` begins at the given site.
TEST(LineSites, KeepTheirRowsTogether) {
  const std::vector<double> spring = {0.5, 2.0, 1.2, 3.0}, inverse_mass = {2.0, 0.5, 4.0};
  const NonuniformSites<> sites{spring.data(), inverse_mass.data()};
  const NonuniformSites<> later = sites_from(sites, 2);
  EXPECT_EQ(later.pull(0, 1.0), 1.2);
  EXPECT_EQ(later.per_mass(0, 1.0), 4.0);
  std::vector<const double*> rows;
  for_each_row(sites, [&](const double* row) { rows.push_back(row); });
  EXPECT_EQ(rows, (std::vector<const double*>{spring.data(), inverse_mass.data()}));
  for_each_row(UniformSites{}, [](const double*) { FAIL() << "uniform sites have no rows"; });
}

}  // namespace
}  // namespace bathline::sites_test
