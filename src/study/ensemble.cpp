// Means and standard errors over realisations of an experiment with different random numbers, distributed over the
// ranks.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "parallel/memory_budget.hpp"
#include "study/catalogue.hpp"
#include "study/ensemble/ledger.hpp"
#include "study/ensemble/columns.hpp"
#include "study/ensemble/run.hpp"
#include "study/ensemble/slopes.hpp"

namespace bathline {

namespace {

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
    const bool is_warm = environment.is_readable("kT") && environment.number("kT") > 0.0;
    if (is_warm) unused += (unused.empty() ? "`" : ", `") + environment.text("name") + "`";
  }
  mistakes.add(recipe.study.where("kind"),
               unused.empty() ? "no environment has a `kT` above 0, so all realisations would be the same"
                              : fmt::format("no integrator is closed with {}, the only warm environments, so all "
                                            "realisations would be the same; see `environments` of [[integrators]]",
                                            unused));
}

/// Such as "340 KiB".
std::string format_bytes(double bytes) {
  constexpr double kibibyte = 1024.0;
  if (bytes < kibibyte * kibibyte) return fmt::format("{:.0f} KiB", std::ceil(bytes / kibibyte));
  return fmt::format("{:.0f} MiB", std::ceil(bytes / (kibibyte * kibibyte)));
}

/// Checks that the data of the realisations fit into memory, and logs their size.
void check_memory(const Recipe& recipe, const Experiment& experiment, const EnsembleOptions& options,
                  Mistakes& mistakes) {
  const EnsembleBytes bytes = ensemble_bytes(experiment, options);
  const MemoryBudget memory = memory_budget(experiment.communicator(), bytes.memory);
  if (memory.needed <= memory.available) {
    spdlog::info("ensemble: records need {} on each rank, results {}", format_bytes(bytes.memory),
                 format_bytes(bytes.result));
    return;
  }
  mistakes.add(
      recipe.study.where("realisations"),
      fmt::format("the records of the realisations need {} on a {} with {} free; `series = false` leaves out means at "
                  "every record, a larger `every` in [output] reduces their number",
                  format_bytes(memory.needed), memory.is_rank_limit ? "rank" : "node", format_bytes(memory.available)));
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
      mistakes.add(
          study.where("blocks"),
          fmt::format("blocks = {}: a block has {:.6g} s in {}, too few records; take fewer blocks, or records "
                      "more often, by `every` in [output]",
                      options.blocks, block, this_case.name));
      return;
    }
    if (columns.lag.length() <= columns.shortest_block()) continue;
    mistakes.add(
        study.where("max_lag"),
        fmt::format("max_lag = {}: a block has {:.6g} s in {}, with {} records at equal intervals, too few for "
                    "the longest lag; take fewer blocks, or records more often, by `every` in [output]",
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
  if (mistakes.empty()) check_memory(recipe, experiment, options, mistakes);
  return make_ensemble(recipe, experiment, std::move(options));
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
      defaulted(
          "blocks", ValueType::integer, "", "1",
          "number of blocks of a realisation, each one sample of the averages over time and their errors; a block "
          "must be longer than the correlation time",
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
      .entry = {.name = "ensemble",
                .summary =
                    "realisations of noise and thermal starts: means with standard errors, histograms, first passages",
                .equation =
                    "mean +- standard error over realisations;  C(l) = <v(t + l) v(t)> over realisations and t >= from",
                .source = "farshi2018, section 4.3; weiss2012, section 2",
                .parameters = std::move(parameters),
                .notes =
                    "Group ensemble/<integrator>: step, damping, and each with its _error: mean_q, mean_v, variance_q, "
                    "variance_v, kinetic_energy (time), kinetic_mean; if `max_lag` is given "
                    "velocity_autocorrelation (lag); in equilibrium, with environments of one temperature and no "
                    "drive, kinetic_expected, "
                    "kinetic_deviation, and for linear systems velocity_autocorrelation_theory and "
                    "correlation_deviation. Deviations are in standard errors, which are estimated over realisations "
                    "and their blocks. Records are those of [output] `every`, and the end. With a `burn_in`, a "
                    "`max_lag` or quantities that are averaged over time, a warning is given where "
                    "the means of the two halves of the averaging time differ by more than their errors allow; it is "
                    "false in at most one of 1000 cases that are stationary. For a quantity: <name>_mean, with "
                    "`max_lag` _autocorrelation (lag; the mean product, without subtraction of the mean), _density "
                    "(<name>_bin) "
                    "with _expected and _deviation, _of_realisation (realisation), and _variance for a quantity at the "
                    "end; for a joint histogram <name>_density; for a first passage <name>_time (realisation), "
                    "_survival (time), _fraction: of the realisations that passed before the end, _count, _rate: "
                    "passages since `burn_in` over the waiting time of all realisations since then, those that did not "
                    "pass included, and _mean: its inverse, the mean waiting time; for "
                    "paths path_q, path_v (path, time, particle, axis). For slopes, in the group ensemble, "
                    "<name>_slope, weighted by the standard errors of the means. Quantities are evaluated at records, "
                    "and passages interpolated between them: those of a formula in velocities driven by white noise "
                    "may be missed there, and are late by about the square root of the record interval."},
      .make = make_ensemble,
      .takes_noise = true};
}

}  // namespace bathline
