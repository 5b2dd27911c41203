// Recording one trajectory in its group of the result file.
// Tested by tests/study/trajectory_test.cpp.
#include "driver/trajectory_recorder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/ordered_sites.hpp"

namespace bathline {

namespace {

Dimension index_dimension(const std::string& name, int count, const std::string& long_name, int first = 0) {
  return counted_dimension(name, static_cast<std::size_t>(count), long_name, first);
}

/// Additions to the long names of the ledger's terms for environments without sites.
struct LedgerNotes {
  explicit LedgerNotes(const Problem& problem) {
    std::vector<std::string> siteless, white;
    for (const auto& each : problem.environments()) {
      if (each->properties().sites > 0) continue;
      (each->properties().is_white ? white : siteless).push_back("`" + each->name() + "`");
    }
    if (!siteless.empty()) {
      const std::string all = fmt::format("{}", fmt::join(siteless, ", "));
      environment = "; for " + all + " the work of the head on it, including that on the spring between them";
      interaction = "; 0 for " + all + ", where energy_environment includes it";
    }
    if (white.empty()) return;
    const std::string all = fmt::format("{}", fmt::join(white, ", "));
    force = "; for " + all + " the friction without its noise";
    power = "; for " + all + " that of friction and noise, averaged since the previous record; 0 at the first record";
    dissipated = "; for " + all + " less the energy supplied by its noise";
  }
  std::string environment, interaction, force, power, dissipated;
};

/// The most axes that the head of an environment has.
int axes_of_heads(const Problem& problem) {
  int axes = 0;
  for (const auto& environment : problem.environments()) axes = std::max(axes, environment->attachment().axes());
  return axes;
}

bool has_magnitude(const Observable& observable) { return observable.size > 1 && observable.dimension.empty(); }

/// Zero vectors, one per observable; of size zero for the integrands of observables without one.
enum class Accumulator { integrals, integrands };

std::vector<Eigen::VectorXd> zeros(Accumulator kind, const std::vector<Observable>& observables) {
  std::vector<Eigen::VectorXd> vectors;
  for (const Observable& observable : observables) {
    vectors.push_back(
        Eigen::VectorXd::Zero(kind == Accumulator::integrands && !observable.integrand ? 0 : observable.size));
  }
  return vectors;
}

}  // namespace

std::vector<Dimension> phase_dimensions(const ParticleSystem& system) {
  return {index_dimension("particle", system.particles, "particle, counted from 0"),
          index_dimension("axis", system.axes, "axis, counted from 0")};
}

SeriesLayout recorded_series(const Case& this_case, const Problem& problem, const OutputPlan& output,
                             const std::vector<std::string>& noisy) {
  const ParticleSystem& system = problem.system();
  const LedgerNotes notes(problem);
  SeriesLayout layout;
  layout.group = this_case.name;
  layout.dimensions = phase_dimensions(system);
  layout.variables = {
      {"q", "m", "position", {"particle", "axis"}},
      {"p",
       "kg m/s",
       system.magnetic_field != 0.0 ? "kinetic momentum M v, without the contribution of the magnetic field"
                                    : "momentum",
       {"particle", "axis"}},
      {"energy_particles", "J", "kinetic and potential energy of the particles", {}},
      {"energy_environment", "J", "energy of the sites and of the springs between them" + notes.environment, {}},
      {"energy_interaction", "J", "energy of the springs between particles and environments" + notes.interaction, {}},
      {"energy_dissipated",
       "J",
       this_case.noise ? "net heat since the start: energy dissipated by damping less energy supplied by noise"
                       : "energy dissipated by damping since the start",
       {}}};
  if (problem.has_work()) {
    layout.variables.push_back({"energy_work", "J", "work of external forces since the start", {}});
    layout.variables.push_back(
        {"energy_total", "J", "sum of the four terms less that work, constant for the exact motion", {}});
  } else {
    layout.variables.push_back({"energy_total", "J", "sum of the four terms, constant for the exact motion", {}});
  }
  for (std::size_t i = 0; i < WorkQuadrature::rules.size() && output.work_rules; ++i) {
    const std::string rule = WorkQuadrature::rules[i];
    layout.variables.push_back(
        {"ledger_" + rule, "J", "total energy with the work of damping by the quadrature rule " + rule, {}});
  }
  if (!problem.environments().empty()) {
    Dimension names{"environment", {}, "1", "environment, in the order of the recipe"};
    for (const auto& environment : problem.environments()) names.names.push_back(environment->name());
    layout.dimensions.push_back(names);
    std::string axis = "axis";
    if (const int axes = axes_of_heads(problem); axes != system.axes) {
      axis = "head_axis";
      layout.dimensions.push_back(index_dimension(axis, axes, "axis of the heads of environments, counted from 0"));
    }
    layout.variables.push_back(
        {"environment_force", "N", "force of each environment on its head" + notes.force, {"environment", axis}});
    layout.variables.push_back(
        {"power", "W", "power of each environment on its head, force times velocity" + notes.power, {"environment"}});
    layout.variables.push_back({"energy_of_environment",
                                "J",
                                "energy of each environment, including the springs to its head",
                                {"environment"}});
    layout.variables.push_back({"dissipated_by_environment",
                                "J",
                                "energy dissipated by each environment" + notes.dissipated,
                                {"environment"}});
  }
  if (!noisy.empty()) {
    layout.dimensions.push_back({"environment", {}, "1", "environment, in the order of the recipe", noisy});
    layout.variables.push_back({"power",
                                "W",
                                "power of damping and noise of each environment on the particles, averaged since the "
                                "previous record; 0 at the first record",
                                {"environment"}});
  }
  if (system.contact) {
    layout.variables.push_back({"z", "J s", "action", {}});
    layout.variables.push_back({"hamiltonian", "J", "energy of the particle less gamma z", {}});
    layout.variables.push_back({"log_hamiltonian", "1", "logarithm of the magnitude of the hamiltonian", {}});
  }
  for (const Observable& observable : system.observables) {
    Variable variable{observable.name, observable.units, observable.long_name, {}};
    const bool is_vector = has_magnitude(observable);
    if (is_vector || !observable.dimension.empty()) {
      const std::string name = is_vector ? observable.name + "_component" : observable.dimension;
      const std::string long_name = is_vector ? "component" : observable.dimension;
      const auto is_known = [&](const Dimension& dimension) { return dimension.name == name; };
      if (std::ranges::none_of(layout.dimensions, is_known)) {
        layout.dimensions.push_back(index_dimension(name, observable.size, long_name, observable.first));
      }
      variable.dimensions = {name};
    }
    layout.variables.push_back(variable);
    if (is_vector) {
      layout.variables.push_back(
          {observable.name + "_magnitude", observable.units, "magnitude of the " + observable.long_name, {}});
    }
  }
  return layout;
}

TrajectoryRecorder::TrajectoryRecorder(ResultFile& file, const Case& this_case, const Problem& problem,
                                       const OutputPlan& output, const std::optional<HeatByEnvironment>& heat)
    : site_stride_(output.snapshots > 0 ? output.site_stride : 0),
      work_rules_(output.work_rules),
      integrals_(zeros(Accumulator::integrals, problem.system().observables)),
      integrands_(zeros(Accumulator::integrands, problem.system().observables)),
      heat_(heat),
      last_heat_(heat                                                                    ? heat->names.size()
                 : problem.environments().size() > problem.stepped_environments().size() ? problem.environments().size()
                                                                                         : 0),
      work_(problem),
      series_(
          file.series(recorded_series(this_case, problem, output, heat ? heat->names : std::vector<std::string>()))),
      is_root_(problem.communicator().is_root()),
      flushed_(std::chrono::steady_clock::now()) {
  file.attribute("method", this_case.method->entry.name, this_case.name);
  file.attribute("on", std::string(this_case.closed ? "closed" : "open"), this_case.name);
  file.attribute("step", this_case.step, this_case.name);
  file.attribute("steps", this_case.steps, this_case.name);
  for (std::size_t e = 0; e < problem.stepped_environments().size() && site_stride_ > 0; ++e) {
    Environment& environment = *problem.stepped_environments()[e];
    auto* const ordered = dynamic_cast<OrderedSites*>(&environment);
    const int axes = ordered != nullptr ? ordered->site_axes() : environment.attachment().axes();
    for (int axis = 0; axis < axes; ++axis) {
      // One environment with one axis is the common case and has the plain name.
      std::string suffix;
      std::string site = "site";
      if (problem.stepped_environments().size() > 1) {
        suffix += "_" + environment.name();
        site += "_" + environment.name();
      }
      if (axes > 1) suffix += fmt::format("_axis{}", axis);
      const StateField field = environment.field("w", axis);
      const std::int64_t total = ordered != nullptr ? ordered->ordered_sites() : field.total;
      const std::int64_t begin = ordered != nullptr ? 0 : field.first;
      const auto pieces = ordered == nullptr ? static_cast<std::int64_t>(field.values.size()) : is_root_ ? total : 0;
      const std::int64_t first = (begin + site_stride_ - 1) / site_stride_;
      const std::int64_t end = (begin + pieces + site_stride_ - 1) / site_stride_;
      std::vector<double> sites;
      for (std::int64_t i = first; i < end; ++i) sites.push_back(static_cast<double>(i * site_stride_ + 1));
      Snapshots snapshots{file.snapshots(this_case.name, "displacement" + suffix, "m",
                                         "displacement of the sites of " + environment.name() + " from the start",
                                         sites, first, (total + site_stride_ - 1) / site_stride_, site),
                          e,
                          axis,
                          first,
                          first * site_stride_ - begin,
                          end - first};
      snapshots_.push_back(std::move(snapshots));
    }
  }
}

void TrajectoryRecorder::serialise(Archive& archive) {
  archive.counts("records", {&record_count_});
  std::vector<std::span<double>> parts = {{&last_time_, 1}};
  for (std::size_t i = 0; i < integrals_.size(); ++i) {
    parts.emplace_back(integrals_[i].data(), static_cast<std::size_t>(integrals_[i].size()));
    parts.emplace_back(integrands_[i].data(), static_cast<std::size_t>(integrands_[i].size()));
  }
  archive.numbers("integrals", parts);
  if (!last_heat_.empty()) archive.numbers("heats", last_heat_, last_heat_.size());
  if (work_rules_) work_.serialise(archive);
}

bool TrajectoryRecorder::record(const StateView& moment, const EnergyLedger& ledger) {
  ++record_count_;
  Problem& problem = moment.problem;
  if (is_root_) {
    row_.assign(problem.q.begin(), problem.q.end());
    row_.insert(row_.end(), problem.p.begin(), problem.p.end());
    row_.insert(row_.end(), {ledger.particles, ledger.environment, ledger.interaction, ledger.dissipated});
    if (problem.has_work()) row_.push_back(ledger.work);
    row_.push_back(ledger.total());
    if (work_rules_) {
      work_.update(problem, moment.time);
      for (const double work : work_.values()) row_.push_back(ledger.total() - problem.dissipated + work);
    }
    add_environments(moment, ledger, row_);
    if (heat_) add_heat_flow(moment, row_);
    if (const auto& contact = problem.system().contact) {
      const double hamiltonian = ledger.particles - contact->gamma * problem.z;
      row_.insert(row_.end(), {problem.z, hamiltonian, std::log(std::abs(hamiltonian))});
    }
    add_observables(moment, row_);
    series_.append(moment.time, row_);
  }
  // Rank 0's clock and buffer decide for all ranks.
  constexpr std::size_t max_buffered_rows = 16384;
  const auto now = std::chrono::steady_clock::now();
  const bool due = problem.communicator().broadcast(
      is_root_ && (now - flushed_ > std::chrono::seconds(5) || series_.buffered_rows() >= max_buffered_rows));
  if (due) flush();
  return due;
}

void TrajectoryRecorder::add_environments(const StateView& moment, const EnergyLedger& ledger,
                                          std::vector<double>& row) {
  const Problem& problem = moment.problem;
  const auto columns = static_cast<std::size_t>(axes_of_heads(problem));
  const Eigen::VectorXd velocities = problem.velocity();
  std::vector<double> head, force, velocity, powers;
  for (std::size_t e = 0; e < problem.environments().size(); ++e) {
    const Environment& environment = *problem.environments()[e];
    const EnvironmentProperties& properties = environment.properties();
    const auto axes = static_cast<std::size_t>(environment.attachment().axes());
    for (std::vector<double>* vector : {&head, &force, &velocity}) vector->resize(axes);
    problem.head(environment, problem.q, head);
    environment.force(head, force);
    environment.attachment().velocity(problem.q, velocities, problem.clock.at(0.0), velocity);
    for (std::size_t axis = 0; axis < axes; ++axis) force[axis] -= properties.white_damping * velocity[axis];
    row.insert(row.end(), force.begin(), force.end());
    row.insert(row.end(), columns - axes, std::numeric_limits<double>::quiet_NaN());
    powers.push_back(properties.is_white ? mean_power(moment, e, problem.heat_of(environment))
                                         : std::inner_product(force.begin(), force.end(), velocity.begin(), 0.0));
  }
  row.insert(row.end(), powers.begin(), powers.end());
  constexpr EnvironmentEnergy unknown{std::numeric_limits<double>::quiet_NaN(), 0.0,
                                      std::numeric_limits<double>::quiet_NaN()};
  const std::vector<EnvironmentEnergy> energies =
      ledger.environment_energies.empty() ? std::vector(powers.size(), unknown) : ledger.environment_energies;
  for (const EnvironmentEnergy& energy : energies) row.push_back(energy.environment + energy.interaction);
  for (const EnvironmentEnergy& energy : energies) row.push_back(energy.dissipated);
}

void TrajectoryRecorder::add_heat_flow(const StateView& moment, std::vector<double>& row) {
  for (std::size_t i = 0; i < last_heat_.size(); ++i) {
    const bool is_alone = heat_->damped_coordinates.empty();
    const double heat = is_alone ? moment.problem.dissipated : heat_->damped_coordinates[i].dot(moment.problem.heat);
    row.push_back(mean_power(moment, i, heat));
  }
}

double TrajectoryRecorder::mean_power(const StateView& moment, std::size_t index, double heat) {
  const double power = record_count_ == 1 ? 0.0 : (last_heat_[index] - heat) / (moment.time - last_time_);
  last_heat_[index] = heat;
  return power;
}

void TrajectoryRecorder::add_observables(const StateView& moment, std::vector<double>& row) {
  const ParticleSystem& system = moment.problem.system();
  const Eigen::VectorXd v = moment.problem.velocity();
  const bool first = record_count_ == 1;
  for (std::size_t i = 0; i < system.observables.size(); ++i) {
    const Observable& observable = system.observables[i];
    Eigen::VectorXd value = observable.value(moment.problem.q, v, moment.time);
    if (observable.integrand) {
      const Eigen::VectorXd integrand = observable.integrand(moment.problem.q, v);
      if (!first) integrals_[i] += 0.5 * (moment.time - last_time_) * (integrands_[i] + integrand);
      integrands_[i] = integrand;
      value += integrals_[i];
    }
    row.insert(row.end(), value.begin(), value.end());
    if (has_magnitude(observable)) row.push_back(value.norm());
  }
  last_time_ = moment.time;
}

void TrajectoryRecorder::snapshot(const StateView& moment) {
  for (Snapshots& snapshots : snapshots_) {
    Environment& environment = *moment.problem.stepped_environments()[snapshots.environment];
    if (auto* const ordered = dynamic_cast<OrderedSites*>(&environment)) {
      snapshots.writer.append(moment.time, ordered->displacements(snapshots.axis, site_stride_), snapshots.first);
      continue;
    }
    const std::span<const double> all = environment.field("w", snapshots.axis).values;
    values_.clear();
    for (std::int64_t i = 0; i < snapshots.count; ++i) {
      values_.push_back(all[static_cast<std::size_t>(snapshots.local_offset + i * site_stride_)]);
    }
    snapshots.writer.append(moment.time, values_, snapshots.first);
  }
}

void TrajectoryRecorder::flush() {
  series_.flush();
  flushed_ = std::chrono::steady_clock::now();
}

}  // namespace bathline
