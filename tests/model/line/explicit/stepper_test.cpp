// Explicit schemes on a line, blocked in time and distributed over the ranks, against the reference stepper.
#include <array>

#include "course.hpp"
#include "model/line/explicit/skewed_tile.hpp"
#include "on_rank_zero.hpp"
#include "rank_subset.hpp"
#include "self_world.hpp"
#include "test_world.hpp"

namespace bathline::explicit_stepper_test {
namespace {

using namespace explicit_course;

class MpiLineExplicit : public testing::TestWithParam<int> {
 protected:
  const NamedScheme& this_case() const { return explicit_schemes()[static_cast<std::size_t>(GetParam())]; }
};

TEST_P(MpiLineExplicit, EqualsTheReference) {
  RankSubset lines(3);
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    // On one rank the last three leave 0, 1 and 2 sites for a third tile.
    constexpr std::int64_t tiles = 2 * tile_capacity;
    for (const std::int64_t sites : {1L,   2L,   39L,  40L,  41L,  64L,   87L,   88L,   100L,      127L,
                                     128L, 129L, 256L, 257L, 500L, 9000L, 9001L, tiles, tiles + 1, tiles + 2}) {
      for (const int axes : {1, 2}) {
        if (axes == 2 && sites > 500 && far_end != FarEnd::matched) continue;
        if (!lines.takes_next()) continue;
        SCOPED_TRACE(testing::Message() << this_case().name << ", far end " << static_cast<int>(far_end) << ", "
                                        << sites << " sites, " << axes << " axes");
        const LineConstants constants = constants_with(far_end);
        // Every other line is nonuniform.
        LineOptions options;
        if (sites % 2 == 1 || sites == 500) options.table = site_table(nonuniform_site);
        const Outcome actual =
            run(constants, sites, axes, this_case().scheme, {1000, 1, 2, 1000}, test_world(), options);
        on_rank_zero([&] {
          const Outcome expected =
              run<ReferenceLine>(constants, sites, axes, this_case().scheme, {1000}, self_world(), options);
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

/// A line on rank 0 alone, in blocks of one step; the energies are known on all ranks.
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
      const Outcome one_by_one = run_one_by_one(constants, sites, 2, this_case().scheme);
      for (const std::vector<int>& blocks : {std::vector<int>{1}, {1000}, {7, 1, 50}}) {
        SCOPED_TRACE(testing::Message() << this_case().name << ", " << sites << " sites, blocks of " << blocks.front());
        const Outcome actual = run(constants, sites, 2, this_case().scheme, blocks, test_world());
        EXPECT_EQ(actual.energy.environment, one_by_one.energy.environment);
        EXPECT_EQ(actual.energy.interaction, one_by_one.energy.interaction);
        EXPECT_EQ(actual.energy.dissipated, one_by_one.energy.dissipated);
        if (test_world().is_root()) expect_same_bits(actual, one_by_one);
      }
    }
  }
}

TEST_P(MpiLineExplicit, ABlockHasManyStepsOnLongLines) {
  // As an exchange costs more than a step.
  Line line("line", Attachment({{0, 1.0}}, 1), constants_with(FarEnd::fixed), 100000, test_world());
  // Compositions of many kicks reach far in one step.
  if (this_case().scheme.reach(1) > 16) return;
  EXPECT_GT(line.explicit_stepper(this_case().scheme, h)->max_block_steps(), 1);
}

INSTANTIATE_TEST_SUITE_P(Schemes, MpiLineExplicit, testing::Range(0, static_cast<int>(explicit_schemes().size())),
                         [](const auto& info) { return "scheme" + std::to_string(info.param); });

struct Record {
  std::vector<double> numbers;  // on rank 0
};

enum class InitialState { at_rest, random };

/// A run in blocks of `length` steps, which are so short that nothing overflows: the energies after every `every`
/// blocks, then the final state.
Record make_record(InitialState initial_state, const ExplicitScheme& scheme, std::int64_t sites, int length, int every,
                   const LineOptions& options, const Communicator& world) {
  Line line("line", Attachment({{0, 1.0}}, 2), constants_with(FarEnd::matched), sites, world, options);
  line.prepare({});
  if (initial_state == InitialState::random) {
    const Start start = random_start(sites, 2);
    line.scatter_state(start.w, start.p);
  }
  Record record;
  std::vector<double> head = {0.0, 0.0};
  int substeps = 0;
  const auto environment_stepper = line.explicit_stepper(scheme, 0.03125);
  // The limit may depend on the sites at rest; all runs must take the same steps.
  length = std::min({length, environment_stepper->max_block_steps(), std::max(1, 64 / scheme.reach(1))});
  for (int block = 1; block <= 24; ++block) {
    environment_stepper->begin_block({.steps = length, .wants_energy = block % every == 0});
    for (int step = 0; step < length && world.is_root(); ++step) {
      for (const Substep& substep : scheme.substeps) {
        for (int axis = 0; axis < 2; ++axis) head[static_cast<std::size_t>(axis)] = head_at(substeps, axis);
        environment_stepper->substep(substep, {head, {}});
        ++substeps;
      }
    }
    environment_stepper->end_block();
    if (block % every != 0) continue;
    const EnvironmentEnergy energy = line.energy(head);
    record.numbers.insert(record.numbers.end(), {energy.environment, energy.interaction, energy.dissipated});
  }
  std::vector<double> w, p;
  line.gather_state(w, p);
  record.numbers.insert(record.numbers.end(), w.begin(), w.end());
  record.numbers.insert(record.numbers.end(), p.begin(), p.end());
  return record;
}

TEST_P(MpiLineExplicit, SkippingSitesAtRestChangesNoBit) {
  for (const std::int64_t sites : {1, 50, 700, 9000}) {
    for (const int length : {1, 5, 1000}) {
      SCOPED_TRACE(testing::Message() << this_case().name << ", " << sites << " sites, blocks of " << length);
      LineOptions options;
      if (length == 5) options.table = site_table(nonuniform_site);
      options.skip_resting = false;
      const Record all =
          make_record(InitialState::at_rest, this_case().scheme, sites, length, 1, options, test_world());
      options.skip_resting = true;
      const Record skipped =
          make_record(InitialState::at_rest, this_case().scheme, sites, length, 1, options, test_world());
      EXPECT_TRUE(skipped.numbers == all.numbers);
    }
  }
}

/// On shorter lines no site may be skipped.
constexpr std::int64_t longer_than_caches = 60'000;

// With `steps_left` the force on the head keeps its bits up to the last step, and sites that cannot influence it are
// skipped.
TEST_P(MpiLineExplicit, SkippingSitesOutOfReachChangesNoBitOfTheForce) {
  constexpr int all_steps = 200;
  for (const std::int64_t sites : {1L, 50L, 700L, longer_than_caches}) {
    for (const int length : {1, 5, 1000}) {
      SCOPED_TRACE(testing::Message() << this_case().name << ", " << sites << " sites, blocks of " << length);
      LineOptions options;
      if (length == 5) options.table = site_table(nonuniform_site);
      const auto forces = [&](bool with_steps_left, std::vector<double>& w) {
        Line line("line", Attachment({{0, 1.0}}, 1), constants_with(FarEnd::fixed), sites, test_world(), options);
        line.prepare({});
        const Start start = random_start(sites, 1);
        line.scatter_state(start.w, start.p);
        std::vector<double> all, head = {0.0}, force = {0.0};
        const auto environment_stepper = line.explicit_stepper(this_case().scheme, 0.03125);
        int substeps = 0;
        for (int done = 0; done < all_steps;) {
          BlockPlan plan{.steps = std::min({length, environment_stepper->max_block_steps(), all_steps - done})};
          if (with_steps_left) plan.steps_left = all_steps - done - plan.steps;
          environment_stepper->begin_block(plan);
          for (int step = 0; step < plan.steps && test_world().is_root(); ++step) {
            for (const Substep& substep : this_case().scheme.substeps) {
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
      std::vector<double> w, w_skipped;
      EXPECT_TRUE(forces(true, w_skipped) == forces(false, w));
      if (test_world().is_root() && sites == longer_than_caches) {
        // The last site has not moved.
        EXPECT_EQ(w_skipped.back(), random_start(sites, 1).w.back());
        EXPECT_NE(w.back(), w_skipped.back());
      }
    }
  }
}

// With `wants_energy` a block sums the energies as it advances; otherwise they are summed afterwards.
TEST_P(MpiLineExplicit, EnergiesDoNotDependOnWhenTheyAreSummed) {
  for (const std::int64_t sites : {2, 700, 4096, 9001}) {
    SCOPED_TRACE(testing::Message() << this_case().name << ", " << sites << " sites");
    const LineOptions options{.table = site_table(nonuniform_site), .skip_resting = false};
    const Record each = make_record(InitialState::random, this_case().scheme, sites, 1000, 1, options, test_world());
    on_rank_zero([&] {
      const Record second =
          make_record(InitialState::random, this_case().scheme, sites, 1000, 2, options, self_world());
      for (std::size_t block = 2; block <= 24; block += 2) {
        for (std::size_t i = 0; i < 3; ++i) {
          EXPECT_EQ(each.numbers[3 * (block - 1) + i], second.numbers[3 * (block / 2 - 1) + i]);
        }
      }
    });
  }
}

// A line may be advanced by different schemes alternately.
TEST(MpiLineExplicitSchemes, MayAlternate) {
  const LineConstants constants = constants_with(FarEnd::free);
  constexpr std::int64_t sites = 200;
  Line line("line", Attachment({{0, 1.0}}, 1), constants, sites, test_world());
  ReferenceLine reference("line", Attachment({{0, 1.0}}, 1), constants, sites, self_world());
  const Start start = random_start(sites, 1);
  for (Line* each : {&line, static_cast<Line*>(&reference)}) {
    each->prepare({});
    each->scatter_state(start.w, start.p);
  }
  for (int round = 0; round < 3; ++round) {
    for (const NamedScheme& named : explicit_schemes()) {
      const ExplicitScheme& scheme = named.scheme;
      const auto environment_stepper = line.explicit_stepper(scheme, h);
      const auto reference_stepper = reference.explicit_stepper(scheme, h);
      const int length = std::min(3, environment_stepper->max_block_steps());
      environment_stepper->begin_block({.steps = length});
      reference_stepper->begin_block({.steps = length});
      for (int step = 0; step < length; ++step) {
        for (const Substep& substep : scheme.substeps) {
          const double head[] = {0.1};
          if (test_world().is_root()) environment_stepper->substep(substep, {head, {}});
          reference_stepper->substep(substep, {head, {}});
        }
      }
      environment_stepper->end_block();
      reference_stepper->end_block();
    }
  }
  Outcome actual, expected;
  line.gather_state(actual.w, actual.p);
  reference.gather_state(expected.w, expected.p);
  if (test_world().is_root()) expect_same_bits(actual, expected);
}

}  // namespace
}  // namespace bathline::explicit_stepper_test
