// Means and standard errors over realisations of an experiment with different random numbers, distributed over the
// ranks.
//
// Realisations are summed in batches of fixed size, and the batches in their order, so that the bits of the results
// depend neither on the number of ranks nor on a restart between batches.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "driver/archive.hpp"
#include "driver/output_times.hpp"
#include "driver/on_root.hpp"
#include "driver/resumable_tasks.hpp"
#include "steppers/batch_stepper.hpp"
#include "study/catalogue.hpp"
#include "study/ensemble/recording.hpp"
#include "study/ensemble/results.hpp"
#include "study/ensemble/slopes.hpp"
#include "study/memory_check.hpp"

namespace bathline {

namespace {

constexpr std::int64_t batch_size = 8;

/// Largest number of batches that a rank advances together; their records are limited to 32 MiB.
std::int64_t max_batches_at_once(const EnsembleColumns& columns) {
  constexpr std::int64_t max_batches = static_cast<std::int64_t>(BatchStepper::max_realisations) / batch_size,
                         numbers = 1 << 22;
  return std::min(max_batches, numbers / (batch_size * static_cast<std::int64_t>(columns.kept())));
}

class EnsembleStudy final : public Study {
 public:
  EnsembleStudy(const Recipe& recipe, const Experiment& experiment, EnsembleOptions options)
      : recipe_(recipe), experiment_(experiment), options_(std::move(options)), every_(experiment.output().every) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    const Communicator& world = experiment_.communicator();
    const int team = world.rank() / options_.ranks_per_realisation,
              teams = (world.size() + options_.ranks_per_realisation - 1) / options_.ranks_per_realisation;
    const Communicator local = world.split(team);
    if (const CheckpointReader* from = checkpoints.from()) {
      restore_from(from, [&] { serialise(Archive(*from, "ensemble")); });
      file.remove("ensemble");  // is written again
    }
    const std::size_t complete = totals_.empty() ? 0 : totals_.size() - 1;
    CheckpointPoints checkpoint_points(checkpoints);
    for (std::size_t i = 0; i < experiment_.cases().size(); ++i) {
      const Case& this_case = experiment_.cases()[i];
      const EnsembleColumns columns(experiment_, options_, this_case);
      LedgerNumbers ledger(recipe_, experiment_, options_.measurements, this_case);
      if (i == totals_.size()) {
        totals_.push_back({EnsembleMoments(columns), {}, {}});
        done_ = 0;
      }
      progress.begin(this_case.name, options_.realisations, {.name = "realisation"});
      progress.skip(std::min(options_.realisations, done_ * batch_size));
      const std::int64_t batches_together = batches_at_once(this_case, columns, ledger, teams),
                         at_once = std::max<std::int64_t>(batches_together, 1);
      while (i + 1 == totals_.size() && done_ < batches()) {
        checkpoint_points.checkpoint_if_due(
            this_case.name, steps_done(), teams * at_once * batch_size * this_case.steps,
            [&](CheckpointWriter& checkpoint) { serialise(Archive(checkpoint, "ensemble")); });
        std::vector<double> results;
        std::optional<Failure> failure;
        const std::int64_t first = done_ + team * at_once, last = std::min(batches(), first + at_once);
        if (first < last)
          failure = run_batches(this_case, columns, ledger, first, last, batches_together > 0, local, results);
        if (std::optional<Failure> any_failure = any_rank_failure(world, failure))
          return CaseFailure{this_case.name, *any_failure};
        const bool contributes = local.is_root() && first < last;
        add(columns, world.gather(contributes ? std::span<const double>(results) : std::span<const double>()),
            totals_[i]);
        done_ = std::min(batches(), done_ + teams * at_once);
        progress.update(std::min(options_.realisations, done_ * batch_size));
      }
      progress.end();
      for (Moments* moments : totals_[i].moments.all()) world.broadcast(moments->numbers());
      write_ensemble(experiment_, options_, this_case, columns, totals_[i], file);
      // A checkpoint contains the warnings of the cases that were complete.
      if (i >= complete) warn_unless_stationary(options_, this_case, columns, totals_[i].moments);
      file.flush();
    }
    write_slopes(experiment_, options_, totals_, file);
    return std::nullopt;
  }

