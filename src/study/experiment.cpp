// A recipe made sense of: which cases it has, and whether they can run.
#include "study/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

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

}  // namespace

Experiment::Experiment(const Recipe& recipe, const Communicator& communicator, Mistakes& mistakes)
    : recipe_(recipe), communicator_(communicator) {
  system_ = find_system(recipe.system.text("kind"))->build(recipe.system, mistakes);
  read_cases(mistakes);
  // Whatever follows builds the environments, so their own mistakes have to be known first, each of them once.
  std::vector<bool> built(recipe_.environments.size(), false);
  for (const Case& one : cases_) {
    Case fresh = one;
    std::erase_if(fresh.environments, [&](std::size_t index) { return built[index]; });
    build_environments(fresh, one.step, mistakes);
    for (std::size_t index : one.environments) built[index] = true;
  }
  if (!mistakes.empty()) return;
  check_memory(mistakes);
  if (!mistakes.empty()) return;
  for (const Case& one : cases_) {
    check_damping(one, mistakes);
    if (!mistakes.empty()) continue;
    check_stability(one, mistakes);
    warn_of_limits(one);
  }
}

const Case* Experiment::find_case(const std::string& label) const {
  for (const Case& one : cases_) {
    if (one.label == label) return &one;
  }
  return nullptr;
}

void Experiment::read_cases(Mistakes& mistakes) {
  const Section& time = recipe_.time;
  if (time.has("end")) end_ = time.number("end");
  for (const Section& section : recipe_.integrators) {
    Case one;
    one.label = section.text("label");
    one.method = find_method(section.text("name"));
    one.options = section;
    one.scheme = one.method->scheme(section);
    one.closed = section.text("on") == "closed";
    one.step = section.has("step") ? section.number("step") : time.number("step");
    if (!time.has("end")) end_ = time.number("step") * static_cast<double>(time.integer("steps"));
    const double steps = end_ / one.step;
    if (steps > 1e15) {
      mistakes.add(
          section.has("step") ? section.where("step") : time.where("step"),
          fmt::format("step = {} needs {:.1e} steps to reach the end {}; that will not end", one.step, steps, end_));
      continue;
    }
    // A step that divides the end up to round-off does divide it.
    one.steps = static_cast<std::int64_t>(std::floor(steps * (1.0 + 1e-12) + 1e-9));
    if (std::abs(static_cast<double>(one.steps) * one.step - end_) > 1e-9 * end_) {
      warnings_.push_back(fmt::format("{}: step {} does not divide the end {}; the run ends at {}", one.label, one.step,
                                      end_, static_cast<double>(one.steps) * one.step));
    }
    const std::vector<std::string> chosen =
        section.has("environments") ? section.texts("environments") : std::vector<std::string>{};
    for (std::size_t index = 0; index < recipe_.environments.size(); ++index) {
      const std::string& name = recipe_.environments[index].text("name");
      if (!section.has("environments") || std::find(chosen.begin(), chosen.end(), name) != chosen.end()) {
        one.environments.push_back(index);
      }
    }
    cases_.push_back(std::move(one));
  }
}

std::vector<std::unique_ptr<Environment>> Experiment::build_environments(const Case& one, double step,
                                                                         Mistakes& mistakes) const {
  std::vector<std::unique_ptr<Environment>> environments;
  for (std::size_t index : one.environments) {
    const Section& section = recipe_.environments[index];
    std::unique_ptr<Environment> environment =
        find_environment(section.text("kind"))->build(section, system_, step, communicator_, mistakes);
    if (environment) environments.push_back(std::move(environment));
  }
  return environments;
}

Problem Experiment::make_problem(const Case& one, double step, bool closed) const {
  Mistakes none;
  std::vector<std::unique_ptr<Environment>> environments = build_environments(one, step, none);
  Eigen::MatrixXd damping = Eigen::MatrixXd::Zero(system_.size(), system_.size());
  if (closed) return Problem(system_, damping, std::move(environments), communicator_);
  if (system_.damping) {
    damping = *system_.damping;
  } else {
    for (const auto& environment : environments) environment->attachment().add_outer(environment->damping(), damping);
  }
  return Problem(system_, damping, {}, communicator_);
}

void Experiment::check_damping(const Case& one, Mistakes& mistakes) {
  if (one.closed || system_.damping || !one.environments.empty()) return;
  mistakes.add(
      one.options.where("on"),
      fmt::format("`{}` runs on the open system, but nothing says how strongly that is damped: state the damping "
                  "in [system] or add an [[environment]] that implies it",
                  one.label));
}

void Experiment::check_memory(Mistakes& mistakes) {
  // Cases run one after the other; the largest one counts.
  for (const Case& one : cases_) {
    if (!one.closed) continue;
    const Problem problem = make_problem(one);
    std::int64_t bytes = 0, sites = 0, most = 0;
    std::size_t largest = one.environments.front();  // the one to make smaller
    for (std::size_t i = 0; i < problem.environments().size(); ++i) {
      const Environment& environment = *problem.environments()[i];
      bytes += environment.bytes();
      sites += environment.sites();
      if (environment.sites() <= most) continue;
      most = environment.sites();
      largest = one.environments[i];
    }
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

void Experiment::check_stability(const Case& one, Mistakes& mistakes) {
  const StabilityLimit limit = stability_limit(make_problem(one), *one.method, one.options);
  const Location where = one.options.has("step") ? one.options.where("step") : recipe_.time.where("step");
  if (limit.never_stable) {
    warnings_.push_back(
        fmt::format("{}: {} is unstable at any step here; its energy will grow", one.label, one.method->entry.name));
  } else if (one.step > limit.largest_step * (1.0 + 1e-9)) {
    const std::string what = fmt::format("{}: step = {} is beyond the stability limit {:.10g} of {}", one.label,
                                         one.step, limit.largest_step, one.method->entry.name);
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
  for (const auto& environment : problem.environments()) {
    if (environment->echo_time() < end_ * (1.0 - 1e-12)) {
      warnings_.push_back(
          fmt::format("{}: the {} of `{}` is back at t_r = {:.6g}, before the end {}; until then it "
                      "damps by D = {:.6g}",
                      one.label, environment->echo_name(), environment->name(), environment->echo_time(), end_,
                      environment->damping()));
    }
    if (environment->highest_frequency() < frequency) {
      warnings_.push_back(fmt::format(
          "{}: the highest frequency {:.6g} of `{}` lies below the particles' own {:.6g}; it cannot damp them",
          one.label, environment->highest_frequency(), environment->name(), frequency));
    }
  }
}

void check_readable_system(const Recipe& recipe, Mistakes& mistakes) {
  try {
    if (const SystemKind* kind = find_system(recipe.system.text("kind"))) kind->build(recipe.system, mistakes);
  } catch (const std::logic_error&) {
    // It asked for a value that could not be read; that mistake is known already.
  }
}

}  // namespace bathline
