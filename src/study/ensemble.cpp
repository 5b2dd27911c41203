// Many realisations of the same experiment with different random numbers, spread over the ranks: means and error bars.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "parallel/memory_budget.hpp"
#include "study/catalogue.hpp"
#include "study/ensemble/ledger.hpp"
#include "study/ensemble/run.hpp"
#include "study/ensemble/slopes.hpp"

namespace bathline {

namespace {

/// Without heat all realisations are the same. Open runs are warm by their noise, closed ones by how they start.
void check_langevin(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  bool warm = false, any_closed = false;
  for (const Case& one : experiment.cases()) {
    any_closed = any_closed || one.closed;
    if (!one.closed) {
      if (one.noise) continue;
      mistakes.add(one.options.where(one.options.boolean("noise") ? "on" : "noise"),
                   one.options.boolean("noise")
                       ? "every realisation of an open run without a temperature is the same; an ensemble needs an "
                         "environment with a `kT`, or one in [system]"
                       : "every realisation of an open run without noise is the same");
      continue;
    }
    warm = warm || one.noise || (one.start != nullptr && one.start->is_warm());
    const Problem problem = experiment.make_problem(one);
    for (const auto& environment : problem.environments()) {
      warm = warm || environment->properties().temperature > 0.0;
    }
  }
  if (warm || !any_closed) return;
  std::string unused;
  for (const Section& environment : recipe.environments) {
    const bool is_warm = environment.is_readable("kT") && environment.number("kT") > 0.0;
    if (is_warm) unused += (unused.empty() ? "`" : ", `") + environment.text("name") + "`";
  }
  mistakes.add(
      recipe.study.where("kind"),
      unused.empty()
          ? "no environment has a `kT` above 0, so all realisations would be the same"
          : fmt::format("no integrator is closed with {}, which alone start warm, so all realisations would be "
                        "the same; see `environments` of [[integrators]]",
                        unused));
}

/// "340 KiB".
std::string size_in_words(double bytes) {
  constexpr double kibibyte = 1024.0;
  if (bytes < kibibyte * kibibyte) return fmt::format("{:.0f} KiB", std::ceil(bytes / kibibyte));
  return fmt::format("{:.0f} MiB", std::ceil(bytes / (kibibyte * kibibyte)));
}

/// What is kept of realisations fits into memory, and how much that is.
void check_memory(const Recipe& recipe, const Experiment& experiment, const EnsembleOptions& options,
                  Mistakes& mistakes) {
  const EnsembleBytes bytes = ensemble_bytes(experiment, options);
  const MemoryBudget memory = memory_budget(experiment.communicator(), bytes.memory);
  if (memory.needed <= memory.available) {
    spdlog::info("ensemble: {} on a rank for what is recorded, {} of results", size_in_words(bytes.memory),
                 size_in_words(bytes.result));
    return;
  }
  mistakes.add(recipe.study.where("realisations"),
               fmt::format("what is recorded of the realisations needs {} on a {} that has {} to spare; "
                           "`series = false` leaves out means at every record, `[output] every` makes them fewer",
                           size_in_words(memory.needed), memory.is_rank_limit ? "rank" : "node",
                           size_in_words(memory.available)));
}

/// Reads what is measured, and in how many blocks of time.
void read_measures(const Recipe& recipe, const Experiment& experiment, EnsembleOptions& options, Mistakes& mistakes) {
  const Section& study = recipe.study;
  options.series = study.boolean("series");
  options.paths = study.integer("saved_paths");
  options.measurements = read_measurements(study, experiment.system(), ledger_names(recipe), mistakes);
  check_ledger(experiment, options.measurements, mistakes);
  options.slopes = read_slopes(study, experiment, options.measurements, mistakes);
  options.blocks = study.integer("blocks");
  const double block = (experiment.end_time() - options.from) / static_cast<double>(options.blocks);
  if (!study.has("max_lag")) options.max_lag = std::min(options.max_lag, 0.25 * block);
  for (const Case& one : experiment.cases()) {
    const EnsembleColumns columns = ensemble_columns(experiment, options, one);
    if (columns.blocks <= columns.records - columns.first && columns.lags <= columns.block(1) - columns.first) continue;
    mistakes.add(study.where("blocks"),
                 fmt::format("blocks = {}: a block has {:.6g} s in {}, too few records or less than the longest lag {}",
                             options.blocks, block, one.label, options.max_lag));
    return;
  }
}

std::unique_ptr<Study> make_ensemble(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = recipe.study;
  EnsembleOptions options{.realisations = study.integer("realisations")};
  if (options.realisations < 2) {
    mistakes.add(study.where("realisations"), "an error bar needs at least two realisations");
  }
  options.from = study.number("burn_in");
  const double end = experiment.end_time();
  if (options.from >= end) {
    mistakes.add(study.where("burn_in"),
                 fmt::format("from = {}: averages must begin before the end {}", options.from, end));
  }
  options.max_lag = study.has("max_lag") ? study.number("max_lag") : 0.25 * (end - options.from);
  if (study.has("max_lag") && options.max_lag > end - options.from) {
    mistakes.add(study.where("max_lag"),
                 fmt::format("max_lag = {}: from {} to the end {} there is less", options.max_lag, options.from, end));
  }
  check_langevin(recipe, experiment, mistakes);
  options.ranks_per_realisation = static_cast<int>(
      std::min<std::int64_t>(study.integer("ranks_per_realisation"), experiment.communicator().size()));
  if (mistakes.empty()) read_measures(recipe, experiment, options, mistakes);
  if (mistakes.empty()) check_memory(recipe, experiment, options, mistakes);
  return make_ensemble(recipe, experiment, std::move(options));
}

}  // namespace

StudyKind ensemble_kind() {
  std::vector<Parameter> parameters = {
      {.name = "realisations",
       .type = ValueType::integer,
       .doc = "number of realisations, each with random numbers of its own",
       .required = true,
       .bound = Bound::positive},
      {.name = "burn_in",
       .units = "s",
       .doc = "begin of the averages over time; by then the particles should have forgotten their start",
       .default_value = "0.0",
       .bound = Bound::nonnegative},
      {.name = "max_lag",
       .units = "s",
       .doc = "longest lag of autocorrelations; left out, a quarter of the time that is averaged over, or of a block",
       .bound = Bound::nonnegative},
      {.name = "blocks",
       .type = ValueType::integer,
       .doc =
           "parts that the time of a realisation is cut into, each a sample of its own for means over time and their "
           "errors: long beside what the particles remember",
       .default_value = "1",
       .bound = Bound::positive},
      {.name = "ranks_per_realisation",
       .type = ValueType::integer,
       .doc = "ranks that share one realisation, for environments too large for one",
       .default_value = "1",
       .bound = Bound::positive},
      {.name = "series",
       .type = ValueType::boolean,
       .doc = "whether means at every record are wanted beside averages over time",
       .default_value = "true"},
      {.name = "saved_paths",
       .type = ValueType::integer,
       .doc = "how many realisations are recorded whole, the first ones",
       .default_value = "0",
       .bound = Bound::nonnegative}};
  for (Parameter& parameter : measurement_parameters()) parameters.push_back(std::move(parameter));
  parameters.push_back(slopes_parameter());
  return {
      .entry =
          {.name = "ensemble",
           .summary = "many realisations of noise and thermal starts: means with error bars, histograms, passages",
           .equation =
               "mean +- standard error over realisations;  C(l) = <v(t + l) v(t)> over realisations and t >= from",
           .source = "farshi2018, section 4.3; weiss2012, section 2",
           .parameters = std::move(parameters),
           .notes =
               "Group ensemble/<integrator>: step, damping, and each with its _error: mean_q, mean_v, variance_q, "
               "variance_v, kinetic_energy "
               "(time), "
               "velocity_autocorrelation (lag), kinetic_mean; and where all environments have one temperature "
               "kinetic_expected, kinetic_deviation, and for linear systems velocity_autocorrelation_theory and "
               "correlation_deviation. Deviations count standard errors, which come from the spread over "
               "realisations, and over their blocks. Of a quantity: <name>_mean, _autocorrelation (lag; of products, "
               "the mean is not taken off), _density (<name>_bin) with _expected and _deviation, _of_realisation "
               "(realisation), and _variance of one "
               "at the end; of a density <name>_density; of a "
               "passage <name>_time (realisation), _survival (time), _count, _rate: passages since `burn_in` over the "
               "time waited for them since; of "
               "paths path_q, path_v (path, time, particle, axis). Of slopes, in the group ensemble, <name>_slope, "
               "weighted "
               "by the standard errors of the means. Quantities are taken at records, and passages "
               "are found between two of them: a formula in velocities that feel white noise may cross unseen there, "
               "and passes late by about the root of their distance."},
      .make = make_ensemble,
      .takes_noise = true};
}

}  // namespace bathline
