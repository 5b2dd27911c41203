// The chains that a study of transport observes, and what is at their ends.
// Tested by tests/study/transport_test.cpp.
#include "study/transport/chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "study/theory/multiple_tau.hpp"
#include "study/theory/power_spectrum.hpp"

namespace bathline {

HeatConductor* conductor_of(Environment& environment) {
  auto* const chain = dynamic_cast<HeatConductor*>(&environment);
  return chain != nullptr && chain->conducting_sites() > 0 ? chain : nullptr;
}

std::vector<double> Chain::middles(std::int64_t count) const {
  std::vector<double> middle;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const std::int64_t sum = begin_of_bin(bin, count, bins) + begin_of_bin(bin + 1, count, bins) - 1;
    middle.push_back(0.5 * static_cast<double>(sum));
  }
  return middle;
}

double Chain::mean_over(std::span<const double> by_bin, std::int64_t count) const {
  double sum = 0.0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const std::int64_t number = begin_of_bin(bin + 1, count, bins) - begin_of_bin(bin, count, bins);
    sum += static_cast<double>(number) * by_bin[bin];
  }
  return sum / static_cast<double>(count);
}

namespace {

bool acts_on(const Environment& environment, int coordinate) {
  const auto& terms = environment.attachment().terms();
  return std::ranges::any_of(terms, [=](const Attachment::Term& term) { return term.coordinate == coordinate; });
}

/// Finds the baths at the ends of a chain.
void find_baths(const Problem& problem, const Section& section, Chain& chain, Mistakes& mistakes) {
  const auto refuse = [&](const std::string& message) {
    mistakes.add(section.where("attach"), fmt::format("`{}`: {}", chain.name, message));
  };
  const auto& environments = problem.environments();
  for (std::size_t end = 0; end < 2; ++end) {
    const char* const which = end == 0 ? "first" : "second";
    for (std::size_t e = 0; e < environments.size(); ++e) {
      const EnvironmentProperties& properties = environments[e]->properties();
      if (e == chain.environment || !acts_on(*environments[e], chain.ends[end])) continue;
      if (chain.is_ring)
        return refuse(fmt::format("`{}` acts on the particle of this ring, which is observed without baths",
                                  environments[e]->name()));
      if (conductor_of(*environments[e]) != nullptr)
        return refuse(
            fmt::format("`{}` ends at the particle at its {} end, too, so that the heat of the bath there "
                        "belongs to both",
                        environments[e]->name(), which));
      if (acts_on(*environments[e], chain.ends[1 - end]))
        return refuse(
            fmt::format("`{}` acts on both ends, so that its heat belongs to neither", environments[e]->name()));
      if (properties.temperature_in_time)
        return refuse(
            fmt::format("the `kT` of `{}` depends on time, so that no current is steady", environments[e]->name()));
      if (!chain.baths[end].empty() && properties.temperature != chain.kT[end])
        return refuse(fmt::format("two environments at its {} end have different temperatures", which));
      chain.baths[end].push_back(e);
      chain.kT[end] = properties.temperature;
    }
    if (!chain.is_ring && chain.baths[end].empty())
      return refuse(
          fmt::format("no bath acts on the particle at its {} end; add a `damper` with a `kT`, or a warm "
                      "`spring-mass-line` with sites = \"infinite\"",
                      which));
  }
}

/// Correlations and spectra of a ring that is observed once in `interval` seconds.
void add_correlations(const TransportOptions& options, double interval, Chain& chain) {
  if (options.max_lag) {
    chain.longest_lag = static_cast<std::size_t>(std::max(1.0, std::ceil(*options.max_lag / interval)));
    chain.lags = MultipleTau(chain.longest_lag).lags().size();
  }
  if (options.wave_numbers.empty()) return;
  chain.waves = options.wave_numbers;
  chain.window = static_cast<std::size_t>(std::max(2.0, std::round(options.window / interval)));
  chain.frequencies = PowerSpectrum(chain.window).frequencies();
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
                .places = places_of(*conductor),
                .springs = springs_of(*conductor),
                .first_column = column};
    for (std::size_t end = 0; end < 2; ++end) chain.ends[end] = environment.attachment().terms()[end].coordinate;
    chain.bins = static_cast<std::size_t>(std::min({options.bins, chain.springs, chain.places}));
    find_baths(problem, section, chain, mistakes);
    if (chain.is_ring) add_correlations(options, static_cast<double>(every) * this_case.step, chain);
    column = chain.end_column();
    chains.push_back(std::move(chain));
  }
  return chains;
}

}  // namespace bathline
