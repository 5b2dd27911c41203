// The experiment that a recipe describes: reading its cases and building their problems.
#include "driver/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "model/formula/scope.hpp"
#include "model/natural_lagrangian.hpp"
#include "model/systems/external_forces.hpp"
#include "model/table_file.hpp"
#include "model/variation/control.hpp"
#include "model/thermal/temperature.hpp"

namespace bathline {

namespace {

/// The contact system, with z = 0 at the start, that is equivalent to a damped system with C = -gamma M; nothing for
/// other dampings.
std::optional<Contact> contact_of(const ParticleSystem& system, const Eigen::MatrixXd& damping) {
  if (system.lagrangian) return std::nullopt;
  const double gamma = -damping(0, 0) / system.mass[0];
  const Eigen::MatrixXd proportional = (-gamma * system.mass).asDiagonal();
  constexpr double roundoff = 8.0 * std::numeric_limits<double>::epsilon();
  if (system.force || system.is_driven() || system.magnetic_field != 0.0) return std::nullopt;
  if (!(gamma < 0.0) || !damping.isApprox(proportional, roundoff)) return std::nullopt;
  return Contact{.gamma = gamma, .z0 = 0.0, .q1 = {}};
}

/// Whether a method treats a system of kind `contact` as a general Lagrangian. `herglotz` and `exact` use its special
/// form unless it is driven.
bool is_run_by_lagrangian(const Method& method, const ParticleSystem& system) {
  return method.domain == Method::Domain::mechanical || system.is_driven();
}

bool has_nonlinear_coupling(const std::vector<std::unique_ptr<Environment>>& environments) {
  return std::any_of(environments.begin(), environments.end(),
                     [](const auto& environment) { return environment->attachment().nonlinear() != nullptr; });
}

/// Whether the pieces of all controls are whole steps of all cases.
void check_controls(const std::vector<Section>& controls, const std::vector<Case>& cases, double end,
                    Mistakes& mistakes) {
  for (const Case& this_case : cases) {
    if (this_case.end != end) {
      mistakes.add(this_case.options.where("end"),
                   fmt::format("end: controls last until the end {} of [time] in all runs", end));
      continue;
    }
    for (const Section& control : controls)
      check_pieces(control, end, this_case.step, this_case.scheme, this_case.name, mistakes);
  }
}

/// At the start and, where it depends on the time, later.
bool has_one_temperature(const ParticleSystem& system) {
  const auto& in_time = system.temperature_in_time;
  return system.temperature->isConstant((*system.temperature)[0], 0.0) &&
         std::all_of(in_time.begin(), in_time.end(), [&](const auto& one) { return one == in_time.front(); });
}

}  // namespace

Experiment::Experiment(const Recipe& recipe, const Program& program, Mistakes& mistakes)
    : recipe_(recipe), program_(program) {
  keep_texts_of_files(recipe_.system, communicator());
  keep_texts_of_files(recipe_.study, communicator());
  if (!recipe_.has_motion) return;
  const Section& time = recipe_.time;
  end_ = time.has("end") ? time.number("end") : time.number("step") * static_cast<double>(time.integer("steps"));
  completes([&] { read_system(mistakes); });
  output_ = read_output(recipe_.output);
  for (Section& section : recipe_.environments) {
    keep_texts_of_files(section, communicator());
    check_tables_at_end(section, end_, mistakes);
    keep_temperature_at_start(section, mistakes);
    check_temperatures({read_temperature_in_time(section)}, end_, section, mistakes);
  }
  if (!mistakes.empty()) return;
  completes([&] {
    if (recipe_.output.has("poincare_section"))
      output_.section = read_poincare_plan(recipe_.output.table("poincare_section"), system_, mistakes);
  });
  for (const Section& section : recipe_.integrators) {
    completes([&] { cases_.push_back(read_case(section, mistakes)); });
  }
  if (recipe_.system.has("controls")) check_controls(recipe_.system.tables("controls"), cases_, end_, mistakes);
  for (const Section& section : recipe_.environments) completes([&] { check_environment(section, mistakes); });
}

void Experiment::read_system(Mistakes& mistakes) {
  const Section& section = recipe_.system;
  const Catalogues& catalogues = program_.catalogues();
  catalogues.systems.find(section.text("kind"))->build(section, catalogues.potentials, system_, mistakes);
  if (!check_tables_at_end(section, end_, mistakes) || !mistakes.empty()) return;
  read_external_forces(section, end_, system_, mistakes);
  read_temperature(section, system_, mistakes);
  if (section.has("controls")) read_controls(section, end_, system_, mistakes);
  check_temperatures(system_.temperature_in_time, end_, section, mistakes);
}

void Experiment::check_environment(const Section& section, Mistakes& mistakes) const {
  const std::unique_ptr<Environment> environment = build_environment(section, 1.0, communicator(), mistakes);
  if (!environment || !section.has(kt_in_time) || environment->properties().temperature_in_time) return;
  mistakes.add(
      section.where("kT"),
      fmt::format("kT: the temperature of `{}` cannot depend on t, since sites keep that of their start, and terms of "
                  "one noise have no ramp of their own: give a number, or an environment of the kind `damper`, or a "
                  "`memory` with `stiffness` and positive `rate` without `quantum`",
                  environment->name()));
}

std::vector<std::pair<std::string, std::string>> Experiment::input_files() const {
  std::map<std::string, std::string> files = recipe_.system.files.value();
  const auto add = [&](const Section& section) { files.insert(section.files->begin(), section.files->end()); };
  for (const Section& environment : recipe_.environments) add(environment);
  add(recipe_.study);
  return {files.begin(), files.end()};
}

const Case* Experiment::find_case(const std::string& name) const {
  const auto found = std::ranges::find(cases_, name, &Case::name);
  return found == cases_.end() ? nullptr : &*found;
}

Case Experiment::read_case(const Section& section, Mistakes& mistakes) {
  const Section& time = recipe_.time;
  Case this_case;
  this_case.step = section.has("step") ? section.number("step") : time.number("step");
  double end = end_;
  if (section.has("end")) {
    if (section.number("end") > end * (1.0 + 1e-12)) {
      mistakes.add(section.where("end"),
                   fmt::format("end = {} is after the end {} of [time]", section.number("end"), end));
    }
    end = section.number("end");
  }
  const double steps = end / this_case.step;
  if (steps > 1e15) {
    mistakes.add(section.has("step") ? section.where("step") : time.where("step"),
                 fmt::format("step = {} needs {:.1e} steps to reach the end {}; at most 1e15 are possible",
                             this_case.step, steps, end));
    throw InvalidValue();
  }
  this_case.name = section.text("name");
  this_case.method = program_.catalogues().integrators.find(section.text("method"));
  this_case.options = section;
  this_case.closed = section.text("on") == "closed";
  // Steps are counted up to round-off in end/step.
  this_case.steps = static_cast<std::int64_t>(std::floor(steps * (1.0 + 1e-12) + 1e-9));
  this_case.end = end;
  const std::vector<std::string>& names = section.texts("environments");
  const std::set<std::string> selected(names.begin(), names.end());
  for (std::size_t index = 0; index < recipe_.environments.size(); ++index) {
    const std::string& name = recipe_.environments[index].text("name");
    if (selected.count(name) > 0) this_case.environments.push_back(index);
  }
  this_case.noise = has_noise(section, this_case);
  const bool is_lagrangian =
      system_.lagrangian || (system_.contact && is_run_by_lagrangian(*this_case.method, system_));
  const bool has_own = is_lagrangian && this_case.method->lagrangian_scheme;
  this_case.scheme = has_own                      ? this_case.method->lagrangian_scheme(section)
                     : has_white_noise(this_case) ? this_case.method->langevin_scheme(section)
                                                  : this_case.method->scheme(section);
  this_case.start = thermal_start(this_case, mistakes);
  return this_case;
}

std::optional<Eigen::VectorXd> Experiment::start_temperature(const Case& this_case) const {
  if (recipe_.system.has("start_kT")) {
    return Eigen::VectorXd::Constant(system_.size(), recipe_.system.number("start_kT"));
  }
  if (system_.temperature) return system_.temperature;
  std::set<double> temperatures;
  for (std::size_t index : this_case.environments) {
    const Section& environment = recipe_.environments[index];
    temperatures.insert(environment.has("kT") ? environment.number("kT") : 0.0);
  }
  if (temperatures.size() != 1) return std::nullopt;
  return Eigen::VectorXd::Constant(system_.size(), *temperatures.begin());
}

std::shared_ptr<const ThermalStart> Experiment::thermal_start(const Case& this_case, Mistakes& mistakes) const {
  if (system_.start == ParticleSystem::Start::given) return nullptr;
  const std::optional<Eigen::VectorXd> temperature = start_temperature(this_case);
  std::string unsupported_reason =
      "its temperature is undefined: set `start_kT` in [system], or use environments of one temperature";
  std::shared_ptr<const ThermalStart> start;
  if (temperature) start = make_thermal_start(system_, *temperature, unsupported_reason);
  if (!start) {
    mistakes.add(recipe_.system.where("start"), fmt::format("start: {}: {}", this_case.name, unsupported_reason));
  }
  return start;
}

bool Experiment::has_noise(const Section& section, const Case& this_case) const {
  if (!section.boolean("noise")) return false;
  if (!this_case.closed && system_.temperature) return !system_.temperature->isZero(0.0);
  return std::any_of(this_case.environments.begin(), this_case.environments.end(), [&](std::size_t index) {
    const Section& environment = recipe_.environments[index];
    if (this_case.closed) return is_noisy(environment);
    return environment.has("kT") && environment.number("kT") > 0.0;
  });
}

bool Experiment::is_white(std::size_t environment) const {
  return program_.catalogues().environments.find(recipe_.environments[environment].text("kind"))->is_white;
}

bool Experiment::has_white_noise(const Case& this_case) const {
  if (!this_case.noise || !this_case.closed) return this_case.noise;
  const auto& selected = this_case.environments;
  return std::any_of(selected.begin(), selected.end(), [&](std::size_t index) {
    const Section& section = recipe_.environments[index];
    const auto has_white_part = program_.catalogues().environments.find(section.text("kind"))->has_white_part;
    return has_white_part != nullptr && has_white_part(section) && is_noisy(section);
  });
}

bool Experiment::is_noisy(const Section& environment) const {
  const EnvironmentKind& kind = *program_.catalogues().environments.find(environment.text("kind"));
  return kind.is_noisy != nullptr && kind.is_noisy(environment);
}

std::unique_ptr<Environment> Experiment::build_environment(const Section& section, double step,
                                                           const Communicator& communicator, Mistakes& mistakes) const {
  const EnvironmentKind& kind = *program_.catalogues().environments.find(section.text("kind"));
  return kind.build(section, system_, {step, end_}, communicator, mistakes);
}

std::vector<std::unique_ptr<Environment>> Experiment::build_environments(const Case& this_case, double step,
                                                                         const Communicator& communicator) const {
  std::vector<std::unique_ptr<Environment>> environments;
  for (std::size_t index : this_case.environments) {
    Mistakes mistakes;  // those that depend on the step
    Section section = recipe_.environments[index];
    // Without noise there is no thermal start either: the two together make a thermal bath.
    if (!this_case.options.boolean("noise") && is_noisy(section)) {
      section.set("kT", 0.0, section.where("kT"));
      const auto disable_noise = program_.catalogues().environments.find(section.text("kind"))->disable_noise;
      if (disable_noise != nullptr) disable_noise(section);
    }
    environments.push_back(build_environment(section, step, communicator, mistakes));
    if (!environments.back()) throw UsageError(mistakes.report());
  }
  return environments;
}

std::string Experiment::environment_without_sites() const {
  for (const Case& this_case : cases()) {
    if (!this_case.closed) continue;
    for (const auto& environment : build_environments(this_case, this_case.step, communicator())) {
      const EnvironmentProperties& properties = environment->properties();
      if (properties.sites == 0 && !properties.is_white) return environment->name();
    }
  }
  return "";
}

Problem Experiment::make_problem(const Case& this_case, double step, bool closed, const Communicator& communicator,
                                 const ParticleSystem& start) const {
  Problem problem = make_cold_problem(this_case, step, closed, communicator, start);
  if (this_case.start) problem.set_thermal_start(this_case.start);
  return problem;
}

Problem Experiment::make_cold_problem(const Case& this_case, double step, bool closed, const Communicator& communicator,
                                      const ParticleSystem& given) const {
  ParticleSystem start = given;
  if (const auto controls = controls_of(start)) set_controls(start, controls->with(side_of(this_case.scheme)));
  std::vector<std::unique_ptr<Environment>> environments = build_environments(this_case, step, communicator);
  Eigen::MatrixXd damping = Eigen::MatrixXd::Zero(system_.size(), system_.size());
  // Methods for general Lagrangians treat the damping as part of the Lagrangian.
  if (start.contact && !start.lagrangian && is_run_by_lagrangian(*this_case.method, start)) {
    return Problem(with_lagrangian(start), damping, std::move(environments), communicator);
  }
  if (closed) return Problem(start, damping, std::move(environments), communicator);
  damping = open_damping(environments);
  if (this_case.method->domain != Method::Domain::contact || start.contact) {
    Problem problem(start, damping, {}, communicator);
    const bool is_noisy = this_case.noise && !this_case.closed;
    for (const auto& environment : environments) {
      if (environment->attachment().nonlinear() == nullptr || system_.damping) continue;
      const EnvironmentProperties& properties = environment->properties();
      const double temperature = system_.temperature ? system_.temperature->maxCoeff() : properties.temperature;
      CoupledDamper damper{environment->attachment(), properties.damping, is_noisy ? temperature : 0.0};
      if (is_noisy && !system_.temperature) damper.in_time = properties.temperature_in_time;
      if (is_noisy && !system_.temperature_in_time.empty()) damper.in_time = system_.temperature_in_time.front();
      problem.add_coupled_damper(std::move(damper));
    }
    if (!is_noisy) return problem;
    const Diffusion noise = diffusion(this_case, environments, damping);
    if (!noise.unsupported_reason.empty()) throw InvalidValue();
    if (!noise.matrix.isZero(0.0)) problem.add_noise(noise.matrix, noise.in_time);
    return problem;
  }
  ParticleSystem with_action = start;
  if (system_.damping || !has_nonlinear_coupling(environments)) with_action.contact = contact_of(start, damping);
  return Problem(with_action, damping, {}, communicator);
}

Eigen::MatrixXd Experiment::open_damping(const std::vector<std::unique_ptr<Environment>>& environments) const {
  if (system_.damping) return *system_.damping;
  Eigen::MatrixXd damping = Eigen::MatrixXd::Zero(system_.size(), system_.size());
  for (const auto& environment : environments) {
    if (environment->attachment().nonlinear() != nullptr) continue;
    environment->attachment().add_outer(environment->properties().damping, damping);
  }
  return damping;
}

Experiment::Diffusion Experiment::diffusion(const Case& this_case,
                                            const std::vector<std::unique_ptr<Environment>>& environments,
                                            const Eigen::MatrixXd& damping) const {
  if (system_.temperature) {
    if (!system_.damping && has_nonlinear_coupling(environments) && !has_one_temperature(system_)) {
      return {{}, "an environment whose `couple` is not linear has one temperature; use one in [system]"};
    }
    const auto& in_time = system_.temperature_in_time;
    if (const auto matrix = momentum_diffusion(damping, *system_.temperature, in_time)) return {*matrix, {}, in_time};
    return {{},
            "the damping couples particles of different temperatures, for which no Langevin noise is defined; use one "
            "temperature"};
  }
  for (const std::size_t index : this_case.environments) {
    const Section& section = recipe_.environments[index];
    const EnvironmentKind& kind = *program_.catalogues().environments.find(section.text("kind"));
    const std::string reason = kind.why_no_white_noise == nullptr ? "" : kind.why_no_white_noise(section);
    if (!reason.empty()) return {{}, "`" + section.text("name") + "` " + reason};
  }
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(system_.size(), system_.size());
  for (std::size_t i = 0; i < this_case.environments.size(); ++i) {
    const EnvironmentProperties& properties = environments[i]->properties();
    if (system_.damping && properties.temperature != environments.front()->properties().temperature) {
      return {{},
              "the damping is given in [system] and the environments have different temperatures: set `kT` in [system] "
              "as well"};
    }
    if (environments[i]->attachment().nonlinear() != nullptr) continue;
    environments[i]->attachment().add_outer(properties.temperature * properties.damping, matrix);
  }
  const std::optional<TemperaturesInTime> in_time = temperatures_in_time(environments, system_.size(), false);
  if (!in_time || (system_.damping && !in_time->empty())) {
    return {{},
            "temperatures that depend on the time are of environments that share no coordinate, with the damping that "
            "these imply: set `kT` in [system] instead"};
  }
  if (system_.damping) matrix = environments.front()->properties().temperature * damping;
  return {matrix, {}, *in_time};
}

Problem Experiment::make_clamped_problem(const Case& this_case) const {
  ParticleSystem system = system_;
  // Practically infinite; an infinite mass would make the equations in velocities singular.
  system.mass.setConstant(1e100);
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Zero(system.size(), system.size()));
  system.observables.clear();
  system.applied = nullptr;
  system.drive = nullptr;
  system.magnetic_field = 0.0;
  Problem problem(system, Eigen::MatrixXd::Zero(system.size(), system.size()),
                  build_environments(this_case, this_case.step, communicator()), communicator());
  problem.p.setZero();
  return problem;
}

}  // namespace bathline
