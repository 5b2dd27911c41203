// Heat currents, temperature profiles and conductivities of chains between baths.
//
// All realisations advance by one block of time after the other; the means of a block over the realisations are a row
// of a table, from which everything follows at the end. Realisations are distributed over the ranks, and their means
// added in their order, so that the bits depend neither on the number of ranks nor on restarts between blocks.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "driver/rank_failure.hpp"
#include "driver/resumable_tasks.hpp"
#include "parallel/memory_budget.hpp"
#include "study/catalogue.hpp"
#include "study/shared_checks.hpp"
#include "study/transport/realisation.hpp"
#include "study/transport/results.hpp"

namespace bathline {

namespace {

std::size_t columns_of(std::span<const Chain> chains) { return chains.empty() ? 0 : chains.back().end_column(); }

class TransportStudy final : public Study {
 public:
  TransportStudy(const Recipe& recipe, const Experiment& experiment, TransportOptions options)
      : recipe_(recipe),
        experiment_(experiment),
        options_(std::move(options)),
        world_(experiment.communicator()),
        teams_(static_cast<int>(std::min<std::int64_t>(options_.realisations, world_.size()))),
        team_(static_cast<int>(static_cast<std::int64_t>(world_.rank()) * teams_ / world_.size())),
        local_(world_.split(team_)) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    const CheckpointReader* from = checkpoints.from();
    if (from != nullptr) {
      restore_from(from, [&] { serialise_tables(Archive(*from, "transport")); });
      file.remove("transport");  // is written again
    }
    const std::size_t complete = tables_.empty() ? 0 : tables_.size() - 1;
    CheckpointPoints checkpoint_points(checkpoints);
    std::int64_t steps_before = 0;
    for (std::size_t i = 0; i < experiment_.cases().size(); ++i) {
      const Case& this_case = experiment_.cases()[i];
      const std::vector<Chain> chains = chains_of(this_case);
      if (i == tables_.size()) tables_.emplace_back(columns_of(chains));
      TransportBlocks blocks{this_case,
                             chains,
                             options_.realisations,
                             static_cast<double>(block_steps(this_case)) * this_case.step,
                             static_cast<double>(experiment_.output().every) * this_case.step,
                             std::move(tables_[i])};
      if (i >= complete) {
        const auto failure =
            run_case(blocks, i == complete ? from : nullptr, steps_before, progress, checkpoint_points);
        if (failure) return CaseFailure{this_case.name, *failure};
      }
      if (!find_steady_blocks(blocks).is_steady && i >= complete && world_.is_root())
        spdlog::warn(
            "{}: the motion is not steady: the currents or temperatures of both halves of the second half of "
            "the run differ, or the chain still takes up heat; raise `end`",
            this_case.name);
      broadcast(blocks.table);
      write_transport(blocks, options_, file);
      file.flush();
      tables_[i] = std::move(blocks.table);
      steps_before += static_cast<std::int64_t>(tables_[i].rows()) * block_steps(this_case);
    }
    return std::nullopt;
  }

 private:
  std::vector<Chain> chains_of(const Case& this_case) const {
    Mistakes none;
    return find_chains(this_case, experiment_.make_problem(this_case), experiment_.output().every, options_, recipe_,
                       none);
  }
  std::int64_t observations(const Case& this_case) const {
    return this_case.steps / (options_.blocks * experiment_.output().every);
  }
  std::int64_t block_steps(const Case& this_case) const { return observations(this_case) * experiment_.output().every; }
  std::int64_t first_of(int team) const { return options_.realisations * team / teams_; }

