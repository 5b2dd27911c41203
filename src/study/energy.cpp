// Energy over a long time: how far it swings, and whether it drifts.
//
// The drift is the slope of a straight line through the means of equal blocks of time, so that oscillations shorter
// than a block cancel; its uncertainty is what the scatter of these means about the line allows, of which chaotic
// motion makes neighbours alike (study/theory/line_fit.hpp). Where the scheme has a quadratic invariant of its own
// (study/theory/discrete_invariant.hpp) that does not swing, and what is left is round-off.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "driver/time_loop.hpp"
#include "study/catalogue.hpp"
#include "study/theory/discrete_invariant.hpp"
#include "study/theory/line_fit.hpp"

namespace bathline {

namespace {

/// What is kept at every record of a case.
struct EnergySeries {
  std::vector<double> time, total;
  std::vector<double> invariant;  // empty where none is known
};

class EnergyRecorder final : public Observer {
 public:
  explicit EnergyRecorder(bool wants_invariants) : wants_invariants_(wants_invariants) {}

  void record(const StateView& moment, const EnergyLedger& ledger) override {
    if (moment.step == 0) all_.emplace_back();
    EnergySeries& series = all_.back();
    series.time.push_back(moment.time);
    series.total.push_back(ledger.total());
    if (!wants_invariants_ || !DiscreteInvariant::is_known(moment.this_case.scheme, moment.problem)) return;
    const DiscreteInvariant invariant(moment.this_case.scheme, moment.problem, moment.this_case.step);
    series.invariant.push_back(invariant.value(ledger.total()));
  }
  void serialise(Archive& archive) override {
    archive.each(all_, [](Archive& one, EnergySeries& series) {
      one.numbers("time", series.time);
      one.numbers("total", series.total, series.time.size());
      one.numbers("invariant", series.invariant);
      if (!series.invariant.empty() && series.invariant.size() != series.time.size()) {
        throw std::out_of_range("invariant");
      }
    });
  }
  /// In the order of the cases.
  const std::vector<EnergySeries>& all() const { return all_; }

 private:
  bool wants_invariants_;
  std::vector<EnergySeries> all_;
};

struct Report {
  std::vector<double> block_time, block_mean;
  double initial = 0.0, largest_deviation = 0.0, peak_to_peak_first_half = 0.0, peak_to_peak_second_half = 0.0;
  LineFit drift{};
};

Report judge(const std::vector<double>& time_of, const std::vector<double>& values, std::size_t blocks) {
  Report report;
  report.initial = values.front();
  const std::size_t count = values.size();
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t begin = count * block / blocks, end = count * (block + 1) / blocks;
    double time = 0.0, deviation = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
      time += time_of[i];
      deviation += values[i] - report.initial;
    }
    report.block_time.push_back(time / static_cast<double>(end - begin));
    report.block_mean.push_back(report.initial + deviation / static_cast<double>(end - begin));
  }
  for (double value : values) {
    report.largest_deviation = std::max(report.largest_deviation, std::abs(value - report.initial));
  }
  const auto swing = [&](std::size_t begin, std::size_t end) {
    const auto [low, high] = std::minmax_element(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                                 values.begin() + static_cast<std::ptrdiff_t>(end));
    return *high - *low;
  };
  report.peak_to_peak_first_half = swing(0, count / 2);
  report.peak_to_peak_second_half = swing(count / 2, count);
  report.drift = fit_trend(report.block_time, report.block_mean);
  return report;
}

