// A recipe made sense of: which cases it has, and whether they can run.
#include "study/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "advance/contact_lagrangian.hpp"
#include "advance/stability.hpp"
#include "model/environment_catalogue.hpp"
#include "model/system_catalogue.hpp"
#include "parallel/memory.hpp"
#include "solve/dense.hpp"

namespace bathline {

namespace {

/// Highest frequency of the particles alone, linearised at the start; zero where nothing holds them.
double own_frequency(const OpenSystem& system) {
  Eigen::MatrixXd hessian(system.size(), system.size());
  system.potential->hessian(system.q0, hessian);
  const Eigen::VectorXd scale = system.mass.cwiseSqrt().cwiseInverse();
  return std::sqrt(std::max(0.0, largest_symmetric_eigenvalue(scale.asDiagonal() * hessian * scale.asDiagonal())));
}

/// The contact system that a damped one is when C = -gamma M, with z = 0 at the start; nothing for any other.
std::optional<Contact> contact_of(const OpenSystem& system, const Eigen::MatrixXd& damping) {
  const double gamma = -damping(0, 0) / system.mass[0];
  const Eigen::MatrixXd proportional = (-gamma * system.mass).asDiagonal();
  constexpr double roundoff = 8.0 * std::numeric_limits<double>::epsilon();
  if (system.force || !(gamma < 0.0) || !damping.isApprox(proportional, roundoff)) return std::nullopt;
  return Contact{.gamma = gamma, .z0 = 0.0, .q1 = {}};
}

}  // namespace

Experiment::Experiment(const Recipe& recipe, const Communicator& communicator, Mistakes& mistakes)
    : recipe_(recipe), communicator_(communicator) {
  const std::size_t before_system = mistakes.count();
  system_is_sound_ =
      where_readable([&] { find_system(recipe_.system.text("kind"))->build(recipe_.system, system_, mistakes); }) &&
      mistakes.count() == before_system;
  where_readable([&] { read_end(); });
  for (const Section& section : recipe_.integrators) {
    cases_are_complete_ &= where_readable([&] { cases_.push_back(read_case(section, mistakes)); });
  }
  // Here each of them once, for its own mistakes, which do not depend on the step.
  for (std::size_t index = 0; index < recipe_.environments.size(); ++index) {
    where_readable([&] { build_environment(index, 1.0, communicator_, mistakes); });
  }
  for (const Case& one : cases_) check_damping(one, mistakes);
  const std::size_t before_contact = mistakes.count();
  if (system_is_sound_ && system_.contact && !recipe_.environments.empty()) {
    mistakes.add(recipe_.environments.front().where("kind"),
                 "a contact system is open and has no environment: its damping is part of the Lagrangian");
  }
  for (const Case& one : cases_) {
    where_readable([&] { check_contact(one, mistakes); });
  }
  if (mistakes.count() > before_contact) return;
  const std::size_t before_memory = mistakes.count();
  check_memory(mistakes);
  if (mistakes.count() > before_memory) return;
  for (const Case& one : cases_) {
    where_readable([&] {
      check_stages(one, mistakes);
      check_stability(one, mistakes);
      warn_of_limits(one);
    });
  }
}

const OpenSystem& Experiment::system() const {
  if (!system_is_sound_) throw UnreadableValue();
  return system_;
}

const std::vector<Case>& Experiment::cases() const {
  if (!cases_are_complete_) throw UnreadableValue();
  return cases_;
}

double Experiment::end_time() const {
  if (!end_) throw UnreadableValue();
  return *end_;
}

const Case* Experiment::find_case(const std::string& label) const {
  for (const Case& one : cases_) {
    if (one.label == label) return &one;
  }
  if (!cases_are_complete_) throw UnreadableValue();
  return nullptr;
}

void Experiment::read_end() {
  const Section& time = recipe_.time;
  end_ = time.has("end") ? time.number("end") : time.number("step") * static_cast<double>(time.integer("steps"));
}

Case Experiment::read_case(const Section& section, Mistakes& mistakes) {
  const Section& time = recipe_.time;
  Case one;
  one.step = section.has("step") ? section.number("step") : time.number("step");
  double end = end_.value_or(0.0);
  if (section.has("end")) {
    if (section.number("end") > end * (1.0 + 1e-12)) {
      mistakes.add(section.where("end"),
                   fmt::format("end = {} lies behind the end {} of [time]", section.number("end"), end));
    }
    end = section.number("end");
  }
  const double steps = end / one.step;
  if (steps > 1e15) {
    mistakes.add(
        section.has("step") ? section.where("step") : time.where("step"),
        fmt::format("step = {} needs {:.1e} steps to reach the end {}; that will not end", one.step, steps, end));
    throw UnreadableValue();
  }
  one.label = section.text("label");
  one.method = find_method(section.text("name"));
  one.options = section;
  one.scheme = one.method->scheme(section);
  one.closed = section.text("on") == "closed";
  // A step that divides the end up to round-off does divide it.
  one.steps = static_cast<std::int64_t>(std::floor(steps * (1.0 + 1e-12) + 1e-9));
  if (std::abs(static_cast<double>(one.steps) * one.step - end) > 1e-9 * end) {
    warnings_.push_back(fmt::format("{}: step {} does not divide the end {}; the run ends at {}", one.label, one.step,
                                    end, static_cast<double>(one.steps) * one.step));
  }
  const std::vector<std::string>& named = section.texts("environments");
  const std::set<std::string> chosen(named.begin(), named.end());
  for (std::size_t index = 0; index < recipe_.environments.size(); ++index) {
    const std::string& name = recipe_.environments[index].text("name");
    if (chosen.count(name) > 0) one.environments.push_back(index);
  }
  return one;
}

std::unique_ptr<Environment> Experiment::build_environment(std::size_t index, double step,
                                                           const Communicator& communicator, Mistakes& mistakes) const {
  const Section& section = recipe_.environments[index];
  return find_environment(section.text("kind"))->build(section, system_, step, communicator, mistakes);
}

std::vector<std::unique_ptr<Environment>> Experiment::build_environments(const Case& one, double step,
                                                                         const Communicator& communicator) const {
  std::vector<std::unique_ptr<Environment>> environments;
  for (std::size_t index : one.environments) {
    Mistakes known;
    environments.push_back(build_environment(index, step, communicator, known));
    if (!environments.back()) throw UnreadableValue();
  }
  return environments;
}

Problem Experiment::make_problem(const Case& one, double step, bool closed, const Communicator& communicator,
                                 const OpenSystem& start) const {
  if (!system_is_sound_ || lacks_damping(one, closed)) throw UnreadableValue();
  std::vector<std::unique_ptr<Environment>> environments = build_environments(one, step, communicator);
  Eigen::MatrixXd damping = Eigen::MatrixXd::Zero(system_.size(), system_.size());
  if (closed) return Problem(start, damping, std::move(environments), communicator);
  damping = open_damping(one, environments);
  if (one.method->domain != Method::Domain::contact || start.contact) return Problem(start, damping, {}, communicator);
  OpenSystem with_action = start;
  with_action.contact = contact_of(start, damping);
  if (!with_action.contact) throw UnreadableValue();
  return Problem(with_action, damping, {}, communicator);
}

Eigen::MatrixXd Experiment::open_damping(const Case& one,
                                         const std::vector<std::unique_ptr<Environment>>& environments) const {
  if (system_.damping) return *system_.damping;
  Eigen::MatrixXd damping = Eigen::MatrixXd::Zero(system_.size(), system_.size());
  for (std::size_t i = 0; i < one.environments.size(); ++i) {
    environments[i]->attachment().add_outer(environments[i]->damping(), damping);
  }
  return damping;
}

Problem Experiment::make_held_problem(const Case& one) const {
  OpenSystem system = system_;
  system.mass.setConstant(std::numeric_limits<double>::infinity());
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Zero(system.size(), system.size()));
  system.observables.clear();
  Problem problem(system, Eigen::MatrixXd::Zero(system.size(), system.size()),
                  build_environments(one, one.step, communicator_), communicator_);
  problem.p.setZero();
  return problem;
}

