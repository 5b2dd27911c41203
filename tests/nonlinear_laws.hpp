// Potentials of springs and sites of nonlinear lines, as a recipe states them.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/line/state.hpp"
#include "model/potentials/line_potentials.hpp"

namespace bathline {

struct NonlinearLaw {
  std::string name;
  Section springs;
  std::vector<Section> sites;  ///< one or none
  bool is_at_rest = true;      ///< whether nothing moves where all is 0

  std::shared_ptr<const LineLaw> line_law() const {
    Mistakes mistakes;
    auto law = std::make_shared<LineLaw>();
    law->springs = build_potential(potentials(), springs, mistakes);
    if (!sites.empty()) law->sites = build_site_potential(sites.front(), mistakes);
    if (!mistakes.empty()) throw std::runtime_error(mistakes.report());
    return law;
  }
};

inline Section potential_section(const std::string& kind, const std::vector<std::pair<std::string, double>>& numbers) {
  Section section;
  section.set("kind", kind, {});
  for (const auto& [key, value] : numbers) section.set(key, value, {});
  return section;
}
inline Section formula_section(const std::string& formula) {
  Section section = potential_section("formula", {});
  section.set("V", formula, {});
  return section;
}

/// At least one of every form in which the program evaluates a law, and those at the borders between them.
inline const std::vector<NonlinearLaw>& nonlinear_laws() {
  static const std::vector<NonlinearLaw> all = {
      {"harmonic", potential_section("harmonic", {{"k", 1.7}, {"rest_length", 0.0}}), {}},
      {"stretched", potential_section("harmonic", {{"k", 1.7}, {"rest_length", -0.2}}), {}},
      {"fput", potential_section("fput", {{"k", 1.1}, {"alpha", 0.3}, {"beta", 0.6}}), {}},
      {"quartic springs and sites",
       potential_section("quartic", {{"k", 0.9}, {"beta", 0.4}}),
       {potential_section("quartic", {{"k", 0.3}, {"beta", 0.8}})}},
      {"phi^4",
       potential_section("harmonic", {{"k", 1.3}, {"rest_length", 0.0}}),
       {formula_section("0.25*x^4 + 0.1*x^3")}},
      {"double well",
       potential_section("harmonic", {{"k", 1.3}, {"rest_length", 0.0}}),
       {potential_section("double-well", {{"barrier", 0.05}, {"half_distance", 0.9}})}},
      {"pulled sites",
       potential_section("fput", {{"k", 1.1}, {"alpha", 0.2}, {"beta", 0.3}}),
       {formula_section("0.2*(x - 0.3)^2")},
       false},
      {"toda", potential_section("toda", {{"a", 0.8}, {"b", 1.4}}), {}},
      {"touching spheres", potential_section("hertz", {{"k", 1.2}, {"contact", 0.0}}), {}},
      {"pressed spheres", potential_section("hertz", {{"k", 1.2}, {"contact", 0.4}}), {}},
      {"sixth degree", formula_section("0.5*r^2 - 0.1*r^3 + 0.05*r^5 + 0.03*r^6"), {}},
      {"cosine springs", formula_section("1.3*(cosh(r) - 1)"), {}},
      {"sine-Gordon",
       potential_section("harmonic", {{"k", 1.0}, {"rest_length", 0.0}}),
       {formula_section("0.4*(1 - cos(x))")}},
      {"held toda", potential_section("toda", {{"a", 0.8}, {"b", 1.4}}), {formula_section("0.1*x^2 + 0.05*x^4")}},
      {"morse", formula_section("0.9*(1 - exp(-r))^2"), {}},
  };
  return all;
}

}  // namespace bathline
