// An ensemble at work: realisations in batches, spread over the ranks.
//
// Realisations are summed up in batches of fixed size, and the batches one after the other, so that neither the number
// of ranks nor a stop between batches changes a bit.
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
#include "driver/resumable_tasks.hpp"
#include "study/ensemble/ledger.hpp"
#include "study/ensemble/recording.hpp"
#include "study/ensemble/results.hpp"
#include "study/ensemble/slopes.hpp"

namespace bathline {

namespace {

constexpr std::int64_t batch_size = 8;

/// Batches whose realisations a rank advances side by side: more than 32 MiB of records are too many.
std::int64_t max_batches_at_once(const EnsembleColumns& columns) {
  constexpr std::int64_t most = static_cast<std::int64_t>(BatchStepper::max_realisations) / batch_size,
                         numbers = 1 << 22;
  return std::min(most, numbers / (batch_size * static_cast<std::int64_t>(columns.width())));
}

class EnsembleStudy final : public Study {
 public:
  EnsembleStudy(const Recipe& recipe, const Experiment& experiment, EnsembleOptions options)
      : recipe_(recipe), experiment_(experiment), options_(std::move(options)), every_(experiment.output().every) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    const Communicator& world = experiment_.communicator();
    const int team = world.rank() / options_.ranks_per_realisation,
              teams = (world.size() + options_.ranks_per_realisation - 1) / options_.ranks_per_realisation;
    const Communicator mine = world.split(team);
    if (const CheckpointReader* from = checkpoints.from()) {
      restore_from(from, [&] { restore(*from); });
      file.remove_all_but({});
    }
    CheckpointPoints breaks(checkpoints);
    for (std::size_t i = 0; i < experiment_.cases().size(); ++i) {
      const Case& one = experiment_.cases()[i];
      const EnsembleColumns columns = columns_of(one);
      LedgerNumbers ledger(recipe_, experiment_, options_.measurements, one);
      if (i == totals_.size()) {
        totals_.push_back({std::vector<double>(2 * columns.averaged()), {}, {}});
        done_ = 0;
      }
      progress.begin(one.label, options_.realisations, {.name = "realisation"});
      progress.skip(std::min(options_.realisations, done_ * batch_size));
      const std::int64_t side_by_side = batches_at_once(one, columns, ledger, teams),
                         at_once = std::max<std::int64_t>(side_by_side, 1);
      while (i + 1 == totals_.size() && done_ < batches()) {
        breaks.checkpoint_if_due(one.label, steps_done(), teams * at_once * batch_size * one.steps,
                                 [&](CheckpointWriter& checkpoint) { save(checkpoint); });
        std::vector<double> found;
        std::optional<Failure> failure;
        const std::int64_t first = done_ + team * at_once, last = std::min(batches(), first + at_once);
        if (first < last) failure = run_batches(one, columns, ledger, first, last, side_by_side > 0, mine, found);
        if (std::optional<Failure> known = shared(world, failure)) return CaseFailure{one.label, *known};
        const bool speaks = mine.is_root() && first < last;
        add(columns, world.gather(speaks ? std::span<const double>(found) : std::span<const double>()), totals_[i]);
        done_ = std::min(batches(), done_ + teams * at_once);
        progress.update(std::min(options_.realisations, done_ * batch_size));
      }
      progress.end();
      world.broadcast(std::span<double>(totals_[i].sums));
      write_ensemble(experiment_, options_, one, columns, totals_[i], file);
      file.flush();
    }
    write_slopes(experiment_, options_, totals_, file);
    return std::nullopt;
  }

 private:
  std::int64_t batches() const { return (options_.realisations + batch_size - 1) / batch_size; }
  EnsembleColumns columns_of(const Case& one) const { return ensemble_columns(experiment_, options_, one); }
  std::int64_t end_of(std::int64_t batch) const { return std::min(options_.realisations, (batch + 1) * batch_size); }

  /// Steps of all realisations so far.
  std::int64_t steps_done() const {
    const std::size_t index = totals_.size() - 1;
    std::int64_t steps = std::min(options_.realisations, done_ * batch_size) * experiment_.cases()[index].steps;
    for (std::size_t i = 0; i < index; ++i) steps += options_.realisations * experiment_.cases()[i].steps;
    return steps;
  }

