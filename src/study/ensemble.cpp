// Many realisations of the same experiment with different thermal starts, spread over the ranks: means and error bars.
//
// Realisations are summed up in batches of fixed size, and the batches one after the other, so that neither the number
// of ranks nor a stop between batches changes a bit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "advance/step_matrix.hpp"
#include "driver/pieces.hpp"
#include "solve/dense.hpp"
#include "study/catalogue.hpp"
#include "study/theory/averages.hpp"

namespace bathline {

namespace {

constexpr std::int64_t batch_size = 8;

struct Options {
  std::int64_t realisations = 0;
  double from = 0.0;         ///< begin of the averages over time, s
  double longest_lag = 0.0;  ///< of the velocity autocorrelation, s
  int together = 1;          ///< ranks that share one realisation
};

class EnsembleStudy final : public Study {
 public:
  EnsembleStudy(const Experiment& experiment, const Options& options)
      : experiment_(experiment), options_(options), every_(experiment.output().every) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    const Communicator& world = experiment_.communicator();
    const int team = world.rank() / options_.together,
              teams = (world.size() + options_.together - 1) / options_.together;
    const Communicator mine = world.split(team);
    if (const CheckpointReader* from = checkpoints.from()) {
      fit_to_recipe(from, [&] { restore(*from); });
      file.remove_all_but({});
    }
    Breaks breaks(checkpoints);
    for (std::size_t i = 0; i < experiment_.cases().size(); ++i) {
      const Case& one = experiment_.cases()[i];
      const Columns columns = columns_of(one);
      if (i == totals_.size()) {
        totals_.emplace_back(2 * columns.width());
        done_ = 0;
      }
      std::vector<double>& total = totals_[i];
      progress.begin(one.label, options_.realisations, {.name = "realisation"});
      progress.known(std::min(options_.realisations, done_ * batch_size));
      while (i + 1 == totals_.size() && done_ < batches()) {
        breaks.take(one.label, steps_done(), teams * batch_size * one.steps,
                    [&](CheckpointWriter& checkpoint) { save(checkpoint); });
        Sums sums(columns.width());
        std::optional<Failure> failure;
        const std::int64_t batch = done_ + team;
        if (batch < batches()) failure = run_batch(one, columns, batch, mine, sums);
        if (std::optional<Failure> known = shared(world, failure)) return CaseFailure{one.label, *known};
        const bool speaks = mine.is_root() && batch < batches();
        const std::vector<double> all =
            world.gather(speaks ? std::span<const double>(sums.both) : std::span<const double>());
        for (std::size_t j = 0; j < all.size(); ++j) total[j % total.size()] += all[j];
        done_ = std::min(batches(), done_ + teams);
        progress.update(std::min(options_.realisations, done_ * batch_size));
      }
      progress.end();
      world.broadcast(std::span<double>(total));
      write(one, columns, total, file);
      file.flush();
    }
    return std::nullopt;
  }

 private:
  std::int64_t batches() const { return (options_.realisations + batch_size - 1) / batch_size; }

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
    for (std::size_t i = 0; i < totals_.size(); ++i) checkpoint.numbers(sums_of(i), totals_[i]);
  }

  /// @note Collective.
  void restore(const CheckpointReader& from) {
    const auto last = static_cast<std::size_t>(from.count("case"));
    done_ = from.count("batches");
    if (last >= experiment_.cases().size()) throw std::out_of_range("case");
    if (done_ > batches()) throw std::out_of_range("batches");
    for (std::size_t i = 0; i <= last; ++i) {
      totals_.push_back(from.numbers(sums_of(i)));
      if (totals_[i].size() != 2 * columns_of(experiment_.cases()[i]).width()) throw std::out_of_range(sums_of(i));
    }
  }
  static std::string sums_of(std::size_t index) { return fmt::format("sums-{}", index); }