 private:
  std::int64_t batches() const { return (options_.realisations + batch_size - 1) / batch_size; }
  std::int64_t end_of(std::int64_t batch) const { return std::min(options_.realisations, (batch + 1) * batch_size); }

  /// Number of steps of all realisations so far.
  std::int64_t steps_done() const {
    const std::size_t index = totals_.size() - 1;
    std::int64_t steps = std::min(options_.realisations, done_ * batch_size) * experiment_.cases()[index].steps;
    for (std::size_t i = 0; i < index; ++i) steps += options_.realisations * experiment_.cases()[i].steps;
    return steps;
  }

  /// Saves or restores the totals. @note Collective.
  void serialise(Archive archive) {
    auto cases = static_cast<std::int64_t>(totals_.size());
    archive.counts("progress", {&cases, &done_});
    const auto count = static_cast<std::size_t>(cases);
    if (count > experiment_.cases().size() || done_ > batches()) throw std::out_of_range("progress");
    for (std::size_t i = totals_.size(); i < count; ++i) {
      totals_.push_back({EnsembleMoments(EnsembleColumns(experiment_, options_, experiment_.cases()[i])), {}, {}});
    }
    for (std::size_t i = 0; i < count; ++i) {
      const EnsembleColumns columns(experiment_, options_, experiment_.cases()[i]);
      EnsembleTotals& total = totals_[i];
      const std::int64_t done =
          i + 1 < count ? options_.realisations : std::min(options_.realisations, done_ * batch_size);
      Archive part = archive.group(fmt::format("{}", i));
      std::vector<std::span<double>> moments;
      for (Moments* each : total.moments.all()) moments.push_back(each->numbers());
      part.numbers("moments", moments);
      part.numbers("kept", total.per_realisation,
                   static_cast<std::size_t>(done) * options_.measurements.per_realisation());
      part.numbers("paths", total.paths,
                   static_cast<std::size_t>(std::min(done, options_.saved_paths)) * width_of(columns.path));
    }
  }

  /// Appends to `results`, for each batch, the moments, and for each of its realisations the stored values and the
  /// path.
  std::optional<Failure> run_batches(const Case& this_case, const EnsembleColumns& columns, const LedgerNumbers& ledger,
                                     std::int64_t first, std::int64_t last, bool in_lanes, const Communicator& local,
                                     std::vector<double>& results) const {
    EnsembleMoments moments(columns);
    std::vector<double> per_realisation;
    const std::int64_t end = end_of(last - 1), at_once = in_lanes ? end : 1;
    for (std::int64_t number = first * batch_size; number < end;) {
      std::vector<Problem> problems;
      std::vector<Recording> recordings;
      const std::int64_t begin = number;
      prepare(this_case, begin, std::min(end, begin + at_once), local, problems);
      for (Problem& problem : problems) recordings.emplace_back(problem, columns, options_.measurements, ledger);
      std::size_t failed = 0;
      if (std::optional<Failure> failure =
              record_all(this_case, every_, columns, problems, recordings, ledger.is_requested(), failed)) {
        failure->reason = fmt::format("realisation {}: {}", begin + static_cast<std::int64_t>(failed), failure->reason);
        return failure;
      }
      for (Recording& recording : recordings) {
        const Realisation& run = recording.realisation();
        const auto keep = [&](const std::vector<double>& values) {
          per_realisation.insert(per_realisation.end(), values.begin(), values.end());
        };
        if (local.is_root()) moments.add(columns, run);
        keep(columns.sample(columns.stored, run, {columns.first, columns.records()}));
        keep(recording.passage_times());
        if (number < options_.saved_paths) keep(columns.sample(columns.path, run, {0, columns.records()}));
        if (++number % batch_size != 0 && number != end) continue;
        for (Moments* part : moments.all()) {
          results.insert(results.end(), part->numbers().begin(), part->numbers().end());
          part->clear();
        }
        results.insert(results.end(), per_realisation.begin(), per_realisation.end());
        per_realisation.clear();
      }
    }
    return std::nullopt;
  }

