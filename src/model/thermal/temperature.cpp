// The temperature and the thermal start of the particles, from a recipe.
// Tested by tests/driver/noise_test.cpp.
#include "model/thermal/temperature.hpp"

#include "model/formula/index_formula.hpp"
#include "model/formula/scope.hpp"
#include "model/thermal/temperature_in_time.hpp"

namespace bathline {

namespace {

/// What the formula `kT` contains, if it is one.
struct Variables {
  bool index = false, time = false;
};

Variables variables_of(const Section& section, int particles) {
  if (!section.holds<std::string>("kT")) return {};
  FormulaScope scope;
  scope.add_variable("i");
  scope.add_variable("t");
  scope.names["n"] = scope.graph.constant(particles);
  Mistakes reported_later;
  const std::optional<Expression> formula = read_formula(section, "kT", scope, reported_later);
  if (!formula) return {};
  return {scope.graph.depends(*formula, 0), scope.graph.depends(*formula, 1)};
}

}  // namespace

void read_temperature(const Section& section, ParticleSystem& system, Mistakes& mistakes) {
  using enum ParticleSystem::Start;
  const std::string& start = section.text("start");
  system.start = start == "thermal" ? thermal : start == "thermal-momenta" ? thermal_momenta : given;
  if (system.start == given && section.has("start_kT")) {
    mistakes.add(section.where("start_kT"),
                 "`start_kT` is the temperature of a start that is drawn at random: set `start = \"thermal\"` or "
                 "`start = \"thermal-momenta\"` as well, or leave it out");
  }
  if (!section.has("kT")) return;
  const std::size_t before = mistakes.count();
  if (const Variables used = variables_of(section, system.particles); used.time) {
    const int formulas = used.index ? system.particles : 1;
    TemperaturesInTime by_particle;
    for (int i = 0; i < formulas && mistakes.count() == before; ++i) {
      by_particle.push_back(read_temperature_in_time(section, i, system.particles, mistakes));
    }
    if (mistakes.count() > before) return;
    system.temperature.emplace(system.size());
    for (int k = 0; k < system.size(); ++k) {
      system.temperature_in_time.push_back(by_particle[static_cast<std::size_t>(used.index ? k / system.axes : 0)]);
      (*system.temperature)[k] = system.temperature_in_time.back()->at(0.0);
    }
    return;
  }
  const Eigen::VectorXd kT = read_by_particle(section, "kT", system.particles, Bound::nonnegative, mistakes);
  if (mistakes.count() == before) system.temperature = kT.transpose().replicate(system.axes, 1).reshaped();
}

}  // namespace bathline