  Columns columns_of(const Case& one) const {
    const OpenSystem& system = experiment_.system();
    const auto records = static_cast<std::size_t>(one.steps / every_ + 1);
    const double spacing = static_cast<double>(every_) * one.step;
    return {.records = records,
            .lags = std::min(records - first_record(one),
                             static_cast<std::size_t>(options_.longest_lag / spacing * (1.0 + 1e-12)) + 1),
            .dofs = static_cast<std::size_t>(system.size()),
            .particles = static_cast<std::size_t>(system.particles),
            .axes = static_cast<std::size_t>(system.axes)};
  }

  /// The first record of the averages over time.
  std::size_t first_record(const Case& one) const {
    return static_cast<std::size_t>(
        std::ceil(options_.from / (static_cast<double>(every_) * one.step) * (1.0 - 1e-12)));
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

  std::optional<Failure> run_batch(const Case& one, const Columns& columns, std::int64_t batch,
                                   const Communicator& mine, Sums& sums) const {
    const std::int64_t end = std::min(options_.realisations, (batch + 1) * batch_size);
    std::vector<double> values;
    for (std::int64_t realisation = batch * batch_size; realisation < end; ++realisation) {
      Problem problem = experiment_.make_problem(one, one.step, one.closed, mine);
      problem.prepare(experiment_.output().seed, static_cast<std::uint32_t>(realisation));
      if (std::optional<Failure> failure = realise(one, columns, problem, values)) {
        failure->reason = fmt::format("realisation {}: {}", realisation, failure->reason);
        return failure;
      }
      sums.add(values);
    }
    return std::nullopt;
  }

  std::optional<Failure> realise(const Case& one, const Columns& columns, Problem& problem,
                                 std::vector<double>& values) const {
    values.assign(columns.width(), 0.0);
    const std::unique_ptr<Stepper> stepper = make_stepper(one.scheme, problem, one.step);
    const Eigen::VectorXd& mass = problem.system().mass;
    for (std::size_t record = 0; record < columns.records; ++record) {
      if (record > 0) {
        if (std::optional<Failure> failure = stepper->advance(every_)) return failure;
      }
      for (std::size_t i = 0; i < columns.dofs; ++i) {
        const auto dof = static_cast<Eigen::Index>(i);
        const double v = problem.p[dof] / mass[dof];
        values[columns.q() + record * columns.dofs + i] = problem.q[dof];
        values[columns.v() + record * columns.dofs + i] = v;
        values[columns.kinetic() + record * columns.particles + i / columns.axes] += 0.5 * mass[dof] * v * v;
      }
    }
    if (problem.communicator().is_root() &&
        !std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); })) {
      return Failure{one.steps, 0.0, "the state is no longer finite"};
    }
    average_over_time(columns, first_record(one), values);
    return std::nullopt;
  }

  /// kT of the environments where all have the same, else NaN.
  double temperature(const Case& one) const {
    const Problem problem = experiment_.make_problem(one);
    double kt = std::numeric_limits<double>::quiet_NaN();
    for (const auto& environment : problem.environments()) {
      if (std::isnan(kt)) kt = environment->facts().temperature;
      if (environment->facts().temperature != kt) return std::numeric_limits<double>::quiet_NaN();
    }
    return kt;
  }

  /// The velocity autocorrelation of the damped particles in equilibrium with white noise; empty where they are not
  /// linear. <v(t) v(0)> = exp(A t)_vv kT/m, by limebeer2020, section II-A, and weiss2012, section 2.
  std::vector<double> langevin_correlation(const Case& one, const Columns& columns, double kt) const {
    std::vector<double> theory;
    const Problem open = experiment_.make_problem(one, one.step, false);
    if (!open.system().is_linear()) return theory;
    const Eigen::MatrixXd motion = motion_matrix(open);
    const auto n = static_cast<Eigen::Index>(columns.dofs);
    for (std::size_t lag = 0; lag < columns.lags; ++lag) {
      const double t = static_cast<double>(lag) * static_cast<double>(every_) * one.step;
      const Eigen::MatrixXd flow = matrix_exponential(t * motion);
      for (std::size_t particle = 0; particle < columns.particles; ++particle) {
        double mean = 0.0;
        for (std::size_t axis = 0; axis < columns.axes; ++axis) {
          const auto dof = static_cast<Eigen::Index>(particle * columns.axes + axis);
          mean += flow(n + dof, n + dof) * kt / open.system().mass[dof] / static_cast<double>(columns.axes);
        }
        theory.push_back(mean);
      }
    }
    return theory;
  }

  void write(const Case& one, const Columns& columns, const std::vector<double>& total, ResultFile& file) const {
    const std::string group = "ensemble/" + one.label;
    const auto indices = [](std::size_t count) {
      std::vector<double> values;
      for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i));
      return values;
    };
    const double spacing = static_cast<double>(every_) * one.step;
    Dimension time{"time", indices(columns.records), "s", "time"}, lag{"lag", indices(columns.lags), "s", "lag"};
    for (double& t : time.values) t *= spacing;
    for (double& t : lag.values) t *= spacing;
    const Dimension particle{"particle", indices(columns.particles), "1", "particle, counted from 0"};
    const Dimension axis{"axis", indices(columns.axes), "1", "axis, counted from 0"};

    const auto put = [&](const std::string& name, const char* units, const std::string& long_name,
                         std::vector<Dimension> dimensions, std::size_t begin, std::size_t count) {
      const Estimate found = estimate(total, begin, count, options_.realisations);
      file.array(group, {name, units, long_name, {}}, dimensions, found.mean);
      file.array(group, {name + "_error", units, "standard error of the " + long_name, {}}, dimensions, found.error);
      return found;
    };
    put("mean_q", "m", "mean position", {time, particle, axis}, columns.q(), columns.records * columns.dofs);
    put("mean_v", "m/s", "mean velocity", {time, particle, axis}, columns.v(), columns.records * columns.dofs);
    put("kinetic_energy", "J", "mean kinetic energy", {time, particle}, columns.kinetic(),
        columns.records * columns.particles);
    const Estimate correlation = put("velocity_autocorrelation", "m2/s2", "mean velocity autocorrelation per axis",
                                     {lag, particle}, columns.correlation(), columns.lags * columns.particles);
    const Estimate kinetic = put("kinetic_mean", "J", "kinetic energy averaged over time and realisations", {particle},
                                 columns.kinetic_mean(), columns.particles);
    file.attribute("realisations", options_.realisations, group);

    const double kt = temperature(one);
    if (!(kt > 0.0)) return;
    const double expected = 0.5 * kt * static_cast<double>(columns.axes);
    std::vector<double> deviation;
    for (std::size_t i = 0; i < columns.particles; ++i) {
      deviation.push_back((kinetic.mean[i] - expected) / kinetic.error[i]);
    }
    file.number(group, "kinetic_expected", "J", "axes times kT/2", expected);
    file.array(group, {"kinetic_deviation", "1", "distance from equipartition in standard errors", {}},
               std::vector<Dimension>{particle}, deviation);
    const std::vector<double> theory = langevin_correlation(one, columns, kt);
    if (theory.empty()) return;
    file.array(group, {"velocity_autocorrelation_theory", "m2/s2", "the same of the Langevin equation", {}},
               std::vector<Dimension>{lag, particle}, theory);
    std::vector<double> off;
    for (std::size_t i = 0; i < theory.size(); ++i)
      off.push_back((correlation.mean[i] - theory[i]) / correlation.error[i]);
    file.array(group, {"correlation_deviation", "1", "distance of the two in standard errors", {}},
               std::vector<Dimension>{lag, particle}, off);
  }

  const Experiment& experiment_;
  Options options_;
  std::int64_t every_;
  std::vector<std::vector<double>> totals_;  // of every case so far, up to date on rank 0
  std::int64_t done_ = 0;                    // batches of the last of them
};