  std::optional<Failure> run_case(TransportBlocks& blocks, const CheckpointReader* from, std::int64_t steps_before,
                                  Progress& progress, CheckpointPoints& checkpoint_points) {
    const Case& this_case = blocks.this_case;
    const std::int64_t steps = block_steps(this_case), first = first_of(team_), end = first_of(team_ + 1);
    std::vector<std::unique_ptr<TransportRealisation>> own;
    for (std::int64_t number = first; number < end; ++number) {
      own.push_back(std::make_unique<TransportRealisation>(experiment_, this_case, static_cast<std::uint32_t>(number),
                                                           local_, blocks.chains));
    }
    const auto done = [&] { return steps * static_cast<std::int64_t>(blocks.table.rows()); };
    const auto serialise = [&](Archive archive) {
      for (std::int64_t number = 0; number < options_.realisations; ++number) {
        const bool is_own = number >= first && number < end;
        own[static_cast<std::size_t>(is_own ? number - first : 0)]->serialise(
            archive.group(fmt::format("realisation-{}", number)), done(), is_own, world_);
      }
    };
    if (from != nullptr) restore_from(from, [&] { serialise(Archive(*from, "transport")); });
    ProgressUnit unit;
    for (const Chain& chain : blocks.chains) unit.sites += options_.realisations * chain.places;
    progress.begin(this_case.name, options_.blocks * steps, unit);
    progress.skip(done());
    while (static_cast<std::int64_t>(blocks.table.rows()) < options_.blocks && !is_accurate(blocks)) {
      checkpoint_points.checkpoint_if_due(this_case.name, steps_before + done(), steps, [&](CheckpointWriter& writer) {
        // The table of this case is that of the blocks.
        std::swap(tables_.back(), blocks.table);
        serialise_tables(Archive(writer, "transport"));
        std::swap(tables_.back(), blocks.table);
        serialise(Archive(writer, "transport"));
      });
      std::vector<double> rows;
      std::optional<Failure> failure;
      for (std::size_t i = 0; i < own.size() && !failure; ++i)
        failure = own[i]->advance(observations(this_case), experiment_.output().every, rows);
      if (std::optional<Failure> any = any_rank_failure(world_, failure)) return any;
      blocks.table.add(mean_over_realisations(world_.gather(rows), blocks.table.columns()));
      progress.update(done(), note_on(blocks));
    }
    progress.end();
    return std::nullopt;
  }

  /// The rows of all realisations, in their order, as one; on rank 0. Elsewhere zeros, which keep the number of rows.
  std::vector<double> mean_over_realisations(std::span<const double> rows, std::size_t columns) const {
    std::vector<double> mean(columns);
    for (std::size_t i = 0; i < rows.size(); ++i) mean[i % columns] += rows[i];
    for (double& value : mean) value /= static_cast<double>(options_.realisations);
    return mean;
  }

  /// Whether the wanted error is reached. @note Collective.
  bool is_accurate(const TransportBlocks& blocks) const {
    if (!options_.until_error) return false;
    bool is_reached = false;
    if (world_.is_root() && find_steady_blocks(blocks).is_steady)
      is_reached = find_worst_result(blocks)->relative_error() <= *options_.until_error;
    return world_.broadcast(is_reached);
  }

  std::string note_on(const TransportBlocks& blocks) const {
    if (!world_.is_root()) return "";
    const std::optional<WorstResult> worst = find_worst_result(blocks);
    if (!worst) return "";
    return fmt::format("{} {:.5g} +- {:.2g}", worst->name, worst->mean.value, worst->mean.error);
  }

  /// @note Collective.
  void broadcast(BlockTable& table) const { world_.broadcast(std::span<double>(table.numbers())); }

  /// Saves or restores the tables of all cases so far. @note Collective.
  void serialise_tables(Archive archive) {
    auto cases = static_cast<std::int64_t>(tables_.size());
    archive.counts("progress", {&cases});
    if (static_cast<std::size_t>(cases) > experiment_.cases().size()) throw std::out_of_range("progress");
    for (std::size_t i = 0; i < static_cast<std::size_t>(cases); ++i) {
      if (archive.is_reading()) tables_.emplace_back(columns_of(chains_of(experiment_.cases()[i])));
      std::vector<double>& numbers = tables_[i].numbers();
      archive.numbers(fmt::format("blocks-{}", i), numbers);
      if (numbers.size() % tables_[i].columns() != 0) throw std::out_of_range("blocks");
    }
  }

