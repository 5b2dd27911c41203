// A line driven by a head in random motion, advanced by implicit steps in blocks or one by one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "model/line/line.hpp"
#include "petsc_world.hpp"
#include "random_numbers.hpp"

namespace bathline {

/// One step; the head's `velocities` are stages x axes, and so is the returned force on it, which is known to rank 0.
inline Eigen::MatrixXd step(ImplicitEnvironmentStepper& environment_stepper, const std::vector<double>& head,
                            const Eigen::MatrixXd& velocities) {
  StageResponse response;
  EXPECT_TRUE(environment_stepper.condense(head, response)) << environment_stepper.failure();
  environment_stepper.back_substitute(velocities);
  return test_world().is_root() ? Eigen::MatrixXd(response.constant - response.damping * velocities)
                                : Eigen::MatrixXd();
}

struct Course {
  LineConstants constants;
  PartitionedRungeKutta scheme;
  double h = 0.0;
  std::int64_t sites = 0;
  int axes = 1;
  std::vector<int> blocks;  // their numbers of steps
};

/// Results on rank 0.
struct Outcome {
  std::vector<double> w, p;  // at the end
  std::vector<Eigen::MatrixXd> forces;
  double dissipated = 0.0;
  double energy = 0.0;
};

/// Runs a course from a random state.
inline Outcome outcome(const Course& course, bool in_blocks) {
  Line line("line", Attachment({{0, 1.0}}, course.axes), course.constants, course.sites, test_world());
  line.prepare({});
  RandomNumbers random(23);
  const auto size = static_cast<std::size_t>(course.sites * course.axes);
  const std::vector<double> w = random.list(size), p = random.list(size);
  line.scatter_state(w, p);
  const auto environment_stepper = line.implicit_stepper(course.scheme, course.h);
  Outcome result;
  std::vector<double> head(static_cast<std::size_t>(course.axes));
  Eigen::MatrixXd velocities(course.scheme.stages(), course.axes);
  for (const int steps : course.blocks) {
    EXPECT_LE(steps, std::max(1, environment_stepper->max_block_steps()));
    if (in_blocks) environment_stepper->begin_block({.steps = steps});
    for (int i = 0; i < steps; ++i) {
      for (double& v : velocities.reshaped()) v = random.uniform();
      if (!in_blocks || test_world().is_root()) result.forces.push_back(step(*environment_stepper, head, velocities));
      const Eigen::RowVectorXd moved = course.h * course.scheme.b.transpose() * velocities;
      for (int axis = 0; axis < course.axes; ++axis) head[static_cast<std::size_t>(axis)] += moved[axis];
    }
    if (in_blocks) environment_stepper->end_block();
  }
  line.gather_state(result.w, result.p);
  const EnvironmentEnergy energy = line.energy(head);
  result.dissipated = energy.dissipated;
  result.energy = energy.environment;
  return result;
}

/// Compares the blocks of a course with single steps.
inline void expect_blocks_to_equal_single_steps(const Course& course) {
  const Outcome actual = outcome(course, true), expected = outcome(course, false);
  const auto largest = [](const std::vector<double>& values) {
    double max = 0.0;
    for (const double x : values) max = std::max(max, std::abs(x));
    return max;
  };
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  int steps = 0;
  for (const int block : course.blocks) steps += block;
  // Every step rounds a few values of the largest size, and rounding errors are not damped. The linear system of a long
  // step accumulates those of h w0 sites, and the terms of the partial fractions exceed their sum by a factor that
  // grows with the number of stages.
  const double size = std::sqrt(course.constants.stiffness * course.constants.mass);
  const double accumulation = 1.0 + course.h * course.constants.stiffness / size;
  const double scale = largest(expected.w) + largest(expected.p) / size;
  const double tolerance = 4.0 * course.scheme.stages() * epsilon * steps * scale * accumulation;
  EXPECT_NEAR(actual.dissipated, expected.dissipated, 100.0 * steps * epsilon * (1.0 + expected.dissipated));
  EXPECT_NEAR(actual.energy, expected.energy, 100.0 * steps * epsilon * expected.energy);
  if (!test_world().is_root()) return;
  ASSERT_EQ(actual.w.size(), expected.w.size());
  for (std::size_t j = 0; j < actual.w.size(); ++j) {
    ASSERT_NEAR(actual.w[j], expected.w[j], tolerance) << "of " << actual.w.size() << ", number " << j;
    ASSERT_NEAR(actual.p[j], expected.p[j], tolerance * size) << "of " << actual.w.size() << ", number " << j;
  }
  ASSERT_EQ(actual.forces.size(), expected.forces.size());
  for (std::size_t i = 0; i < actual.forces.size(); ++i) {
    ASSERT_LE((actual.forces[i] - expected.forces[i]).cwiseAbs().maxCoeff(),
              2.0 * course.constants.stiffness * tolerance)
        << i;
  }
}

/// The limit for a line without a state, as in a check of a recipe.
inline int block_limit(const Course& course) {
  Line line("line", Attachment({{0, 1.0}}, course.axes), course.constants, course.sites, test_world());
  return line.implicit_stepper(course.scheme, course.h)->max_block_steps();
}

}  // namespace bathline