/// Without heat all realisations are the same.
void check_warmth(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  bool warm = false, any_closed = false;
  for (const Case& one : experiment.cases()) {
    any_closed = any_closed || one.closed;
    if (!one.closed) {
      mistakes.add(one.options.where("on"),
                   "every realisation of an open run is the same; an ensemble needs "
                   "on = \"closed\" and an environment with a `temperature`");
      continue;
    }
    for (std::size_t index : one.environments) {
      warm = warm || recipe.environments[index].number("temperature") > 0.0;
    }
  }
  if (warm || !any_closed) return;
  std::string unused;
  for (const Section& environment : recipe.environments) {
    const bool is_warm = environment.is_readable("temperature") && environment.number("temperature") > 0.0;
    if (is_warm) unused += (unused.empty() ? "`" : ", `") + environment.text("name") + "`";
  }
  mistakes.add(
      recipe.study.where("kind"),
      unused.empty()
          ? "no environment has a `temperature` above 0, so all realisations would be the same"
          : fmt::format("no integrator is closed with {}, which alone start warm, so all realisations would be "
                        "the same; see `environments` of [[integrators]]",
                        unused));
}

std::unique_ptr<Study> make(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = recipe.study;
  Options options{.realisations = study.integer("realisations")};
  if (options.realisations < 2) {
    mistakes.add(study.where("realisations"), "an error bar needs at least two realisations");
  }
  options.from = study.number("from");
  const double end = experiment.end_time();
  if (options.from >= end) {
    mistakes.add(study.where("from"),
                 fmt::format("from = {}: averages must begin before the end {}", options.from, end));
  }
  options.longest_lag = study.has("longest_lag") ? study.number("longest_lag") : 0.25 * (end - options.from);
  if (study.has("longest_lag") && options.longest_lag > end - options.from) {
    mistakes.add(study.where("longest_lag"), fmt::format("longest_lag = {}: from {} to the end {} there is less",
                                                         options.longest_lag, options.from, end));
  }
  check_warmth(recipe, experiment, mistakes);
  options.together = static_cast<int>(
      std::min<std::int64_t>(study.integer("ranks_per_realisation"), experiment.communicator().size()));
  return std::make_unique<EnsembleStudy>(experiment, options);
}

}  // namespace

