// Particles with a pair potential between them, and external potentials, one for all or one for each.
//
//   m_a q_a'' = -grad_a [ sum over pairs V(s_ab) + sum over particles V_a(s_a) ] - (C q')_a
//
// Source: farshi2018, Figs. 2 and 4: open particles with an arbitrary interaction potential.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "model/systems/chain_modes.hpp"
#include "model/systems/damping_matrix.hpp"
#include "formula/parser.hpp"
#include "model/formula/index_formula.hpp"
#include "model/formula/observables.hpp"
#include "model/formula/phase_function.hpp"
#include "model/potentials/catalogue.hpp"
#include "model/potentials/potential_sum.hpp"
#include "model/potentials/pair_potential_sum.hpp"
#include "model/systems/external_forces.hpp"
#include "model/systems/local_energies.hpp"
#include "model/system_catalogue.hpp"
#include "text/printable_text.hpp"

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
    // The pair (n - 1, 0), in this order, has on one axis the sign of the other pairs (a, a + 1).
    if (word == "ring" && particles > 2) pairs.emplace_back(particles - 1, 0);
    return pairs;
  }
  for (const std::vector<double>& row : section.rows("pairs")) {
    const auto refuse = [&](const std::string& reason) {
      mistakes.add(section.where("pairs"),
                   fmt::format("pairs: [{}] {}; a pair is two different particles from 0 to {}, such as [0, 1]",
                               fmt::join(row, ", "), reason, particles - 1));
    };
    const auto is_particle = [&](double x) { return x == std::floor(x) && x >= 0.0 && x < particles; };
    if (row.size() != 2) {
      refuse("is not a pair");
    } else if (!is_particle(row[0]) || !is_particle(row[1])) {
      refuse("names a particle that does not exist");
    } else if (row[0] == row[1]) {
      refuse("names the same particle twice");
    } else {
      const std::pair<int, int> pair = std::minmax({static_cast<int>(row[0]), static_cast<int>(row[1])});
      if (std::find(pairs.begin(), pairs.end(), pair) != pairs.end()) refuse("is listed twice");
      pairs.push_back(pair);
    }
  }
  return pairs;
}

/// The potentials of a section.
struct Forces {
  std::vector<PairPotentialSum::Term> terms;            // functions of separations
  std::vector<PotentialSum::Part> parts;                // functions of the position of one particle
  std::shared_ptr<const PairPotential> pair_potential;  // `potential`, if it is the same between all particles
};

/// The table of a potential with those of these numbers that its formula contains and it does not give itself.
Section with_numbers(Section table, const std::map<std::string, int>& numbers) {
  if (table.text("kind") != "formula") return table;
  for (const auto& [name, value] : numbers) {
    const bool is_used = find_name(table.text("V"), name) != std::string_view::npos;
    if (is_used && !table.has(name)) table.set(name, static_cast<double>(value), table.where());
  }
  return table;
}

/// Adds `potential` between pairs of particles, where `origin` is before the first or after the last.
void add_pairs(const Section& table, const Catalogue<PotentialKind>& potentials, const Pairs& pairs, int particles,
               Forces& forces, Mistakes& mistakes) {
  constexpr int origin = PairPotentialSum::origin;
  const std::size_t mistakes_before = mistakes.count();
  const std::size_t keys = table.keys().size();
  std::shared_ptr<const PairPotential> potential;
  bool differs = false;
  for (const auto& [a, b] : pairs) {
    const Section numbered = with_numbers(table, {{"i", a == origin ? -1 : a}, {"j", b == origin ? particles : b}});
    differs = numbered.keys().size() > keys;
    if (!potential || differs) {
      potential = build_potential(potentials, with_numbers(numbered, {{"n", particles}}), mistakes);
    }
    if (mistakes.count() > mistakes_before) return;  // those of the other pairs are the same
    forces.terms.push_back({a, b, potential});
  }
  if (!differs) forces.pair_potential = potential;
}

/// Adds the external potential of a particle.
void add_external(const Section& given, const Catalogue<PotentialKind>& potentials, int particle, int particles,
                  int axes, Forces& forces, Mistakes& mistakes) {
  const Section table = with_numbers(given, {{"i", particle}, {"n", particles}});
  if (is_position_formula(table)) {
    forces.parts.push_back({particle, build_position_formula(table, axes, mistakes)});
  } else {
    forces.terms.push_back({PairPotentialSum::origin, particle, build_potential(potentials, table, mistakes)});
  }
}

