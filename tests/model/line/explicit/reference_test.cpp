// The reference stepper against plain loops.
#include "course.hpp"
#include "self_world.hpp"
#include "serial_line.hpp"

namespace bathline::reference_test {
namespace {

using namespace explicit_course;

/// The same as `run`, in plain loops.
Outcome run_serially(LineConstants constants, std::int64_t sites, int axes, const ExplicitScheme& scheme,
                     const LineOptions& options = {}) {
  std::vector<double> springs, inverse_masses;
  for (std::int64_t j = 0; j < sites && options.table; ++j) {
    const LineSite site = (*options.table)[static_cast<std::size_t>(j)];
    constants.mass = site.mass;
    constants.stiffness = site.stiffness;
    springs.push_back(constants.stiffness);
    inverse_masses.push_back(1.0 / constants.mass);
  }
  if (options.table) springs.push_back(constants.stiffness);
  const Start start = random_start(sites, axes);
  const double dashpot = constants.far_end == FarEnd::matched ? std::sqrt(constants.mass * constants.stiffness) : 0.0;
  Outcome outcome;
  outcome.w.resize(start.w.size());
  outcome.p.resize(start.p.size());
  outcome.forces.resize(static_cast<std::size_t>(steps * axes) * scheme.substeps.size());
  for (int axis = 0; axis < axes; ++axis) {
    std::vector<double> w, p;
    for (auto i = static_cast<std::size_t>(axis); i < start.w.size(); i += static_cast<std::size_t>(axes)) {
      w.push_back(start.w[i]);
      p.push_back(start.p[i]);
    }
    SerialLine line(constants, dashpot, w, p);
    line.springs = springs;
    line.inverse_masses = inverse_masses;
    for (int substep = 0; substep < steps * static_cast<int>(scheme.substeps.size()); ++substep) {
      const double head = head_at(substep, axis);
      outcome.forces[static_cast<std::size_t>(substep * axes + axis)] = line.force_on_head(head);
      line.substep(scheme.substeps[static_cast<std::size_t>(substep) % scheme.substeps.size()], scheme, h, head);
    }
    for (std::size_t j = 0; j < line.w.size(); ++j) {
      outcome.w[j * static_cast<std::size_t>(axes) + static_cast<std::size_t>(axis)] = line.w[j];
      outcome.p[j * static_cast<std::size_t>(axes) + static_cast<std::size_t>(axis)] = line.p[j];
    }
    outcome.energy.dissipated += line.dissipated;
  }
  return outcome;
}

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected, const char* what) {
  ASSERT_EQ(actual.size(), expected.size());
  double scale = 0.0, worst = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    scale = std::max(scale, std::abs(expected[i]));
    worst = std::max(worst, std::abs(actual[i] - expected[i]));
  }
  EXPECT_LE(worst, 1e-13 * scale) << what;
}

TEST(LineReference, EqualsPlainLoops) {
  for (const NamedScheme& named : explicit_schemes()) {
    for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
      for (const std::int64_t sites : {1, 2, 77}) {
        for (const bool uniform : {true, false}) {
          SCOPED_TRACE(testing::Message() << named.name << ", far end " << static_cast<int>(far_end) << ", " << sites
                                          << (uniform ? " uniform" : " nonuniform") << " sites");
          LineOptions options;
          if (!uniform) options.table = site_table(nonuniform_site);
          const LineConstants constants = constants_with(far_end);
          const Outcome actual =
              run<ReferenceLine>(constants, sites, 2, named.scheme, {1000, 1, 2}, self_world(), options);
          const Outcome expected = run_serially(constants, sites, 2, named.scheme, options);
          if (named.is_splitting()) {
            expect_same_bits(actual, expected);
            EXPECT_EQ(actual.energy.dissipated, expected.energy.dissipated);
          } else {
            expect_close(actual.w, expected.w, "displacements");
            expect_close(actual.p, expected.p, "momenta");
            expect_close(actual.forces, expected.forces, "forces on the head");
            EXPECT_NEAR(actual.energy.dissipated, expected.energy.dissipated, 1e-12 * expected.energy.dissipated);
          }
          EXPECT_EQ(actual.energy.dissipated != 0.0, far_end == FarEnd::matched);
        }
      }
    }
  }
}

}  // namespace
}  // namespace bathline::reference_test
