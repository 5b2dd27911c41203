// Energy over a long time: the range of its oscillation, and its drift.
//
// The drift is the slope of a straight line through the means of equal blocks of time, in which oscillations shorter
// than a block cancel. Its standard error follows from the scatter of the means about the line and from the correlation
// of neighbouring means, which is large in chaotic motion (study/theory/line_fit.hpp). Where the scheme conserves a
// quadratic invariant (study/theory/discrete_invariant.hpp), only round-off changes it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "driver/output_times.hpp"
#include "driver/time_loop.hpp"
#include "study/catalogue.hpp"
#include "study/memory_check.hpp"
#include "study/theory/discrete_invariant.hpp"
#include "study/theory/line_fit.hpp"

namespace bathline {

namespace {

/// The energies of a case, by record.
struct EnergySeries {
  std::vector<double> time, total;
  std::vector<double> invariant;  // empty where the scheme has none
};

class EnergyRecorder final : public Observer {
 public:
  explicit EnergyRecorder(bool records_invariants) : records_invariants_(records_invariants) {}

  void record(const StateView& moment, const EnergyLedger& ledger) override {
    if (moment.step == 0) all_.emplace_back();
    EnergySeries& series = all_.back();
    series.time.push_back(moment.time);
    series.total.push_back(ledger.total());
    if (!records_invariants_ || !DiscreteInvariant::is_known(moment.this_case.scheme, moment.problem)) return;
    const DiscreteInvariant invariant(moment.this_case.scheme, moment.problem, moment.this_case.step);
    series.invariant.push_back(invariant.value(ledger.total()));
  }
  void serialise(Archive& archive) override {
    archive.each(all_, [](Archive& entry, EnergySeries& series) {
      entry.numbers("time", series.time);
      entry.numbers("total", series.total, series.time.size());
      entry.numbers("invariant", series.invariant);
      if (!series.invariant.empty() && series.invariant.size() != series.time.size()) {
        throw std::out_of_range("invariant");
      }
    });
  }
  /// In the order of the cases.
  const std::vector<EnergySeries>& all() const { return all_; }

 private:
  bool records_invariants_;
  std::vector<EnergySeries> all_;
};

struct Report {
  std::vector<double> block_time, block_mean;
  double initial = 0.0, largest_deviation = 0.0, peak_to_peak_first_half = 0.0, peak_to_peak_second_half = 0.0;
  LineFit drift{};
};

Report analyse(const std::vector<double>& times, const std::vector<double>& values, std::size_t blocks) {
  Report report;
  report.initial = values.front();
  const std::size_t count = values.size();
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t begin = count * block / blocks, end = count * (block + 1) / blocks;
    double time = 0.0, deviation = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
      time += times[i];
      deviation += values[i] - report.initial;
    }
    report.block_time.push_back(time / static_cast<double>(end - begin));
    report.block_mean.push_back(report.initial + deviation / static_cast<double>(end - begin));
  }
  for (double value : values) {
    report.largest_deviation = std::max(report.largest_deviation, std::abs(value - report.initial));
  }
  const auto peak_to_peak = [&](std::size_t begin, std::size_t end) {
    const auto [low, high] = std::minmax_element(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                                 values.begin() + static_cast<std::ptrdiff_t>(end));
    return *high - *low;
  };
  report.peak_to_peak_first_half = peak_to_peak(0, count / 2);
  report.peak_to_peak_second_half = peak_to_peak(count / 2, count);
  report.drift = fit_trend(report.block_time, report.block_mean);
  return report;
}

