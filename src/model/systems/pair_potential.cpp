// Particles with one potential between their pairs, and one towards the origin, for all or for each its own.
//
//   m_a q_a'' = -grad_a [ sum over pairs V(s_ab) + sum over particles V_a(s_a) ] - (C q')_a
//
// Source: farshi2018, Figs. 2 and 4: open particles with an arbitrary interaction potential.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/systems/chain_modes.hpp"
#include "model/systems/damping_matrix.hpp"
#include "model/formula/observables.hpp"
#include "model/formula/phase_function.hpp"
#include "model/potentials/catalogue.hpp"
#include "model/potentials/potential_sum.hpp"
#include "model/potentials/pair_potential_sum.hpp"
#include "model/systems/external_forces.hpp"
#include "model/system_catalogue.hpp"
#include "recipe/printable_text.hpp"

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
  const std::string word = section.holds<std::string>("pairs") ? section.text("pairs") : "";
  if (!section.has("pairs") || word == "all") return all_pairs(particles);
  Pairs pairs;
  if (!word.empty()) {
    for (int a = 0; a + 1 < particles; ++a) pairs.emplace_back(a, a + 1);
    // The last particle stands before the first, so that on one axis all stretches have the same sign.
    if (word == "ring" && particles > 2) pairs.emplace_back(particles - 1, 0);
    return pairs;
  }
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

/// Everything that acts on the particles: of separations, and of the places of single particles.
struct Forces {
  std::vector<PairPotentialSum::Term> terms;
  std::vector<PotentialSum::Part> parts;
  std::shared_ptr<const PairPotential> between;  // particles
};

/// Adds what acts between a particle and the origin.
void add_external(const Section& table, const Catalogue<PotentialKind>& potentials, int particle, int axes,
                  Forces& forces, Mistakes& mistakes) {
  if (is_position_formula(table)) {
    forces.parts.push_back({particle, build_position_formula(table, axes, mistakes)});
  } else {
    forces.terms.push_back({PairPotentialSum::origin, particle, build_potential(potentials, table, mistakes)});
  }
}

Forces read_forces(const Section& section, const Catalogue<PotentialKind>& potentials, int particles, int axes,
                   Mistakes& mistakes) {
  Forces forces;
  std::vector<PairPotentialSum::Term>& terms = forces.terms;
  if (section.has("potential")) {
    const auto potential = forces.between = build_potential(potentials, section.table("potential"), mistakes);
    for (const auto& [a, b] : read_pairs(section, particles, mistakes)) terms.push_back({a, b, potential});
    if (particles == 1) {
      mistakes.add(section.where("potential"),
                   "`potential` acts between particles, and there is only one; give it as `external`");
    }
    if (section.has("ends") && section.text("ends") == "fixed") {
      terms.push_back({PairPotentialSum::origin, 0, potential});
      terms.push_back({particles - 1, PairPotentialSum::origin, potential});
    }
  } else if (section.has("ends")) {
    mistakes.add(section.where("ends"), "`ends` needs a `potential` that acts on them");
  } else if (section.has("pairs")) {
    mistakes.add(section.where("pairs"), "`pairs` needs a `potential` that acts between them");
  }
  if (section.has("external")) {
    for (int a = 0; a < particles; ++a) add_external(section.table("external"), potentials, a, axes, forces, mistakes);
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
        add_external(externals[static_cast<std::size_t>(a)], potentials, a, axes, forces, mistakes);
      }
    }
  }
  const bool is_in_field = section.has("uniform_field") || section.has("magnetic_field");
  if (!section.has("potential") && !section.has("external") && !section.has("externals") && !is_in_field) {
    mistakes.add(section.where(), "[system] needs a `potential` between the particles, or one that is `external`");
  }
  return forces;
}

/// Finds terms that have no force at the start.
void check_start(const ParticleSystem& system, const Forces& forces, const Location& where, Mistakes& mistakes) {
  Eigen::VectorXd gradient;
  for (const PotentialSum::Part& part : forces.parts) {
    part.potential->gradient(system.q0.segment(part.particle * system.axes, system.axes), gradient);
    if (gradient.allFinite()) continue;
    mistakes.add(where,
                 fmt::format("`q0`: the external force on particle {} has no finite value there", part.particle));
  }
  for (const PairPotentialSum::Term& term : forces.terms) {
    PairPotentialSum({term}, system.axes).gradient(system.q0, gradient);
    if (gradient.allFinite()) continue;
    const std::string who = term.from == PairPotentialSum::origin
                                ? fmt::format("particle {} and the origin", term.to)
                                : fmt::format("particles {} and {}", term.from, term.to);
    mistakes.add(where, fmt::format("`q0`: the force between {} has no finite value there; move them apart", who));
  }
}

