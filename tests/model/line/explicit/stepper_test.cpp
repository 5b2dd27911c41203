// Explicit schemes on a line, blocked in time and cut over the ranks, against the reference march.
#include <array>

#include "course.hpp"
#include "model/line/explicit/skewed_tile.hpp"
#include "on_rank_zero.hpp"
#include "self_world.hpp"
#include "test_world.hpp"

namespace bathline::explicit_march_test {
namespace {

using namespace explicit_course;

class MpiLineExplicit : public testing::TestWithParam<int> {
 protected:
  const NamedScheme& one() const { return explicit_schemes()[static_cast<std::size_t>(GetParam())]; }
};

TEST_P(MpiLineExplicit, EqualsTheReference) {
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    // On one rank the last three leave nothing, a site and two for a third tile.
    constexpr std::int64_t tiles = 2 * tile_capacity;
    for (const std::int64_t sites : {1L,   2L,   39L,  40L,  41L,  64L,   87L,   88L,   100L,      127L,
                                     128L, 129L, 256L, 257L, 500L, 9000L, 9001L, tiles, tiles + 1, tiles + 2}) {
      for (const int axes : {1, 2}) {
        if (axes == 2 && sites > 500 && far_end != FarEnd::matched) continue;
        SCOPED_TRACE(testing::Message() << one().name << ", far end " << static_cast<int>(far_end) << ", " << sites
                                        << " sites, " << axes << " axes");
        const LineConstants constants = constants_with(far_end);
        // Sites of all kinds on every other line.
        LineOptions options;
        if (sites % 2 == 1 || sites == 500) options.site = nonuniform_site;
        const Outcome actual = run(constants, sites, axes, one().scheme, {1000, 1, 2, 1000}, test_world(), options);
        on_rank_zero([&] {
          options.by_reference = true;
          const Outcome expected = run(constants, sites, axes, one().scheme, {1000}, self_world(), options);
          expect_same_bits(actual, expected);
          EXPECT_EQ(actual.energy.environment, expected.energy.environment);
          EXPECT_EQ(actual.energy.interaction, expected.energy.interaction);
          EXPECT_EQ(actual.energy.dissipated, expected.energy.dissipated);
          if (far_end == FarEnd::matched) {
            EXPECT_NE(actual.energy.dissipated, 0.0);
          }
        });
      }
    }
  }
}

/// Of a line in single steps that rank 0 alone takes; the energies of all ranks.
Outcome run_one_by_one(const LineConstants& constants, std::int64_t sites, int axes, const ExplicitScheme& scheme) {
  Outcome outcome;
  on_rank_zero([&] { outcome = run(constants, sites, axes, scheme, {1}, self_world()); });
  EnvironmentEnergy& energy = outcome.energy;
  std::array<double, 3> terms = {energy.environment, energy.interaction, energy.dissipated};
  test_world().broadcast(std::span<double>(terms));
  energy.environment = terms[0];
  energy.interaction = terms[1];
  energy.dissipated = terms[2];
  return outcome;
}

TEST_P(MpiLineExplicit, NeitherBlocksNorRanksChangeABit) {
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::matched}) {
    for (const std::int64_t sites : {2, 131, 500, 4000}) {
      const LineConstants constants = constants_with(far_end);
      const Outcome one_by_one = run_one_by_one(constants, sites, 2, one().scheme);
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
  const int forces = one().scheme.reach(1), limit = line.explicit_stepper(one().scheme, h)->max_block_steps();
  EXPECT_GE(limit, 64 / forces);
  EXPECT_LE(one().scheme.reach(limit), 64);
  EXPECT_GT(one().scheme.reach(limit + 1), 64);
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
  const auto environment_stepper = line.explicit_stepper(scheme, 0.03125);
  // What rests may have other limits than what moves, and is to take the same steps.
  length = std::min({length, environment_stepper->max_block_steps(), std::max(1, 64 / scheme.reach(1))});
  for (int turn = 1; turn <= 24; ++turn) {
    environment_stepper->begin_block({.steps = length, .wants_energy = turn % every == 0});
    for (int step = 0; step < length && world.is_root(); ++step) {
      for (const Substep& substep : scheme.substeps) {
        for (int axis = 0; axis < 2; ++axis) head[static_cast<std::size_t>(axis)] = head_at(substeps, axis);
        environment_stepper->substep(substep, {head, {}});
        ++substeps;
      }
    }
    environment_stepper->end_block();
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
      if (length == 5) options.site = nonuniform_site;
      options.skip_resting = false;
      const Record all = record_of(Begin::at_rest, one().scheme, sites, length, 1, options, test_world());
      options.skip_resting = true;
      const Record skipped = record_of(Begin::at_rest, one().scheme, sites, length, 1, options, test_world());
      EXPECT_TRUE(skipped.numbers == all.numbers);
    }
  }
}

