// Explicit steps allocate nothing after the first ones.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>

#include "steppers/stepper.hpp"
#include "explicit_schemes.hpp"
#include "quartic_potential.hpp"
#include "scene.hpp"
#include "self_world.hpp"

#if defined(__SANITIZE_ADDRESS__)  // GCC
#define BATHLINE_HAS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)  // clang
#define BATHLINE_HAS_SANITIZER
#endif
#endif

#if defined(__GLIBC__) && !defined(BATHLINE_HAS_SANITIZER)

namespace {
std::atomic<long> allocations = 0;
}

// new, malloc and Eigen's storage all call this function.
extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* malloc(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}

namespace bathline::allocation_test {
namespace {

long allocations_of(const Scene& scene, const ExplicitScheme& scheme) {
  Problem problem = make_problem(scene, self_world());
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, 0.1);
  stepper->advance(70);
  const long before = allocations;
  stepper->advance(1);
  stepper->advance(300);
  return allocations - before;
}

TEST(Allocation, IsCounted) {
  const long before = allocations;
  const auto number = std::make_unique<int>(1);
  const Eigen::VectorXd vector = Eigen::VectorXd::Zero(5);
  EXPECT_GE(allocations - before, 2) << *number << vector[0];
}

TEST(Allocation, NoneInExplicitStepsOnLines) {
  RandomNumbers random(51);
  Scene scene;
  scene.system = random_particles(2, 2, random);
  scene.system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Identity(4, 4), 0.5);
  scene.lines = {
      {{{0, 1.0}}, {.mass = 1.0, .stiffness = 1.0}, 5000},
      {{{0, 1.0}, {1, -1.0}}, {.mass = 1.0, .stiffness = 1.0, .far_end = FarEnd::matched, .dashpot = 0.0}, 50}};
  for (const NamedScheme& named : explicit_schemes()) EXPECT_EQ(allocations_of(scene, named.scheme), 0) << named.name;
}

TEST(Allocation, NoneInExplicitStepsOfDampedParticles) {
  RandomNumbers random(52);
  Scene scene;
  scene.system = random_particles(3, 1, random);
  const Eigen::MatrixXd half = random_matrix(3, 3, random);
  scene.damping = half * half.transpose();
  for (const NamedScheme& named : explicit_schemes()) EXPECT_EQ(allocations_of(scene, named.scheme), 0) << named.name;
}

}  // namespace
}  // namespace bathline::allocation_test

#else

TEST(Allocation, IsCounted) { GTEST_SKIP() << "only glibc's malloc can be counted, and the sanitizers have their own"; }

#endif