  /// @note Collective.
  void save(CheckpointWriter& checkpoint) const {
    const double numbers[] = {static_cast<double>(totals_.size() - 1), static_cast<double>(done_), 0.0};
    checkpoint.numbers("case", {&numbers[0], 1});
    checkpoint.numbers("batches", {&numbers[1], 1});
    checkpoint.numbers("complete_cases", {&numbers[2], 1});
    for (std::size_t i = 0; i < totals_.size(); ++i) {
      checkpoint.numbers(fmt::format("sums-{}", i), totals_[i].sums);
      checkpoint.numbers(fmt::format("kept-{}", i), totals_[i].per_realisation);
      checkpoint.numbers(fmt::format("paths-{}", i), totals_[i].paths);
    }
  }

  /// @note Collective.
  void restore(const CheckpointReader& from) {
    const auto last = static_cast<std::size_t>(from.count("case"));
    done_ = from.count("batches");
    if (last >= experiment_.cases().size()) throw std::out_of_range("case");
    if (done_ > batches()) throw std::out_of_range("batches");
    for (std::size_t i = 0; i <= last; ++i) {
      const EnsembleColumns columns = columns_of(experiment_.cases()[i]);
      const std::int64_t done = i < last ? options_.realisations : std::min(options_.realisations, done_ * batch_size);
      const auto read = [&](const std::string& name, std::size_t size) {
        std::vector<double> numbers = from.numbers(fmt::format("{}-{}", name, i));
        if (numbers.size() != size) throw std::out_of_range(name);
        return numbers;
      };
      totals_.push_back({read("sums", 2 * columns.averaged()),
                         read("kept", static_cast<std::size_t>(done) * options_.measurements.per_realisation()),
                         read("paths", static_cast<std::size_t>(std::min(done, options_.paths)) * columns.kinetic())});
    }
  }

  /// The failure of whichever rank has one, on every rank.
  static std::optional<Failure> shared(const Communicator& world, const std::optional<Failure>& failure) {
    const double highest = world.max(failure ? world.rank() : -1.0);
    if (highest < 0.0) return std::nullopt;
    const int from = static_cast<int>(highest);
    std::int64_t step[] = {failure ? failure->step : 0};
    double residual[] = {failure ? failure->residual : 0.0};
    world.broadcast(std::span<std::int64_t>(step), from);
    world.broadcast(std::span<double>(residual), from);
    return Failure{step[0], residual[0], world.broadcast(failure ? failure->reason : std::string(), from)};
  }

  /// Leaves in `found` batch by batch the sums, then by realisation what is kept of it, its path included.
  std::optional<Failure> run_batches(const Case& one, const EnsembleColumns& columns, const LedgerNumbers& ledger,
                                     std::int64_t first, std::int64_t last, bool side_by_side, const Communicator& mine,
                                     std::vector<double>& found) const {
    Sums sums(columns.averaged());
    std::vector<double> per_realisation;
    const std::int64_t end = end_of(last - 1), at_once = side_by_side ? end : 1;
    for (std::int64_t number = first * batch_size; number < end;) {
      std::vector<Problem> problems;
      std::vector<Recording> recordings;
      const std::int64_t begin = number;
      prepare(one, begin, std::min(end, begin + at_once), mine, problems);
      for (Problem& problem : problems) recordings.emplace_back(problem, columns, options_.measurements, ledger);
      std::size_t failed = 0;
      if (std::optional<Failure> failure =
              record_all(one, every_, columns, problems, recordings, ledger.is_requested(), failed)) {
        failure->reason = fmt::format("realisation {}: {}", begin + static_cast<std::int64_t>(failed), failure->reason);
        return failure;
      }
      for (Recording& recording : recordings) {
        recording.add_to(sums);
        const std::vector<double> more = recording.per_realisation();
        per_realisation.insert(per_realisation.end(), more.begin(), more.end());
        const std::span<const double> path = recording.path();
        if (number < options_.paths) per_realisation.insert(per_realisation.end(), path.begin(), path.end());
        if (++number % batch_size != 0 && number != end) continue;
        found.insert(found.end(), sums.both.begin(), sums.both.end());
        found.insert(found.end(), per_realisation.begin(), per_realisation.end());
        std::fill(sums.both.begin(), sums.both.end(), 0.0);
        per_realisation.clear();
      }
    }
    return std::nullopt;
  }

  /// The realisations from `begin` on and before `end`, at their start.
  void prepare(const Case& one, std::int64_t begin, std::int64_t end, const Communicator& mine,
               std::vector<Problem>& problems) const {
    for (std::int64_t number = begin; number < end; ++number) {
      problems.push_back(experiment_.make_problem(one, one.step, one.closed, mine));
      problems.back().prepare(experiment_.seed(), static_cast<std::uint32_t>(number));
    }
  }

