// Lines in random states, driven by a head on a given path, advanced by explicit schemes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "explicit_schemes.hpp"
#include "reference_line.hpp"
#include "random_numbers.hpp"
#include "site_table.hpp"

namespace bathline::explicit_course {

inline constexpr int steps = 150;
inline constexpr double h = 0.37;

inline LineConstants constants_with(FarEnd far_end) {
  return {.mass = 1.3, .stiffness = 2.9, .far_end = far_end, .dashpot = 0.0};
}

/// Displacement of the head at a substep along an axis; the path is arbitrary.
inline double head_at(int substep, int axis) { return std::sin(0.11 * substep + axis) + 0.01 * substep; }

struct Start {
  std::vector<double> w, p;  // site by site, axis by axis
};

inline Start random_start(std::int64_t sites, int axes) {
  RandomNumbers random(static_cast<std::uint64_t>(sites));
  const auto count = static_cast<std::size_t>(sites * axes);
  Start start;
  start.w = random.list(count);
  start.p = random.list(count);
  return start;
}

/// Sites that all differ from their neighbours.
inline LineSite nonuniform_site(std::int64_t index) {
  return {1.3 + 0.4 * std::sin(0.7 * static_cast<double>(index)), 2.9 + std::cos(1.1 * static_cast<double>(index))};
}

struct Outcome {
  std::vector<double> w, p, forces;  // on rank 0
  EnvironmentEnergy energy;
};

/// Runs a line in blocks of the given lengths, repeated cyclically, each at most as long as the line allows.
template <class Kind = Line>
Outcome run(const LineConstants& constants, std::int64_t sites, int axes, const ExplicitScheme& scheme,
            const std::vector<int>& blocks, const Communicator& world, const LineOptions& options = {}) {
  Kind line("line", Attachment({{0, 1.0}}, axes), constants, sites, world, options);
  line.prepare({});
  const Start start = random_start(sites, axes);
  line.scatter_state(start.w, start.p);
  const auto environment_stepper = line.explicit_stepper(scheme, h);
  const int limit = environment_stepper->max_block_steps();
  Outcome outcome;
  int done = 0, substeps = 0;
  for (std::size_t block = 0; done < steps; ++block) {
    const int length = std::min({blocks[block % blocks.size()], limit, steps - done});
    environment_stepper->begin_block({.steps = length});
    std::vector<double> head(static_cast<std::size_t>(axes)), force(head);
    for (int step = 0; step < length && world.is_root(); ++step) {
      for (const Substep& substep : scheme.substeps) {
        for (int axis = 0; axis < axes; ++axis) head[static_cast<std::size_t>(axis)] = head_at(substeps, axis);
        environment_stepper->force({head, {}}, force);
        outcome.forces.insert(outcome.forces.end(), force.begin(), force.end());
        environment_stepper->substep(substep, {head, {}});
        ++substeps;
      }
    }
    environment_stepper->end_block();
    done += length;
  }
  const std::vector<double> head(static_cast<std::size_t>(axes), 0.25);
  outcome.energy = line.energy(head);
  line.gather_state(outcome.w, outcome.p);
  return outcome;
}

inline void expect_same_bits(const Outcome& actual, const Outcome& expected) {
  // Not EXPECT_EQ, which would print millions of numbers.
  EXPECT_TRUE(actual.w == expected.w) << "displacements";
  EXPECT_TRUE(actual.p == expected.p) << "momenta";
  EXPECT_TRUE(actual.forces == expected.forces) << "forces on the head";
}

}  // namespace bathline::explicit_course