Forces read_forces(const Section& section, const Catalogue<PotentialKind>& potentials, int particles, int axes,
                   Mistakes& mistakes) {
  Forces forces;
  if (section.has("potential")) {
    Pairs pairs = read_pairs(section, particles, mistakes);
    if (section.has("ends") && section.text("ends") == "fixed") {
      pairs.emplace_back(PairPotentialSum::origin, 0);
      pairs.emplace_back(particles - 1, PairPotentialSum::origin);
    }
    add_pairs(section.table("potential"), potentials, pairs, particles, forces, mistakes);
    if (particles == 1) {
      mistakes.add(section.where("potential"),
                   "`potential` acts between particles, but there is only one; give it as `external`");
    }
  } else if (section.has("ends")) {
    mistakes.add(section.where("ends"), "`ends` needs a `potential` between the particles");
  } else if (section.has("pairs")) {
    mistakes.add(section.where("pairs"), "`pairs` needs a `potential` between the particles");
  }
  if (section.has("external")) {
    const std::size_t mistakes_before = mistakes.count();
    for (int a = 0; a < particles && mistakes.count() == mistakes_before; ++a) {
      add_external(section.table("external"), potentials, a, particles, axes, forces, mistakes);
    }
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
        add_external(externals[static_cast<std::size_t>(a)], potentials, a, particles, axes, forces, mistakes);
      }
    }
  }
  const bool is_in_field = section.has("uniform_field") || section.has("magnetic_field");
  if (!section.has("potential") && !section.has("external") && !section.has("externals") && !is_in_field) {
    mistakes.add(section.where(), "[system] needs a `potential` between the particles, or an `external` one");
  }
  return forces;
}

/// Adds a mistake for each term whose force is not finite at the start.
void check_start(const ParticleSystem& system, const Forces& forces, const Location& where, Mistakes& mistakes) {
  Eigen::VectorXd gradient;
  for (const PotentialSum::Part& part : forces.parts) {
    part.potential->gradient(system.q0.segment(part.particle * system.axes, system.axes), gradient);
    if (gradient.allFinite()) continue;
    mistakes.add(where, fmt::format("`q0`: the external force on particle {} is not finite there", part.particle));
  }
  for (const PairPotentialSum::Term& term : forces.terms) {
    PairPotentialSum({term}, system.axes).gradient(system.q0, gradient);
    if (gradient.allFinite()) continue;
    const std::string pair_name = term.from == PairPotentialSum::origin
                                      ? fmt::format("particle {} and the origin", term.to)
                                      : fmt::format("particles {} and {}", term.from, term.to);
    mistakes.add(where, fmt::format("`q0`: the force between {} is not finite there; move them apart", pair_name));
  }
}

/// Adds the mode energies of a chain to the observables.
void add_mode_energies(const Section& section, const Forces& forces, ParticleSystem& system, Mistakes& mistakes) {
  const auto refuse = [&](const std::string& reason) {
    mistakes.add(section.where("mode_energies"),
                 "mode_energies: the normal modes of a chain are known only if " + reason);
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
  if (!forces.pair_potential) return refuse("`potential` is the same for all pairs, without `i` and `j`");
  const double derivative = forces.pair_potential->derivative(0.0);
  const double stiffness = forces.pair_potential->second_derivative(0.0);
  if (!(stiffness > 0.0) || !(std::abs(derivative) <= 1e-12 * stiffness)) {
    return refuse(
        fmt::format("`potential` has a stable equilibrium at the separation 0, but there V' is {:.3g} N and V'' is "
                    "{:.3g} N/m",
                    derivative, stiffness));
  }
  const ChainEnds ends = is_ring ? ChainEnds::ring : is_fixed ? ChainEnds::fixed : ChainEnds::free;
  system.observables.push_back(mode_energies(system.particles, ends, system.mass[0], stiffness));
}

/// A limit, as damping matrices and the Hessians of implicit methods are dense.
constexpr long max_particles = 4096;

/// The number of particles; 0, and a mistake, where it is undetermined or invalid.
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
  // `masses` is one number or formula for all particles, so q0 must determine how many there are.
  if (section.holds<Section::Rows>("q0") && !section.rows("q0").empty()) {
    return static_cast<int>(std::min<std::size_t>(section.rows("q0").size(), max_particles));
  }
  mistakes.add(section.where("masses"),
               "`masses` does not say how many particles there are: give their number, such as particles = 64");
  return 0;
}

