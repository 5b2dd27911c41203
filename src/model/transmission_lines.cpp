// The two transmission lines of a recipe, spring-mass and spring-inerter, each by lumped values, by continuum values or
// on the characteristic grid.
//
//   continuum: K = lambda dx, rho = M/dx, speed v = sqrt(K/rho), D = sqrt(K rho), dx = length / sites
//   characteristic grid: h sqrt(lambda/M) = 1/(1 - 2 g), lambda = D/(h (1 - 2 g)), M = D h (1 - 2 g), g = gamma
//
// or with nonuniform sites, of a table or of formulas.
//
// The kernel of the semi-infinite line under the closed gamma scheme, F^k = -lambda h sum_{n >= -1} G_n v^{k-n}, has
// with c = h sqrt(lambda/M) and s^2 = 1 + 4 g (1-g) c^2 the transform
//   G(z) = [s sqrt(z^2 - 2 x z + 1) - (z - 1)] / (2 c^2),   x = 1 - 2 c^2 / s^2.
// It has two terms only where x = -1, that is c = 1/|1 - 2g|: for g < 1/2 with G_{-1} : G_0 = g : 1-g, which is the
// damper D (q+ - q)/h of farshi2018, Definition 5.3. For g > 1/2 the weights are 1-g : g, which no scheme of the paper
// has; for g = 1/2 there is no such c.
//
// Source: farshi2018, section 6, and limebeer2020, section III; the grid with g = 0, on which dx = v h, is
// limebeer2020, proof of Theorem IV.1.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "formula/program.hpp"
#include "model/attach_key.hpp"
#include "model/environment_catalogue.hpp"
#include "model/formula/index_formula.hpp"
#include "model/formula/scope.hpp"
#include "model/semi_infinite_line/from_recipe.hpp"
#include "model/line/line.hpp"
#include "model/site_values.hpp"
#include "model/table_file.hpp"

