// The keys of the study `transport`, and the checks of what they ask for.
// Tested by tests/study/transport_test.cpp.
#include "study/transport/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "parallel/memory_budget.hpp"
#include "study/shared_checks.hpp"
#include "study/transport/realisation.hpp"
#include "study/transport/results.hpp"

namespace bathline {

namespace {

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
    std::string refusal = "a series has the names of at least two chains";
    for (std::size_t i = 0; i < cases.size() && series.chains.size() > 1 && !refusal.empty(); ++i)
      refusal = refusal_of(series, cases[i]);
    if (!refusal.empty()) mistakes.add(table.where("chains"), refusal);
    const auto has_name = [&](const std::vector<Chain>& chains) {
      return std::ranges::find(chains, series.name, &Chain::name) != chains.end();
    };
    if (std::ranges::any_of(cases, has_name))
      mistakes.add(table.where("name"), fmt::format("`{}` is the name of a chain, whose results are in a group of this "
                                                    "name; choose another one",
                                                    series.name));
    options.series.push_back(series);
  }
}

/// Checks what a case and its chains have to be to be observed.
void check_case(const Recipe& recipe, const Experiment& experiment, const Case& this_case,
                const std::vector<Chain>& chains, const TransportOptions& options, Mistakes& mistakes) {
  if (!begins_and_ends_with_half_kicks(this_case.scheme)) {
    mistakes.add(this_case.options.where("method"),
                 fmt::format("{}: transport is observed under steps that begin and end with half a kick, such as "
                             "`baoab` and `stoermer-verlet`, where the temperature of the momenta is known",
                             this_case.name));
  }
  const auto refuse_if = [&](bool is_wrong, const char* key, const std::string& message) {
    if (is_wrong) mistakes.add(recipe.study.where(key), fmt::format("`{}`: {}", key, message));
  };
  constexpr double lags_in_block = 20.0;
  const std::int64_t every = experiment.output().every, observations = this_case.steps / (options.blocks * every);
  const double block = static_cast<double>(observations * every) * this_case.step, lag = options.max_lag.value_or(0.0);
  const bool has_ring = std::ranges::any_of(chains, &Chain::is_ring), has_waves = !options.wave_numbers.empty();
  refuse_if(observations == 0, "blocks",
            fmt::format("{} has {} steps, too few for as many observations, one each {} steps in {} blocks; raise "
                        "`end`, or lower [output] `every`",
                        this_case.name, this_case.steps, every, options.blocks));
  refuse_if(lag > 0.0 && !has_ring, "max_lag", "correlations are those of rings, with attach = [0, 0]");
  refuse_if(has_ring && lags_in_block * lag > block, "max_lag",
            fmt::format("a block of {:.6g} s has fewer than {} lags of {} s, so that its correlations are no sample; "
                        "raise `end`, or lower `blocks`",
                        block, lags_in_block, lag));
  refuse_if(has_waves && !has_ring, "wave_numbers", "structure factors are those of rings, with attach = [0, 0]");
  refuse_if(has_waves && options.window > block, "window",
            fmt::format("{} s are longer than a block of {:.6g} s", options.window, block));
  for (const Chain& chain : chains) {
    for (const std::int64_t wave : options.wave_numbers)
      refuse_if(chain.is_ring && (wave <= 0 || 2 * wave > chain.places), "wave_numbers",
                fmt::format("{} is not one of the waves 1 to {} of `{}`, a ring of {} places", wave, chain.places / 2,
                            chain.name, chain.places));
  }
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

}  // namespace

std::vector<Parameter> transport_parameters() {
  return {defaulted("realisations", ValueType::integer, "", "1",
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
                    "length of the windows of Hann of their spectra, whose resolution is 2 pi/window", Bound::positive),
          {.name = "series",
           .type = ValueType::tables,
           .doc = "chains of several lengths in one run, for conductivities over the length",
           .members = {required("name", ValueType::text, "", "name in the result"),
                       required("chains", ValueType::texts, "", "names of the environments")}}};
}

TransportOptions read_transport_options(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = recipe.study;
  TransportOptions options{.realisations = study.integer("realisations"),
                           .blocks = study.integer("blocks"),
                           .bins = study.integer("bins"),
                           .window = study.number("window")};
  if (study.has("until_error")) options.until_error = study.number("until_error");
  if (study.has("max_lag")) options.max_lag = study.number("max_lag");
  if (study.has("wave_numbers"))
    for (const long wave : study.integers("wave_numbers")) options.wave_numbers.push_back(wave);
  if (options.blocks < static_cast<std::int64_t>(min_steady_blocks)) {
    mistakes.add(study.where("blocks"),
                 fmt::format("blocks = {}: whether the motion is steady is judged by at least {} blocks",
                             options.blocks, min_steady_blocks));
  }
  std::vector<std::vector<Chain>> cases;
  bool has_chains = true, is_driven = true;
  for (const Case& this_case : experiment.cases()) {
    cases.push_back(find_chains(this_case, experiment.make_problem(this_case), experiment.output().every, options,
                                recipe, mistakes));
    has_chains = has_chains && !cases.back().empty();
    const auto has_error = [](const Chain& chain) { return chain.is_driven() || chain.longest_lag; };
    is_driven = is_driven && std::ranges::any_of(cases.back(), has_error);
    check_case(recipe, experiment, this_case, cases.back(), options, mistakes);
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
  return options;
}

}  // namespace bathline
