// Heat currents, temperature profiles and conductivities of chains between baths.
//
// All realisations advance by one block of time after the other; the means of a block over the realisations are a row
// of a table, from which everything follows at the end. Realisations are distributed over the ranks, and their means
// added in their order, so that the bits depend neither on the number of ranks nor on restarts between blocks.
//
// Under kick-drift-kick the momenta between two kicks have the temperature of the bath, those at whole steps are lower
// by the order h^2: kT of a site is (p + h f/2)^2/m. The heat of a bath is the energy that it has absorbed, which needs
// no observations within a block.
// Tested by tests/study/transport_test.cpp.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "driver/on_root.hpp"
#include "driver/resumable_tasks.hpp"
#include "driver/serialise_state.hpp"
#include "study/catalogue.hpp"
#include "study/theory/line_fit.hpp"
#include "study/theory/multiple_tau.hpp"
#include "study/theory/power_spectrum.hpp"
#include "study/transport/results.hpp"

namespace bathline {

namespace {

/// A problem that is advanced by blocks of steps. It exists on the ranks of its team.
class TransportRealisation {
 public:
  /// In its start. @note Collective over the team.
  TransportRealisation(const Experiment& experiment, const Case& this_case, std::uint32_t number,
                       const Communicator& team, std::span<const Chain> chains)
      : case_(this_case),
        chains_(chains),
        problem_(experiment.make_problem(this_case, this_case.step, this_case.closed, team)) {
    problem_.prepare(experiment.seed(), number);
    stepper_ = make_stepper(this_case.scheme, problem_, this_case.step);
    const double kick = 0.5 * this_case.step;
    for (const Chain& chain : chains) {
      const HeatObservation what{kick, chain.bins, chain.longest_lag || !chain.waves.empty(), chain.waves};
      observed_.push_back({conductor_of(*problem_.environments()[chain.environment])->observe_heat(what),
                           MultipleTau(chain.longest_lag.value_or(1)),
                           {}});
      for (std::size_t n = 0; n < chain.waves.size(); ++n) observed_.back().spectra.emplace_back(chain.window);
    }
  }
  TransportRealisation(const TransportRealisation&) = delete;
  TransportRealisation& operator=(const TransportRealisation&) = delete;

  /// Advances by `observations` times `every` steps and appends the means of the block to `row`, on rank 0 of the team.
  /// @note Collective over the team.
  std::optional<Failure> advance(std::int64_t observations, std::int64_t every, std::vector<double>& row) {
    const std::vector<double> before = absorbed();
    for (std::int64_t i = 0; i < observations; ++i) {
      if (std::optional<Failure> failure = stepper_->advance(every)) return failure;
      observe();
    }
    const std::vector<double> after = absorbed();
    if (problem_.communicator().any(!std::ranges::all_of(after, [](double energy) { return std::isfinite(energy); })))
      return Failure{problem_.clock.steps, 0.0, "the state is no longer finite"};
    const double seconds = static_cast<double>(observations * every) * case_.step;
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      const Chain& chain = chains_[c];
      auto& [heat, current, spectra] = observed_[c];
      const HeatProfile profile = heat->take();
      if (!problem_.communicator().is_root()) continue;
      const auto absorbed_at = [&](std::size_t end) {
        double sum = 0.0;
        for (const std::size_t bath : chain.baths[end]) sum += after[bath] - before[bath];
        return sum / seconds;
      };
      std::vector<double> x, y;
      const auto count = static_cast<double>(chain.places);
      for (std::size_t bin = 0; bin < chain.bins; ++bin) {
        const double place = chain.place().values[bin];
        if (place < 0.25 * count || place > 0.75 * count) continue;
        x.push_back(place);
        y.push_back(profile.temperature[bin]);
      }
      const auto append = [&](const std::vector<double>& values) {
        row.insert(row.end(), values.begin(), values.end());
      };
      append({profile.mean_current, -absorbed_at(0), absorbed_at(1), fit_line(x, y).slope, profile.mean_temperature});
      append(profile.temperature);
      append(profile.current);
      if (chain.longest_lag) append(current.take());
      for (PowerSpectrum& spectrum : spectra) append(spectrum.take());
    }
    return std::nullopt;
  }
  /// The state between two blocks. Every rank of `world` calls it for every realisation, with one of its own where this
  /// one is not, which is not changed then. @note Collective over `world`.
  void serialise(Archive archive, std::int64_t step, bool is_own, const Communicator& world) {
    serialise_state(std::move(archive), step, problem_, *stepper_, world, is_own);
  }

