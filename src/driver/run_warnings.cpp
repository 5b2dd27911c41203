// Warnings about cases that can run, but may not show what their author expects.
// Tested by tests/driver/experiment_test.cpp.
#include "driver/run_warnings.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "driver/dark_motions.hpp"
#include "recipe/describe.hpp"
#include "solve/slowest_motion.hpp"
#include "steppers/stability.hpp"

namespace bathline {

void RunWarnings::add_end(const Case& this_case) {
  const double end = static_cast<double>(this_case.steps) * this_case.step;
  if (std::abs(end - this_case.end) <= 1e-9 * this_case.end) return;
  warn("{}: step {} does not divide the end {}; the run ends at {}, the nearest multiple of the step", this_case.name,
       this_case.step, this_case.end, end);
}

void RunWarnings::add_unused_keys(const std::function<const Problem&(std::size_t index)>& problem_of) {
  const ParticleSystem& system = experiment_.system();
  const bool has_damping = system.damping && !system.damping->isZero(0.0) && !system.contact;
  const bool has_temperature = system.temperature && !system.temperature->isZero(0.0);
  const bool starts_at_it = system.start != ParticleSystem::Start::given && !recipe_.system.has("start_kT");
  if (!has_damping && !has_temperature) return;
  std::vector<std::string> runs;
  bool ignores_damping = false, ignores_temperature = false;
  for (std::size_t index = 0; index < experiment_.cases().size(); ++index) {
    const Case& this_case = experiment_.cases()[index];
    if (!this_case.closed) continue;
    // What the environments stand for is not left out.
    const auto& environments = problem_of(index).environments();
    Eigen::MatrixXd damping = Eigen::MatrixXd::Zero(system.size(), system.size());
    bool is_same_temperature = has_temperature && !environments.empty();
    for (const auto& environment : environments) {
      environment->attachment().add_outer(environment->properties().damping, damping);
      is_same_temperature =
          is_same_temperature && system.temperature->isConstant(environment->properties().temperature, 0.0);
    }
    const bool lacks_damping = has_damping && !damping.isApprox(*system.damping, 1e-6);
    const bool lacks_temperature =
        has_temperature && !(this_case.start != nullptr && starts_at_it) && !is_same_temperature;
    if (lacks_damping || lacks_temperature) runs.push_back("`" + this_case.name + "`");
    ignores_damping = ignores_damping || lacks_damping;
    ignores_temperature = ignores_temperature || lacks_temperature;
  }
  if (!runs.empty()) {
    warn(
        "closed runs leave out the {} of [system], which {} for open runs: {}; in closed runs white friction and its "
        "noise are an environment of the kind `damper`",
        !ignores_temperature ? "damping"
        : ignores_damping    ? "damping and `kT`"
                             : "`kT`",
        ignores_damping && ignores_temperature ? "are" : "is", fmt::join(runs, ", "));
  }
  if (ignores_temperature || !has_temperature || starts_at_it) return;
  for (std::size_t index = 0; index < experiment_.cases().size(); ++index) {
    const Case& this_case = experiment_.cases()[index];
    if (!this_case.closed && this_case.noise && problem_of(index).is_damped()) return;
  }
  warn(
      "`kT` in [system] has no effect: only open damped runs and thermal starts use it; an environment of closed runs "
      "has its own `kT`");
}

void RunWarnings::add_unused_starts(const Case& open_case) {
  for (const std::size_t index : open_case.environments) {
    const Section& section = recipe_.environments[index];
    for (const char* key : {"w0", "v0"}) {
      if (!section.has(key)) continue;
      warn("{}: `{}` of `{}` has no effect in this open run, which contains the damping of the line but not its motion",
           open_case.name, key, section.text("name"));
    }
  }
}

void RunWarnings::add_mismatched_grids(const Case& this_case, const Problem& problem) {
  if (this_case.method->entry.name != "gamma") return;
  const double gamma = this_case.options.number("gamma");
  for (const auto& environment : problem.environments()) {
    const std::optional<double> matched = environment->properties().matched_gamma;
    if (!matched || *matched == gamma) continue;
    warn("{}: the grid of `{}` is exact for gamma = {}; with gamma = {} closed and reduced runs differ by O(h)",
         this_case.name, environment->name(), *matched, gamma);
  }
}

void RunWarnings::add_limits(const Case& this_case, const Problem& problem) {
  add_dark_motions(this_case, problem);
  if (!this_case.closed) {
    add_unused_starts(this_case);
    return;
  }
  add_mismatched_grids(this_case, problem);
  if (!particle_frequency_) particle_frequency_ = particle_frequency(experiment_.system());
  const double end = static_cast<double>(this_case.steps) * this_case.step;
  for (const Environment* environment : problem.stepped_environments()) {
    const EnvironmentProperties& properties = environment->properties();
    if (properties.echo.time < end * (1.0 - 1e-12)) {
      warn("{}: the {} of `{}` returns at t_r = {:.6g}, before the end {}; until then it damps with D = {:.6g}",
           this_case.name, properties.echo.name, environment->name(), properties.echo.time, end, properties.damping);
    }
    // An environment with decay dissipates energy at frequencies above its own, too.
    if (properties.is_linear && properties.fastest_decay == 0.0 &&
        properties.highest_frequency < *particle_frequency_) {
      warn("{}: the band edge {:.6g} of `{}` lies below the particles' frequency {:.6g}; it cannot damp them",
           this_case.name, properties.highest_frequency, environment->name(), *particle_frequency_);
    }
  }
  if (this_case.noise) add_bound_modes(this_case, problem);
}

// Light particles coupled by stiff springs can have a bound mode above the band of the line, even if their own
// frequencies lie within it.
void RunWarnings::add_bound_modes(const Case& this_case, const Problem& problem) {
  if (problem.is_damped()) return;
  double edge = 0.0;
  for (const auto& environment : problem.environments()) {
    const EnvironmentProperties& properties = environment->properties();
    if (!properties.is_linear || properties.fastest_decay > 0.0) return;
    edge = std::max(edge, properties.highest_frequency);
  }
  const double highest = highest_frequency(problem);
  if (highest <= edge * (1.0 + 1e-6) || *particle_frequency_ > edge) return;
  warn(
      "{}: the closed system has a bound mode of frequency {:.6g}, above the band edge {:.6g}; it does not thermalise "
      "but keeps its initial energy",
      this_case.name, highest, edge);
}

void RunWarnings::add_dark_motions(const Case& this_case, const Problem& problem) {
  const std::optional<DarkMotions> motions = dark_motions(problem);
  if (!motions) return;
  const char* const at_start = motions->is_linearised ? ", with `couple` as it is near the start" : "";
  if (!motions->frequencies.empty()) {
    constexpr std::size_t max_named = 6;
    std::vector<std::string> names;
    for (const double frequency : motions->frequencies) {
      if (names.size() == max_named) {
        names.push_back(fmt::format("{} more", motions->frequencies.size() - max_named));
        break;
      }
      names.push_back(frequency > 0.0 ? fmt::format("at {:.6g} rad/s", frequency) : "of constant velocity");
    }
    const bool is_one = names.size() == 1;
    warn("{}: no environment damps the motion{} {}{}: {} initial energy, and there is no stationary state",
         this_case.name, is_one ? "" : "s", fmt::join(names, ", "), at_start,
         is_one ? "it keeps its" : "they keep their");
  }
  const auto& environments = problem.environments();
  const bool is_warm = this_case.noise ||
                       std::any_of(environments.begin(), environments.end(),
                                   [](const auto& environment) { return environment->properties().temperature > 0.0; });
  if (!is_warm || !motions->slowest) return;
  const SlowestMotion& slowest = *motions->slowest;
  const double end = static_cast<double>(this_case.steps) * this_case.step;
  std::string text =
      fmt::format("{}: {}{}{}", this_case.name, motions->frequencies.empty() ? "" : "apart from undamped motions, ",
                  describe(slowest), at_start);
  if (slowest.rate * end < 3.0) {
    text += fmt::format("; until the end, {:.6g} s, by a factor of {:.2g}", end, std::exp(-slowest.rate * end));
  }
  // A run of few periods may be meant to be that short, or its end be without effect; one of many hardly decays.
  constexpr double many_periods = 20.0 * std::numbers::pi;
  const bool is_slow =
      slowest.rate < 1e-3 * slowest.frequency && slowest.rate * end < 3.0 && slowest.frequency * end > many_periods;
  (is_slow ? warnings_ : notes_).push_back(std::move(text));
}

}  // namespace bathline