/// The number of axes: the length of q0's list per particle, or the number of its formulas.
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
                 fmt::format("`q0` has {} numbers per particle: there are at most 3 axes", system.axes));
    return;
  }
  read_start(section, system, mistakes);
  const Eigen::VectorXd masses = read_by_particle(section, "masses", system.particles, Bound::positive, mistakes);
  system.mass = masses.transpose().replicate(system.axes, 1).reshaped();
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
  const auto pairs = std::make_shared<PairPotentialSum>(std::move(forces.terms), system.axes);
  if (section.boolean("particle_energies")) {
    system.observables.push_back(particle_energies(system.particles, system.mass, pairs, forces.parts));
  }
  if (section.boolean("bond_currents")) system.observables.push_back(bond_currents(system.particles, pairs));
  system.potential = pairs;
  if (forces.parts.empty()) return;
  system.potential = std::make_shared<PotentialSum>(system.potential, std::move(forces.parts), system.axes);
}

Parameter potential_parameter(std::string name, std::string doc, ValueType type = ValueType::table) {
  return {.name = std::move(name), .type = type, .doc = std::move(doc), .catalogue_name = "potentials"};
}

}  // namespace

SystemKind pair_potential_kind() {
  std::vector<Parameter> parameters = with_start_and_forces(
      {{.name = "masses",
        .type = ValueType::numbers,
        .units = "kg",
        .doc = "one mass per particle, one number where all are equal, or a formula in the particle's index `i`, from "
               "0, and the number `n` of particles, such as \"1 + 0.5*sin(2*pi*i/n)\"",
        .required = true,
        .bound = Bound::positive,
        .alternative_types = {ValueType::number, ValueType::text}},
       optional("particles", ValueType::integer, "", "number of particles; where absent, the number of masses",
                Bound::positive),
       potential_parameter("potential", "potential between two particles, such as { kind = \"harmonic\", k = 2.0 }."),
       {.name = "pairs",
        .type = ValueType::rows,
        .doc = "pairs of particles between which `potential` acts, such as [[0, 1], [1, 2]]; where absent, all",
        .choices = {"all", "neighbours", "ring"},
        .alternative_types = {ValueType::text}},
       choice("ends", {"free", "fixed"},
              "of a chain: \"fixed\" connects the first and the last particle to the origin by `potential`"),
       defaulted(
           "mode_energies", ValueType::boolean, "", "false",
           "records mode_energy (time, mode) of a chain of equal masses: E = (P^2 + w^2 Q^2)/2 of its normal modes, "
           "linearised at the equilibrium; fixed ends have sine modes from 1, free ends cosine modes from 0, a ring "
           "wave numbers from 0"),
       defaulted("particle_energies", ValueType::boolean, "", "false",
                 "records particle_energy (time, particle): the kinetic energy of each particle, its external "
                 "potential and half of the potentials of its pairs"),
       defaulted("bond_currents", ValueType::boolean, "", "false",
                 "records bond_current (time, bond): the energy that flows through each pair, from its earlier "
                 "particle to the later one and around a ring, J = -V'(s) (v_a + v_b)/2"),
       observables_parameter(),
       potential_parameter("external", "external potential of every particle, in its separation from the origin."),
       potential_parameter("externals", "external potentials that differ: one table per particle.", ValueType::tables),
       damping_matrix_parameter()});
  parameters.push_back(magnetic_field_parameter());
  return {
      {.name = "pair-potential",
       .summary = "any number of particles with pair potentials and external potentials",
       .equation = "m_a q_a'' = -grad_a [ sum_pairs V(s_ab) + sum_a V_a(s_a) ] - (C q')_a",
       .source = "farshi2018, Figs. 2 and 4: arbitrary interaction potential",
       .parameters = std::move(parameters),
       .notes =
           "q0 determines the number of axes: [0.0, 1.5] has one, [[0.0, 0.0], [1.5, 0.0]] two. With one axis s is "
           "signed, s = q[b] - q[a] for a pair a < b, and particles may pass through each other; with two or three "
           "axes s is the distance. pairs = \"neighbours\" is an open chain, \"ring\" a closed one. A potential given "
           "as a formula may differ from pair "
           "to pair: it may contain the indices `i` and `j` of the particles of a pair, where a fixed end is -1 or n, "
           "and "
           "their number `n`; an external one `i` and `n`. Numbers that its table gives under these names win. In the "
           "formulas of "
           "observables the coordinates are x0, y0, z0, x1, ..., and the velocities x0_dot, ...; of a single particle "
           "x, y, z. " +
           magnetic_field_notes()},
      build_pair_potential};
}

}  // namespace bathline