/// All of a shorter line may be computed.
constexpr std::int64_t longer_than_caches = 60'000;

// The force on the head is what it is with all sites, to the bit, up to the last step; what cannot reach the head any
// more has been left behind.
TEST_P(MpiLineExplicit, LeavingOutWhatComesTooLateChangesNoBitOfTheForce) {
  constexpr int all_steps = 200;
  for (const std::int64_t sites : {1L, 50L, 700L, longer_than_caches}) {
    for (const int length : {1, 5, 1000}) {
      SCOPED_TRACE(testing::Message() << one().name << ", " << sites << " sites, blocks of " << length);
      LineOptions options;
      if (length == 5) options.site = nonuniform_site;
      const auto forces = [&](bool foresees, std::vector<double>& w) {
        Line line("line", Attachment({{0, 1.0}}, 1), constants_with(FarEnd::fixed), sites, test_world(), options);
        line.prepare({});
        const Start start = random_start(sites, 1);
        line.scatter_state(start.w, start.p);
        std::vector<double> all, head = {0.0}, force = {0.0};
        const auto environment_stepper = line.explicit_stepper(one().scheme, 0.03125);
        int substeps = 0;
        for (int done = 0; done < all_steps;) {
          BlockPlan plan{.steps = std::min({length, environment_stepper->max_block_steps(), all_steps - done})};
          if (foresees) plan.steps_left = all_steps - done - plan.steps;
          environment_stepper->begin_block(plan);
          for (int step = 0; step < plan.steps && test_world().is_root(); ++step) {
            for (const Substep& substep : one().scheme.substeps) {
              head[0] = head_at(substeps++, 0);
              environment_stepper->force({head, {}}, force);
              all.push_back(force[0]);
              environment_stepper->substep(substep, {head, {}});
            }
          }
          environment_stepper->end_block();
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
      if (test_world().is_root() && sites == longer_than_caches) {
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
    const LineOptions options{.site = nonuniform_site, .skip_resting = false};
    const Record each = record_of(Begin::anyhow, one().scheme, sites, 1000, 1, options, test_world());
    on_rank_zero([&] {
      const Record second = record_of(Begin::anyhow, one().scheme, sites, 1000, 2, options, self_world());
      for (std::size_t turn = 2; turn <= 24; turn += 2) {
        for (std::size_t i = 0; i < 3; ++i) {
          EXPECT_EQ(each.numbers[3 * (turn - 1) + i], second.numbers[3 * (turn / 2 - 1) + i]);
        }
      }
    });
  }
}

// The same line may be advanced by one scheme after another, whatever storage each of them needs.
TEST(MpiLineExplicitSchemes, TakeTurns) {
  const LineConstants constants = constants_with(FarEnd::free);
  constexpr std::int64_t sites = 200;
  Line line("line", Attachment({{0, 1.0}}, 1), constants, sites, test_world());
  Line reference("line", Attachment({{0, 1.0}}, 1), constants, sites, self_world(), {.by_reference = true});
  const Start start = random_start(sites, 1);
  for (Line* one : {&line, &reference}) {
    one->prepare({});
    one->scatter_state(start.w, start.p);
  }
  for (int turn = 0; turn < 3; ++turn) {
    for (const NamedScheme& one : explicit_schemes()) {
      const ExplicitScheme& scheme = one.scheme;
      const auto environment_stepper = line.explicit_stepper(scheme, h);
      const auto slow = reference.explicit_stepper(scheme, h);
      const int length = std::min(3, environment_stepper->max_block_steps());
      environment_stepper->begin_block({.steps = length});
      slow->begin_block({.steps = length});
      for (int step = 0; step < length; ++step) {
        for (const Substep& substep : scheme.substeps) {
          const double head[] = {0.1};
          if (test_world().is_root()) environment_stepper->substep(substep, {head, {}});
          slow->substep(substep, {head, {}});
        }
      }
      environment_stepper->end_block();
      slow->end_block();
    }
  }
  Outcome actual, expected;
  line.gather_state(actual.w, actual.p);
  reference.gather_state(expected.w, expected.p);
  if (test_world().is_root()) expect_same_bits(actual, expected);
}

}  // namespace
}  // namespace bathline::explicit_march_test
