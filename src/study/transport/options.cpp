// The keys of the study `transport`, the chains that it observes, and the checks of both.
// Tested by tests/study/transport_test.cpp.
#include "study/transport/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "study/memory_check.hpp"
#include "study/shared_checks.hpp"
#include "study/theory/multiple_tau.hpp"
#include "study/theory/power_spectrum.hpp"
#include "study/transport/results.hpp"

namespace bathline {

HeatConductor* conductor_of(Environment& environment) {
  auto* const chain = dynamic_cast<HeatConductor*>(&environment);
  return chain != nullptr && chain->conducting_sites() > 0 ? chain : nullptr;
}

namespace {

bool acts_on(const Environment& environment, int coordinate) {
  const auto& terms = environment.attachment().terms();
  return std::ranges::any_of(terms, [=](const Attachment::Term& term) { return term.coordinate == coordinate; });
}

/// Finds the baths at the ends of a chain; why it cannot be observed, or nothing.
std::string find_baths(const Problem& problem, Chain& chain) {
  for (std::size_t end = 0; end < 2; ++end) {
    const char* const which = end == 0 ? "first" : "second";
    for (std::size_t e = 0; e < problem.environments().size(); ++e) {
      Environment& bath = *problem.environments()[e];
      const EnvironmentProperties& properties = bath.properties();
      if (e == chain.environment || !acts_on(bath, chain.ends[end])) continue;
      const std::pair<bool, std::string> wrong[] = {
          {chain.is_ring, "`{0}` acts on the particle of this ring, which is observed without baths"},
          {conductor_of(bath) != nullptr,
           "`{0}` ends at the particle at its {1} end, too, so that the heat of the bath there belongs to both"},
          {acts_on(bath, chain.ends[1 - end]), "`{0}` acts on both ends, so that its heat belongs to neither"},
          {properties.temperature_in_time != nullptr,
           "the `kT` of `{0}` depends on time, so that no current is steady"},
          {!chain.baths[end].empty() && properties.temperature != chain.kT[end],
           "two environments at its {1} end have different temperatures"}};
      for (const auto& [is_wrong, reason] : wrong) {
        if (is_wrong) return fmt::format(fmt::runtime(reason), bath.name(), which);
      }
      chain.baths[end].push_back(e);
      chain.kT[end] = properties.temperature;
    }
    if (!chain.is_ring && chain.baths[end].empty())
      return fmt::format(
          "no bath acts on the particle at its {} end; add a `damper` with a `kT`, or a warm `spring-mass-line` with "
          "sites = \"infinite\"",
          which);
  }
  return "";
}

/// Bins of `count` places or springs, by their mean index.
Dimension bins_of(const Chain& chain, const char* name, std::int64_t count) {
  Dimension dimension{name, {}, "1", fmt::format("{} along the chain, from the first end", name)};
  for (std::size_t bin = 0; bin < chain.bins; ++bin) {
    const std::int64_t sum = begin_of_bin(bin, count, chain.bins) + begin_of_bin(bin + 1, count, chain.bins) - 1;
    dimension.values.push_back(0.5 * static_cast<double>(sum));
  }
  return dimension;
}

/// What is measured of a chain that is observed once in `interval` seconds.
void add_columns(const TransportOptions& options, double interval, Chain& chain) {
  const double of_place = 1.0 / static_cast<double>(chain.places);
  chain.columns = {{"current", "W", "mean current through all springs"},
                   {"heat_from_first", "W", "heat a second out of the bath at the first end"},
                   {"heat_into_second", "W", "heat a second into the bath at the second end"},
                   {},
                   {"mean_temperature", "J", "mean kT of the chain"},
                   {"temperature", "J", "kT of the sites", bins_of(chain, "place", chain.places)},
                   {"local_current", "W", "current through the springs", bins_of(chain, "spring", chain.springs)}};
  if (!chain.is_ring) return;
  for (std::size_t column = 0; column < 3; ++column) chain.columns[column].name.clear();
  if (options.max_lag) {
    chain.longest_lag = static_cast<std::size_t>(std::max(1.0, std::ceil(*options.max_lag / interval)));
    Dimension lag{"lag", MultipleTau(*chain.longest_lag).lags(), "s", "lag"};
    for (double& value : lag.values) value *= interval;
    chain.columns.push_back(
        {"current_correlation", "W^2", "correlation of the sum of all currents, over N", lag, of_place});
  }
  chain.waves = options.wave_numbers;
  chain.window = static_cast<std::size_t>(std::max(2.0, std::round(options.window / interval)));
  Dimension frequency{"frequency", {}, "rad/s", "angular frequency"};
  for (std::size_t m = 0; m < PowerSpectrum(chain.window).frequencies(); ++m)
    frequency.values.push_back(2.0 * std::numbers::pi * static_cast<double>(m) /
                               (static_cast<double>(chain.window) * interval));
  for (const std::int64_t wave : chain.waves) {
    chain.columns.push_back({fmt::format("structure_factor_{}", wave), "m^2/s",
                             fmt::format("spectrum of the velocities at the wave number 2 pi {}/N, over N", wave),
                             frequency, interval * of_place});
  }
}

/// The chains of a case, with the mistakes that prevent their observation.
std::vector<Chain> find_chains(const Case& this_case, const Experiment& experiment, const TransportOptions& options,
                               const Recipe& recipe, Mistakes& mistakes) {
  const Problem problem = experiment.make_problem(this_case);
  std::vector<Chain> chains;
  std::size_t column = 0;
  for (std::size_t e = 0; e < problem.environments().size(); ++e) {
    Environment& environment = *problem.environments()[e];
    const HeatConductor* const conductor = conductor_of(environment);
    if (conductor == nullptr) continue;
    const Section& section = recipe.environments[this_case.environments[e]];
    if (environment.attachment().axes() != 2) {
      mistakes.add(section.where("attach"), fmt::format("`{}`: currents are those of chains along one axis, but its "
                                                        "particles have {}",
                                                        environment.name(), environment.attachment().axes() / 2));
      continue;
    }
    Chain chain{.environment = e,
                .name = environment.name(),
                .is_ring = conductor->is_ring(),
                .places = conductor->conducting_sites() + (conductor->is_ring() ? 1 : 2),
                .springs = conductor->conducting_sites() + 1,
                .first_column = column};
    for (std::size_t end = 0; end < 2; ++end) chain.ends[end] = environment.attachment().terms()[end].coordinate;
    chain.bins = static_cast<std::size_t>(std::min({options.bins, chain.springs, chain.places}));
    const std::string refusal = find_baths(problem, chain);
    if (!refusal.empty()) mistakes.add(section.where("attach"), fmt::format("`{}`: {}", chain.name, refusal));
    add_columns(options, static_cast<double>(experiment.output().every) * this_case.step, chain);
    column = chain.end_column();
    chains.push_back(std::move(chain));
  }
  return chains;
}

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
void read_series(const Section& study, TransportOptions& options, Mistakes& mistakes) {
  if (!study.has("series")) return;
  for (const Section& table : study.tables("series")) {
    const TransportSeries series{table.text("name"), table.texts("chains")};
    std::string refusal = "a series has the names of at least two chains";
    for (std::size_t i = 0; i < options.chains.size() && series.chains.size() > 1 && !refusal.empty(); ++i)
      refusal = refusal_of(series, options.chains[i]);
    if (!refusal.empty()) mistakes.add(table.where("chains"), refusal);
    const auto has_name = [&](const std::vector<Chain>& chains) {
      return std::ranges::find(chains, series.name, &Chain::name) != chains.end();
    };
    if (std::ranges::any_of(options.chains, has_name))
      mistakes.add(table.where("name"), fmt::format("`{}` is the name of a chain, whose results are in a group of this "
                                                    "name; choose another one",
                                                    series.name));
    options.series.push_back(series);
  }
}

/// Whether steps begin and end with half a kick: then half a kick after a whole step momenta have the temperature of
/// the bath.
bool begins_and_ends_with_half_kicks(const Scheme& scheme) {
  const auto* const splitting = std::get_if<ExplicitScheme>(&scheme);
  if (splitting == nullptr || !splitting->b.empty() || splitting->substeps.empty()) return false;
  const auto is_half_kick = [](const Substep& substep) {
    return substep.kind == Substep::Kind::kick && substep.weight == 0.5;
  };
  return std::ranges::count_if(splitting->substeps, is_half_kick) == 2 && is_half_kick(splitting->substeps.front()) &&
         is_half_kick(splitting->substeps.back());
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
void check_memory_of_realisations(const Recipe& recipe, const Experiment& experiment, std::int64_t realisations,
                                  Mistakes& mistakes) {
  const Communicator& world = experiment.communicator();
  // The bytes of an environment are those of a rank of all, and a team has fewer.
  const std::int64_t teams = std::min<std::int64_t>(realisations, world.size()),
                     copies = (realisations + teams - 1) / teams * teams;
  double bytes = 0.0;
  for (const Case& this_case : experiment.cases()) {
    std::int64_t of_one = 0;
    const Problem problem = experiment.make_problem(this_case);
    for (const auto& environment : problem.environments()) {
      const std::int64_t sums = 2 * static_cast<std::int64_t>(sizeof(double)) * environment->properties().sites;
      of_one += environment->bytes(this_case.scheme) + sums / world.size();
    }
    bytes = std::max(bytes, static_cast<double>(copies) * static_cast<double>(of_one));
  }
  check_memory(bytes, fmt::format("{} realisations, which are advanced together,", realisations), "realisations",
               "use fewer", recipe, experiment, mistakes);
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
  bool has_chains = true, is_driven = true;
  for (const Case& this_case : experiment.cases()) {
    const std::vector<Chain>& chains =
        options.chains.emplace_back(find_chains(this_case, experiment, options, recipe, mistakes));
    has_chains = has_chains && !chains.empty();
    const auto has_error = [](const Chain& chain) { return chain.is_driven() || chain.longest_lag; };
    is_driven = is_driven && std::ranges::any_of(chains, has_error);
    check_case(recipe, experiment, this_case, chains, options, mistakes);
  }
  check_needs({.examined = "[[integrators]], each closed with a `nonlinear-line` between two particles",
               .has_examined = has_chains},
              recipe, experiment, mistakes);
  if (options.until_error && has_chains && !is_driven) {
    mistakes.add(study.where("until_error"),
                 "`until_error` is that of currents, but the baths at both ends have the same temperature, or of "
                 "rings with a `max_lag`");
  }
  read_series(study, options, mistakes);
  if (mistakes.empty()) check_memory_of_realisations(recipe, experiment, options.realisations, mistakes);
  return options;
}

}  // namespace bathline