  /// Appends the realisations in [begin, end), in their initial states.
  void prepare(const Case& this_case, std::int64_t begin, std::int64_t end, const Communicator& local,
               std::vector<Problem>& problems) const {
    for (std::int64_t number = begin; number < end; ++number) {
      problems.push_back(experiment_.make_problem(this_case, this_case.step, this_case.closed, local));
      problems.back().prepare(experiment_.seed(), static_cast<std::uint32_t>(number));
    }
  }

  /// Number of batches that a rank advances together in SIMD lanes, limited such that every rank has a batch; 0 where a
  /// batch stepper does not support the case. The same on every rank.
  std::int64_t batches_at_once(const Case& this_case, const EnsembleColumns& columns, const LedgerNumbers& ledger,
                               int teams) const {
    const auto* scheme = std::get_if<ExplicitScheme>(&this_case.scheme);
    if (scheme == nullptr || this_case.closed || options_.ranks_per_realisation > 1 || ledger.is_requested()) return 0;
    Problem problem = experiment_.make_problem(this_case);
    if (!make_batch_stepper(*scheme, {&problem, 1}, this_case.step)) return 0;
    return std::min(max_batches_at_once(columns), (batches() + teams - 1) / teams);
  }

  /// Adds the results of all teams, in the order of their batches. Rank 0 only.
  void add(const EnsembleColumns& columns, std::span<const double> results, EnsembleTotals& total) const {
    const auto append = [&](std::size_t count, std::vector<double>& destination) {
      destination.insert(destination.end(), results.begin(), results.begin() + static_cast<std::ptrdiff_t>(count));
      results = results.subspan(count);
    };
    for (std::int64_t batch = done_; !results.empty(); ++batch) {
      for (Moments* part : total.moments.all()) {
        const std::size_t count = part->numbers().size();
        part->merge(results.first(count));
        results = results.subspan(count);
      }
      for (std::int64_t realisation = batch * batch_size; realisation < end_of(batch); ++realisation) {
        append(options_.measurements.per_realisation(), total.per_realisation);
        if (realisation < options_.saved_paths) append(width_of(columns.path), total.paths);
      }
    }
  }