  Recipe recipe_;
  const Experiment& experiment_;
  TransportOptions options_;
  Communicator world_;
  int teams_, team_;
  Communicator local_;
  std::vector<BlockTable> tables_;  // of every case so far, valid on rank 0
};

/// Why the chains of a series do not make one in a case; empty where they do.
std::string refusal_of(const TransportSeries& series, const std::vector<Chain>& chains) {
  std::set<std::int64_t> lengths;
  for (const std::string& name : series.chains) {
    const auto chain = std::ranges::find(chains, name, &Chain::name);
    if (chain == chains.end()) return fmt::format("`{}` is no chain between two particles", name);
    if (!chain->is_driven()) return fmt::format("`{}` has no difference of temperatures", name);
    if (!lengths.insert(chain->places).second)
      return fmt::format("`{}` has the length of another chain of the series", name);
  }
  return "";
}

/// Reads the series, each of chains of at least one case.
void read_series(const Section& study, const std::vector<std::vector<Chain>>& cases, TransportOptions& options,
                 Mistakes& mistakes) {
  if (!study.has("series")) return;
  for (const Section& table : study.tables("series")) {
    const TransportSeries series{table.text("name"), table.texts("chains")};
    std::string refusal = series.chains.size() < 2 ? "a series has the names of at least two chains" : "";
    bool is_in_case = false;
    for (std::size_t i = 0; i < cases.size() && refusal.empty() && !is_in_case; ++i) {
      const std::string of_case = refusal_of(series, cases[i]);
      is_in_case = of_case.empty();
      if (i + 1 == cases.size()) refusal = of_case;
    }
    if (!refusal.empty()) mistakes.add(table.where("chains"), refusal);
    for (const std::vector<Chain>& chains : cases) {
      if (std::ranges::find(chains, series.name, &Chain::name) == chains.end()) continue;
      mistakes.add(table.where("name"), fmt::format("`{}` is the name of a chain, whose results are in a group of this "
                                                    "name; choose another one",
                                                    series.name));
      break;
    }
    options.series.push_back(series);
  }
}

/// Checks what a case has to be to be observed.
void check_case(const Recipe& recipe, const Experiment& experiment, const Case& this_case,
                const TransportOptions& options, Mistakes& mistakes) {
  if (!begins_and_ends_with_half_kicks(this_case.scheme)) {
    mistakes.add(this_case.options.where("method"),
                 fmt::format("{}: transport is observed under steps that begin and end with half a kick, such as "
                             "`baoab` and `stoermer-verlet`, where the temperature of the momenta is known",
                             this_case.name));
  }
  const std::int64_t every = experiment.output().every;
  if (options.blocks * every > this_case.steps) {
    mistakes.add(recipe.study.where("blocks"),
                 fmt::format("blocks = {}: {} has {} steps, too few for as many observations, one each {} steps; raise "
                             "`end`, or lower [output] `every`",
                             options.blocks, this_case.name, this_case.steps, every));
  }
}

std::vector<std::int64_t> wave_numbers_of(const Section& study) {
  const std::vector<long>& given = study.integers("wave_numbers");
  return {given.begin(), given.end()};
}

/// Checks what is asked for of rings.
void check_rings(const Recipe& recipe, const Experiment& experiment, const Case& this_case,
                 const std::vector<Chain>& chains, const TransportOptions& options, Mistakes& mistakes) {
  const bool has_ring = std::ranges::any_of(chains, &Chain::is_ring);
  const std::int64_t observations = this_case.steps / (options.blocks * experiment.output().every);
  const double block = static_cast<double>(observations * experiment.output().every) * this_case.step;
  const auto refuse = [&](const char* key, const std::string& message) {
    mistakes.add(recipe.study.where(key), fmt::format("`{}`: {}", key, message));
  };
  if (options.max_lag && !has_ring) refuse("max_lag", "correlations are those of rings, with attach = [0, 0]");
  constexpr double lags_in_block = 20.0;
  if (options.max_lag && has_ring && lags_in_block * *options.max_lag > block) {
    refuse("max_lag", fmt::format("a block of {:.6g} s has fewer than {} lags of {} s, so that its correlations are no "
                                  "sample; raise `end`, or lower `blocks`",
                                  block, lags_in_block, *options.max_lag));
  }
  if (options.wave_numbers.empty()) return;
  if (!has_ring) refuse("wave_numbers", "structure factors are those of rings, with attach = [0, 0]");
  for (const Chain& chain : chains) {
    for (const std::int64_t wave : options.wave_numbers) {
      if (!chain.is_ring || (wave > 0 && 2 * wave <= chain.places)) continue;
      refuse("wave_numbers", fmt::format("{} is not one of the waves 1 to {} of `{}`, a ring of {} places", wave,
                                         chain.places / 2, chain.name, chain.places));
    }
  }
  if (options.window > block)
    refuse("window", fmt::format("{} s are longer than a block of {:.6g} s", options.window, block));
}

/// Checks that the realisations that a rank advances together fit into memory.
void check_memory(const Recipe& recipe, const Experiment& experiment, const TransportOptions& options,
                  Mistakes& mistakes) {
  const Communicator& world = experiment.communicator();
  const std::int64_t teams = std::min<std::int64_t>(options.realisations, world.size());
  const auto together = static_cast<double>((options.realisations + teams - 1) / teams);
  double bytes = 0.0;
  for (const Case& this_case : experiment.cases()) {
    const Problem problem = experiment.make_problem(this_case);
    double of_one = 0.0;
    for (const auto& environment : problem.environments()) {
      const auto sums = static_cast<double>(2 * sizeof(double) * environment->properties().sites);
      of_one += static_cast<double>(environment->bytes(this_case.scheme)) + sums / static_cast<double>(world.size());
    }
    // `bytes` are those of a rank of all, and a team has fewer.
    bytes = std::max(bytes, together * static_cast<double>(teams) * of_one);
  }
  const MemoryBudget memory = memory_budget(world, bytes);
  if (memory.needed <= memory.available) return;
  constexpr double gibibyte = 1 << 30;
  mistakes.add(recipe.study.where("realisations"),
               fmt::format("{} realisations, which are advanced together, need {:.1f} GiB on a {} with {:.1f} GiB free",
                           options.realisations, memory.needed / gibibyte, memory.is_rank_limit ? "rank" : "node",
                           memory.available / gibibyte));
}

std::unique_ptr<Study> make_transport(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = recipe.study;
  TransportOptions options;
  options.realisations = study.integer("realisations");
  options.blocks = study.integer("blocks");
  options.bins = study.integer("bins");
  if (study.has("until_error")) options.until_error = study.number("until_error");
  if (study.has("max_lag")) options.max_lag = study.number("max_lag");
  if (study.has("wave_numbers")) options.wave_numbers = wave_numbers_of(study);
  options.window = study.number("window");
  if (options.blocks < static_cast<std::int64_t>(min_steady_blocks)) {
    mistakes.add(study.where("blocks"),
                 fmt::format("blocks = {}: whether the motion is steady is judged by at least {} blocks",
                             options.blocks, min_steady_blocks));
  }
  std::vector<std::vector<Chain>> cases;
  bool has_chains = true, is_driven = true;
  for (const Case& this_case : experiment.cases()) {
    check_case(recipe, experiment, this_case, options, mistakes);
    cases.push_back(find_chains(this_case, experiment.make_problem(this_case), experiment.output().every, options,
                                recipe, mistakes));
    has_chains = has_chains && !cases.back().empty();
    is_driven = is_driven && std::ranges::any_of(
                                 cases.back(), [](const Chain& chain) { return chain.is_driven() || chain.lags > 0; });
    check_rings(recipe, experiment, this_case, cases.back(), options, mistakes);
  }
  check_needs({.examined = "[[integrators]], each closed with a `nonlinear-line` between two particles",
               .has_examined = has_chains},
              recipe, experiment, mistakes);
  if (options.until_error && has_chains && !is_driven) {
    mistakes.add(study.where("until_error"),
                 "`until_error` is that of currents, but the baths at both ends have the same temperature, or of "
                 "rings with a `max_lag`");
  }
  read_series(study, cases, options, mistakes);
  if (mistakes.empty()) check_memory(recipe, experiment, options, mistakes);
  return std::make_unique<TransportStudy>(recipe, experiment, std::move(options));
}

}  // namespace

