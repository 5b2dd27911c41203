// Implicit steps of short lines in lanes: against single steps, and against PETSc's LU solver.
#include "model/line/implicit/in_cache_stepper.hpp"

#include <gtest/gtest.h>

#include "steppers/stepper.hpp"
#include "driven_line.hpp"
#include "method_cases.hpp"
#include "model/line/state.hpp"
#include "petsc_options.hpp"
#include "quartic_potential.hpp"
#include "scene.hpp"
#include "self_world.hpp"

namespace bathline::in_cache_stepper_test {
namespace {

LineConstants constants(FarEnd far_end) { return {.mass = 1.3, .stiffness = 2.9, .far_end = far_end, .dashpot = 0.0}; }

const PartitionedRungeKutta midpoint = one_stage(0.5, 0.5);
const PartitionedRungeKutta gauss2 = std::get<PartitionedRungeKutta>(method_case("gauss(stages=2)").scheme);

/// Whether a line on one rank is advanced in lanes.
bool has_lanes(const LineConstants& line, const PartitionedRungeKutta& scheme, double h, std::int64_t sites) {
  LineState state(line, {}, sites, self_world(), 1);
  const std::optional<LineRecursion> recursion = LineRecursion::of(line, scheme, h);
  return recursion && make_in_cache_implicit_stepper(state, scheme, *recursion, h) != nullptr;
}

void expect_steps_to_equal(const LineConstants& line, const PartitionedRungeKutta& scheme, double h,
                           std::int64_t sites) {
  SCOPED_TRACE(testing::Message() << "far end " << static_cast<int>(line.far_end) << ", " << scheme.stages()
                                  << " stages, h = " << h << ", " << sites << " sites");
  Course course{line, scheme, h, sites, 2, {}};
  const int limit = block_limit(course);
  ASSERT_GT(limit, 0);
  course.blocks = {limit, 1, limit - 1, 2};
  expect_blocks_to_equal_single_steps(course);
}

// From the shortest lines whose parts are longer than the decay length, for all numbers of streams and of padding sites
// of the last part.
TEST(InCacheImplicitStepper, EqualsSingleSteps) {
  const PartitionedRungeKutta schemes[] = {midpoint, one_stage(0.75, 0.25), one_stage(0.3, 0.7), one_stage(1.0, 1.0),
                                           gauss2};
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    for (const PartitionedRungeKutta& scheme : schemes) {
      if (scheme.stages() > 1 && far_end == FarEnd::matched) continue;
      for (const double h : {1e-5, 0.03, 0.5}) {
        const LineConstants line = constants(far_end);
        std::int64_t shortest = 1;
        while (shortest < 500 && !has_lanes(line, scheme, h, shortest)) ++shortest;
        ASSERT_LT(shortest, 500);
        for (std::int64_t sites = shortest; sites < shortest + 8 * simd_width; ++sites) {
          expect_steps_to_equal(line, scheme, h, sites);
        }
        for (const std::int64_t sites : {501, 800}) expect_steps_to_equal(line, scheme, h, sites);
      }
    }
  }
}

TEST(InCacheImplicitStepper, NeedsPartsLongerThanTheDecayLength) {
  const LineConstants line = constants(FarEnd::fixed);
  EXPECT_TRUE(has_lanes(line, midpoint, 0.1, 25 * simd_width));
  EXPECT_TRUE(has_lanes(line, gauss2, 0.1, 50 * simd_width));
  EXPECT_FALSE(has_lanes(line, midpoint, 0.1, simd_width * LineRecursion::of(line, midpoint, 0.1)->decay_length()));
  EXPECT_FALSE(has_lanes(line, midpoint, 1000.0, 3000));
  EXPECT_FALSE(has_lanes(line, midpoint, 0.1, 1'000'000));
  EXPECT_FALSE(has_lanes(constants(FarEnd::matched), gauss2, 0.1, 1000));
}

/// A particle in a double well with two lines, on one rank.
Scene double_well() {
  Scene scene;
  RandomNumbers random(3);
  scene.system = random_particles(1, 1, random);
  scene.system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Constant(1, 1, -1.0), 1.0);
  scene.lines = {{{{0, 1.0}}, constants(FarEnd::fixed), 500},
                 {{{0, 1.0}}, {.mass = 0.3, .stiffness = 0.4, .far_end = FarEnd::free, .dashpot = 0.0}, 327}};
  return scene;
}

constexpr double h = 0.1;
constexpr int steps = 500;

PhasePoint start_of(const Scene& scene) {
  RandomNumbers random(4);
  return random_point(scene.size(), 0.5, random);
}

class InCacheImplicitStepperWithParticles : public testing::TestWithParam<std::string> {};

// Random round-off of 500 steps grows as their square root for values of order 1; a systematic error of one rounding a
// step would nearly exhaust 1e-13.
TEST_P(InCacheImplicitStepperWithParticles, EqualsPetscLu) {
  const Scene scene = double_well();
  const Scheme& scheme = method_case(GetParam()).scheme;
  Problem problem = make_problem(scene, self_world()), petsc = make_problem(scene, self_world());
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, h);
  std::unique_ptr<Stepper> petsc_stepper;
  {
    const PetscOptionsScope options({{"-ksp_type", "preonly"}, {"-pc_type", "lu"}});
    petsc_stepper = make_stepper(scheme, petsc, h);
  }
  ASSERT_EQ(petsc_stepper->block_granularity(), 1);
  set_state(problem, start_of(scene));
  set_state(petsc, start_of(scene));
  EXPECT_FALSE(stepper->advance(steps));
  EXPECT_FALSE(petsc_stepper->advance(steps));
  const PhasePoint actual = get_state(problem), expected = get_state(petsc);
  EXPECT_LT((actual.u - expected.u).cwiseAbs().maxCoeff(), 1e-13 * expected.u.cwiseAbs().maxCoeff());
  EXPECT_LT((actual.p - expected.p).cwiseAbs().maxCoeff(), 1e-13 * expected.p.cwiseAbs().maxCoeff());
}

TEST_P(InCacheImplicitStepperWithParticles, BitsDoNotDependOnTheBlocks) {
  const Scene scene = double_well();
  const auto end = [&](const std::vector<std::int64_t>& portions) {
    Problem problem = make_problem(scene, self_world());
    set_state(problem, start_of(scene));
    // A new stepper each time, as after a restart.
    for (const std::int64_t portion : portions) {
      EXPECT_FALSE(make_stepper(method_case(GetParam()).scheme, problem, h)->advance(portion));
    }
    return get_state(problem);
  };
  const PhasePoint expected = end({steps});
  for (const std::vector<std::int64_t>& portions : {std::vector<std::int64_t>{1, 2, 3, steps - 6}, {77, steps - 77}}) {
    const PhasePoint actual = end(portions);
    EXPECT_TRUE((actual.u.array() == expected.u.array()).all());
    EXPECT_TRUE((actual.p.array() == expected.p.array()).all());
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, InCacheImplicitStepperWithParticles,
                         testing::Values("gamma(gamma=0.250000)", "gamma(gamma=0.500000)", "implicit-euler",
                                         "gauss(stages=2)"),
                         [](const auto& info) { return "method" + std::to_string(info.index); });

}  // namespace
}  // namespace bathline::in_cache_stepper_test
