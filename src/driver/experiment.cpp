// A recipe made sense of: which cases it has, and what they run on.
#include "driver/experiment.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>

#include "model/outside.hpp"
#include "model/table_file.hpp"

namespace bathline {

namespace {

/// The contact system that a damped one is when C = -gamma M, with z = 0 at the start; nothing for any other.
std::optional<Contact> contact_of(const OpenSystem& system, const Eigen::MatrixXd& damping) {
  if (system.lagrangian) return std::nullopt;
  const double gamma = -damping(0, 0) / system.mass[0];
  const Eigen::MatrixXd proportional = (-gamma * system.mass).asDiagonal();
  constexpr double roundoff = 8.0 * std::numeric_limits<double>::epsilon();
  if (system.force || system.is_driven() || !(gamma < 0.0) || !damping.isApprox(proportional, roundoff))
    return std::nullopt;
  return Contact{.gamma = gamma, .z0 = 0.0, .q1 = {}};
}

}  // namespace

Experiment::Experiment(const Recipe& recipe, const Program& program, Mistakes& mistakes)
    : recipe_(recipe), program_(program) {
  const std::size_t before_system = mistakes.count();
  const bool is_readable = where_readable([&] {
    const SystemKind& kind = *program.catalogues().systems.find(recipe_.system.text("kind"));
    kind.build(recipe_.system, program.catalogues().potentials, system_, mistakes);
  });
  if (system_.size() > 0 && system_.q0.size() == system_.size()) read_outside(recipe_.system, system_, mistakes);
  system_is_sound_ = is_readable && mistakes.count() == before_system;
  where_readable([&] { read_end(); });
  where_readable([&] { read_output_plan(mistakes); });
  for (const Section& section : recipe_.integrators) {
    cases_are_complete_ &= where_readable([&] { cases_.push_back(read_case(section, mistakes)); });
  }
  for (Section& section : recipe_.environments) {
    where_readable([&] { keep_text_of_file(section, communicator()); });
  }
  // Here each of them once, for its own mistakes, which do not depend on the step.
  for (std::size_t index = 0; index < recipe_.environments.size(); ++index) {
    where_readable([&] { build_environment(index, 1.0, communicator(), mistakes); });
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

const OutputPlan& Experiment::output() const {
  if (!output_) throw UnreadableValue();
  return *output_;
}

std::vector<std::pair<std::string, std::string>> Experiment::input_files() const {
  std::vector<std::pair<std::string, std::string>> files;
  for (const Section& environment : recipe_.environments) {
    if (environment.has(text_of_file)) files.emplace_back(environment.text("file"), environment.text(text_of_file));
  }
  return files;
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

void Experiment::read_output_plan(Mistakes& mistakes) {
  OutputPlan plan = read_output(recipe_.output);
  if (recipe_.output.has("section")) plan.section = read_surface(recipe_.output.table("section"), system(), mistakes);
  output_ = std::move(plan);
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
  one.method = program_.catalogues().integrators.find(section.text("name"));
  one.options = section;
  const bool has_own = system_.lagrangian && one.method->of_lagrangian;
  one.scheme = has_own ? one.method->of_lagrangian(section) : one.method->scheme(section);
  one.closed = section.text("on") == "closed";
  // A step that divides the end up to round-off does divide it.
  one.steps = static_cast<std::int64_t>(std::floor(steps * (1.0 + 1e-12) + 1e-9));
  one.end = end;
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
  const EnvironmentKind& kind = *program_.catalogues().environments.find(section.text("kind"));
  return kind.build(section, system_, step, communicator, mistakes);
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
  if (!system_is_sound_) throw UnreadableValue();
  std::vector<std::unique_ptr<Environment>> environments = build_environments(one, step, communicator);
  Eigen::MatrixXd damping = Eigen::MatrixXd::Zero(system_.size(), system_.size());
  if (closed) return Problem(start, damping, std::move(environments), communicator);
  damping = open_damping(one, environments);
  if (one.method->domain != Method::Domain::contact || start.contact) return Problem(start, damping, {}, communicator);
  OpenSystem with_action = start;
  with_action.contact = contact_of(start, damping);
  return Problem(with_action, damping, {}, communicator);
}

Eigen::MatrixXd Experiment::open_damping(const Case& one,
                                         const std::vector<std::unique_ptr<Environment>>& environments) const {
  if (system_.damping) return *system_.damping;
  Eigen::MatrixXd damping = Eigen::MatrixXd::Zero(system_.size(), system_.size());
  for (std::size_t i = 0; i < one.environments.size(); ++i) {
    environments[i]->attachment().add_outer(environments[i]->facts().damping, damping);
  }
  return damping;
}

Problem Experiment::make_held_problem(const Case& one) const {
  OpenSystem system = system_;
  // As good as infinite, which the equations in velocities could not take.
  system.mass.setConstant(1e100);
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Zero(system.size(), system.size()));
  system.observables.clear();
  system.applied = nullptr;
  system.drive = nullptr;
  Problem problem(system, Eigen::MatrixXd::Zero(system.size(), system.size()),
                  build_environments(one, one.step, communicator()), communicator());
  problem.p.setZero();
  return problem;
}

}  // namespace bathline