namespace bathline {

namespace {

/// Only lines on one particle have the key: between two, half a site would couple their momenta.
bool has_half_site(const Section& section) { return section.has("half_site") && section.boolean("half_site"); }

bool is_noisy_line(const Section& section) { return is_semi_infinite(section) && section.number("kT") > 0.0; }

/// A line whose sites have formulas is stored by every rank, and its formulas are checked at every site.
constexpr long max_formula_sites = 1'000'000;

/// Whether the lumped values are formulas of a site's index.
bool is_by_formula(const Section& section, const char* mass, const char* stiffness) {
  return section.holds<std::string>(mass) || section.holds<std::string>(stiffness);
}

/// The sites of the section's `file`, or of its formulas; nullptr, and a mistake, where they are wrong.
/// @note Collective.
std::shared_ptr<const std::vector<LineSite>> read_nonuniform_sites(const Section& section, const char* mass,
                                                                   const char* stiffness,
                                                                   const Communicator& communicator,
                                                                   Mistakes& mistakes) {
  bool good = true;
  const auto refuse = [&](const std::string& key, const std::string& reason) {
    mistakes.add(section.where(key), reason);
    good = false;
  };
  const bool by_formula = is_by_formula(section, mass, stiffness);
  const std::string other = by_formula ? "formulas, which describe the sites" : "`file`, which describes the sites";
  const std::set<std::string> own = by_formula ? std::set<std::string>{mass, stiffness} : std::set<std::string>{"file"};
  for (const char* key : {mass, stiffness, "length", "spacing", "speed", "grid", "file"}) {
    if (section.has(key) && !own.contains(key)) refuse(key, fmt::format("`{}` has no meaning beside {}", key, other));
  }
  for (const std::string& key : own) {
    if (!section.has(key)) refuse("kind", fmt::format("`{}` is missing", key));
  }
  if (section.number("gamma") > 0.0) refuse("gamma", fmt::format("`gamma` has no meaning beside {}", other));
  if (has_half_site(section)) refuse("half_site", "`half_site` has no meaning for nonuniform sites");
  auto sites = std::make_shared<std::vector<LineSite>>();
  if (by_formula) {
    const long count = section.integer("sites");
    if (count > max_formula_sites) {
      refuse("sites", fmt::format("{} sites with formulas: must be at most {}; a `file` is repeated along the line",
                                  count, max_formula_sites));
    }
    if (!good) return nullptr;
    const std::size_t mistakes_before = mistakes.count();
    const auto read = [&](const char* key) {
      return read_by_particle(section, key, static_cast<int>(count), Bound::positive, mistakes);
    };
    const Eigen::VectorXd masses = read(mass), springs = read(stiffness);
    for (Eigen::Index i = 0; i < masses.size(); ++i) sites->push_back({masses[i], springs[i]});
    return mistakes.count() == mistakes_before ? sites : nullptr;
  }
  const TableForm form{.row = "site", .first = {"mass", "kg"}, .second = {"stiffness", "N/m"}};
  const auto rows = read_table_file(section, form, communicator, mistakes);
  if (rows && static_cast<long>(rows->size()) > section.integer("sites")) {
    refuse("file", fmt::format("file = \"{}\": it describes {} sites, but the line has {}", section.text("file"),
                               rows->size(), section.integer("sites")));
  }
  if (!good || !rows) return nullptr;
  for (const auto& [row_mass, row_stiffness] : *rows) sites->push_back({row_mass, row_stiffness});
  return sites;
}

/// Builds the line of a section on `attachment`; `mass` and `stiffness` are the keys of the lumped values.
/// @note Collective.
std::unique_ptr<Environment> build_line(const Section& section, const char* mass, const char* stiffness,
                                        const RunTimes& run, Attachment attachment, const Communicator& communicator,
                                        Mistakes& mistakes) {
  const bool semi_infinite = is_semi_infinite(section);
  const std::string end = section.has("far_end") ? section.text("far_end") : "fixed";
  LineConstants constants;
  constants.far_end = end == "free" ? FarEnd::free : end == "matched" ? FarEnd::matched : FarEnd::fixed;
  LineOptions options;
  options.temperature = section.number("kT");
  options.w0 = read_start_of_sites(section, "w0", attachment.axes(), mistakes);
  options.v0 = read_start_of_sites(section, "v0", attachment.axes(), mistakes);
  std::optional<SiteValues> values;
  const bool by_formula = is_by_formula(section, mass, stiffness);
  if (by_formula && semi_infinite) {
    mistakes.add(section.where("sites"), "a semi-infinite line is uniform: its sites have no formulas");
    return nullptr;
  }
  if ((section.has("file") && !semi_infinite) || by_formula) {
    options.table = read_nonuniform_sites(section, mass, stiffness, communicator, mistakes);
    if (!options.table) return nullptr;
    if (section.has("damping")) {
      options.represented = {section.number("damping"), std::numeric_limits<double>::infinity()};
    }
  } else {
    values = read_site_values(section, mass, stiffness, run.step, mistakes);
    if (!values) return nullptr;
    constants.mass = values->mass;
    constants.stiffness = values->stiffness;
    options.matched_gamma = values->matched_gamma;
    if (has_half_site(section)) {
      if (options.temperature > 0.0) {
        mistakes.add(section.where("half_site"), "`half_site` supports no temperature: leave out one of them");
        return nullptr;
      }
      attachment.set_head_mass(0.5 * constants.mass);
    }
  }
  if (semi_infinite)
    return build_semi_infinite_line(section, *values, run, std::move(attachment), communicator, mistakes);
  if (!check_size(section, "sites", mistakes)) return nullptr;
  return std::make_unique<Line>(section.text("name"), std::move(attachment), constants, section.integer("sites"),
                                communicator, std::move(options));
}

/// The line of a section at the head that `read` attaches. Both are checked even where the other is wrong.
template <class Read>
std::unique_ptr<Environment> build_attached_line(const Section& section, const char* mass, const char* stiffness,
                                                 const RunTimes& run, Read read, const Communicator& communicator,
                                                 Mistakes& mistakes) {
  const std::optional<Attachment> attachment = read();
  std::unique_ptr<Environment> line =
      build_line(section, mass, stiffness, run, attachment.value_or(Attachment({{0, 1.0}}, 1)), communicator, mistakes);
  return attachment ? std::move(line) : nullptr;
}

std::unique_ptr<Environment> build_spring_mass(const Section& section, const ParticleSystem& system,
                                               const RunTimes& run, const Communicator& communicator,
                                               Mistakes& mistakes) {
  return build_attached_line(
      section, "M", "lambda", run, [&] { return read_attachment(section, system, mistakes); }, communicator, mistakes);
}

/// The attachment of a spring-inerter line: the difference of two particles, or what `couple` states.
std::optional<Attachment> read_difference(const Section& section, const ParticleSystem& system, Mistakes& mistakes) {
  if (section.has("couple")) return read_couple(section, system, mistakes);
  if (system.particles < 2) {
    mistakes.add(section.where("kind"),
                 "a spring-inerter-line connects two particles, but the system has one; use a spring-mass-line for a "
                 "single particle");
    return std::nullopt;
  }
  const std::vector<long> ends = section.has("attach") ? attached_particles(section) : std::vector<long>{0, 1};
  std::optional<int> head, far;
  if (ends.size() == 2) {
    head = read_particle(section, ends[0], system, mistakes);
    far = read_particle(section, ends[1], system, mistakes);
    if (!head || !far) return std::nullopt;
  }
  if (head == far) {
    mistakes.add(section.where("attach"), "`attach` needs two different particles, such as [0, 1]");
    return std::nullopt;
  }
  Attachment attachment({{*head, 1.0}, {*far, -1.0}}, system.axes);
  attachment.set_carries_sites();
  return attachment;
}

std::unique_ptr<Environment> build_spring_inerter(const Section& section, const ParticleSystem& system,
                                                  const RunTimes& run, const Communicator& communicator,
                                                  Mistakes& mistakes) {
  return build_attached_line(
      section, "b", "k", run, [&] { return read_difference(section, system, mistakes); }, communicator, mistakes);
}

std::vector<Parameter> line_parameters(const Parameter& attach, const char* mass, const char* mass_doc,
                                       const char* stiffness) {
  return {
      attach,
      {.name = "sites",
       .type = ValueType::integer,
       .doc = "number of sites N; \"infinite\": a semi-infinite line, represented by its memory kernel",
       .required = true,
       .is_size = true,
       .bound = Bound::positive,
       .choices = {"infinite"},
       .alternative_types = {ValueType::text}},
      {.name = mass,
       .units = "kg",
       .doc = std::string(mass_doc) + ", or a formula in the site's index `i`, from 0, and the number `n` of sites",
       .bound = Bound::positive,
       .alternative_types = {ValueType::text}},
      {.name = stiffness,
       .units = "N/m",
       .doc = "stiffness of each spring, or likewise a formula of the spring before the site `i`",
       .bound = Bound::positive,
       .alternative_types = {ValueType::text}},
      optional("damping", ValueType::number, "kg/s",
               "damping constant D, in the continuum form and on the characteristic grid; with `file` the one that the "
               "line represents, where absent that of its first sites",
               Bound::positive),
      optional("length", ValueType::number, "m", "length of the line, continuum form", Bound::positive),
      optional("spacing", ValueType::number, "m", "distance between sites, instead of `length`", Bound::positive),
      optional("speed", ValueType::number, "m/s", "wave speed, continuum form", Bound::positive),
      choice("grid", {"characteristic"}, "\"characteristic\": the sites follow from `damping` and the time step"),
      defaulted("gamma", ValueType::number, "", "0.0",
                "parameter of the closed `gamma` integrator for which the characteristic grid is exact, below 1/2",
                Bound::nonnegative),
      start_temperature_parameter(
          "kT of the thermal start, in which sites are drawn from the Gibbs distribution with the head clamped, or "
          "of the noise of a semi-infinite line; 0: sites start at rest"),
      {.name = "file",
       .type = ValueType::text,
       .doc =
           "table of nonuniform sites, relative to the recipe's folder: per line a mass (kg) and the stiffness (N/m) "
           "of the spring before it; repeated if shorter than `sites`"},
      {.name = "tolerance",
       .doc =
           "of a semi-infinite line: error of its kernel, summed over the run, relative to the kernel's sum; a finite "
           "line ignores it, so that the two can be compared by changing `sites` alone",
       .default_value = "1e-12",
       .bound = Bound::positive},
      {.name = "horizon",
       .units = "s",
       .doc = "of a semi-infinite line: the time until which `tolerance` holds, where absent the run's end; "
              "\"forever\": all times, stability guaranteed",
       .bound = Bound::positive,
       .choices = {"forever"},
       .alternative_types = {ValueType::text}}};
}

}  // namespace

EnvironmentKind spring_mass_line_kind() {
  std::vector<Parameter> parameters = line_parameters(attach_parameter("index of the particle at the head, from 0"),
                                                      "M", "mass of each site", "lambda");
  parameters.push_back(
      choice("far_end", {"fixed", "free", "matched"},
             "boundary condition behind the last site, \"fixed\" where absent; \"matched\" is a dashpot D, the "
             "transparent boundary of waves that are long compared with the spacing"));
  parameters.push_back(
      {.name = "w0",
       .type = ValueType::texts,
       .units = "m",
       .doc = "displacements of the sites at the start, such as \"exp(-((i - 50)/8)^2)\": a formula in the site's "
              "index `i`, from 0, the number `n` of sites and, where `length` or `spacing` is given, the place `x` of "
              "the site, from the head; one for each axis. Sites are at rest where absent",
       .alternative_types = {ValueType::text}});
  parameters.push_back({.name = "v0",
                        .type = ValueType::texts,
                        .units = "m/s",
                        .doc = "velocities of the sites at the start, likewise",
                        .alternative_types = {ValueType::text}});
  parameters.push_back({.name = "half_site",
                        .type = ValueType::boolean,
                        .doc =
                            "adds half a site, M/2, to the particle of closed runs, with which the line is a damper to "
                            "second order in the step",
                        .default_value = "false"});
  return {
      {.name = "spring-mass-line",
       .summary = "transmission line of masses and springs (Rubin's model), its head on one particle",
       .equation =
           "M Q_j'' = lambda (Q_{j+1} - 2 Q_j + Q_{j-1}),  Q_0 = q_a,  force on the particle lambda (Q_1 - q_a)",
       .source = "farshi2018, section 6; limebeer2020, Remark III.2",
       .keywords = {"transparent boundary", "absorbing boundary", "rubin", "rubin model", "semi-infinite line",
                    "telegraph line", "lc line"},
       .parameters = std::move(parameters),
       .notes =
           "Damps its particle by D = sqrt(lambda M) until the echo at t_r = 2 sites sqrt(M/lambda). On the "
           "characteristic grid, lambda = D/(h (1 - 2 gamma)) and M = D h (1 - 2 gamma), the closed `gamma` scheme "
           "equals the reduced open one to round-off until the echo, with gamma = 0 for 2 (sites + 1) steps. From "
           "gamma = 1/2 on no grid has this property: above it a line damps with the weights of the two ends of a step "
           "exchanged. With `half_site` the momentum and the kinetic energy of the particle include the half site, "
           "which shares the initial momentum; positions then follow the damped ones to order 2 in the step instead of "
           "1 (with an integrator of order 2), and so do momenta less M v/2. A line on a particle with several axes "
           "has as many axes per site. With sites = \"infinite\" the line is semi-infinite and represented by its "
           "memory kernel, a sum of 50 to 100 exponentials: the trajectory is that of a closed line of any length "
           "until its echo, to `tolerance` of the kernel. This is implemented for `gamma` and `stoermer-verlet` (the "
           "kernel in discrete time, by Legendre polynomials), for `gauss`, `time-centred` and `implicit-euler` (which "
           "advance the exponentials of the line in continuous time, as any algebraically stable Runge-Kutta method "
           "does), and for `lobatto` with two stages. The rest is refused: compositions have several kicks a step and "
           "`exact` would need all sites, so that both need a finite line whose echo returns after the end; "
           "`explicit-euler` and `rk4` are not stable enough, and `lobatto` with more stages has different matrices "
           "for "
           "positions and momenta. "
           "The energy of the line is the work of the particle on it, and the group certificate of a result has the "
           "errors of the exponentials. At a positive temperature the line has noise with the same exponentials, which "
           "is the force of a line in the Gibbs distribution of the integrator on a clamped particle, and its kernel "
           "holds `forever`: linear systems have the Gibbs distribution at any step under `gamma` with 0.5, "
           "`time-centred` and `gauss` (with independent noise at each stage), that of the positions under "
           "`stoermer-verlet` and `lobatto`, and under other `gamma` that of the positions shifted by (1/2 - gamma) h "
           "v. `implicit-euler` is refused, as its numerical damping cools every wave. A particle that oscillates "
           "above the band edge of the line does not thermalise, as no wave propagates at its frequency. Nonuniform "
           "sites support every integrator; the first site that differs reflects an echo."},
      build_spring_mass,
      is_noisy_line};
}

EnvironmentKind spring_inerter_line_kind() {
  return {{.name = "spring-inerter-line",
           .summary = "massless line of springs and inerters between two particles",
           .equation = "b u_i'' = k (u_{i+1} - 2 u_i + u_{i-1}),  u_i = q_i - Q0,  u_0 = q0 - Q0,  u_{n+1} = 0\n"
                       "force k (u_1 - u_0) on the first particle, its opposite on the second",
           .source = "limebeer2020, eqs. (15)-(20)",
           .keywords = {"transparent boundary", "semi-infinite line"},
           .parameters = line_parameters(attach_key("indices of the two particles [head, far], from 0, or from the end "
                                                    "if negative; default: [0, 1], or what `couple` states"),
                                         "b", "inertance of each site", "k"),
           .notes = "Damps the relative motion of the two by D = sqrt(k b) until the echo at t_r = 2 sites sqrt(b/k). "
                    "Displacements of its sites are relative to the second particle."},
          build_spring_inerter,
          is_noisy_line};
}

}  // namespace bathline