class EnergyStudy final : public Study {
 public:
  EnergyStudy(const Experiment& experiment, std::size_t blocks, bool records_invariants)
      : experiment_(experiment), blocks_(blocks), records_invariants_(records_invariants) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    EnergyRecorder recorder(records_invariants_);
    Observer* const observers[] = {&recorder};
    const std::optional<CaseFailure> failure = run_trajectories(experiment_, file, progress, checkpoints, observers);
    if (failure) return failure;
    for (std::size_t i = 0; i < experiment_.cases().size(); ++i) {
      const EnergySeries& series = recorder.all()[i];
      const std::string& label = experiment_.cases()[i].name;
      write(label, analyse(series.time, series.total, blocks_), file);
      if (!series.invariant.empty()) write_invariant(label, analyse(series.time, series.invariant, blocks_), file);
    }
    return std::nullopt;
  }

 private:
  static Dimension blocks_of(const Report& report) {
    return {"block_time", report.block_time, "s", "middle of the block of time"};
  }
  static void write(const std::string& label, const Report& report, ResultFile& file) {
    const GroupWriter out(file, "energy/" + label);
    out.array("block_mean", "J", "mean total energy of the block", {blocks_of(report)}, report.block_mean);
    out.number("initial", "J", "total energy at the start", report.initial);
    out.number("largest_deviation", "J", "largest deviation of the total energy from its initial value",
               report.largest_deviation);
    out.number("peak_to_peak_first_half", "J", "highest minus lowest total energy in the first half",
               report.peak_to_peak_first_half);
    out.number("peak_to_peak_second_half", "J", "highest minus lowest total energy in the second half",
               report.peak_to_peak_second_half);
    out.number("drift", "J/s", "slope of the total energy", report.drift.slope);
    out.number("drift_error", "J/s", "standard error of the slope, with the correlation of neighbouring blocks",
               report.drift.error, true);
    out.number("drift_in_errors", "1", "slope over its standard error", report.drift.slope / report.drift.error, true);
  }

  static void write_invariant(const std::string& label, const Report& report, ResultFile& file) {
    const GroupWriter out(file, "energy/" + label);
    std::vector<double> deviation;
    for (double mean : report.block_mean) deviation.push_back(mean - report.initial);
    out.array("invariant_deviation", "J", "mean deviation of the discrete invariant from its initial value",
              {blocks_of(report)}, deviation);
    out.number("invariant", "J", "discrete invariant at the start", report.initial);
    out.number("invariant_largest_deviation", "J", "largest deviation of the discrete invariant from its initial value",
               report.largest_deviation);
    out.number("invariant_drift", "J/s", "slope of the discrete invariant", report.drift.slope);
    out.number("invariant_drift_error", "J/s", "standard error of that slope", report.drift.error, true);
  }

  const Experiment& experiment_;
  std::size_t blocks_;
  bool records_invariants_;
};

std::unique_ptr<Study> make_energy(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = recipe.study;
  const std::int64_t blocks = study.integer("blocks");
  if (blocks < 3) {
    mistakes.add(study.where("blocks"),
                 fmt::format("blocks = {}: a slope with its standard error needs at least 3", blocks));
    return nullptr;
  }
  const std::int64_t every = experiment.output().every;
  for (const Case& this_case : experiment.cases()) {
    if (record_count(this_case, every) >= blocks) continue;
    mistakes.add(study.where("blocks"),
                 fmt::format("{} blocks need as many records, but `{}` has {}: lower [output] `every` or raise the end",
                             blocks, this_case.name, record_count(this_case, every)));
  }
  const bool records_invariants = study.boolean("invariants");
  check_memory_of_records(3.0, records_invariants, recipe, experiment, mistakes);
  return std::make_unique<EnergyStudy>(experiment, static_cast<std::size_t>(blocks), records_invariants);
}

}  // namespace

StudyKind energy_kind() {
  return {
      .entry = {.name = "energy",
                .summary = "total energy over a long time: range, drift and the standard error of the drift",
                .equation = "E(t) = c + drift t, fitted to the means of equal blocks of time",
                .source = "hairer2006, section IX.8",
                .parameters =
                    {{.name = "blocks",
                      .type = ValueType::integer,
                      .doc =
                          "number of blocks of time whose means are fitted; oscillations shorter than a block cancel",
                      .default_value = "50",
                      .bound = Bound::positive},
                     defaulted("invariants", ValueType::boolean, "", "false",
                               "whether the invariants of splittings of linear closed systems are recorded as well; "
                               "every record then gathers all sites")},
                .notes =
                    "Group energy/<integrator>: block_mean, initial, largest_deviation, peak_to_peak_first_half, "
                    "peak_to_peak_second_half, drift, drift_error, drift_in_errors; of the discrete invariant of "
                    "`gamma` with 0 or 1 and of `stoermer-verlet`: invariant, invariant_deviation (block_time), "
                    "invariant_largest_deviation, invariant_drift, invariant_drift_error. A drift within two or three "
                    "standard errors is not significant; the errors account for the correlation of neighbouring "
                    "blocks. Trajectories are recorded as well; raise [output] `every` for long runs."},
      .make = make_energy,
      .allows_own_ends = true,
      .takes_any_lagrangian = true};
}

}  // namespace bathline
