// Explicit schemes on a line, blocked in time and cut over the ranks, against plain loops over all sites.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "explicit_schemes.hpp"
#include "model/line/line.hpp"
#include "model/line/explicit/tile.hpp"
#include "random_numbers.hpp"
#include "self_world.hpp"
#include "serial_line.hpp"
#include "test_world.hpp"

namespace bathline {
namespace {

constexpr int steps = 150;
constexpr double h = 0.37;

LineConstants constants_with(FarEnd far_end) {
  return {.mass = 1.3, .stiffness = 2.9, .far_end = far_end, .dashpot = 0.0};
}

/// Where the head stands at a substep, and along an axis: any path will do.
double head_at(int substep, int axis) { return std::sin(0.11 * substep + axis) + 0.01 * substep; }

struct Start {
  std::vector<double> w, p;  // site by site, axis by axis
};

Start random_start(std::int64_t sites, int axes) {
  RandomNumbers random(static_cast<std::uint64_t>(sites));
  const auto count = static_cast<std::size_t>(sites * axes);
  Start start;
  start.w = random.list(count);
  start.p = random.list(count);
  return start;
}

/// Every site differs from its neighbours.
LineSite unequal_site(std::int64_t index) {
  return {1.3 + 0.4 * std::sin(0.7 * static_cast<double>(index)), 2.9 + std::cos(1.1 * static_cast<double>(index))};
}

struct Outcome {
  std::vector<double> w, p, forces;  // on rank 0
  EnvironmentEnergy energy;
};

/// Runs a line in blocks of the given lengths, in turn, each cut to what the line allows.
Outcome run(const LineConstants& constants, std::int64_t sites, int axes, const ExplicitScheme& scheme,
            const std::vector<int>& blocks, const Communicator& world, const LineOptions& options = {}) {
  Line line("line", Attachment({{0, 1.0}}, axes), constants, sites, world, options);
  line.prepare({});
  const Start start = random_start(sites, axes);
  line.scatter_state(start.w, start.p);
  const auto march = line.explicit_march(scheme, h);
  const int limit = march->limit();
  Outcome outcome;
  int done = 0, substeps = 0;
  for (std::size_t turn = 0; done < steps; ++turn) {
    const int length = std::min({blocks[turn % blocks.size()], limit, steps - done});
    march->open({.steps = length});
    std::vector<double> head(static_cast<std::size_t>(axes)), force(head);
    for (int step = 0; step < length && world.is_root(); ++step) {
      for (const Substep& substep : scheme.substeps) {
        for (int axis = 0; axis < axes; ++axis) head[static_cast<std::size_t>(axis)] = head_at(substeps, axis);
        march->force({head, {}}, force);
        outcome.forces.insert(outcome.forces.end(), force.begin(), force.end());
        march->substep(substep, {head, {}});
        ++substeps;
      }
    }
    march->close();
    done += length;
  }
  const std::vector<double> head(static_cast<std::size_t>(axes), 0.25);
  outcome.energy = line.energy(head);
  line.gather_state(outcome.w, outcome.p);
  return outcome;
}

/// The same in plain loops.
Outcome run_serially(LineConstants constants, std::int64_t sites, int axes, const ExplicitScheme& scheme,
                     const LineOptions& options = {}) {
  std::vector<double> springs, inverse_masses;
  for (std::int64_t j = 0; j < sites && options.site; ++j) {
    constants.mass = options.site(j).mass;
    constants.stiffness = options.site(j).stiffness;
    springs.push_back(constants.stiffness);
    inverse_masses.push_back(1.0 / constants.mass);
  }
  if (options.site) springs.push_back(constants.stiffness);
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

void expect_same_bits(const Outcome& actual, const Outcome& expected) {
  // Bits, not values: EXPECT_EQ on millions of numbers would print them.
  EXPECT_TRUE(actual.w == expected.w) << "displacements";
  EXPECT_TRUE(actual.p == expected.p) << "momenta";
  EXPECT_TRUE(actual.forces == expected.forces) << "forces on the head";
}

class MpiLineExplicit : public testing::TestWithParam<int> {
 protected:
  const NamedScheme& one() const { return explicit_schemes()[static_cast<std::size_t>(GetParam())]; }
};

TEST_P(MpiLineExplicit, EqualsThePlainLoop) {
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    // On one rank the last three leave nothing, a site and two for a third tile.
    constexpr std::int64_t tiles = 2 * LineTile::capacity;
    for (const std::int64_t sites :
         {1L, 2L, 39L, 40L, 41L, 64L, 127L, 128L, 129L, 500L, 9000L, 9001L, tiles, tiles + 1, tiles + 2}) {
      for (const int axes : {1, 2}) {
        if (axes == 2 && sites > 500 && far_end != FarEnd::matched) continue;
        SCOPED_TRACE(testing::Message() << one().name << ", far end " << static_cast<int>(far_end) << ", " << sites
                                        << " sites, " << axes << " axes");
        const LineConstants constants = constants_with(far_end);
        // Sites of all kinds on every other line.
        LineOptions options;
        if (sites % 2 == 1 || sites == 500) options.site = unequal_site;
        const Outcome actual = run(constants, sites, axes, one().scheme, {1000, 1, 2, 1000}, test_world(), options);
        if (!test_world().is_root()) continue;
        const Outcome expected = run_serially(constants, sites, axes, one().scheme, options);
        if (one().is_splitting()) {
          expect_same_bits(actual, expected);
          EXPECT_EQ(actual.energy.dissipated, expected.energy.dissipated);
        } else {
          expect_close(actual.w, expected.w, "displacements");
          expect_close(actual.p, expected.p, "momenta");
          expect_close(actual.forces, expected.forces, "forces on the head");
          EXPECT_NEAR(actual.energy.dissipated, expected.energy.dissipated, 1e-12 * expected.energy.dissipated);
        }
        if (far_end == FarEnd::matched) {
          EXPECT_NE(actual.energy.dissipated, 0.0);
        }
      }
    }
  }
}

TEST_P(MpiLineExplicit, NeitherBlocksNorRanksChangeABit) {
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::matched}) {
    for (const std::int64_t sites : {2, 131, 500, 4000}) {
      const LineConstants constants = constants_with(far_end);
      const Outcome one_by_one = run(constants, sites, 2, one().scheme, {1}, self_world());
      for (const std::vector<int>& blocks : {std::vector<int>{1}, {1000}, {7, 1, 50}}) {
        SCOPED_TRACE(testing::Message() << one().name << ", " << sites << " sites, blocks of " << blocks.front());
        const Outcome actual = run(constants, sites, 2, one().scheme, blocks, test_world());
        EXPECT_EQ(actual.energy.environment, one_by_one.energy.environment);
        EXPECT_EQ(actual.energy.interaction, one_by_one.energy.interaction);
        EXPECT_EQ(actual.energy.dissipated, one_by_one.energy.dissipated);
        if (test_world().is_root()) expect_same_bits(actual, one_by_one);
      }
    }
  }
}