/// Adds the energies of the modes of a chain.
void add_mode_energies(const Section& section, const Forces& forces, ParticleSystem& system, Mistakes& mistakes) {
  const auto refuse = [&](const std::string& why) {
    mistakes.add(section.where("mode_energies"), "mode_energies: the modes of a chain are known where " + why);
  };
  const std::string pairs = section.holds<std::string>("pairs") ? section.text("pairs") : "";
  const bool is_ring = pairs == "ring" && system.particles > 2;
  const bool is_fixed = section.has("ends") && section.text("ends") == "fixed";
  if ((pairs != "neighbours" && pairs != "ring") || (is_ring && is_fixed)) {
    return refuse("pairs = \"neighbours\", or \"ring\" without ends");
  }
  if (system.axes != 1) return refuse("there is one axis");
  if (section.has("external") || section.has("externals")) return refuse("nothing else acts on the particles");
  if ((system.mass.array() != system.mass[0]).any()) return refuse("all masses are equal");
  const double slope = forces.between->derivative(0.0), stiffness = forces.between->second_derivative(0.0);
  if (!(stiffness > 0.0) || !(std::abs(slope) <= 1e-12 * stiffness)) {
    return refuse(
        fmt::format("neighbours pull with a positive stiffness around the separation 0, at which they rest: "
                    "there V' is {:.3g} N and V'' {:.3g} N/m",
                    slope, stiffness));
  }
  const ChainEnds ends = is_ring ? ChainEnds::ring : is_fixed ? ChainEnds::fixed : ChainEnds::free;
  system.observables.push_back(mode_energies(system.particles, ends, system.mass[0], stiffness));
}

/// Damping matrices, and Hessians of implicit methods, are dense.
constexpr long max_particles = 4096;

/// 0, and a mistake, where the number of particles is not clear.
int count_particles(const Section& section, Mistakes& mistakes) {
  const bool has_list = section.holds<std::vector<double>>("masses");
  const std::size_t masses = has_list ? section.numbers("masses").size() : 0;
  const long particles = section.has("particles") ? section.integer("particles") : static_cast<long>(masses);
  if (has_list && masses == 0) {
    mistakes.add(section.where("masses"), "`masses` is empty: a system has at least one particle");
    return 0;
  }
  if (particles > max_particles) {
    mistakes.add(section.where(), fmt::format("{} particles: must be at most {}", particles, max_particles));
    return 0;
  }
  if (has_list && particles != static_cast<long>(masses)) {
    mistakes.add(section.where("masses"), fmt::format("`masses` has {} numbers for {} particles", masses, particles));
    return 0;
  }
  if (particles > 0) return static_cast<int>(particles);
  // One mass is that of all particles; how many there are q0 may say.
  section.number("masses");
  if (section.holds<Section::Rows>("q0") && !section.rows("q0").empty()) {
    return static_cast<int>(std::min<std::size_t>(section.rows("q0").size(), max_particles));
  }
  mistakes.add(section.where("masses"), "one mass for all particles: say how many there are, such as particles = 64");
  return 0;
}

/// A list per particle has one entry per axis, and so have formulas.
int count_axes(const Section& section) {
  if (section.holds<std::vector<std::string>>("q0")) return static_cast<int>(section.texts("q0").size());
  if (section.holds<double>("q0") || section.holds<std::string>("q0")) return 1;
  const Section::Rows& start = section.rows("q0");
  return start.empty() ? 1 : static_cast<int>(start.front().size());
}