 private:
  void observe() {
    const double kick = 0.5 * case_.step;
    const bool is_root = problem_.communicator().is_root();
    if (is_root) {
      velocity_ = problem_.velocity();
      const bool in_kicks = !std::get<ExplicitScheme>(case_.scheme).has_ou_substeps();
      problem_.forces(problem_.q, velocity_, forces_, {.matrix = in_kicks, .couplings = in_kicks});
    }
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      std::array<double, 2> x{}, v{}, kT{}, mass{};
      if (is_root) {
        for (std::size_t end = 0; end < 2; ++end) {
          const int i = chains_[c].ends[end];
          x[end] = problem_.q[i];
          v[end] = velocity_[i];
          const double impulse = problem_.p[i] + kick * forces_[i];
          mass[end] = problem_.system().mass[i];
          kT[end] = impulse * impulse / mass[end];
        }
      }
      auto& [heat, current, spectra] = observed_[c];
      heat->observe({x, v, kT, mass});
      const std::span<const double> totals = heat->totals();
      if (!is_root || totals.empty()) continue;
      current.add(totals[0]);
      for (std::size_t n = 0; n < spectra.size(); ++n) spectra[n].add({totals[1 + 2 * n], totals[2 + 2 * n]});
    }
  }
  /// Heat that each environment has absorbed. @note Collective over the team.
  std::vector<double> absorbed() {
    std::vector<double> energies;
    for (const EnvironmentEnergy& energy : problem_.energies().environment_energies)
      energies.push_back(energy.environment + energy.interaction + energy.dissipated);
    return energies;
  }

  struct Observed {
    std::unique_ptr<HeatObserver> heat;
    // Of rings, on rank 0:
    MultipleTau current;
    std::vector<PowerSpectrum> spectra;  // by wave
  };

  const Case& case_;
  std::span<const Chain> chains_;
  Problem problem_;
  std::unique_ptr<Stepper> stepper_;
  std::vector<Observed> observed_;  // by chain
  Eigen::VectorXd velocity_, forces_;
};

std::size_t columns_of(std::span<const Chain> chains) { return chains.empty() ? 0 : chains.back().end_column(); }

class TransportStudy final : public Study {
 public:
  TransportStudy(const Experiment& experiment, TransportOptions options)
      : experiment_(experiment),
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
      const std::vector<Chain>& chains = options_.chains[i];
      if (i == tables_.size()) tables_.emplace_back(columns_of(chains));
      TransportBlocks blocks{this_case, chains, options_.realisations,
                             static_cast<double>(block_steps(this_case)) * this_case.step, tables_[i]};
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
      world_.broadcast(std::span<double>(tables_[i].numbers()));
      write_transport(blocks, options_, file);
      file.flush();
      steps_before += static_cast<std::int64_t>(tables_[i].rows()) * block_steps(this_case);
    }
    return std::nullopt;
  }

 private:
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
        serialise_tables(Archive(writer, "transport"));
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

  /// Saves or restores the tables of all cases so far. @note Collective.
  void serialise_tables(Archive archive) {
    auto cases = static_cast<std::int64_t>(tables_.size());
    archive.counts("progress", {&cases});
    if (static_cast<std::size_t>(cases) > experiment_.cases().size()) throw std::out_of_range("progress");
    for (std::size_t i = 0; i < static_cast<std::size_t>(cases); ++i) {
      if (archive.is_reading()) tables_.emplace_back(columns_of(options_.chains[i]));
      std::vector<double>& numbers = tables_[i].numbers();
      archive.numbers(fmt::format("blocks-{}", i), numbers);
      if (numbers.size() % tables_[i].columns() != 0) throw std::out_of_range("blocks");
    }
  }

  const Experiment& experiment_;
  TransportOptions options_;
  Communicator world_;
  int teams_, team_;
  Communicator local_;
  std::vector<BlockTable> tables_;  // of every case so far, valid on rank 0
};

std::unique_ptr<Study> make_transport(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  return std::make_unique<TransportStudy>(experiment, read_transport_options(recipe, experiment, mistakes));
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
           .parameters = transport_parameters(),
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