StudyKind ensemble_kind() {
  return {
      {.name = "ensemble",
       .summary = "many thermal starts in one run, spread over the ranks: means, error bars, velocity autocorrelation",
       .equation = "mean +- standard error over realisations;  C(l) = <v(t + l) v(t)> over realisations and t >= from",
       .source = "farshi2018, section 4.3; weiss2012, section 2",
       .parameters = {{.name = "realisations",
                       .type = ValueType::integer,
                       .doc = "number of thermal starts",
                       .required = true,
                       .bound = Bound::positive},
                      {.name = "from",
                       .units = "s",
                       .doc =
                           "begin of the averages over time; by then the particles should have forgotten their start",
                       .fallback = "0.0",
                       .bound = Bound::nonnegative},
                      {.name = "longest_lag",
                       .units = "s",
                       .doc = "longest lag of the velocity autocorrelation; left out, a quarter of the time that is "
                              "averaged over",
                       .bound = Bound::nonnegative},
                      {.name = "ranks_per_realisation",
                       .type = ValueType::integer,
                       .doc = "ranks that share one realisation, for environments too large for one",
                       .fallback = "1",
                       .bound = Bound::positive}},
       .notes = "Group ensemble/<label>, each with its _error: mean_q, mean_v, kinetic_energy (time), "
                "velocity_autocorrelation (lag), kinetic_mean; and where all environments have one temperature "
                "kinetic_expected, kinetic_deviation, and for linear systems velocity_autocorrelation_theory and "
                "correlation_deviation. Deviations count standard errors."},
      make};
}

}  // namespace bathline