  Recipe recipe_;
  const Experiment& experiment_;
  EnsembleOptions options_;
  std::int64_t every_;
  std::vector<EnsembleTotals> totals_;  // of every case so far, valid on rank 0
  std::int64_t done_ = 0;               // number of batches of the last case that are done
};

/// Bytes on rank 0 for the largest case, an upper bound for the other ranks, and bytes of the results of all cases.
struct EnsembleBytes {
  double memory, result;
};

EnsembleBytes ensemble_bytes(const Experiment& experiment, const EnsembleOptions& options) {
  double max_case = 0.0, totals = 0.0, results = 0.0;
  const int teams =
      (experiment.communicator().size() + options.ranks_per_realisation - 1) / options.ranks_per_realisation;
  for (const Case& this_case : experiment.cases()) {
    const EnsembleColumns columns(experiment, options, this_case);
    double averaged = 0.0;
    EnsembleMoments moments(columns);
    for (const Moments* each : moments.all()) averaged += 2.0 * static_cast<double>(each->width());
    const auto per_realisation =
        static_cast<double>(options.realisations) * static_cast<double>(options.measurements.per_realisation()) +
        static_cast<double>(std::min(options.saved_paths, options.realisations)) *
            static_cast<double>(width_of(columns.path));
    totals += averaged + per_realisation;
    // Of the current realisations, of their batches, and of all gathered batches.
    const auto at_once = this_case.closed ? 0.0 : static_cast<double>(max_batches_at_once(columns));
    const double under_way = std::max(1.0, at_once * batch_size) * static_cast<double>(columns.kept());
    max_case =
        std::max(max_case, under_way + (2.0 + teams) * std::max(1.0, at_once) * averaged + 2.0 * per_realisation);
    // Means have variances, and every passage has a survival at every record.
    const auto passages = static_cast<double>(2 * options.measurements.first_passages.size() * columns.records());
    const auto variances = options.series ? static_cast<double>(2 * width_of(columns.path)) : 0.0;
    results += averaged + per_realisation + variances + passages;
  }
  return {8.0 * (totals + max_case), 8.0 * results};
}

/// Requires random numbers: open runs have them by their noise, closed runs by noise or a thermal start.
void require_randomness(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  bool is_random = false, any_closed = false;
  for (const Case& this_case : experiment.cases()) {
    any_closed = any_closed || this_case.closed;
    if (!this_case.closed) {
      if (this_case.noise) continue;
      mistakes.add(this_case.options.where(this_case.options.boolean("noise") ? "on" : "noise"),
                   this_case.options.boolean("noise")
                       ? "every realisation of an open run without a temperature is the same; give an environment or "
                         "[system] a `kT`"
                       : "every realisation of an open run without noise is the same; leave out noise = false");
      continue;
    }
    is_random = is_random || this_case.noise || (this_case.start != nullptr && this_case.start->is_warm());
    const Problem problem = experiment.make_problem(this_case);
    for (const auto& environment : problem.environments()) {
      is_random = is_random || environment->properties().temperature > 0.0;
    }
  }
  if (is_random || !any_closed) return;
  std::string unused;
  for (const Section& environment : recipe.environments) {
    const bool is_warm = environment.has("kT") && environment.number("kT") > 0.0;
    if (is_warm) unused += (unused.empty() ? "`" : ", `") + environment.text("name") + "`";
  }
  mistakes.add(recipe.study.where("kind"),
               unused.empty() ? "no environment has a `kT` above 0, so all realisations would be the same"
                              : fmt::format("no integrator is closed with {}, the only warm environments, so all "
                                            "realisations would be the same; see `environments` of [[integrators]]",
                                            unused));
}

/// Reads the measurements and the number of blocks of time.
void read_measurement_options(const Recipe& recipe, const Experiment& experiment, EnsembleOptions& options,
                              Mistakes& mistakes) {
  const Section& study = recipe.study;
  options.series = study.boolean("series");
  options.saved_paths = study.integer("saved_paths");
  options.measurements = read_measurements(study, experiment.system(), ledger_names(recipe), mistakes);
  check_ledger(experiment, options.measurements, mistakes);
  options.slopes = read_slopes(study, experiment, options.measurements, mistakes);
  options.blocks = study.integer("blocks");
  const double block = (experiment.end_time() - options.burn_in) / static_cast<double>(options.blocks);
  for (const Case& this_case : experiment.cases()) {
    const EnsembleColumns columns(experiment, options, this_case);
    if (columns.blocks > columns.records() - columns.first) {
      mistakes.add(study.where("blocks"), fmt::format("blocks = {}: a block has {:.6g} s in {}, too few records; take "
                                                      "fewer blocks, or records more often, by `every` in [output]",
                                                      options.blocks, block, this_case.name));
      return;
    }
    if (columns.lag.length() <= columns.shortest_block()) continue;
    mistakes.add(study.where("max_lag"),
                 fmt::format("max_lag = {}: a block has {:.6g} s in {}, with {} records at equal intervals, too few "
                             "for the longest lag; take fewer blocks, or records more often, by `every` in [output]",
                             *options.max_lag, block, this_case.name, columns.shortest_block()));
    return;
  }
}

std::unique_ptr<Study> make_ensemble(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = recipe.study;
  EnsembleOptions options{.realisations = study.integer("realisations")};
  if (options.realisations < 2) {
    mistakes.add(study.where("realisations"), "a standard error needs at least two realisations");
  }
  options.burn_in = study.number("burn_in");
  const double end = experiment.end_time();
  if (options.burn_in >= end) {
    mistakes.add(study.where("burn_in"),
                 fmt::format("burn_in = {}: averages must begin before the end {}", options.burn_in, end));
  }
  if (study.has("max_lag")) options.max_lag = study.number("max_lag");
  if (options.max_lag && *options.max_lag > end - options.burn_in) {
    mistakes.add(study.where("max_lag"), fmt::format("max_lag = {} is longer than the time from {} to the end {}",
                                                     *options.max_lag, options.burn_in, end));
  }
  require_randomness(recipe, experiment, mistakes);
  options.ranks_per_realisation = static_cast<int>(
      std::min<std::int64_t>(study.integer("ranks_per_realisation"), experiment.communicator().size()));
  if (mistakes.empty()) read_measurement_options(recipe, experiment, options, mistakes);
  if (mistakes.empty()) {
    const EnsembleBytes bytes = ensemble_bytes(experiment, options);
    check_memory(bytes.memory, "the records of the realisations", "realisations",
                 "`series = false` leaves out means at every record, a larger `every` in [output] reduces their number",
                 recipe, experiment, mistakes);
    if (mistakes.empty())
      spdlog::info("ensemble: records need {} on each rank, results {}", format_bytes(bytes.memory),
                   format_bytes(bytes.result));
  }
  return std::make_unique<EnsembleStudy>(recipe, experiment, std::move(options));
}

}  // namespace