bool Experiment::lacks_damping(const Case& one, bool closed) const {
  return !closed && !system_.damping && one.environments.empty();
}

void Experiment::check_damping(const Case& one, Mistakes& mistakes) {
  if (!system_is_sound_ || !lacks_damping(one, one.closed)) return;
  mistakes.add(
      one.options.where("on"),
      fmt::format("`{}` runs on the open system, but nothing says how strongly that is damped: state the damping "
                  "in [system] or add an [[environment]] that implies it",
                  one.label));
}

void Experiment::check_stages(const Case& one, Mistakes& mistakes) {
  if (!one.closed || !std::holds_alternative<CollocationScheme>(one.scheme)) return;
  const Problem problem = make_problem(one);
  for (const auto& environment : problem.environments()) {
    if (environment->allows_stages()) continue;
    mistakes.add(one.options.where("name"),
                 fmt::format("`{}` is a `{}`, which is for lines of equal sites, and those of `{}` are not all equal; "
                             "take `gamma` (the midpoint rule with gamma = 0.5), `implicit-euler`, an explicit "
                             "integrator such as `stoermer-verlet`, or `exact`",
                             one.label, one.method->entry.name, environment->name()));
  }
}

void Experiment::check_memory(Mistakes& mistakes) {
  // Cases run one after the other; the largest one counts.
  for (const Case& one : cases_) {
    if (!one.closed) continue;
    std::int64_t bytes = 0, sites = 0, most = 0;
    std::size_t largest = 0;  // the environment to make smaller
    where_readable([&] {
      const Problem problem = make_problem(one);
      for (std::size_t i = 0; i < problem.environments().size(); ++i) {
        const Environment& environment = *problem.environments()[i];
        bytes += environment.bytes() + environment.bytes_for(one.scheme);
        sites += environment.sites();
        if (environment.sites() <= most) continue;
        most = environment.sites();
        largest = one.environments[i];
      }
    });
    const NodeMemory memory = node_memory(communicator_, bytes);
    if (memory.needed <= memory.available) continue;
    const double share = static_cast<double>(memory.available) / static_cast<double>(memory.needed);
    const Section& section = recipe_.environments[largest];
    mistakes.add(
        section.where(section.has("sites") ? "sites" : "oscillators"),
        fmt::format("{} sites need {:.1f} GiB on a node that has {:.1f} GiB to spare; about {} sites would fit, or "
                    "more nodes",
                    sites, static_cast<double>(memory.needed) / (1 << 30),
                    static_cast<double>(memory.available) / (1 << 30),
                    static_cast<std::int64_t>(share * static_cast<double>(sites))));
    return;
  }
}

