// The keys of every section of a recipe, with types, units, defaults and one sentence each.
#include "recipe/recipe_schema.hpp"

#include <stdexcept>
#include <utility>

namespace bathline {

namespace {

using enum ValueType;

Parameter list_of(std::string name, std::vector<Parameter> members, std::string doc) {
  return {.name = std::move(name), .type = tables, .doc = std::move(doc), .members = std::move(members)};
}

std::vector<Parameter> paper_keys() {
  return {
      optional("key", text, "", "Citation key of the paper."),
      optional("figure", text, "", "Figure or table of the paper, for instance \"6\"."),
      optional("note", text, "", "Choices that the paper leaves open."),
  };
}

std::vector<Parameter> system_keys() {
  Parameter thermal_energy = optional("kT", numbers, "J",
                                      "Thermal energy of open runs, whose noise balances the damping: one number, one "
                                      "for each particle, or a formula in the particle's index `i`, from 0, the number "
                                      "`n` of particles and the time `t`; default: as the environments imply.",
                                      Bound::nonnegative);
  thermal_energy.alternative_types = {number, text};
  Parameter start =
      choice("start", {"given", "thermal-momenta", "thermal"},
             "What is drawn from the Gibbs distribution in place of `q0` and `v0`: nothing, the momenta, or positions "
             "and momenta; at `start_kT`, or else at the temperature of the system or of its environments.");
  start.default_value = "\"given\"";
  return {required("kind", text, "", "Kind of system."), std::move(thermal_energy), std::move(start),
          optional("start_kT", number, "J",
                   "Thermal energy of the start of all particles, for environments of several temperatures; default: "
                   "`kT`, or that of the environments.",
                   Bound::nonnegative)};
}

std::vector<Parameter> environment_keys() {
  Parameter couple =
      optional("couple", texts, "",
               "In the place of `attach`: what drives the environment as a formula, such as \"x0 - x1\", or one "
               "formula for each axis of the environment. Formulas contain the coordinates of the system (its own "
               "names, or `x`, `y`, `z`, for several particles `x0`, `y0`, `x1`), the numbers of `parameters`, and, "
               "where the environment is no white friction, the time `t`. The springs to the environment contain its "
               "counter term: the potential of mean force is V.");
  couple.alternative_types = {text};
  Parameter around =
      optional("around", ValueType::number, "",
               "The value of `couple` around which sites start, in place of its value at the start of the run: with 0 "
               "the bath of programs that couple it by s X starts as theirs does. These have no counter term, so that "
               "their potential is V - gamma(0) s^2/2. The coupling then counts as one that is not linear.");
  Parameter parameters{.name = "parameters",
                       .type = ValueType::table,
                       .doc = "Named numbers for the formulas of this environment, such as { g = 0.3 }.",
                       .members = {{.name = wildcard_key, .doc = "A number with a name of your choice."}}};
  return {required("kind", text, "", "Kind of environment."),
          optional("name", text, "", "Name by which integrators select it; default: \"environment-<index>\", from 0."),
          std::move(couple), std::move(around), std::move(parameters)};
}

std::vector<Parameter> control_keys() {
  Parameter initial = defaulted("initial", text, "N", "\"0\"",
                                "Its values: a formula in the time `t`, in which table(\"u.dat\", t) is a file, or a "
                                "list of the pieces + degree numbers of its B-splines.");
  initial.alternative_types = {numbers};
  Parameter degree{.name = "degree",
                   .type = integer,
                   .doc = "Degree of the spline: 0 is constant in each piece, 1 linear, 3 twice differentiable.",
                   .default_value = "1",
                   .bound = Bound::nonnegative};
  return {
      required("name", text, "", "Name of the control in formulas and results."),
      optional("on", text, "",
               "The coordinate on which it is a force, by its name in formulas: that of the system, or `x`, `y`, "
               "`z`, for several particles `x0`, `y0`, `x1`. Systems with formulas may use the name of the control in "
               "`force` as well, or instead, so that one control acts on several coordinates."),
      std::move(degree),
      required("pieces", integer, "", "Number of equal pieces from the start to the end, each of whole steps.",
               Bound::positive),
      optional("bounds", numbers, "N", "Lowest and highest of its numbers, and so of its values."),
      std::move(initial)};
}

std::vector<Parameter> time_keys() {
  return {
      required("step", number, "s", "Time step of every integrator that does not set its own.", Bound::positive),
      optional("end", number, "s", "Time at which the run ends; either this or `steps`.", Bound::positive),
      optional("steps", integer, "", "Number of steps; either this or `end`.", Bound::nonnegative),
  };
}

std::vector<Parameter> integrator_keys() {
  Parameter on = choice("on", {"closed", "open"},
                        "`closed` integrates particles and environments together, `open` the particles with damping.");
  on.required = true;
  return {
      required("method", text, "", "Integration method."),
      optional("name", text, "", "Name of its results, from letters, digits, `_` and `-`; default: `method`."),
      std::move(on),
      optional("step", number, "s", "Its own time step; default: that of [time].", Bound::positive),
      optional("end", number, "s", "Its own end time, before that of [time]; not allowed in studies that compare runs.",
               Bound::positive),
      optional("environments", texts, "", "Names of the environments of a closed run; default: all of them."),
      defaulted("noise", boolean, "", "true",
                "Langevin noise of an open run at a temperature, bath noise of a closed run with a warm memory; false "
                "runs without noise."),
      defaulted("allow_unstable", boolean, "", "false", "Allows a step beyond the stability limit."),
  };
}

std::vector<Parameter> section_keys() {
  Parameter direction = choice("direction", {"up", "down", "both"}, "Direction of the crossings that count.");
  direction.default_value = "\"up\"";
  return {
      optional("of", text, "",
               "Formula in the coordinates of the system (its own names, or `x`, `y`, `z`, for several particles `x0`, "
               "`y0`, `x1`), the velocities (the same with `_dot`) and the time `t`. Either this or `period`."),
      defaulted("at", number, "", "0.0", "The level of `of` that is crossed."),
      std::move(direction),
      optional("period", number, "s", "Period of a stroboscopic section, whatever the step.", Bound::positive),
  };
}

std::vector<Parameter> output_keys() {
  return {
      defaulted("every", integer, "", "1", "Steps between two records.", Bound::positive),
      optional("snapshots", integer, "", "Steps between two snapshots of the lines; default: no snapshots.",
               Bound::positive),
      defaulted("site_stride", integer, "", "1", "Stride of the sites in a snapshot.", Bound::positive),
      defaulted("particles_only", boolean, "", "false",
                "Drops sites of lines that can no longer affect a particle, and with them the energies of the "
                "environments, which are recorded as NaN."),
      defaulted("work_rules", boolean, "", "false",
                "Records ledger_left, ledger_trapezoid, ledger_displacements and ledger_hermite beside energy_total: "
                "the work of damping by quadrature rules over the records, the same for every integrator, the last of "
                "order 6; energy_dissipated is summed over the steps by the rule of each integrator."),
      {.name = "poincare_section",
       .type = table,
       .doc = "A Poincare section, such as { of = \"x\" }: poincare_q and poincare_p over poincare_time are recorded "
              "where the motion crosses it, between steps by a polynomial of degree 5 (q to order 6 in the step, p to "
              "order 5). The start is not counted, and of several crossings within a step at most one is seen.",
       .members = section_keys()},
      optional("checkpoint_every", integer, "",
               "Steps of an integrator between two checkpoints; default: no checkpoints.", Bound::positive),
      optional("checkpoint_interval", number, "s", "Wall-clock time between two checkpoints; default: no checkpoints.",
               Bound::positive),
      optional("keep_checkpoints", integer, "",
               "Number of checkpoints that are kept, also after the run; default: two during the run, none after it.",
               Bound::positive),
  };
}

std::vector<Parameter> claim_keys() {
  return {
      required("name", text, "", "Name of the claim, unique in the recipe."),
      required("quantity", text, "", "What is measured: <integrator>.<variable>.<min, max, last, mean...>."),
      optional("minus", text, "",
               "Another quantity, subtracted from `quantity`; without a statistic from every row, before the statistic "
               "of `quantity`."),
      optional("divided_by", text, "", "Another quantity, by which the measured value is divided."),
      optional("expect", number, "", "Expected value; needs one of the tolerances."),
      optional("tolerance", number, "", "Largest allowed distance from `expect`.", Bound::nonnegative),
      optional("relative_tolerance", number, "", "Largest allowed distance as a fraction of `expect`.",
               Bound::nonnegative),
      optional("bounds", numbers, "", "Lowest and highest allowed value; either this or `expect`."),
      optional("uncertainty", number, "",
               "Derived uncertainty of the claim: round-off, next term, printed digits, standard error. A tolerance of "
               "more than ten times the uncertainty needs a note.",
               Bound::nonnegative),
      optional("from", number, "s", "Start of the time window; default: the start of the run."),
      optional("until", number, "s", "End of the time window; default: the end of the run."),
      optional("source", text, "", "Where the claim is made, or how it is derived."),
      choice("kind", {"physics", "regression"},
             "A statement that follows from a source or a derivation, or a number that was computed before, by an "
             "earlier version or an independent program, and must not change.",
             "\"physics\""),
      optional("note", text, "", "Remark."),
      defaulted("supported", boolean, "", "true", "False for a claim that is expected to fail."),
  };
}

std::vector<Parameter> series_keys() {
  Parameter of = required("of", text, "",
                          "Quantity that is drawn: <integrator>.<variable>; for a single number of several cases, with "
                          "{} in place of each of `cases`; or values of a theory.");
  Parameter x = optional("x", text, "", "Quantity along the horizontal axis, or values; default: that of the panel.");
  Parameter scale = defaulted("scale", number, "", "1.0", "Factor on the values, or one for each of them.");
  of.alternative_types = x.alternative_types = scale.alternative_types = {ValueType::numbers};
  return {
      std::move(of),
      optional("cases", texts, "", "Texts that replace {} in `of` and `error`, one after the other."),
      optional("minus", text, "", "Another quantity, subtracted from it row by row."),
      optional("error", text, "", "Its standard error, drawn as bars or as a band."),
      optional("name", text, "", "Name in the legend; default: what distinguishes the series in its panel."),
      choice("style", {"points", "marked", "dots", "solid", "dashed", "dotted", "dashdot", "dashdotdot", "longdash"},
             "Points, a line with a marker at every value, a dot at every value (a Poincare section), or a line of "
             "this style; default: a line in the style of its method."),
      optional("color", integer, "", "Index into the palette; default: the colour of its method.", Bound::nonnegative),
      std::move(scale),
      std::move(x),
  };
}

std::vector<Parameter> mark_keys() {
  return {
      required("at", number, "", "Position on the horizontal axis."),
      optional("name", text, "", "Text of the line."),
  };
}

std::vector<Parameter> panel_keys() {
  return {
      optional("title", text, "", "Title above the panel."),
      optional("xlabel", text, "", "Label of the horizontal axis."),
      optional("ylabel", text, "", "Label of the vertical axis."),
      defaulted("x", text, "", "\"time\"", "Quantity along the horizontal axis."),
      optional("xlim", numbers, "", "Lower and upper end of the horizontal axis."),
      optional("ylim", numbers, "", "Lower and upper end of the vertical axis."),
      choice("xscale", {"linear", "log"}, "Scale of the horizontal axis."),
      choice("yscale", {"linear", "log"}, "Scale of the vertical axis."),
      choice("aspect", {"equal"}, "`equal` draws both axes to the same scale, as for orbits."),
      list_of("series", series_keys(), "What is drawn in the panel."),
      list_of("marks", mark_keys(), "Vertical marker lines."),
  };
}

std::vector<Parameter> figure_keys() {
  Parameter kind = choice("kind", {"convergence", "lines", "norms", "wave", "work"},
                          "Kind of figure; each is one script in analysis/bathline/figure_kinds/.");
  kind.default_value = "\"lines\"";
  return {
      std::move(kind),
      optional("caption", text, "", "Text below the figure, in the report."),
      optional("width", number, "inch", "Width of the figure.", Bound::positive),
      optional("height", number, "inch", "Height of the figure.", Bound::positive),
      optional("columns", integer, "", "Panels side by side.", Bound::positive),
      choice("legend", {"panels", "shared"},
             "`panels` draws one in each panel, or a common one if all have the same entries, `shared` one above all "
             "panels."),
      list_of("panels", panel_keys(), "The panels of the figure."),
  };
}

}  // namespace

const std::vector<Parameter>& recipe_keys() {
  static const std::vector<Parameter> keys = {
      required("title", text, "", "One line on what the experiment shows."),
      optional(
          "extends", text, "",
          "Path, relative to this file, of a recipe whose keys hold where this one does not set them: tables are "
          "merged key by key, but replaced if this one gives another `kind`; lists and arrays of tables are replaced."),
      defaulted("seed", integer, "", "0", "Seed of all random numbers.", Bound::nonnegative)};
  return keys;
}

const std::vector<SectionSchema>& recipe_sections() {
  static const std::vector<SectionSchema> sections = {
      {.name = "paper", .doc = "What the experiment reproduces.", .parameters = paper_keys()},
      {.name = "system",
       .doc = "The particles and the forces between them.",
       .required = true,
       .is_of_motion = true,
       .chooser = "kind",
       .entries = &CatalogueSchema::systems,
       .catalogue_name = "systems",
       .parameters = system_keys()},
      {.name = "environments",
       .doc = "A line, heat bath or memory that particles are attached to; none for purely open runs.",
       .repeated = true,
       .is_of_motion = true,
       .chooser = "kind",
       .entries = &CatalogueSchema::environments,
       .catalogue_name = "environments",
       .parameters = environment_keys()},
      {.name = "controls",
       .doc =
           "A spline in time that is a force on a coordinate or part of the formulas of `force`: its numbers are what "
           "gradients are taken by and what is optimised.",
       .repeated = true,
       .parameters = control_keys()},
      {.name = "time",
       .doc = "Time step and length of the run.",
       .required = true,
       .is_of_motion = true,
       .parameters = time_keys(),
       .exclusive_keys = {{"", {"end", "steps"}}}},
      {.name = "integrators",
       .doc = "The methods that are run, each with results of its own.",
       .repeated = true,
       .required = true,
       .is_of_motion = true,
       .chooser = "method",
       .entries = &CatalogueSchema::integrators,
       .catalogue_name = "integrators",
       .parameters = integrator_keys()},
      {.name = "study",
       .doc = "What is computed with system, environments and integrators.",
       .chooser = "kind",
       .entries = &CatalogueSchema::studies,
       .catalogue_name = "studies",
       .parameters = {defaulted("kind", text, "", "\"trajectory\"", "Kind of study.")}},
      {.name = "output", .doc = "What is recorded.", .parameters = output_keys()},
      {.name = "claims",
       .doc = "A statement that is checked against the results.",
       .repeated = true,
       .parameters = claim_keys(),
       .exclusive_keys = {{"", {"expect", "bounds"}}, {"expect", {"tolerance", "relative_tolerance"}}}},
      {.name = "figure", .doc = "What the analysis draws.", .parameters = figure_keys()},
  };
  return sections;
}

const SectionSchema& recipe_section(const std::string& name) {
  for (const SectionSchema& section : recipe_sections()) {
    if (section.name == name) return section;
  }
  throw std::logic_error("recipes have no section called " + name);
}

}  // namespace bathline
