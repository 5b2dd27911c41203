// Checks before a run: whether the cases of an experiment can run, and warnings about those that can.
// Tested by tests/driver/experiment_test.cpp.
#include "driver/feasibility.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "driver/replacement_methods.hpp"
#include "model/thermal/temperature_in_time.hpp"
#include "model/warm_frequency.hpp"
#include "parallel/memory_budget.hpp"
#include "steppers/contact_lagrangian.hpp"
#include "steppers/stability.hpp"

namespace bathline {

namespace {

/// A case in messages: its label and, if that differs, the name of its method.
std::string description_of(const Case& this_case) {
  const std::string& method = this_case.method->entry.name;
  return this_case.name == method ? fmt::format("`{}`", method)
                                  : fmt::format("`{}` uses the method `{}`", this_case.name, method);
}

}  // namespace

Feasibility::Feasibility(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes, Advice advice)
    : recipe_(recipe),
      experiment_(experiment),
      gives_advice_(advice == Advice::of_methods),
      problems_(experiment.cases().size()),
      messages_(recipe, experiment) {
  if (!recipe.has_motion) return;
  const std::vector<Case>& cases = experiment.cases();
  for (const Case& this_case : cases) messages_.add_end(this_case);
  const auto for_each_case = [&](auto check) {
    for (std::size_t index = 0; index < cases.size(); ++index) {
      completes([&] { check(index); });
    }
  };
  const std::size_t before_system = mistakes.count();
  check_system(mistakes);
  if (mistakes.count() == before_system) for_each_case([&](std::size_t index) { check_derivatives(index, mistakes); });
  for_each_case([&](std::size_t index) { check_contact(index, mistakes); });
  if (mistakes.count() > before_system) return;
  check_memory(mistakes);
  check_section(mistakes);
  if (mistakes.count() > before_system) return;
  for_each_case([&](std::size_t index) {
    if (is_unsupported(index, mistakes)) return;
    check_stability(index, mistakes);
    messages_.add_limits(cases[index], build_problem(index));
    check_energy_claims(index, mistakes);
  });
  if (!mistakes.empty()) return;
  messages_.add_unused_keys([&](std::size_t index) -> const Problem& { return build_problem(index); });
}

void Feasibility::set_up_solvers() {
  for (std::size_t index = 0; index < problems_.size(); ++index) {
    const Case& this_case = experiment_.cases()[index];
    build_problem(index);
    // Explicit schemes have no solver; making their steppers would only cost time.
    if (std::holds_alternative<ExplicitScheme>(this_case.scheme)) continue;
    make_stepper(this_case.scheme, *problems_[index], this_case.step);
  }
}

const Problem& Feasibility::build_problem(std::size_t index) {
  std::optional<Problem>& problem = problems_.at(index);
  if (!problem) problem.emplace(experiment_.make_problem(experiment_.cases()[index]));
  return *problem;
}

std::pair<std::vector<double>, Location> Feasibility::steps_of(const Case& this_case) const {
  const Section& study = recipe_.study;
  if (study.has("step_sizes")) return {study.numbers("step_sizes"), study.where("step_sizes")};
  return {{this_case.step},
          this_case.options.has("step") ? this_case.options.where("step") : recipe_.time.where("step")};
}

void Feasibility::check_system(Mistakes& mistakes) const {
  const ParticleSystem& system = experiment_.system();
  if (system.contact && !recipe_.environments.empty()) {
    mistakes.add(recipe_.environments.front().where("kind"),
                 "a contact system runs open, without environments: its damping is part of the Lagrangian, whose "
                 "energy is not conserved with an environment either");
  }
  Eigen::VectorXd gradient(system.size()), drag = Eigen::VectorXd::Zero(system.size());
  system.potential->gradient(system.q0, gradient);
  if (system.force) system.force->value(system.q0, system.v0, 0.0, drag);
  if (gradient.allFinite() && drag.allFinite()) return;
  mistakes.add(recipe_.system.where("q0"), "the forces are not finite at the start; change `q0` or `v0`");
}

namespace {

struct Jacobians {
  Eigen::MatrixXd by_q, by_v;
};

/// Those of the forces beside the potential at the start, which are f(q, v) and a(q, v, t).
std::vector<Jacobians> jacobians_at_start(const ParticleSystem& system) {
  std::vector<Jacobians> all;
  for (const auto& force : {system.force, system.applied}) {
    if (!force) continue;
    Jacobians& jacobians = all.emplace_back();
    force->jacobians(system.q0, system.v0, 0.0, jacobians.by_q, jacobians.by_v);
  }
  return all;
}

/// The derivatives by the positions that are not finite at the start; nullptr if all are.
const char* undefined_by_position(const ParticleSystem& system) {
  Eigen::SparseMatrix<double> hessian;
  system.potential->sparse_hessian(system.q0, hessian);
  if (!hessian.coeffs().allFinite()) return "the second derivatives of V";
  if (system.lagrangian) {
    const Eigen::Index n = system.size();
    Eigen::VectorXd x(2 * n + 2);
    x << system.q0, system.v0, 0.0, system.contact ? system.contact->z0 : 0.0;
    Eigen::MatrixXd second(2 * n + 1, 2 * n + 1);
    system.lagrangian->hessian(x.data(), second.data());
    if (!second.allFinite()) return "the second derivatives of L";
  }
  for (const Jacobians& jacobians : jacobians_at_start(system)) {
    if (!jacobians.by_q.allFinite()) return "the derivatives of the forces by the positions";
  }
  return nullptr;
}

bool is_defined_by_velocity(const ParticleSystem& system) {
  const std::vector<Jacobians> all = jacobians_at_start(system);
  return std::all_of(all.begin(), all.end(), [](const Jacobians& jacobians) { return jacobians.by_v.allFinite(); });
}

bool is_defined_by_time(const ParticleSystem& system) {
  Eigen::VectorXd rate(0);
  if (system.drive) system.drive->rate(0.0, rate);
  return rate.allFinite();
}

}  // namespace

// Implicit methods linearise the forces, kicks under forces that depend on the velocity do so with respect to it, and
// the work of a drive on kicks contains its derivative by the time.
void Feasibility::check_derivatives(std::size_t index, Mistakes& mistakes) const {
  const Case& this_case = experiment_.cases()[index];
  const ParticleSystem& system = experiment_.system();
  const auto* explicit_scheme = std::get_if<ExplicitScheme>(&this_case.scheme);
  const bool is_splitting = explicit_scheme != nullptr && explicit_scheme->b.empty();
  const bool is_implicit = explicit_scheme == nullptr && !std::holds_alternative<ExactFlow>(this_case.scheme);
  const auto refuse = [&](const char* derivatives, const char* purpose, const char* others) {
    mistakes.add(
        this_case.options.where("method"),
        fmt::format(
            "{}: {} are not finite at the start; `{}` needs them {}, {} do not: take one of these, or change the start",
            this_case.name, derivatives, this_case.method->entry.name, purpose, others));
  };
  if (const char* derivatives = is_implicit ? undefined_by_position(system) : nullptr) {
    refuse(derivatives, "to solve its equations", "explicit methods such as `stoermer-verlet` and `rk4`, and `exact`,");
  } else if ((is_implicit || is_splitting) && !is_defined_by_velocity(system)) {
    refuse("the derivatives of the forces by the velocities", "to solve its equations", "`rk4` and `exact`");
  } else if (is_splitting && !is_defined_by_time(system)) {
    refuse("the derivatives of the drive by the time", "for the work of the drive",
           "`rk4`, `exact` and implicit methods");
  }
}

void Feasibility::check_contact(std::size_t index, Mistakes& mistakes) {
  const Case& this_case = experiment_.cases()[index];
  const bool has_action = experiment_.system().contact.has_value();
  const std::string& name = this_case.method->entry.name;
  if (has_action && this_case.method->domain == Method::Domain::mechanical && !has_stages(this_case.scheme)) {
    mistakes.add(
        this_case.options.where("method"),
        fmt::format("`{}` splits kinetic and potential energy and cannot advance the action z of a contact system; "
                    "gamma, time-centred, gauss, lobatto, herglotz, rk4, the Euler methods and exact can",
                    name));
    return;
  }
  const ParticleSystem& stated = experiment_.system();
  if (has_action && stated.contact->q1 &&
      (this_case.method->domain == Method::Domain::mechanical || stated.is_driven())) {
    mistakes.add(
        recipe_.system.where("q1"),
        fmt::format("`q1` is supported only by `herglotz`, and by `exact` without a drive; `{}` needs `v0`", name));
    return;
  }
  if (this_case.method->domain != Method::Domain::contact) return;
  const ParticleSystem& system = this_case.closed ? experiment_.system() : build_problem(index).system();
  if (!system.contact) {
    mistakes.add(this_case.options.where(this_case.closed ? "on" : "method"),
                 fmt::format("`{}` needs damping that is part of the Lagrangian: a system of kind `contact`, one of "
                             "kind `lagrangian` whose L depends on z, or an open one with C = -gamma M (all momenta "
                             "decay at the same rate) and without a magnetic field",
                             name));
    return;
  }
  const auto* scheme = std::get_if<HerglotzScheme>(&this_case.scheme);
  if (scheme == nullptr) return;
  const auto [steps, where] = steps_of(this_case);
  for (double step : steps) {
    const UnsupportedContact unsupported_reason = contact_unsupported_reason(*scheme, system, step);
    if (unsupported_reason.text.empty()) continue;
    mistakes.add(unsupported_reason.is_of_step ? where : this_case.options.where("lagrangian"),
                 fmt::format("{}: {}", this_case.name, unsupported_reason.text));
    if (!unsupported_reason.is_of_step) return;
  }
}

std::string Feasibility::advice_for(const Case& this_case) const {
  return gives_advice_ ? replacement_methods(recipe_, experiment_, this_case) : "";
}

bool Feasibility::is_noise_unsupported(const Case& this_case, Mistakes& mistakes) const {
  if (!this_case.noise) return false;
  const ParticleSystem& system = experiment_.system();
  const std::size_t before = mistakes.count();
  const auto refuse = [&](const std::string& reason) {
    mistakes.add(this_case.options.where("method"),
                 fmt::format("`{}` {}{}", this_case.method->entry.name, reason, advice_for(this_case)));
  };
  if (!this_case.method->langevin.takes_noise) {
    refuse(this_case.method->langevin.statement);
  } else if (this_case.closed && (system.lagrangian || system.contact)) {
    refuse("supports no noise of an environment for a system with a general Lagrangian or an action z");
  } else if (!experiment_.has_white_noise(this_case)) {
    return false;
  } else if (system.lagrangian || system.contact) {
    refuse("supports no noise for a system with a general Lagrangian or an action z: noise needs constant masses");
  } else if (const std::string reason = this_case.closed ? "" : experiment_.diffusion(this_case).unsupported_reason;
             !reason.empty()) {
    // Before any problem is built, which needs the diffusion.
    const bool is_stated = recipe_.system.has("kT");
    mistakes.add(is_stated ? recipe_.system.where("kT") : this_case.options.where("on"),
                 fmt::format("{}: {}", this_case.name, reason));
  } else if (system.magnetic_field != 0.0 && !std::holds_alternative<ExactFlow>(this_case.scheme)) {
    refuse(
        "supports no noise in a magnetic field, where it would not sample the thermal state; on linear systems `exact` "
        "does");
  } else if (std::holds_alternative<ExactFlow>(this_case.scheme) &&
             !(system.is_linear() && experiment_.make_problem(this_case).coupled_friction().dampers().empty())) {
    refuse("supports noise only for linear systems and couplings without a drive, for which the exact flow is known");
  }
  return mistakes.count() > before;
}

bool Feasibility::is_unsupported(std::size_t index, Mistakes& mistakes) {
  const Case& this_case = experiment_.cases()[index];
  if (is_noise_unsupported(this_case, mistakes)) return true;
  const std::size_t before = mistakes.count();
  if (!build_problem(index).damping().allFinite()) {
    mistakes.add(this_case.options.where("on"),
                 fmt::format("`{}` runs on the open system, but one of its environments implies no damping: in the "
                             "long run it acts as a static spring; set `damping` in [system] or run it closed",
                             this_case.name));
  }
  const auto* explicit_scheme = std::get_if<ExplicitScheme>(&this_case.scheme);
  if (experiment_.system().lagrangian && explicit_scheme != nullptr) {
    const char* reason = nullptr;
    if (explicit_scheme->b.empty()) {
      reason = "it splits kinetic and potential energy, into which L(q, v, t) does not separate";
    } else if (!build_problem(index).stepped_environments().empty()) {
      reason = "it supports no environments for a system with a general Lagrangian";
    }
    if (reason != nullptr) {
      mistakes.add(this_case.options.where("method"),
                   fmt::format("{}: {}{}", description_of(this_case), reason, advice_for(this_case)));
    }
  }
  check_white_environments(index, mistakes);
  const auto has_couple = [&](std::size_t i) { return recipe_.environments[i].has("couple"); };
  const bool may_be_nonlinear = std::any_of(this_case.environments.begin(), this_case.environments.end(), has_couple);
  if (may_be_nonlinear && (this_case.closed || !experiment_.system().damping)) {
    const Problem closed = experiment_.make_closed_problem(this_case, this_case.step);
    for (const auto& environment : closed.environments()) {
      const Coupling* coupling = environment->attachment().nonlinear();
      const EnvironmentProperties& properties = environment->properties();
      if (coupling == nullptr) continue;
      std::string reason;
      const bool starts_aside = environment->attachment().around().has_value();
      if (starts_aside && (!this_case.closed || properties.sites == 0)) {
        reason = fmt::format(
            "`{}` has no sites that could start `around` a value: run it closed as a line, a bath or a sum of terms",
            environment->name());
      } else if (this_case.closed && properties.white_damping == 0.0) {
        continue;
      } else if (coupling->depends_on_time()) {
        reason = fmt::format(
            "as white friction `{}` cannot have a `couple` that depends on t; in closed runs lines, baths and memories "
            "can",
            environment->name());
      } else if (!std::isfinite(properties.damping)) {
        reason = fmt::format(
            "`{}` implies no damping for an open run: in the long run it acts as a static spring; run it closed",
            environment->name());
      }
      if (!reason.empty()) mistakes.add(this_case.options.where("on"), fmt::format("{}: {}", this_case.name, reason));
    }
  }
  for (const auto& environment : build_problem(index).environments()) {
    const std::optional<std::string> unsupported_reason = environment->unsupported_reason(this_case.scheme);
    if (!unsupported_reason) continue;
    mistakes.add(this_case.options.where("method"),
                 fmt::format("{}: {}{}", description_of(this_case), *unsupported_reason, advice_for(this_case)));
  }
  return mistakes.count() > before;
}

void Feasibility::check_white_environments(std::size_t index, Mistakes& mistakes) {
  const Case& this_case = experiment_.cases()[index];
  const Problem& problem = build_problem(index);
  std::vector<const Environment*> others;
  for (std::size_t i = 0; i < this_case.environments.size(); ++i) {
    if (!experiment_.is_white(this_case.environments[i])) continue;
    const Section& section = recipe_.environments[this_case.environments[i]];
    if (!this_case.closed) {
      if (!experiment_.system().damping) continue;
      mistakes.add(section.where("kind"),
                   fmt::format("{}: `{}` has no effect in this open run, for the damping of [system] replaces that of "
                               "all environments; leave one of the two out",
                               this_case.name, section.text("name")));
      continue;
    }
    const Environment& environment = *problem.environments()[i];
    for (const Environment* other : others) {
      if (other->attachment().nonlinear() != nullptr || environment.attachment().nonlinear() != nullptr) continue;
      if (other->attachment().terms() != environment.attachment().terms()) continue;
      const EnvironmentProperties &a = other->properties(), &b = environment.properties();
      const double damping = a.damping + b.damping;
      mistakes.add(section.where(section.has("couple") ? "couple" : "attach"),
                   fmt::format("{}: `{}` and `{}` act on the same coordinates, where the heat of each is unknown; one "
                               "environment with damping = {:.10g} and kT = {:.10g} has the same motion",
                               this_case.name, other->name(), environment.name(), damping,
                               (a.damping * a.temperature + b.damping * b.temperature) / damping));
    }
    others.push_back(&environment);
  }
  if (this_case.closed && !temperatures_in_time(problem.environments(), problem.q.size(), true)) {
    mistakes.add(this_case.options.where("on"),
                 fmt::format("{}: one coordinate has the white noise of several environments, one of which has a `kT` "
                             "that depends on t, so that their sum is undefined; give it one of them",
                             this_case.name));
  }
  if (problem.noise() != nullptr && problem.noise()->depends_on_time() &&
      std::holds_alternative<ExactFlow>(this_case.scheme)) {
    mistakes.add(this_case.options.where("method"), fmt::format("{}: the exact flow is that of a constant `kT`{}",
                                                                description_of(this_case), advice_for(this_case)));
  }
  if (!this_case.closed || !std::holds_alternative<ExactFlow>(this_case.scheme)) return;
  const bool is_alone = problem.stepped_environments().empty();
  if (problem.heat.size() == 0 && (problem.noise() == nullptr || is_alone)) return;
  mistakes.add(
      this_case.options.where("method"),
      fmt::format("{}: {}{}", description_of(this_case),
                  problem.heat.size() > 0 ? "it computes the sum of all heat only, not that of each white environment"
                                          : "it supports white noise only without environments that have a state",
                  advice_for(this_case)));
}

std::string Feasibility::size_key(const Section& environment) const {
  const EnvironmentKind& kind = *experiment_.catalogues().environments.find(environment.text("kind"));
  for (const Parameter& parameter : kind.entry.parameters) {
    if (parameter.is_size && environment.has(parameter.name)) return parameter.name;
  }
  return "kind";
}

void Feasibility::check_memory(Mistakes& mistakes) {
  // Cases run one after the other, so that each must fit by itself.
  for (std::size_t index = 0; index < problems_.size(); ++index) {
    const Case& this_case = experiment_.cases()[index];
    if (!this_case.closed) continue;
    double bytes = 0.0, sites = 0.0;
    std::int64_t max_sites = 0;
    std::size_t largest = 0;           // index of the largest environment
    std::set<std::string> site_names;  // "sites", "oscillators"
    completes([&] {
      const Problem& problem = build_problem(index);
      for (std::size_t i = 0; i < problem.environments().size(); ++i) {
        const Environment& environment = *problem.environments()[i];
        const EnvironmentProperties& properties = environment.properties();
        bytes += static_cast<double>(environment.bytes(this_case.scheme));
        sites += static_cast<double>(properties.sites);
        site_names.insert(properties.site_name + "s");
        if (properties.sites <= max_sites) continue;
        max_sites = properties.sites;
        largest = this_case.environments[i];
      }
    });
    constexpr double fits_anywhere = 1e4;  // sites, which take some megabytes
    if (sites <= fits_anywhere) continue;
    const MemoryBudget memory = memory_budget(experiment_.communicator(), bytes);
    if (memory.needed <= memory.available) continue;
    const Section& section = recipe_.environments[largest];
    constexpr double gibibyte = 1 << 30;
    const std::string name = fmt::format("{}", fmt::join(site_names, " and "));
    mistakes.add(section.where(size_key(section)),
                 fmt::format("{:.0f} {} need {:.1f} GiB on a {} that has {:.1f} GiB free; about {:.0f} {} would fit; "
                             "use fewer, or more {}",
                             sites, name, memory.needed / gibibyte, memory.is_rank_limit ? "rank" : "node",
                             memory.available / gibibyte, std::floor(memory.available / memory.needed * sites), name,
                             memory.is_rank_limit ? "ranks" : "nodes"));
    return;
  }
}

void Feasibility::check_section(Mistakes& mistakes) const {
  // Between two steps the points are interpolated, so that more of them contain nothing new.
  constexpr double max_points_per_step = 1e3, max_points = 1e9;
  const std::optional<PoincarePlan>& section = experiment_.output().section;
  if (!section || section->period == 0.0) return;
  for (const Case& this_case : experiment_.cases()) {
    const double end = static_cast<double>(this_case.steps) * this_case.step, points = section->points(end);
    const double min_period = std::max(this_case.step / max_points_per_step, end / max_points);
    if (points <= 1.0 || section->period >= min_period * (1.0 - 1e-9)) continue;
    const double bytes = points * static_cast<double>(sizeof(double) * (1 + 2 * experiment_.system().size()));
    mistakes.add(
        recipe_.output.table("poincare_section").where("period"),
        fmt::format("period = {}: `{}` would record {:.3g} points, {:.3g} GB, in {} steps of {}; take a period of at "
                    "least {:.3g}",
                    section->period, this_case.name, points, bytes / 1e9, this_case.steps, this_case.step, min_period));
    return;
  }
}

namespace {

/// The highest kT of all environments, and of a thermal start, J.
double hottest(const Problem& problem, const Case& this_case, const Experiment& experiment) {
  double temperature = 0.0;
  if (this_case.start != nullptr) temperature = experiment.start_temperature(this_case)->maxCoeff();
  for (const auto& environment : problem.environments()) {
    const EnvironmentProperties& properties = environment->properties();
    temperature = std::max({temperature, properties.temperature, properties.white_temperature});
    constexpr int times = 100;
    for (int i = 0; i <= times && properties.temperature_in_time; ++i)
      temperature = std::max(temperature, properties.temperature_in_time->at(this_case.end * i / times));
  }
  return temperature;
}

}  // namespace

/// Compares the step with the stability limit, which for a line is a Courant number h sqrt(lambda/M), and with that of
/// the rarest stretch of a warm run, where springs stiffen.
void Feasibility::check_stability(std::size_t index, Mistakes& mistakes) {
  const Case& this_case = experiment_.cases()[index];
  const auto [steps, where] = steps_of(this_case);
  const Problem& problem = build_problem(index);
  StabilityLimit limit = stability_limit(problem, *this_case.method, this_case.options);
  const bool follows_step =
      std::any_of(problem.environments().begin(), problem.environments().end(),
                  [](const auto& environment) { return environment->properties().matched_gamma.has_value(); });
  for (double step : steps) {
    if (follows_step && steps.size() > 1) {
      limit = stability_limit(experiment_.make_closed_problem(this_case, step), *this_case.method, this_case.options);
    }
    if (limit.never_stable) {
      messages_.warn("{}: {} is unstable with every step size for this system; its energy will grow", this_case.name,
                     this_case.method->entry.name);
      return;
    }
    if (step <= limit.largest_step * (1.0 + 1e-9)) continue;
    const std::string what = fmt::format("{}: step = {} is beyond the stability limit {:.10g} of {}", this_case.name,
                                         step, limit.largest_step, this_case.method->entry.name);
    if (!limit.is_linear) {
      messages_.warn("{} for the system linearised at the start", what);
    } else if (this_case.options.boolean("allow_unstable")) {
      messages_.warn("{}", what);
    } else {
      mistakes.add(where, what + "; take a smaller step, or set `allow_unstable = true` to run it anyway");
    }
  }
  const double temperature = this_case.closed ? hottest(problem, this_case, experiment_) : 0.0;
  const double largest = this_case.method->properties(this_case.options).imaginary_axis_limit;
  if (!(temperature > 0.0) || !(largest > 0.0)) return;
  for (const Environment* environment : problem.stepped_environments()) {
    const auto* warm = dynamic_cast<const WarmFrequency*>(environment);
    if (warm == nullptr) continue;
    for (const double step : steps) {
      const double limit = largest / warm->highest_frequency_at(temperature, this_case.end / std::abs(step));
      if (!(step > 0.5 * limit)) continue;
      const bool is_beyond = step > limit;
      const std::string what = fmt::format(
          "{}: step = {} is {} the stability limit {:.4g} of {} at the highest energy that a spring or site of `{}` "
          "meets in this run at kT = {:.4g}",
          this_case.name, step, is_beyond ? "beyond" : "above half of", limit, this_case.method->entry.name,
          environment->name(), temperature);
      if (is_beyond && !this_case.options.boolean("allow_unstable")) {
        mistakes.add(where, what + "; take a smaller step, or set `allow_unstable = true` to run it anyway");
      } else {
        messages_.warn("{}", what);
      }
    }
  }
}

// At the limit, h omega = 2 for the usual schemes, a step has a double eigenvalue with a single eigenvector: the mode
// in which neighbouring sites move against each other grows linearly with the number of steps. A line at rest does not
// excite it, but a thermal start does like every other mode, so that the energy of N sites grows by a factor of about
// N. The particles are not affected: on the characteristic grid the line is an exact delay.
void Feasibility::check_energy_claims(std::size_t index, Mistakes& mistakes) {
  const Case& this_case = experiment_.cases()[index];
  if (!this_case.closed) return;
  const double limit = this_case.method->properties(this_case.options).imaginary_axis_limit;
  std::string on_limit;
  for (const auto& environment : build_problem(index).environments()) {
    if (!(environment->properties().temperature > 0.0) || !(limit > 0.0)) continue;
    // Modes with decay do not grow.
    auto* noisy = dynamic_cast<Noisy*>(environment.get());
    if (noisy != nullptr && noisy->noise() != nullptr) continue;
    // Beyond the limit, which check_stability reports, the trajectories grow as well.
    if (std::abs(this_case.step * environment->properties().highest_frequency / limit - 1.0) > 1e-6) continue;
    if (on_limit.empty()) on_limit = environment->name();
    messages_.warn(
        "{}: the thermal environment `{}` is at the stability limit of {}: its energy grows with every step; the "
        "trajectories of the particles are valid, the energies of `{}` are not",
        this_case.name, environment->name(), this_case.method->entry.name, environment->name());
  }
  if (on_limit.empty()) return;
  for (const Section& claim : recipe_.claims) {
    for (const char* key : {"quantity", "minus", "divided_by"}) {
      if (!claim.has(key)) continue;
      const std::string& quantity = claim.text(key);
      const bool is_affected = quantity.starts_with(this_case.name + ".energy_environment") ||
                               quantity.starts_with(this_case.name + ".energy_interaction") ||
                               quantity.starts_with(this_case.name + ".energy_total") ||
                               quantity.starts_with("energy." + this_case.name + ".");
      if (!is_affected) continue;
      mistakes.add(
          claim.where(key),
          fmt::format(
              "`{}` is an energy of the thermal environment `{}`, which is at the stability limit of `{}` and grows "
              "without bound; take a smaller step or another grid, or claim a quantity of the trajectories",
              quantity, on_limit, this_case.name));
    }
  }
}

}  // namespace bathline