StudyKind ensemble_kind() {
  std::vector<Parameter> parameters = {
      required("realisations", ValueType::integer, "", "number of realisations with independent random numbers",
               Bound::positive),
      defaulted("burn_in", ValueType::number, "s", "0.0",
                "burn-in: time at which averages over time start, after the initial state has decayed",
                Bound::nonnegative),
      optional("max_lag", ValueType::number, "s", "longest lag of autocorrelations; left out, there are none",
               Bound::nonnegative),
      defaulted("blocks", ValueType::integer, "", "1",
                "number of blocks of a realisation, each one sample of the averages over time and their errors; a "
                "block must be longer than the correlation time",
                Bound::positive),
      defaulted("ranks_per_realisation", ValueType::integer, "", "1",
                "number of ranks that share a realisation, for environments that are too large for one rank",
                Bound::positive),
      defaulted("series", ValueType::boolean, "", "true",
                "whether means at every record are written besides averages over time"),
      defaulted("saved_paths", ValueType::integer, "", "0",
                "number of realisations whose paths are written, the first ones", Bound::nonnegative)};
  for (Parameter& parameter : measurement_parameters()) parameters.push_back(std::move(parameter));
  parameters.push_back(slopes_parameter());
  return {
      .entry =
          {.name = "ensemble",
           .summary =
               "realisations of noise and thermal starts: means with standard errors, histograms, first passages",
           .equation =
               "mean +- standard error over realisations;  C(l) = <v(t + l) v(t)> over realisations and t >= from",
           .source = "farshi2018, section 4.3; weiss2012, section 2",
           .parameters = std::move(parameters),
           .notes =
               "Group ensemble/<integrator>: step, damping, and each with its _error: mean_q, mean_v, variance_q, "
               "variance_v, kinetic_energy (time), kinetic_mean; if `max_lag` is given velocity_autocorrelation (lag); "
               "in equilibrium, with environments of one temperature and no drive, kinetic_expected, "
               "kinetic_deviation, and for linear systems velocity_autocorrelation_theory and correlation_deviation. "
               "Deviations are in standard errors, which are estimated over realisations and their blocks. Records are "
               "those of [output] `every`, and the end. With a `burn_in`, a `max_lag` or quantities that are averaged "
               "over time, a warning is given where the means of the two halves of the averaging time differ by more "
               "than their errors allow; it is false in at most one of 1000 cases that are stationary. For a quantity: "
               "<name>_mean, with `max_lag` _autocorrelation (lag; the mean product, without subtraction of the mean), "
               "_density (<name>_bin) with _expected and _deviation, _of_realisation (realisation), and _variance for "
               "a quantity at the end; for a joint histogram <name>_density; for a first passage <name>_time "
               "(realisation), _survival (time), _fraction: of the realisations that passed before the end, _count, "
               "_rate: passages since `burn_in` over the waiting time of all realisations since then, those that did "
               "not pass included, and _mean: its inverse, the mean waiting time; for paths path_q, path_v (path, "
               "time, particle, axis). For slopes, in the group ensemble, <name>_slope, weighted by the standard "
               "errors of the means. Quantities are evaluated at records, and passages interpolated between them: "
               "those of a formula in velocities driven by white noise may be missed there, and are late by about the "
               "square root of the record interval."},
      .make = make_ensemble,
      .takes_contact = true,
      .takes_noise = true};
}

}  // namespace bathline