class EnergyStudy final : public Study {
 public:
  EnergyStudy(const Experiment& experiment, std::size_t blocks, bool wants_invariants)
      : experiment_(experiment), blocks_(blocks), wants_invariants_(wants_invariants) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    EnergyRecorder keeper(wants_invariants_);
    Observer* const observers[] = {&keeper};
    const std::optional<CaseFailure> failure = run_trajectories(experiment_, file, progress, checkpoints, observers);
    if (failure) return failure;
    for (std::size_t i = 0; i < experiment_.cases().size(); ++i) {
      const EnergySeries& series = keeper.all()[i];
      const std::string& label = experiment_.cases()[i].label;
      write(label, judge(series.time, series.total, blocks_), file);
      if (!series.invariant.empty()) write_invariant(label, judge(series.time, series.invariant, blocks_), file);
    }
    return std::nullopt;
  }

 private:
  static void write(const std::string& label, const Report& report, ResultFile& file) {
    const std::string group = "energy/" + label;
    const Dimension block[] = {{"block_time", report.block_time, "s", "middle of the block of time"}};
    file.array(group, {"block_mean", "J", "mean total energy of the block", {"block_time"}}, block, report.block_mean);
    file.number(group, "initial", "J", "total energy at the start", report.initial);
    file.number(group, "largest_deviation", "J", "largest distance of the total energy from its start",
                report.largest_deviation);
    file.number(group, "peak_to_peak_first_half", "J", "highest less lowest total energy in the first half",
                report.peak_to_peak_first_half);
    file.number(group, "peak_to_peak_second_half", "J", "highest less lowest total energy in the second half",
                report.peak_to_peak_second_half);
    file.number(group, "drift", "J/s", "slope of the total energy", report.drift.slope);
    file.number(group, "drift_error", "J/s", "standard error of the slope, with the correlation of neighbouring blocks",
                report.drift.error);
    file.number(group, "drift_in_errors", "1", "slope over its standard error",
                report.drift.slope / report.drift.error);
  }

  static void write_invariant(const std::string& label, const Report& report, ResultFile& file) {
    const std::string group = "energy/" + label;
    std::vector<double> deviation;
    for (double mean : report.block_mean) deviation.push_back(mean - report.initial);
    const Dimension block[] = {{"block_time", report.block_time, "s", "middle of the block of time"}};
    file.array(group,
               {"invariant_deviation", "J", "mean distance of the discrete invariant from its start", {"block_time"}},
               block, deviation);
    file.number(group, "invariant", "J", "discrete invariant at the start", report.initial);
    file.number(group, "invariant_largest_deviation", "J", "largest distance of the discrete invariant from its start",
                report.largest_deviation);
    file.number(group, "invariant_drift", "J/s", "slope of the discrete invariant", report.drift.slope);
    file.number(group, "invariant_drift_error", "J/s", "standard error of that slope", report.drift.error);
  }

  const Experiment& experiment_;
  std::size_t blocks_;
  bool wants_invariants_;
};

std::unique_ptr<Study> make_energy(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = recipe.study;
  const std::int64_t blocks = study.integer("blocks");
  if (blocks < 3) {
    mistakes.add(study.where("blocks"), fmt::format("blocks = {}: a slope with its uncertainty needs 3", blocks));
    return nullptr;
  }
  const std::int64_t every = experiment.output().every;
  for (const Case& one : experiment.cases()) {
    if (one.steps / every + 1 >= blocks) continue;
    mistakes.add(study.where("blocks"),
                 fmt::format("{} blocks need as many records, but `{}` has {}; record more often or run longer", blocks,
                             one.label, one.steps / every + 1));
  }
  return std::make_unique<EnergyStudy>(experiment, static_cast<std::size_t>(blocks), study.boolean("invariants"));
}

}  // namespace

StudyKind energy_kind() {
  return {
      .entry = {.name = "energy",
                .summary = "total energy over a long time: swing, drift and the drift's uncertainty",
                .equation = "E(t) = c + drift t, fitted to the means of equal blocks of time",
                .source = "hairer2006, section IX.8",
                .parameters =
                    {{.name = "blocks",
                      .type = ValueType::integer,
                      .doc = "blocks of time whose means are fitted; oscillations shorter than a block cancel",
                      .default_value = "50",
                      .bound = Bound::positive},
                     {.name = "invariants",
                      .type = ValueType::boolean,
                      .doc = "whether the invariants of splittings on linear closed systems are followed as well, for "
                             "which every record gathers all sites",
                      .default_value = "false"}},
                .notes =
                    "Group energy/<integrator>: block_mean, initial, largest_deviation, peak_to_peak_first_half, "
                    "peak_to_peak_second_half, "
                    "drift, drift_error, drift_in_errors; of the discrete invariant of `gamma` with 0 or 1 and of "
                    "`stoermer-verlet`: invariant, invariant_deviation (block_time), invariant_largest_deviation, "
                    "invariant_drift, invariant_drift_error. A drift within two or three of its errors is none; these "
                    "count neighbouring blocks that are alike as fewer. "
                    "Trajectories are recorded as well; raise [output] every on long runs."},
      .make = make_energy,
      .allows_own_ends = true,
      .takes_any_lagrangian = true};
}

}  // namespace bathline
