// The catalogue of environments.
// Tested by tests/properties/environments_test.cpp.
#include "model/environment_catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/attach_key.hpp"
#include "model/formula/scope.hpp"
#include "model/line/nonlinear_line.hpp"

namespace bathline {

const Catalogue<EnvironmentKind>& environments() {
  static const Catalogue<EnvironmentKind> all = {spring_mass_line_kind(),   spring_inerter_line_kind(),
                                                 nonlinear_line_kind(),     heat_bath_kind(),
                                                 memory_environment_kind(), damper_kind()};
  return all;
}

bool check_size(const Section& section, const char* key, Mistakes& mistakes) {
  constexpr long max = 1'000'000'000'000'000;
  if (section.integer(key) <= max) return true;
  mistakes.add(section.where(key), fmt::format("{} = {}: must be at most {}", key, section.integer(key), max));
  return false;
}

std::optional<int> read_particle(const Section& section, long particle, const ParticleSystem& system,
                                 Mistakes& mistakes) {
  const int particles = system.particles;
  if (particle >= -particles && particle < particles) {
    return static_cast<int>(particle < 0 ? particles + particle : particle);
  }
  mistakes.add(section.where("attach"),
               fmt::format("`attach` names particle {}, but the system has {}, which are numbered from 0, or from the "
                           "last, -1",
                           particle, particles));
  return std::nullopt;
}

std::vector<long> attached_particles(const Section& section) {
  if (section.holds<long>("attach")) return {section.integer("attach")};
  return section.integers("attach");
}

Parameter attach_key(std::string doc) {
  Parameter parameter = optional("attach", ValueType::integers, "", std::move(doc));
  parameter.alternative_types = {ValueType::integer};
  return parameter;
}

Parameter attach_parameter(std::string doc) {
  return attach_key(std::move(doc) +
                    ", or from the end if negative: -1 is the last; default: 0, or what `couple` states");
}

std::optional<Attachment> read_couple(const Section& section, const ParticleSystem& system, Mistakes& mistakes) {
  const int size = system.particles * system.axes;
  FormulaScope scope;
  for (const std::string& coordinate : system.coordinate_names()) scope.add_variable(coordinate);
  scope.add_variable("t");
  const std::size_t before = mistakes.count();
  if (section.has("attach")) {
    mistakes.add(section.where("couple"), "`couple` takes the place of `attach`; leave one of them out");
  }
  if (section.has("half_site") && section.boolean("half_site")) {
    mistakes.add(section.where("half_site"),
                 "`half_site` is part of the mass of one particle, which `couple` does not name; leave one out");
  }
  if (section.has("parameters")) add_numbers(section.table("parameters"), {}, scope, mistakes);
  const std::size_t axes = section.holds<std::string>("couple") ? 1 : section.texts("couple").size();
  if (axes == 0 || axes > static_cast<std::size_t>(size)) {
    mistakes.add(section.where("couple"),
                 fmt::format("`couple` has {} formulas, but the system has {} coordinates: give one formula for each "
                             "axis of the environment",
                             axes, size));
  }
  Eigen::VectorXd start = Eigen::VectorXd::Zero(size + 1);
  start.head(size) = system.q0;
  const std::span<const double> at_start(start.data(), static_cast<std::size_t>(start.size()));
  try {
    std::vector<Attachment::Term> terms;
    std::vector<Expression> formulas;
    bool is_linear = true;
    for (std::size_t axis = 0; axis < axes && mistakes.count() == before; ++axis) {
      const std::optional<Expression> formula = read_formula(section, "couple", scope, mistakes, axis);
      if (!formula) break;
      formulas.push_back(*formula);
      std::vector<FormulaOutput> gradient = gradient_of(scope.graph, *formula, 0, size);
      bool depends = false;
      for (int i = 0; i < size; ++i) depends = depends || scope.graph.depends(*formula, i);
      if (!depends)
        mistakes.add(section.where_in_text("couple", 0, axis), "couple: the formula contains no coordinate");
      check_finite(section, "couple", "the formula", scope, {*formula}, at_start, mistakes, axis) &&
          check_finite(section, "couple", "a derivative", scope, gradient, at_start, mistakes, axis);
      if (mistakes.count() > before) break;
      const FormulaProgram program(scope.graph, gradient, size + 1);
      std::vector<double> weights(gradient.size());
      program.run(start.data(), weights.data());
      is_linear = is_linear && !scope.graph.depends(*formula, size);
      for (int i = 0; i < size; ++i) {
        is_linear = is_linear && scope.graph.is_constant(gradient[static_cast<std::size_t>(i)].expression);
        const double weight = weights[static_cast<std::size_t>(i)];
        if (weight != 0.0) terms.push_back({i, static_cast<int>(axis), weight});
      }
    }
    if (mistakes.count() > before) return std::nullopt;
    Attachment attachment = Attachment::of_terms(std::move(terms), static_cast<int>(axes));
    // With a head away from 0 at the start the steppers of linear couplings do not begin.
    if (section.has("around")) attachment.set_around(section.number("around"));
    if (!is_linear || attachment.around())
      attachment.set_nonlinear(std::make_shared<const Coupling>(scope.graph, formulas, size));
    return attachment;
  } catch (const FormulaTooLarge& error) {
    mistakes.add(section.where("couple"), fmt::format("couple: {}", error.what()));
    return std::nullopt;
  }
}

Parameter start_temperature_parameter(const std::string& doc) {
  Parameter parameter = defaulted("kT", ValueType::number, "J", "0.0", doc, Bound::nonnegative);
  parameter.alternative_types = {ValueType::text};
  return parameter;
}

Parameter temperature_parameter(const std::string& doc) {
  return start_temperature_parameter(doc + "; a formula in `t` where it changes with the time, as \"1 + t/10\"");
}

std::optional<Attachment> read_attachment(const Section& section, const ParticleSystem& system, Mistakes& mistakes) {
  if (section.has("couple")) return read_couple(section, system, mistakes);
  if (section.has("parameters") && !section.has("kernel") && !section.has("spectral_density")) {
    mistakes.add(section.where("parameters"), "`parameters` belong to a formula, and there is none; leave them out");
  }
  if (section.has("around")) {
    mistakes.add(section.where("around"), "`around` is a value of `couple`, and there is none; leave it out");
  }
  const std::vector<long> given = section.has("attach") ? attached_particles(section) : std::vector<long>{0};
  if (given.size() != 1) {
    mistakes.add(section.where("attach"),
                 fmt::format("`attach` names {} particles, but this environment is attached to one, such as 0 or [0]",
                             given.size()));
    return std::nullopt;
  }
  const std::optional<int> particle = read_particle(section, given.front(), system, mistakes);
  if (!particle) return std::nullopt;
  return Attachment({{*particle, 1.0}}, system.axes);
}

}  // namespace bathline