void build_pair_potential(const Section& section, const Catalogue<PotentialKind>& potentials, ParticleSystem& system,
                          Mistakes& mistakes) {
  const std::size_t mistakes_before = mistakes.count();
  system.particles = count_particles(section, mistakes);
  if (system.particles == 0) return;
  system.axes = count_axes(section);
  if (system.axes > 3) {
    mistakes.add(section.where("q0"),
                 fmt::format("`q0` has {} numbers per particle: space has at most 3 axes", system.axes));
    return;
  }
  read_start(section, system, mistakes);
  system.mass.resize(system.size());
  for (int a = 0; a < system.particles; ++a) {
    const double mass = section.holds<double>("masses") ? section.number("masses")
                                                        : section.numbers("masses")[static_cast<std::size_t>(a)];
    system.mass.segment(a * system.axes, system.axes).setConstant(mass);
  }
  system.damping = read_damping_matrix(section, system.particles, system.axes, mistakes);
  const auto add_formula = [&](const std::string& name, const Section& table) {
    if (table.text("kind") != "formula") return;
    system.formulas +=
        fmt::format("{}{}: V = {}", system.formulas.empty() ? "" : "; ", name, printable(table.text("V")));
  };
  for (const char* key : {"potential", "external"}) {
    if (section.has(key)) add_formula(key, section.table(key));
  }
  if (section.has("externals")) {
    const std::vector<Section>& externals = section.tables("externals");
    for (std::size_t a = 0; a < externals.size(); ++a) add_formula(fmt::format("externals[{}]", a), externals[a]);
  }
  Forces forces = read_forces(section, potentials, system.particles, system.axes, mistakes);
  if (mistakes.count() == mistakes_before) check_start(system, forces, section.where("q0"), mistakes);
  if (mistakes.count() == mistakes_before && section.boolean("mode_energies")) {
    add_mode_energies(section, forces, system, mistakes);
  }
  FormulaScope scope = phase_scope(system);
  if (section.has("parameters")) add_numbers(section.table("parameters"), {}, scope, mistakes);
  read_observables(section, scope, system, mistakes);
  system.potential = std::make_shared<PairPotentialSum>(std::move(forces.terms), system.axes);
  if (forces.parts.empty()) return;
  system.potential = std::make_shared<PotentialSum>(system.potential, std::move(forces.parts), system.axes);
}

Parameter potential_parameter(std::string name, std::string doc, ValueType type = ValueType::table) {
  return {.name = std::move(name), .type = type, .doc = std::move(doc), .catalogue_name = "potentials"};
}

}  // namespace

SystemKind pair_potential_kind() {
  std::vector<Parameter> parameters = {
      {.name = "masses",
       .type = ValueType::numbers,
       .units = "kg",
       .doc = "one mass per particle, or one number where all are equal",
       .required = true,
       .bound = Bound::positive,
       .alternative_types = {ValueType::number}},
      {.name = "particles",
       .type = ValueType::integer,
       .doc = "how many there are; where absent, as many as masses",
       .bound = Bound::positive},
      potential_parameter("potential", "what acts between two particles, such as { kind = \"harmonic\", k = 2.0 }."),
      {.name = "pairs",
       .type = ValueType::rows,
       .doc = "which particles it acts between, such as [[0, 1], [1, 2]]; where absent, every two",
       .choices = {"all", "neighbours", "ring"},
       .alternative_types = {ValueType::text}},
      {.name = "ends",
       .type = ValueType::text,
       .doc = "of a chain: \"fixed\" ties the first and the last particle to walls, from which their positions count",
       .choices = {"free", "fixed"}},
      {.name = "mode_energies",
       .type = ValueType::boolean,
       .doc = "records mode_energy (time, mode) of a chain of equal masses: E = (P^2 + w^2 Q^2)/2 of the normal modes "
              "of its springs linearised at rest; sines for fixed ends, from mode 1, cosines for free ones, wave "
              "numbers for a ring, from 0",
       .default_value = "false"},
      observables_parameter(),
      potential_parameter("external", "what acts between each particle and the origin."),
      potential_parameter("externals", "the same where it differs: one table per particle.", ValueType::tables),
      damping_matrix_parameter()};
  for (Parameter& parameter : start_parameters()) parameters.push_back(std::move(parameter));
  for (Parameter& parameter : external_force_parameters()) parameters.push_back(std::move(parameter));
  parameters.push_back(magnetic_field_parameter());
  return {
      {.name = "pair-potential",
       .summary = "any number of particles with a potential of their separations",
       .equation = "m_a q_a'' = -grad_a [ sum_pairs V(s_ab) + sum_a V_a(s_a) ] - (C q')_a",
       .source = "farshi2018, Figs. 2 and 4: arbitrary interaction potential",
       .parameters = std::move(parameters),
       .notes =
           "q0 says how many axes there are: [0.0, 1.5] is one, [[0.0, 0.0], [1.5, 0.0]] two. With one axis s "
           "has a sign, s = q[b] - q[a] for a pair a < b, and particles may pass through each other; with "
           "two or three s is their distance. pairs = \"neighbours\" is a chain, \"ring\" a closed one. In formulas of "
           "observables "
           "the coordinates of a particle are x0, y0, z0, x1, ..., and velocities x0_dot; of a single one x, y, z. " +
           magnetic_field_notes()},
      build_pair_potential};
}

}  // namespace bathline
