// Whether the cases of an experiment can run, and what a user should know of before they do.
// Tested by tests/driver/experiment_test.cpp.
#include "driver/feasibility.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "steppers/contact_lagrangian.hpp"
#include "steppers/stability.hpp"
#include "parallel/memory_budget.hpp"

namespace bathline {

namespace {

/// How messages call a case: a label that is not the method's own name does not say which method it is.
std::string named(const Case& one) {
  const std::string& method = one.method->entry.name;
  return one.label == method ? fmt::format("`{}`", method) : fmt::format("`{}` runs by `{}`", one.label, method);
}

}  // namespace

Feasibility::Feasibility(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes)
    : recipe_(recipe), experiment_(experiment), problems_(experiment.readable_cases().size()) {
  const std::vector<Case>& cases = experiment.readable_cases();
  for (const Case& one : cases) {
    const double end = static_cast<double>(one.steps) * one.step;
    if (std::abs(end - one.end) <= 1e-9 * one.end) continue;
    warnings_.push_back(
        fmt::format("{}: step {} does not divide the end {}; the run ends at {}", one.label, one.step, one.end, end));
  }
  const auto for_each_case = [&](auto judge) {
    for (std::size_t index = 0; index < cases.size(); ++index) {
      where_readable([&] { judge(index); });
    }
  };
  const std::size_t before_system = mistakes.count();
  where_readable([&] { check_system(mistakes); });
  for_each_case([&](std::size_t index) { check_contact(index, mistakes); });
  if (mistakes.count() > before_system) return;
  check_memory(mistakes);
  if (mistakes.count() > before_system) return;
  for_each_case([&](std::size_t index) {
    if (is_unsupported(index, mistakes)) return;
    check_stability(index, mistakes);
    warn_of_limits(index);
    check_energies(index, mistakes);
  });
  if (mistakes.empty()) where_readable([&] { warn_of_idle_temperature(); });
}

void Feasibility::set_up_solvers() {
  for (std::size_t index = 0; index < problems_.size(); ++index) {
    const Case& one = experiment_.cases()[index];
    built(index);
    // Explicit schemes have no solver, only matrices that would take their time.
    if (std::holds_alternative<ExplicitScheme>(one.scheme)) continue;
    make_stepper(one.scheme, *problems_[index], one.step);
  }
}

const Problem& Feasibility::built(std::size_t index) {
  std::optional<Problem>& problem = problems_.at(index);
  if (!problem) problem.emplace(experiment_.make_problem(experiment_.readable_cases()[index]));
  return *problem;
}

std::pair<std::vector<double>, Location> Feasibility::steps_of(const Case& one) const {
  const Section& study = recipe_.study;
  study.text("kind");  // tells which keys there can be: without it nothing is known of the steps
  if (study.has("step_sizes")) return {study.numbers("step_sizes"), study.where("step_sizes")};
  return {{one.step}, one.options.has("step") ? one.options.where("step") : recipe_.time.where("step")};
}

void Feasibility::check_system(Mistakes& mistakes) const {
  const ParticleSystem& system = experiment_.system();
  if (system.contact && !recipe_.environments.empty()) {
    mistakes.add(recipe_.environments.front().where("kind"),
                 "a contact system is open and has no environment: its damping is part of the Lagrangian, and with "
                 "it L no longer has an energy that an environment could take up");
  }
  Eigen::VectorXd gradient(system.size()), drag = Eigen::VectorXd::Zero(system.size());
  Eigen::MatrixXd hessian(system.size(), system.size()), by_q, by_v;
  system.potential->gradient(system.q0, gradient);
  system.potential->hessian(system.q0, hessian);
  bool finite = gradient.allFinite() && hessian.allFinite();
  if (system.force) {
    system.force->value(system.q0, system.v0, 0.0, drag);
    system.force->jacobians(system.q0, system.v0, 0.0, by_q, by_v);
    finite = finite && drag.allFinite() && by_q.allFinite() && by_v.allFinite();
  }
  if (finite) return;
  mistakes.add(
      recipe_.system.where("q0"),
      "the forces at the start, or how they change with the positions, are no finite numbers; begin elsewhere");
}

void Feasibility::check_contact(std::size_t index, Mistakes& mistakes) {
  const Case& one = experiment_.readable_cases()[index];
  const bool has_action = experiment_.system().contact.has_value();
  const std::string& name = one.method->entry.name;
  if (has_action && one.method->domain == Method::Domain::mechanical && !has_stages(one.scheme)) {
    mistakes.add(one.options.where("method"),
                 fmt::format("`{}` goes by turns with the kinetic and with the potential energy and does not advance "
                             "the z of a contact system; gamma, time-centred, gauss, lobatto, herglotz, rk4, the Euler "
                             "methods and exact do",
                             name));
    return;
  }
  const ParticleSystem& whole = experiment_.system();
  if (has_action && whole.contact->q1 && (one.method->domain == Method::Domain::mechanical || whole.is_driven())) {
    mistakes.add(recipe_.system.where("q1"),
                 fmt::format("`q1` is a start of `herglotz` and `exact` without a drive, which find the momentum that "
                             "leads there; `{}` needs `v0` here",
                             name));
    return;
  }
  if (one.method->domain != Method::Domain::contact) return;
  const ParticleSystem& system = one.closed ? experiment_.system() : built(index).system();
  if (!system.contact) {
    mistakes.add(
        one.options.where(one.closed ? "on" : "method"),
        fmt::format("`{}` is for damping of which the Lagrangian knows: that of a system of kind `contact`, of "
                    "one of kind `lagrangian` whose L depends on z, or of an open one whose damping takes the momenta "
                    "of all particles away at the same rate, "
                    "C = -gamma M, in no magnetic field",
                    name));
    return;
  }
  const auto* scheme = std::get_if<HerglotzScheme>(&one.scheme);
  if (scheme == nullptr) return;
  const auto [steps, where] = steps_of(one);
  for (double step : steps) {
    const UnsupportedContact unsupported_reason = contact_unsupported_reason(*scheme, system, step);
    if (unsupported_reason.text.empty()) continue;
    mistakes.add(unsupported_reason.is_of_step ? where : one.options.where("lagrangian"),
                 fmt::format("{}: {}", one.label, unsupported_reason.text));
    if (!unsupported_reason.is_of_step) return;
  }
}

bool Feasibility::is_noise_unsupported(const Case& one, Mistakes& mistakes) const {
  if (!one.noise) return false;
  const ParticleSystem& system = experiment_.system();
  const std::size_t before = mistakes.count();
  const auto refuse = [&](const std::string& why) {
    mistakes.add(one.options.where("method"),
                 fmt::format("`{}` {}; `noise = false` leaves the noise out", one.method->entry.name, why));
  };
  if (!one.method->langevin.takes_noise) {
    refuse(one.method->langevin.statement);
  } else if (one.closed && (system.lagrangian || system.contact)) {
    refuse("takes no noise of an environment with a Lagrangian of any form or an action z");
  } else if (one.closed) {
    return false;
  } else if (system.lagrangian || system.contact) {
    refuse(
        "takes no noise with a Lagrangian of any form or an action z: a bath heats momenta M v with constant masses");
  } else if (system.magnetic_field != 0.0 && !std::holds_alternative<ExactFlow>(one.scheme)) {
    refuse(
        "takes no noise in a magnetic field: what it gets right of the thermal state it does where nothing turns the "
        "velocities; on linear systems `exact` does");
  } else if (std::holds_alternative<ExactFlow>(one.scheme) && !system.is_linear()) {
    refuse("takes noise on linear systems without a drive alone: of others no exact flow is known");
  } else if (const std::string why = experiment_.diffusion(one).unsupported_reason; !why.empty()) {
    const bool is_stated = recipe_.system.has("kT");
    mistakes.add(is_stated ? recipe_.system.where("kT") : one.options.where("on"),
                 fmt::format("{}: {}", one.label, why));
  }
  return mistakes.count() > before;
}

bool Feasibility::is_unsupported(std::size_t index, Mistakes& mistakes) {
  const Case& one = experiment_.readable_cases()[index];
  if (is_noise_unsupported(one, mistakes)) return true;
  const std::size_t before = mistakes.count();
  if (!built(index).damping().allFinite()) {
    mistakes.add(
        one.options.where("on"),
        fmt::format("`{}` runs on the open system, but one of its environments stands for no damper: something "
                    "in it never gives way, a spring to the start in the long run; state the damping in "
                    "[system] or run it closed",
                    one.label));
  }
  const auto* explicit_scheme = std::get_if<ExplicitScheme>(&one.scheme);
  if (experiment_.system().lagrangian && explicit_scheme != nullptr) {
    const char* why = nullptr;
    if (explicit_scheme->b.empty()) {
      why = "it goes by turns with the kinetic and with the potential energy, which L(q, v, t) does not part into";
    } else if (one.closed && !one.environments.empty()) {
      why = "it takes no environments with a Lagrangian of any form";
    }
    if (why != nullptr) {
      mistakes.add(one.options.where("method"), fmt::format("{}: {}; gamma, gauss and lobatto do", named(one), why));
    }
  }
  for (const auto& environment : built(index).environments()) {
    const std::optional<std::string> unsupported_reason = environment->unsupported_reason(one.scheme);
    if (!unsupported_reason) continue;
    mistakes.add(one.options.where("method"), fmt::format("{}, {}", named(one), *unsupported_reason));
  }
  return mistakes.count() > before;
}

std::string Feasibility::size_key(const Section& environment) const {
  const EnvironmentKind& kind = *experiment_.catalogues().environments.find(environment.text("kind"));
  for (const Parameter& parameter : kind.entry.parameters) {
    if (parameter.is_size && environment.has(parameter.name)) return parameter.name;
  }
  return "kind";
}

void Feasibility::check_memory(Mistakes& mistakes) {
  // Cases run one after the other; the largest one counts.
  for (std::size_t index = 0; index < problems_.size(); ++index) {
    const Case& one = experiment_.readable_cases()[index];
    if (!one.closed) continue;
    double bytes = 0.0, sites = 0.0;
    std::int64_t most = 0;
    std::size_t largest = 0;      // the environment to make smaller
    std::set<std::string> names;  // of what they consist of
    where_readable([&] {
      const Problem& problem = built(index);
      for (std::size_t i = 0; i < problem.environments().size(); ++i) {
        const Environment& environment = *problem.environments()[i];
        const EnvironmentProperties& properties = environment.properties();
        bytes += static_cast<double>(environment.bytes(one.scheme));
        sites += static_cast<double>(properties.sites);
        names.insert(properties.site_name + "s");
        if (properties.sites <= most) continue;
        most = properties.sites;
        largest = one.environments[i];
      }
    });
    const MemoryBudget memory = memory_budget(experiment_.communicator(), bytes);
    if (memory.needed <= memory.available) continue;
    const Section& section = recipe_.environments[largest];
    constexpr double gibibyte = 1 << 30;
    const std::string name = fmt::format("{}", fmt::join(names, " and "));
    mistakes.add(
        section.where(size_key(section)),
        fmt::format("{:.0f} {} need {:.1f} GiB on a {} that has {:.1f} GiB to spare; about {:.0f} {} would fit, "
                    "or more {}",
                    sites, name, memory.needed / gibibyte, memory.is_rank_limit ? "rank" : "node",
                    memory.available / gibibyte, std::floor(memory.available / memory.needed * sites), name,
                    memory.is_rank_limit ? "ranks" : "nodes"));
    return;
  }
}

void Feasibility::check_stability(std::size_t index, Mistakes& mistakes) {
  const Case& one = experiment_.readable_cases()[index];
  const auto [steps, where] = steps_of(one);
  const Problem& problem = built(index);
  StabilityLimit limit = stability_limit(problem, *one.method, one.options);
  const bool follows_step = std::any_of(problem.environments().begin(), problem.environments().end(),
                                        [](const auto& one) { return one->properties().matched_gamma.has_value(); });
  for (double step : steps) {
    if (follows_step && steps.size() > 1) {
      limit = stability_limit(experiment_.make_closed_problem(one, step), *one.method, one.options);
    }
    if (limit.never_stable) {
      warnings_.push_back(
          fmt::format("{}: {} is unstable at any step here; its energy will grow", one.label, one.method->entry.name));
      return;
    }
    if (step <= limit.largest_step * (1.0 + 1e-9)) continue;
    const std::string what = fmt::format("{}: step = {} is beyond the stability limit {:.10g} of {}", one.label, step,
                                         limit.largest_step, one.method->entry.name);
    if (!limit.is_linear) {
      warnings_.push_back(what + " linearised at the start");
    } else if (one.options.boolean("allow_unstable")) {
      warnings_.push_back(what);
    } else {
      mistakes.add(where, what + "; take a smaller step, or `allow_unstable = true` to see what happens");
    }
  }
}

void Feasibility::warn_of_idle_temperature() {
  const ParticleSystem& system = experiment_.system();
  if (!system.temperature || system.temperature->isZero(0.0) || system.start != ParticleSystem::Start::given) return;
  for (std::size_t index = 0; index < problems_.size(); ++index) {
    const Case& one = experiment_.readable_cases()[index];
    if (!one.closed && one.noise && !built(index).damping().isZero(0.0)) return;
  }
  warnings_.push_back(
      "`kT` in [system] has no effect: only open damped runs and thermal starts use it; an environment of closed "
      "runs has its own `kT`");
}

void Feasibility::warn_of_other_matches(std::size_t index) {
  const Case& one = experiment_.readable_cases()[index];
  if (one.method->entry.name != "gamma") return;
  const double gamma = one.options.number("gamma");
  for (const auto& environment : built(index).environments()) {
    const std::optional<double> matched = environment->properties().matched_gamma;
    if (!matched || *matched == gamma) continue;
    warnings_.push_back(
        fmt::format("{}: `{}` is made for gamma = {}; with gamma = {} closed and reduced runs differ by terms of the "
                    "order of the step",
                    one.label, environment->name(), *matched, gamma));
  }
}

void Feasibility::warn_of_limits(std::size_t index) {
  const Case& one = experiment_.readable_cases()[index];
  if (!one.closed) return;
  warn_of_other_matches(index);
  if (!particle_frequency_) particle_frequency_ = particle_frequency(experiment_.system());
  const double end = static_cast<double>(one.steps) * one.step;
  for (const auto& environment : built(index).environments()) {
    const EnvironmentProperties& properties = environment->properties();
    if (properties.echo.time < end * (1.0 - 1e-12)) {
      warnings_.push_back(fmt::format(
          "{}: the {} of `{}` is back at t_r = {:.6g}, before the end {}; until then it "
          "damps by D = {:.6g}",
          one.label, properties.echo.name, environment->name(), properties.echo.time, end, properties.damping));
    }
    // What decays takes energy above its own frequencies, too.
    if (properties.is_linear && properties.fastest_decay == 0.0 &&
        properties.highest_frequency < *particle_frequency_) {
      warnings_.push_back(fmt::format(
          "{}: the highest frequency {:.6g} of `{}` lies below the particles' own {:.6g}; it cannot damp them",
          one.label, properties.highest_frequency, environment->name(), *particle_frequency_));
    }
  }
  if (one.noise) warn_of_bound_motions(index);
}

// Particles that are light beside what pulls at them vibrate above the band of a line, though not by themselves.
void Feasibility::warn_of_bound_motions(std::size_t index) {
  const Problem& problem = built(index);
  double edge = 0.0;
  for (const auto& environment : problem.environments()) {
    const EnvironmentProperties& properties = environment->properties();
    if (!properties.is_linear || properties.fastest_decay > 0.0) return;
    edge = std::max(edge, properties.highest_frequency);
  }
  const double highest = highest_frequency(problem);
  if (highest <= edge * (1.0 + 1e-6) || *particle_frequency_ > edge) return;
  warnings_.push_back(fmt::format(
      "{}: particles and environments together vibrate at {:.6g}, above {:.6g}, up to which there are waves "
      "that carry heat: this motion stays as warm as it starts",
      experiment_.readable_cases()[index].label, highest, edge));
}

// On the limit, h omega = 2 for the usual schemes, the two eigenvalues of a step are one without two eigenvectors: the
// motion of a site against the next grows with the number of steps. At rest there is none of it, in a thermal start as
// much as of any other, so that the energy of N sites grows to some N times itself. The particles feel it no more than
// before: on the characteristic grid the line is an exact delay.
void Feasibility::check_energies(std::size_t index, Mistakes& mistakes) {
  const Case& one = experiment_.readable_cases()[index];
  if (!one.closed) return;
  const double limit = one.method->properties(one.options).imaginary_axis_limit;
  std::string on_limit;
  for (const auto& environment : built(index).environments()) {
    if (!(environment->properties().temperature > 0.0) || !(limit > 0.0)) continue;
    // What dies down does not grow.
    auto* noisy = dynamic_cast<Noisy*>(environment.get());
    if (noisy != nullptr && noisy->noise() != nullptr) continue;
    // Beyond the limit, of which has been told, the paths grow as well.
    if (std::abs(one.step * environment->properties().highest_frequency / limit - 1.0) > 1e-6) continue;
    if (on_limit.empty()) on_limit = environment->name();
    warnings_.push_back(fmt::format(
        "{}: the warm `{}` stands on the stability limit of {}, where its energy grows with every step: the paths are "
        "right, the energies of `{}` are not",
        one.label, environment->name(), one.method->entry.name, environment->name()));
  }
  if (on_limit.empty()) return;
  for (const Section& claim : recipe_.claims) {
    for (const char* key : {"quantity", "minus", "divided_by"}) {
      where_readable([&] {
        if (!claim.has(key)) return;
        const std::string& quantity = claim.text(key);
        const bool speaks_of_it = quantity.starts_with(one.label + ".energy_environment") ||
                                  quantity.starts_with(one.label + ".energy_interaction") ||
                                  quantity.starts_with(one.label + ".energy_total") ||
                                  quantity.starts_with("energy." + one.label + ".");
        if (!speaks_of_it) return;
        mistakes.add(claim.where(key),
                     fmt::format("`{}` is an energy of the warm `{}`, which stands on the stability limit of `{}` and "
                                 "has no bound; take a smaller step or another grid, or claim something of the paths",
                                 quantity, on_limit, one.label));
      });
    }
  }
}

}  // namespace bathline