StudyKind transport_kind() {
  return {
      .entry =
          {.name = "transport",
           .summary = "heat currents, temperature profiles and conductivities of chains between baths",
           .equation = "J_j = -V'(q_j - q_{j-1}) (v_{j-1} + v_j)/2,  T_j = (p_j + h f_j/2)^2/m_j\n"
                       "kappa_N = J (N - 1)/(T_1 - T_N),  kappa_bulk = -J/(dT/dj) of the middle half\n"
                       "kappa(t) = int_0^t <J(0) J(s)> ds/(N kT^2),  J = sum_j J_j, of a ring",
           .source = "dhar2008, sections 2 and 4",
           .keywords = {"fourier's law", "heat conduction", "thermal conductivity", "heat current", "kapitza"},
           .parameters =
               {defaulted("realisations", ValueType::integer, "", "1",
                          "number of realisations with independent random numbers, which are advanced together and "
                          "distributed over the ranks",
                          Bound::positive),
                defaulted("blocks", ValueType::integer, "", "64",
                          "number of blocks of the time until `end`; the means of each are one sample, so that a "
                          "block must be longer than correlations",
                          Bound::positive),
                defaulted("bins", ValueType::integer, "", "64", "number of bins of profiles, at most", Bound::positive),
                optional("until_error", ValueType::number, "",
                         "relative standard error of the current at which a run ends before `end`, once it is steady; "
                         "that of the worst chain",
                         Bound::positive),
                optional("max_lag", ValueType::number, "s",
                         "longest lag of the correlations of the currents of rings, of which a block has at least 20",
                         Bound::positive),
                {.name = "wave_numbers",
                 .type = ValueType::integers,
                 .doc = "numbers n of waves 2 pi n/N of rings whose structure factors are written"},
                defaulted("window", ValueType::number, "s", "100.0",
                          "length of the windows of Hann of their spectra, whose resolution is 2 pi/window",
                          Bound::positive),
                {.name = "series",
                 .type = ValueType::tables,
                 .doc = "chains of several lengths in one run, for conductivities over the length",
                 .members = {required("name", ValueType::text, "", "name in the result"),
                             required("chains", ValueType::texts, "", "names of the environments")}}},
           .notes =
               "Observes every `nonlinear-line` between two particles of closed runs, each [output] `every` steps, "
               "and the heat of the environments with a `kT` at its ends. There are no trajectories. Group "
               "transport/<integrator>: burn_in, steady, blocks, duration. Burn-in is what has to be left out for "
               "chains to take up no energy on average, within its fluctuation, and for both halves of the rest to "
               "have the same currents and temperatures; at most half of the run is left out, and steady is 0, with a "
               "warning, where that is not enough. Groups transport/<integrator>/<environment>, each value with its "
               "_error by the means of blocks: current, by the springs; heat_from_first, heat_into_second, by the "
               "baths at the first and the second end of `attach`; net_heat, their difference; temperature (place), "
               "local_current (spring), mean_temperature; kappa and kappa_bulk, which does not contain the contacts, "
               "in units of the lattice; kappa_error_expected. In one step of h the three currents differ by the "
               "relative order h^2. Groups transport/<integrator>/<series>: kappa, kappa_bulk (places), exponent "
               "(places_between), kappa_limit. A run is longer than its burn-in if `end` is several times N^2/(pi^2 "
               "D), D the diffusivity."},
      .make = make_transport,
      .allows_own_ends = true,
      .takes_noise = true};
}

}  // namespace bathline