std::pair<std::vector<double>, Location> Experiment::steps_of(const Case& one) const {
  const Section& study = recipe_.study;
  study.text("kind");  // tells which keys there can be: without it nothing is known of the steps
  if (study.has("step_sizes")) return {study.numbers("step_sizes"), study.where("step_sizes")};
  return {{one.step}, one.options.has("step") ? one.options.where("step") : recipe_.time.where("step")};
}

void Experiment::check_contact(const Case& one, Mistakes& mistakes) {
  if (!system_is_sound_) return;
  const std::string& name = one.method->entry.name;
  if (system_.contact && one.method->domain == Method::Domain::mechanical) {
    std::string right;
    for (const Method& method : methods()) {
      if (method.domain != Method::Domain::mechanical) right += (right.empty() ? "`" : ", `") + method.entry.name + "`";
    }
    mistakes.add(one.options.where("name"),
                 fmt::format("`{}` does not advance the z of a contact system; {} do", name, right));
    return;
  }
  if (one.method->domain != Method::Domain::contact || lacks_damping(one, one.closed)) return;
  OpenSystem system = system_;
  if (!system.contact && !one.closed) {
    system.contact = contact_of(system_, open_damping(one, build_environments(one, one.step, communicator_)));
  }
  if (!system.contact) {
    mistakes.add(
        one.options.where(one.closed ? "on" : "name"),
        fmt::format("`{}` is for damping of which the Lagrangian knows: that of a system of kind `contact`, or "
                    "an open one whose damping takes the momenta of all particles away at the same rate, "
                    "C = -gamma M",
                    name));
    return;
  }
  const auto* scheme = std::get_if<HerglotzScheme>(&one.scheme);
  if (scheme == nullptr) return;
  const auto [steps, where] = steps_of(one);
  for (double step : steps) {
    const ContactObstacle obstacle = contact_obstacle(*scheme, system, step);
    if (obstacle.text.empty()) continue;
    mistakes.add(obstacle.is_of_step ? where : one.options.where("lagrangian"),
                 fmt::format("{}: {}", one.label, obstacle.text));
    if (!obstacle.is_of_step) return;
  }
}

void Experiment::check_stability(const Case& one, Mistakes& mistakes) {
  const auto [steps, where] = steps_of(one);
  for (double step : steps) {
    const StabilityLimit limit = stability_limit(make_problem(one, step, one.closed), *one.method, one.options);
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

void Experiment::warn_of_limits(const Case& one) {
  if (!one.closed) return;
  const Problem problem = make_problem(one);
  const double frequency = own_frequency(system_);
  const double end = static_cast<double>(one.steps) * one.step;
  for (const auto& environment : problem.environments()) {
    if (environment->echo_time() < end * (1.0 - 1e-12)) {
      warnings_.push_back(
          fmt::format("{}: the {} of `{}` is back at t_r = {:.6g}, before the end {}; until then it "
                      "damps by D = {:.6g}",
                      one.label, environment->echo_name(), environment->name(), environment->echo_time(), end,
                      environment->damping()));
    }
    if (environment->highest_frequency() < frequency) {
      warnings_.push_back(fmt::format(
          "{}: the highest frequency {:.6g} of `{}` lies below the particles' own {:.6g}; it cannot damp them",
          one.label, environment->highest_frequency(), environment->name(), frequency));
    }
  }
}

}  // namespace bathline
