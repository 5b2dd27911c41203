// Runs an ensemble: realisations in batches, distributed over the ranks.
//
// Realisations are summed in batches of fixed size, and the batches in their order, so that the bits of the results
// depend neither on the number of ranks nor on a restart between batches.
// Tested by tests/study/ensemble_test.cpp.
#include "study/ensemble/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "steppers/batch_stepper.hpp"
#include "driver/archive.hpp"
#include "driver/output_times.hpp"
#include "driver/rank_failure.hpp"
#include "driver/resumable_tasks.hpp"
#include "study/ensemble/recording.hpp"
#include "study/ensemble/results.hpp"
#include "study/ensemble/slopes.hpp"

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

}  // namespace

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

std::unique_ptr<Study> make_ensemble(const Recipe& recipe, const Experiment& experiment, EnsembleOptions options) {
  return std::make_unique<EnsembleStudy>(recipe, experiment, std::move(options));
}

}  // namespace bathline
