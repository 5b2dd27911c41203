// Converts the masses and springs of an environment to oscillators, and these to the requested form.
// Tested by tests/command_line/convert_test.py.
#include "model/kernels/conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/memory/prony_memory.hpp"
#include "model/kernels/adaptive_quadrature.hpp"
#include "model/kernels/chain_mapping.hpp"
#include "recipe/toml_writer.hpp"

namespace bathline {

namespace {

/// The cost grows as the square of the number of sites.
constexpr std::int64_t max_converted = 20'000;

[[noreturn]] void refuse(const Environment& environment, const std::string& reason) {
  throw UnsuitableFunction(fmt::format("`{}` {}", environment.name(), reason));
}

void require_bath(const Environment& environment, const LumpedNetwork& sites) {
  const std::int64_t count = environment.properties().sites;
  if (count == 0) refuse(environment, "has no sites to convert: give a number of `sites`");
  if (count > max_converted) {
    refuse(environment, fmt::format("has {} {}s, but at most {} can be converted, since the time grows as their square",
                                    count, environment.properties().site_name, max_converted));
  }
  if (environment.properties().loses_energy) {
    refuse(environment, "dissipates energy, but a star or chain of masses and springs conserves it");
  }
  if (!environment.properties().is_linear) refuse(environment, "is not linear, but a star and a chain are");
  if (!sites.to_ground.empty()) {
    refuse(environment, "has a fixed far end, which a star cannot represent: use far_end = \"free\"");
  }
  for (const double mass : sites.mass) {
    if (!std::isfinite(mass)) refuse(environment, "contains a fixed mass");
  }
  if (environment.attachment().carries_sites()) {
    refuse(environment, "connects two particles, but a star or chain is attached to one");
  }
  if (environment.attachment().head_mass() != 0.0)
    refuse(environment, "adds half a site to its particle: leave out `half_site`");
}

/// The sites in order; empty if they do not form a chain.
std::vector<LineSite> chain_in(const LumpedNetwork& sites) {
  const std::size_t count = sites.mass.size();
  if (sites.to_head.size() != 1 || sites.to_head[0].first != 0 || sites.springs.size() + 1 != count) return {};
  std::vector<LineSite> chain = {{sites.mass[0], sites.to_head[0].second}};
  for (std::size_t j = 1; j < count; ++j) {
    const auto& [first, second, stiffness] = sites.springs[j - 1];
    if (first + 1 != second || second != static_cast<int>(j)) return {};
    chain.push_back({sites.mass[j], stiffness});
  }
  return chain;
}

/// The oscillators in rising frequency, those of equal frequency combined; empty if the sites do not form a star.
std::vector<BathOscillator> star_in(const LumpedNetwork& sites) {
  if (!sites.springs.empty()) return {};
  std::vector<BathOscillator> all, star;
  for (const auto& [site, stiffness] : sites.to_head) {
    all.push_back({std::sqrt(stiffness / sites.mass[static_cast<std::size_t>(site)]), stiffness});
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.frequency < b.frequency; });
  for (const BathOscillator& oscillator : all) {
    if (star.empty() || oscillator.frequency > star.back().frequency) {
      star.push_back(oscillator);
    } else {
      star.back().stiffness += oscillator.stiffness;
    }
  }
  return star;
}

std::string row(double first, double second) { return fmt::format("{} {}\n", toml_number(first), toml_number(second)); }

std::string row_of_numbers(const std::vector<PronyTerm>& modes, double PronyTerm::*number) {
  std::string text;
  for (const PronyTerm& mode : modes) text += (text.empty() ? "" : ", ") + toml_number(mode.*number);
  return "[" + text + "]";
}

EquivalentEnvironment as_modes(const Environment& environment, const std::string& attachment) {
  const auto* memory = dynamic_cast<const PronyMemory*>(&environment);
  if (memory == nullptr || !environment.properties().loses_energy) {
    refuse(environment,
           "has undamped oscillations, but exponentials decay: give its kernel or its spectral density as a `memory`");
  }
  const std::vector<PronyTerm>& modes = memory->modes();
  EquivalentEnvironment result{.keys = fmt::format("kind = \"memory\"\nname = {}\n{}{}kT = {}\n",
                                                   toml_text(environment.name()), attachment, prony_keys(modes),
                                                   toml_number(environment.properties().temperature))};
  result.size = static_cast<std::int64_t>(modes.size());
  return result;
}

}  // namespace

std::string prony_keys(const std::vector<PronyTerm>& terms) {
  const bool are_springs = has_termwise_noise(terms);
  return fmt::format("{} = {}\n{}rate = {}\nfrequency = {}\n", are_springs ? "stiffness" : "cosine",
                     row_of_numbers(terms, &PronyTerm::k),
                     are_springs ? "" : "sine = " + row_of_numbers(terms, &PronyTerm::b) + "\n",
                     row_of_numbers(terms, &PronyTerm::r), row_of_numbers(terms, &PronyTerm::w));
}

EquivalentEnvironment equivalent_environment(const Environment& environment, const std::string& attachment,
                                             const std::string& to, const std::string& file) {
  if (environment.properties().temperature_in_time)
    refuse(environment, "has a `kT` that depends on t, which this form alone can have");
  if (environment.properties().white_damping > 0.0)
    refuse(environment, "has white friction, which is no oscillator or exponential");
  if (to == "exponentials") return as_modes(environment, attachment);
  const LumpedNetwork sites = environment.assemble(std::min(environment.properties().sites, max_converted + 1));
  require_bath(environment, sites);
  std::vector<LineSite> chain = chain_in(sites);
  std::vector<BathOscillator> star = star_in(sites);
  if (chain.empty() && star.empty()) refuse(environment, "is neither a star nor a chain");
  const double temperature = environment.properties().temperature;
  EquivalentEnvironment result;
  const double damping = environment.properties().damping;
  const auto begin = [&](const char* kind) {
    result.keys = fmt::format("kind = {}\nname = {}\n{}file = {}\n", toml_text(kind), toml_text(environment.name()),
                              attachment, toml_text(file));
    // The damping constant does not follow from the sites.
    if (damping > 0.0 && std::isfinite(damping)) result.keys += fmt::format("damping = {}\n", toml_number(damping));
  };
  if (to == "chain") {
    if (chain.empty()) chain = chain_from_star(star, static_cast<std::int64_t>(star.size()));
    begin("spring-mass-line");
    result.keys += fmt::format("sites = {}\nfar_end = \"free\"\nkT = {}\n", chain.size(), toml_number(temperature));
    result.rows = "# mass (kg), stiffness of the spring before it (N/m)\n";
    for (const LineSite& site : chain) result.rows += row(site.mass, site.stiffness);
    result.size = static_cast<std::int64_t>(chain.size());
  } else {
    if (star.empty()) star = star_from_chain(chain);
    begin("heat-bath");
    result.keys += fmt::format("spectrum = \"table\"\nkT = {}\n", toml_number(temperature));
    result.rows = "# frequency (rad/s), stiffness (N/m)\n";
    for (const BathOscillator& oscillator : star) result.rows += row(oscillator.frequency, oscillator.stiffness);
    result.size = static_cast<std::int64_t>(star.size());
  }
  return result;
}

}  // namespace bathline
