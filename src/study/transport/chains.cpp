// The chains that a study of transport observes, and what is at their ends.
// Tested by tests/study/transport_test.cpp.
#include "study/transport/chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "study/theory/multiple_tau.hpp"
#include "study/theory/power_spectrum.hpp"

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

}  // namespace

std::vector<Chain> find_chains(const Case& this_case, const Problem& problem, std::int64_t every,
                               const TransportOptions& options, const Recipe& recipe, Mistakes& mistakes) {
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
    add_columns(options, static_cast<double>(every) * this_case.step, chain);
    column = chain.end_column();
    chains.push_back(std::move(chain));
  }
  return chains;
}

}  // namespace bathline
