// The environment `nonlinear-line` of recipes: a chain with nonlinear springs between two particles, or from one.
// Source: fermi1955, toda1967, nesterenko1984 for the springs; dhar2008 for chains between heat baths.
// Tested by tests/model/line/nonlinear_line_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/attach_key.hpp"
#include "model/environment_catalogue.hpp"
#include "model/formula/index_formula.hpp"
#include "model/line/nonlinear_line.hpp"
#include "model/potentials/line_potentials.hpp"
#include "model/site_values.hpp"

namespace bathline {

namespace {

/// A chain whose masses have a formula is stored by every rank.
constexpr long max_formula_sites = 1'000'000;

/// The particles at the ends, one or two; nothing, and a mistake, where they are wrong.
std::optional<std::vector<int>> read_ends(const Section& section, const ParticleSystem& system, Mistakes& mistakes) {
  for (const char* key : {"couple", "around"}) {
    if (!section.has(key)) continue;
    mistakes.add(section.where(key),
                 fmt::format("`{}`: a nonlinear-line ends at particles, which `attach` names", key));
    return std::nullopt;
  }
  const std::vector<long> given = attached_particles(section);
  if (given.empty() || given.size() > 2) {
    mistakes.add(
        section.where("attach"),
        fmt::format("`attach` names {} particles; a chain ends at two, such as [0, 1], or [0, 0] for a ring, or "
                    "begins at one, such as [0]",
                    given.size()));
    return std::nullopt;
  }
  std::vector<int> ends;
  for (const long particle : given) {
    const std::optional<int> end = read_particle(section, particle, system, mistakes);
    if (!end) return std::nullopt;
    ends.push_back(*end);
  }
  return ends;
}

/// The axes of the heads, alternately where there are two.
Attachment attachment_to(const std::vector<int>& ends, int axes) {
  std::vector<Attachment::Term> terms;
  const int heads = static_cast<int>(ends.size());
  for (int axis = 0; axis < axes; ++axis) {
    for (int head = 0; head < heads; ++head) terms.push_back({ends[head] * axes + axis, axis * heads + head, 1.0});
  }
  return Attachment::of_terms(std::move(terms), axes * heads);
}

/// Sites of the masses `M`; nullptr, and a mistake, where they are wrong.
std::shared_ptr<const std::vector<LineSite>> read_masses(const Section& section, double stiffness, Mistakes& mistakes) {
  auto sites = std::make_shared<std::vector<LineSite>>();
  if (section.holds<std::vector<double>>("M")) {
    for (const double mass : section.numbers("M")) sites->push_back({mass, stiffness});
    if (!sites->empty() && static_cast<long>(sites->size()) <= section.integer("sites")) return sites;
    mistakes.add(section.where("M"),
                 fmt::format("`M` has {} masses for {} sites; a shorter list is repeated along the chain",
                             sites->size(), section.integer("sites")));
    return nullptr;
  }
  const long count = section.integer("sites");
  if (count > max_formula_sites) {
    mistakes.add(section.where("sites"), fmt::format("{} sites with formulas: must be at most {}; a list of masses is "
                                                     "repeated along the chain",
                                                     count, max_formula_sites));
    return nullptr;
  }
  const std::size_t before = mistakes.count();
  const Eigen::VectorXd masses = read_by_particle(section, "M", static_cast<int>(count), Bound::positive, mistakes);
  for (const double mass : masses) sites->push_back({mass, stiffness});
  return mistakes.count() == before ? sites : nullptr;
}

/// Whether a potential has finite derivatives where the lattice is at rest; adds a mistake if not.
bool is_defined_at_rest(const Section& section, const char* key, const PairPotential& potential, Mistakes& mistakes) {
  if (std::isfinite(potential.value(0.0)) && std::isfinite(potential.derivative(0.0)) &&
      std::isfinite(potential.second_derivative(0.0)))
    return true;
  mistakes.add(section.where(key), fmt::format("`{}` has no finite value or derivative at 0, where the lattice is at "
                                               "rest: write it as a function of the stretch from there",
                                               key));
  return false;
}

std::unique_ptr<Environment> build_nonlinear_line(const Section& section, const ParticleSystem& system, const RunTimes&,
                                                  const Communicator& communicator, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  const std::optional<std::vector<int>> ends = read_ends(section, system, mistakes);
  auto law = std::make_shared<LineLaw>();
  law->springs = build_potential(potentials(), section.table("potential"), mistakes);
  is_defined_at_rest(section, "potential", *law->springs, mistakes);
  if (section.has("external")) {
    law->sites = build_site_potential(section.table("external"), mistakes);
    is_defined_at_rest(section, "external", *law->sites, mistakes);
  }
  if (!ends || mistakes.count() > before) return nullptr;
  LineConstants constants;
  constants.stiffness = law->springs->second_derivative(0.0);
  const bool is_folded = ends->size() == 2;
  const std::string far_end = section.has("far_end") ? section.text("far_end") : "fixed";
  constants.far_end = is_folded              ? FarEnd::joined
                      : far_end == "free"    ? FarEnd::free
                      : far_end == "matched" ? FarEnd::matched
                                             : FarEnd::fixed;
  if (is_folded && section.has("far_end")) {
    mistakes.add(section.where("far_end"),
                 "`far_end` has no meaning for a chain between two particles, which are its ends");
  }
  if (constants.far_end != FarEnd::fixed && !is_folded && law->springs->derivative(0.0) != 0.0) {
    mistakes.add(section.where("far_end"),
                 fmt::format("`far_end` = \"{}\": the springs pull at rest, and the last site "
                             "would have one on one side only; take \"fixed\"",
                             far_end));
  }
  if (constants.far_end == FarEnd::matched && constants.stiffness <= 0.0) {
    mistakes.add(section.where("far_end"),
                 "`far_end` = \"matched\" needs springs with V''(0) > 0, which `potential` has not");
  }
  if (!check_size(section, "sites", mistakes)) return nullptr;
  const long sites = section.integer("sites");
  if (is_folded && sites < 2) {
    mistakes.add(section.where("sites"), "sites = 1: a chain between two particles has at least 2");
  }
  LineOptions options;
  options.law = law;
  if (section.holds<double>("M")) {
    constants.mass = section.number("M");
  } else {
    options.table = read_masses(section, constants.stiffness, mistakes);
  }
  options.w0 = read_start_of_sites(section, "w0", system.axes, mistakes);
  options.v0 = read_start_of_sites(section, "v0", system.axes, mistakes);
  if (mistakes.count() > before) return nullptr;
  const double temperature = options.temperature = section.number("kT");
  auto line = std::make_unique<NonlinearLine>(section.text("name"), attachment_to(*ends, system.axes), system.size(),
                                              constants, sites, communicator, std::move(options));
  for (int axis = 0; axis < system.axes && temperature > 0.0; ++axis) {
    std::vector<double> heads;  // of all axes
    for (int i = 0; i < system.axes; ++i) {
      for (const int end : *ends) heads.push_back(system.q0[end * system.axes + i]);
    }
    const std::string reason =
        thermal_unsupported_reason(line->thermal_chain(axis * static_cast<int>(ends->size()), heads));
    if (reason.empty()) continue;
    mistakes.add(section.where("kT"), fmt::format("kT = {:.10g}: {}", temperature, reason));
    return nullptr;
  }
  return line;
}

}  // namespace

EnvironmentKind nonlinear_line_kind() {
  Parameter masses = required("M", ValueType::number, "kg",
                              "mass of each site, or a formula in the site's index `i`, from 0, and the number `n` of "
                              "sites, or a list, which is repeated along the chain",
                              Bound::positive);
  Parameter attach = attach_key(
      "indices of the particles at the two ends, from 0, or from the end if negative; [0, 0] is a ring, and [0] begins "
      "at one particle and ends at `far_end`");
  attach.default_value = "[0, 1]";
  masses.alternative_types = {ValueType::text, ValueType::numbers};
  Parameter sites = required("sites", ValueType::integer, "", "number of sites N", Bound::positive);
  sites.is_size = true;
  Parameter springs{.name = "potential",
                    .type = ValueType::table,
                    .doc = "potential V of every spring, a function of its stretch",
                    .required = true,
                    .catalogue_name = "potentials"};
  Parameter held{.name = "external",
                 .type = ValueType::table,
                 .doc = "potential U of every site, a function of its place; in formulas x",
                 .catalogue_name = "potentials"};
  const auto start_of = [](const char* name, const char* units, const char* what) {
    return Parameter{
        .name = name,
        .type = ValueType::texts,
        .units = units,
        .doc = fmt::format("{} of the sites at the start: a formula in the site's index `i`, from 0, and the "
                           "number `n` of sites, one for each axis; 0 where absent",
                           what),
        .alternative_types = {ValueType::text}};
  };
  return {
      {.name = "nonlinear-line",
       .summary = "chain with nonlinear springs between two particles (FPUT, phi^4, Toda, Hertz, any formula)",
       .equation = "M Q_j'' = V'(Q_{j+1} - Q_j) - V'(Q_j - Q_{j-1}) - U'(Q_j),  Q_0 = q_a,  Q_{N+1} = q_b\n"
                   "force V'(Q_1 - q_a) on the first particle, -V'(q_b - Q_N) on the second",
       .source = "fermi1955; toda1967; nesterenko1984; dhar2008",
       .keywords = {"fermi-pasta-ulam", "fput", "fpu", "phi4", "toda lattice", "granular chain", "anharmonic chain",
                    "fourier's law", "soliton"},
       .parameters = {attach, sites, masses, springs, held,
                      choice(
                          "far_end", {"fixed", "free", "matched"},
                          "of a chain from one particle: what is behind its last site, \"fixed\" where absent; "
                          "\"matched\" is a dashpot sqrt(V''(0) M), the transparent boundary of long and small waves"),
                      start_of("w0", "m", "displacements"), start_of("v0", "m/s", "velocities"),
                      start_temperature_parameter(
                          "kT of the thermal start, in which sites are drawn from the Gibbs distribution between the "
                          "heads, whose places are given; `w0` and `v0` are added; 0: they start at rest")},
       .notes =
           "Places of sites and of the particles at the ends are measured from the equilibrium of the lattice, and "
           "so are the energies of springs and sites. Baths, walls, pistons and endless lines at the ends are those "
           "of the particles: `damper` and `spring-mass-line` environments, external potentials and drives. For "
           "closed runs under splittings (`stoermer-verlet`, `gamma` with 0 and 1, compositions, `baoab`) and "
           "implicit methods of up to three stages, whose equations PETSc's SNES solves; it has no damper that could "
           "stand for it in open runs. Polynomials up to the fourth degree in "
           "one of V and U, and to the sixth in both, `toda` and `hertz` without `external` are evaluated in "
           "registers, other laws in batches. Under splittings the path has the same bits on any number of ranks. "
           "Snapshots have the sites in their order along the chain; forces and other records of an environment have "
           "both ends, alternately by axis."},
      build_nonlinear_line};
}

}  // namespace bathline