  /// How many batches a rank takes at a time, all their realisations side by side: as many as are worth it, but no rank
  /// is left without. 0 where they have to go one after the other. The same on every rank.
  std::int64_t batches_at_once(const Case& one, const EnsembleColumns& columns, const LedgerNumbers& ledger,
                               int teams) const {
    const auto* scheme = std::get_if<ExplicitScheme>(&one.scheme);
    if (scheme == nullptr || one.closed || options_.ranks_per_realisation > 1 || ledger.is_requested()) return 0;
    Problem problem = experiment_.make_problem(one);
    if (!make_batch_stepper(*scheme, {&problem, 1}, one.step)) return 0;
    return std::min(max_batches_at_once(columns), (batches() + teams - 1) / teams);
  }

  /// Adds what all teams have found, in the order of their batches. Rank 0 only.
  void add(const EnsembleColumns& columns, std::span<const double> found, EnsembleTotals& total) const {
    const auto take = [&](std::size_t count, std::vector<double>& to) {
      to.insert(to.end(), found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count));
      found = found.subspan(count);
    };
    for (std::int64_t batch = done_; !found.empty(); ++batch) {
      for (std::size_t j = 0; j < total.sums.size(); ++j) total.sums[j] += found[j];
      found = found.subspan(total.sums.size());
      for (std::int64_t realisation = batch * batch_size; realisation < end_of(batch); ++realisation) {
        take(options_.measurements.per_realisation(), total.per_realisation);
        if (realisation < options_.paths) take(columns.kinetic(), total.paths);
      }
    }
  }

  Recipe recipe_;
  const Experiment& experiment_;
  EnsembleOptions options_;
  std::int64_t every_;
  std::vector<EnsembleTotals> totals_;  // of every case so far, up to date on rank 0
  std::int64_t done_ = 0;               // batches of the last of them
};

}  // namespace

EnsembleColumns ensemble_columns(const Experiment& experiment, const EnsembleOptions& options, const Case& one) {
  const ParticleSystem& system = experiment.system();
  const std::int64_t every = experiment.output().every;
  const double spacing = static_cast<double>(every) * one.step;
  EnsembleColumns columns;
  columns.records = static_cast<std::size_t>(one.steps / every + 1);
  columns.first = static_cast<std::size_t>(std::ceil(options.from / spacing * (1.0 - 1e-12)));
  columns.lags = std::min(columns.records - columns.first,
                          static_cast<std::size_t>(options.max_lag / spacing * (1.0 + 1e-12)) + 1);
  columns.dofs = static_cast<std::size_t>(system.size());
  columns.particles = static_cast<std::size_t>(system.particles);
  columns.axes = static_cast<std::size_t>(system.axes);
  columns.skipped = options.series ? 0 : columns.correlation();
  columns.blocks = static_cast<std::size_t>(options.blocks);
  columns.measured = options.measurements.width(columns.lags);
  return columns;
}

EnsembleBytes ensemble_bytes(const Experiment& experiment, const EnsembleOptions& options) {
  double most = 0.0, totals = 0.0, results = 0.0;
  const int teams =
      (experiment.communicator().size() + options.ranks_per_realisation - 1) / options.ranks_per_realisation;
  for (const Case& one : experiment.cases()) {
    const EnsembleColumns columns = ensemble_columns(experiment, options, one);
    const auto averaged = static_cast<double>(2 * columns.averaged());
    const auto per_realisation =
        static_cast<double>(options.realisations) * static_cast<double>(options.measurements.per_realisation()) +
        static_cast<double>(std::min(options.paths, options.realisations)) * static_cast<double>(columns.kinetic());
    totals += averaged + per_realisation;
    // Of the realisations under way, of their batches, and of all batches that come together.
    const auto at_once = one.closed ? 0.0 : static_cast<double>(max_batches_at_once(columns));
    const double under_way = std::max(1.0, at_once * batch_size) * static_cast<double>(columns.width());
    most = std::max(most, under_way + (2.0 + teams) * std::max(1.0, at_once) * averaged + 2.0 * per_realisation);
    // Variances come with means, and every record has the survival of every passage.
    const auto passages = static_cast<double>(2 * options.measurements.passages.size() * columns.records);
    const auto variances = options.series ? static_cast<double>(4 * columns.records * columns.dofs) : 0.0;
    results += averaged + per_realisation + variances + passages;
  }
  return {8.0 * (totals + most), 8.0 * results};
}

std::unique_ptr<Study> make_ensemble(const Recipe& recipe, const Experiment& experiment, EnsembleOptions options) {
  return std::make_unique<EnsembleStudy>(recipe, experiment, std::move(options));
}

}  // namespace bathline