TEST_P(MpiLineExplicit, ABlockHasManyStepsOnLongLines) {
  // An exchange per step would cost more than the step.
  Line line("line", Attachment({{0, 1.0}}, 1), constants_with(FarEnd::fixed), 100000, test_world());
  const int forces = one().scheme.reach(1), limit = line.explicit_march(one().scheme, h)->limit();
  EXPECT_GE(limit, 64 / forces);
  EXPECT_LE(one().scheme.reach(limit), 64);
}

INSTANTIATE_TEST_SUITE_P(Schemes, MpiLineExplicit, testing::Range(0, static_cast<int>(explicit_schemes().size())),
                         [](const auto& info) { return "scheme" + std::to_string(info.param); });

struct Record {
  std::vector<double> numbers;  // on rank 0
};

enum class Begin { at_rest, anyhow };

/// With steps so short that nothing overflows, in blocks of `length`; the energies are asked for after every `every` of
/// them, the state at the end.
Record record_of(Begin begin, const ExplicitScheme& scheme, std::int64_t sites, int length, int every,
                 const LineOptions& options, const Communicator& world) {
  Line line("line", Attachment({{0, 1.0}}, 2), constants_with(FarEnd::matched), sites, world, options);
  line.prepare({});
  if (begin == Begin::anyhow) {
    const Start start = random_start(sites, 2);
    line.scatter_state(start.w, start.p);
  }
  Record record;
  std::vector<double> head = {0.0, 0.0};
  int substeps = 0;
  const auto march = line.explicit_march(scheme, 0.03125);
  length = std::min(length, march->limit());
  for (int turn = 1; turn <= 24; ++turn) {
    march->open({.steps = length, .wants_energy = turn % every == 0});
    for (int step = 0; step < length && world.is_root(); ++step) {
      for (const Substep& substep : scheme.substeps) {
        for (int axis = 0; axis < 2; ++axis) head[static_cast<std::size_t>(axis)] = head_at(substeps, axis);
        march->substep(substep, {head, {}});
        ++substeps;
      }
    }
    march->close();
    if (turn % every != 0) continue;
    const EnvironmentEnergy energy = line.energy(head);
    record.numbers.insert(record.numbers.end(), {energy.environment, energy.interaction, energy.dissipated});
  }
  std::vector<double> w, p;
  line.gather_state(w, p);
  record.numbers.insert(record.numbers.end(), w.begin(), w.end());
  record.numbers.insert(record.numbers.end(), p.begin(), p.end());
  return record;
}

