// Batches of realisations against a separate stepper for each realisation.
#include "steppers/batch_stepper.hpp"

#include <gtest/gtest.h>

#include "steppers/stepper.hpp"
#include "explicit_schemes.hpp"
#include "model/potentials/catalogue.hpp"
#include "model/potentials/pair_potential_sum.hpp"
#include "quartic_potential.hpp"
#include "scene.hpp"
#include "self_world.hpp"

namespace bathline::batch_stepper_test {
namespace {

constexpr double h = 0.07;
constexpr int steps = 41;

std::shared_ptr<const PairPotential> separation_potential(const char* kind,
                                                          const std::vector<std::pair<const char*, double>>& numbers) {
  Section section;
  section.set("kind", std::string(kind), {});
  for (const auto& [key, number] : numbers) section.set(key, number, {});
  Mistakes mistakes;
  return build_potential(potentials(), section, mistakes);
}

struct Subject {
  std::string name;
  ParticleSystem system;
};

/// Every kind of force, on one to three axes.
std::vector<Subject> subjects() {
  RandomNumbers random(5);
  std::vector<Subject> all;
  const auto add = [&](const char* name, int particles, int axes, std::shared_ptr<const Potential> potential) {
    all.push_back({name, random_particles(particles, axes, random)});
    all.back().system.potential = std::move(potential);
  };
  constexpr int origin = PairPotentialSum::origin;
  using Terms = std::vector<PairPotentialSum::Term>;
  const auto well = separation_potential("double-well", {{"barrier", 0.7}, {"half_distance", 1.3}});
  const auto round_well = separation_potential("double-well", {{"barrier", 0.7}, {"half_distance", 0.5}});
  const auto quartic = separation_potential("quartic", {{"k", 0.7}, {"beta", 0.3}});
  const auto morse = separation_potential("morse", {{"depth", 1.7}, {"width", 0.9}, {"r0", 1.1}});
  const auto fput = separation_potential("fput", {{"k", 1.0}, {"alpha", 0.25}, {"beta", 0.1}});
  const auto spring = separation_potential("harmonic", {{"k", 1.1}, {"rest_length", 0.6}});
  const auto atoms = separation_potential("lennard-jones", {{"epsilon", 0.3}, {"sigma", 0.4}});
  add("double well", 1, 1, std::make_shared<PairPotentialSum>(Terms{{origin, 0, well}}, 1));
  add("double well of power of two", 1, 1, std::make_shared<PairPotentialSum>(Terms{{origin, 0, round_well}}, 1));
  add("three particles, one of them free", 3, 1,
      std::make_shared<PairPotentialSum>(Terms{{origin, 0, quartic}, {0, 1, morse}, {1, origin, fput}}, 1));
  add("two atoms in the plane", 2, 2,
      std::make_shared<PairPotentialSum>(Terms{{0, 1, atoms}, {origin, 0, spring}, {origin, 1, spring}}, 2));
  add("a spring in space", 1, 3, std::make_shared<PairPotentialSum>(Terms{{origin, 0, spring}}, 3));
  add("oscillators", 4, 1, std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Identity(4, 4) * 1.3));
  add("no separation", 2, 1, std::make_shared<QuarticPotential>(Eigen::MatrixXd::Identity(2, 2), 0.4));
  all.back().system.mass = Eigen::VectorXd{{0.5, 4.0}};
  return all;
}

enum class Drag { none, damped, noisy };

std::vector<Problem> realisations(const ParticleSystem& system, Drag drag, std::size_t count) {
  std::vector<Problem> all;
  const int n = system.size();
  RandomNumbers random(17);
  const Eigen::MatrixXd half = random_matrix(n, n, random);
  const Eigen::MatrixXd damping = half * half.transpose();
  for (std::uint32_t r = 0; r < count; ++r) {
    ParticleSystem copy = system;
    for (double& v : copy.v0) v += random.uniform();
    all.emplace_back(copy, drag == Drag::none ? Eigen::MatrixXd(Eigen::MatrixXd::Zero(n, n)) : damping,
                     std::vector<std::unique_ptr<Environment>>(), self_world());
    if (drag == Drag::noisy) all.back().add_noise(0.3 * damping);
    all.back().prepare(3, r);
  }
  return all;
}

TEST(BatchStepper, HasTheBitsOfSeparateSteppers) {
  for (const Subject& subject : subjects()) {
    for (const Drag drag : {Drag::none, Drag::damped, Drag::noisy}) {
      for (const NamedScheme& named : explicit_schemes()) {
        if (!named.is_splitting()) continue;
        for (const std::size_t count : {std::size_t{3}, BatchStepper::max_realisations}) {
          SCOPED_TRACE(testing::Message()
                       << subject.name << ", " << named.name << ", " << count << ", drag " << static_cast<int>(drag));
          std::vector<Problem> expected = realisations(subject.system, drag, count),
                               actual = realisations(subject.system, drag, count);
          const std::unique_ptr<BatchStepper> batch = make_batch_stepper(named.scheme, actual, h);
          ASSERT_NE(batch, nullptr);
          batch->advance(steps / 2);
          batch->advance(steps - steps / 2);
          for (std::size_t r = 0; r < count; ++r) {
            make_stepper(named.scheme, expected[r], h)->advance(steps);
            ASSERT_TRUE(actual[r].q == expected[r].q) << actual[r].q << " for " << expected[r].q;
            ASSERT_TRUE(actual[r].p == expected[r].p);
            ASSERT_TRUE(actual[r].q.allFinite());
            ASSERT_EQ(actual[r].dissipated, expected[r].dissipated);
            ASSERT_EQ(actual[r].clock.steps, expected[r].clock.steps);
          }
        }
      }
    }
  }
}

/// There is no batch stepper for more than kicks and drifts or more than four degrees of freedom.
TEST(BatchStepper, SupportsSmallPlainSplittingsOnly) {
  RandomNumbers random(9);
  const ExplicitScheme verlet =
      splitting({{Substep::Kind::kick, 0.5, true}, {Substep::Kind::drift, 1.0}, {Substep::Kind::kick, 0.5}});
  const auto supports = [&](const ParticleSystem& system, const ExplicitScheme& scheme) {
    std::vector<Problem> problems = realisations(system, Drag::noisy, 1);
    return make_batch_stepper(scheme, problems, h) != nullptr;
  };
  EXPECT_TRUE(supports(random_particles(2, 2, random), verlet));
  EXPECT_FALSE(supports(random_particles(5, 1, random), verlet));
  EXPECT_FALSE(supports(random_particles(2, 1, random), verlet.with_ou_outside()));
  EXPECT_FALSE(supports(random_particles(2, 1, random), runge_kutta({{}}, {1.0})));
  ParticleSystem charge = random_particles(1, 2, random);
  charge.magnetic_field = 0.4;
  EXPECT_FALSE(supports(charge, verlet));
}

}  // namespace
}  // namespace bathline::batch_stepper_test
