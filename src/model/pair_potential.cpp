// Particles with one potential between their pairs, and one towards the origin, for all or for each its own.
//
//   m_a q_a'' = -grad_a [ sum over pairs V(s_ab) + sum over particles V_a(s_a) ] - (C q')_a
//
// Source: farshi2018, Figs. 2 and 4: open particles with an arbitrary interaction potential.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/damping_matrix.hpp"
#include "model/potentials/catalogue.hpp"
#include "model/potentials/separation_sum.hpp"
#include "model/system_catalogue.hpp"

namespace bathline {

namespace {

using Pairs = std::vector<std::pair<int, int>>;

Pairs all_pairs(int particles) {
  Pairs pairs;
  for (int a = 0; a < particles; ++a) {
    for (int b = a + 1; b < particles; ++b) pairs.emplace_back(a, b);
  }
  return pairs;
}

/// The pairs that `pairs` lists, each with the earlier particle first; all of them where it is absent.
Pairs read_pairs(const Section& section, int particles, Mistakes& mistakes) {
  if (!section.has("pairs")) return all_pairs(particles);
  Pairs pairs;
  for (const std::vector<double>& row : section.rows("pairs")) {
    const auto refuse = [&](const std::string& why) {
      mistakes.add(section.where("pairs"),
                   fmt::format("pairs: [{}] {}; a pair is two different particles from 0 to {}, such as [0, 1]",
                               fmt::join(row, ", "), why, particles - 1));
    };
    const auto is_particle = [&](double x) { return x == std::floor(x) && x >= 0.0 && x < particles; };
    if (row.size() != 2) {
      refuse("is no pair");
    } else if (!is_particle(row[0]) || !is_particle(row[1])) {
      refuse("names a particle that is not there");
    } else if (row[0] == row[1]) {
      refuse("is one particle twice");
    } else {
      const std::pair<int, int> pair = std::minmax({static_cast<int>(row[0]), static_cast<int>(row[1])});
      if (std::find(pairs.begin(), pairs.end(), pair) != pairs.end()) refuse("is listed twice");
      pairs.push_back(pair);
    }
  }
  return pairs;
}

std::vector<SeparationSum::Term> read_terms(const Section& section, const Catalogue<PotentialKind>& potentials,
                                            int particles, Mistakes& mistakes) {
  std::vector<SeparationSum::Term> terms;
  if (section.has("potential")) {
    const auto potential = build_potential(potentials, section.table("potential"));
    for (const auto& [a, b] : read_pairs(section, particles, mistakes)) terms.push_back({a, b, potential});
    if (particles == 1) {
      mistakes.add(section.where("potential"),
                   "`potential` acts between particles, and there is only one; give it as `external`");
    }
  } else if (section.has("pairs")) {
    mistakes.add(section.where("pairs"), "`pairs` needs a `potential` that acts between them");
  }
  if (section.has("external")) {
    const auto potential = build_potential(potentials, section.table("external"));
    for (int a = 0; a < particles; ++a) terms.push_back({SeparationSum::origin, a, potential});
  }
  if (section.has("externals")) {
    const std::vector<Section>& externals = section.tables("externals");
    if (section.has("external")) {
      mistakes.add(section.where("externals"),
                   "`external` is for all particles, `externals` has one for each; give one of them");
    } else if (static_cast<int>(externals.size()) != particles) {
      mistakes.add(section.where("externals"),
                   fmt::format("`externals` has {} potentials for {} particles", externals.size(), particles));
    } else {
      for (int a = 0; a < particles; ++a) {
        terms.push_back(
            {SeparationSum::origin, a, build_potential(potentials, externals[static_cast<std::size_t>(a)])});
      }
    }
  }
  if (!section.has("potential") && !section.has("external") && !section.has("externals")) {
    mistakes.add(section.where(), "[system] needs a `potential` between the particles, or one that is `external`");
  }
  return terms;
}

/// Finds terms that have no force at the start.
void check_start(const OpenSystem& system, const std::vector<SeparationSum::Term>& terms, const Location& where,
                 Mistakes& mistakes) {
  Eigen::VectorXd gradient;
  for (const SeparationSum::Term& term : terms) {
    SeparationSum({term}, system.axes).gradient(system.q0, gradient);
    if (gradient.allFinite()) continue;
    const std::string who = term.from == SeparationSum::origin ? fmt::format("particle {} and the origin", term.to)
                                                               : fmt::format("particles {} and {}", term.from, term.to);
    mistakes.add(where, fmt::format("`q0`: the force between {} has no finite value there; move them apart", who));
  }
}

void build(const Section& section, const Catalogue<PotentialKind>& potentials, OpenSystem& system, Mistakes& mistakes) {
  const std::size_t mistakes_before = mistakes.count();
  const std::vector<double>& masses = section.numbers("masses");
  system.particles = static_cast<int>(masses.size());
  if (masses.empty()) {
    mistakes.add(section.where("masses"), "`masses` is empty: a system has at least one particle");
    return;
  }
  // A list per particle has one entry per axis.
  const Section::Rows& start = section.rows("q0");
  system.axes = start.empty() ? 1 : static_cast<int>(start.front().size());
  if (system.axes > 3) {
    mistakes.add(section.where("q0"),
                 fmt::format("`q0` has {} numbers per particle: space has at most 3 axes", system.axes));
    return;
  }
  read_start(section, system, mistakes);
  system.mass.resize(system.size());
  for (int a = 0; a < system.particles; ++a) system.mass.segment(a * system.axes, system.axes).setConstant(masses[a]);
  system.damping = read_damping_matrix(section, system.particles, system.axes, mistakes);
  std::vector<SeparationSum::Term> terms = read_terms(section, potentials, system.particles, mistakes);
  if (mistakes.count() == mistakes_before) check_start(system, terms, section.where("q0"), mistakes);
  system.potential = std::make_shared<SeparationSum>(std::move(terms), system.axes);
}

Parameter potential_parameter(std::string name, std::string doc, ValueType type = ValueType::table) {
  return {.name = std::move(name), .type = type, .doc = std::move(doc), .listing = "potentials"};
}

}  // namespace

SystemKind pair_potential_kind() {
  std::vector<Parameter> parameters = {
      {.name = "masses",
       .type = ValueType::numbers,
       .units = "kg",
       .doc = "one mass per particle",
       .required = true,
       .bound = Bound::positive},
      potential_parameter("potential", "what acts between two particles, such as { kind = \"harmonic\", k = 2.0 }."),
      {.name = "pairs",
       .type = ValueType::rows,
       .doc = "which particles it acts between, such as [[0, 1], [1, 2]]; where absent, every two"},
      potential_parameter("external", "what acts between each particle and the origin."),
      potential_parameter("externals", "the same where it differs: one table per particle.", ValueType::tables),
      damping_matrix_parameter()};
  for (Parameter& parameter : start_parameters()) parameters.push_back(std::move(parameter));
  return {{.name = "pair-potential",
           .summary = "any number of particles with a potential of their separations",
           .equation = "m_a q_a'' = -grad_a [ sum_pairs V(s_ab) + sum_a V_a(s_a) ] - (C q')_a",
           .source = "farshi2018, Figs. 2 and 4: arbitrary interaction potential",
           .parameters = std::move(parameters),
           .notes = "q0 says how many axes there are: [0.0, 1.5] is one, [[0.0, 0.0], [1.5, 0.0]] two. With one axis s "
                    "has a sign, s = q[b] - q[a] for a pair a < b, and particles may pass through each other; with "
                    "two or three s is their distance."},
          build};
}

}  // namespace bathline