TEST_P(MpiLineExplicit, LeavingOutWhatRestsChangesNoBit) {
  for (const std::int64_t sites : {1, 50, 700, 9000}) {
    for (const int length : {1, 5, 1000}) {
      SCOPED_TRACE(testing::Message() << one().name << ", " << sites << " sites, blocks of " << length);
      LineOptions options;
      if (length == 5) options.site = unequal_site;
      options.skip_resting = false;
      const Record all = record_of(Begin::at_rest, one().scheme, sites, length, 1, options, test_world());
      options.skip_resting = true;
      const Record skipped = record_of(Begin::at_rest, one().scheme, sites, length, 1, options, test_world());
      EXPECT_TRUE(skipped.numbers == all.numbers);
    }
  }
}

// The force on the head is what it is with all sites, to the bit, up to the last step; what cannot reach the head any
// more has been left behind.
TEST_P(MpiLineExplicit, LeavingOutWhatComesTooLateChangesNoBitOfTheForce) {
  constexpr int all_steps = 200;
  for (const std::int64_t sites : {1, 50, 700, 9000}) {
    for (const int length : {1, 5, 1000}) {
      SCOPED_TRACE(testing::Message() << one().name << ", " << sites << " sites, blocks of " << length);
      LineOptions options;
      if (length == 5) options.site = unequal_site;
      const auto forces = [&](bool foresees, std::vector<double>& w) {
        Line line("line", Attachment({{0, 1.0}}, 1), constants_with(FarEnd::fixed), sites, test_world(), options);
        line.prepare({});
        const Start start = random_start(sites, 1);
        line.scatter_state(start.w, start.p);
        std::vector<double> all, head = {0.0}, force = {0.0};
        const auto march = line.explicit_march(one().scheme, 0.03125);
        int substeps = 0;
        for (int done = 0; done < all_steps;) {
          BlockPlan plan{.steps = std::min({length, march->limit(), all_steps - done})};
          if (foresees) plan.steps_left = all_steps - done - plan.steps;
          march->open(plan);
          for (int step = 0; step < plan.steps && test_world().is_root(); ++step) {
            for (const Substep& substep : one().scheme.substeps) {
              head[0] = head_at(substeps++, 0);
              march->force({head, {}}, force);
              all.push_back(force[0]);
              march->substep(substep, {head, {}});
            }
          }
          march->close();
          done += plan.steps;
        }
        if (test_world().is_root()) {
          line.force(head, force);
          all.push_back(force[0]);
        }
        std::vector<double> p;
        line.gather_state(w, p);
        return all;
      };
      std::vector<double> w, w_left;
      EXPECT_TRUE(forces(true, w_left) == forces(false, w));
      if (test_world().is_root() && sites == 9000) {
        // The last site is what it was at the start.
        EXPECT_EQ(w_left.back(), random_start(sites, 1).w.back());
        EXPECT_NE(w.back(), w_left.back());
      }
    }
  }
}

// A block whose energies will be asked for adds them up on its way, any other does not.
TEST_P(MpiLineExplicit, EnergiesAreTheSameHoweverTheyAreAddedUp) {
  for (const std::int64_t sites : {2, 700, 4096, 9001}) {
    SCOPED_TRACE(testing::Message() << one().name << ", " << sites << " sites");
    const LineOptions options{.site = unequal_site, .skip_resting = false};
    const Record each = record_of(Begin::anyhow, one().scheme, sites, 1000, 1, options, test_world());
    const Record second = record_of(Begin::anyhow, one().scheme, sites, 1000, 2, options, self_world());
    if (!test_world().is_root()) continue;
    for (std::size_t turn = 2; turn <= 24; turn += 2) {
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(each.numbers[3 * (turn - 1) + i], second.numbers[3 * (turn / 2 - 1) + i]);
      }
    }
  }
}

// The same line may be advanced by one scheme after another, whatever storage each of them needs.
TEST(MpiLineExplicitSchemes, TakeTurns) {
  const LineConstants constants = constants_with(FarEnd::free);
  constexpr std::int64_t sites = 200;
  Line line("line", Attachment({{0, 1.0}}, 1), constants, sites, test_world());
  line.prepare({});
  const Start start = random_start(sites, 1);
  line.scatter_state(start.w, start.p);
  SerialLine serial(constants, 0.0, start.w, start.p);
  for (int turn = 0; turn < 3; ++turn) {
    for (const NamedScheme& one : explicit_schemes()) {
      const ExplicitScheme& scheme = one.scheme;
      const auto march = line.explicit_march(scheme, h);
      const int length = std::min(3, march->limit());
      march->open({.steps = length});
      for (int step = 0; step < length; ++step) {
        for (const Substep& substep : scheme.substeps) {
          const double head[] = {0.1};
          if (test_world().is_root()) march->substep(substep, {head, {}});
          serial.substep(substep, scheme, h, 0.1);
        }
      }
      march->close();
    }
  }
  std::vector<double> w, p;
  line.gather_state(w, p);
  if (!test_world().is_root()) return;
  expect_close(w, serial.w, "displacements");
  expect_close(p, serial.p, "momenta");
}

}  // namespace
}  // namespace bathline
