// The temperature and the thermal start of the particles, from a recipe.
// Tested by tests/driver/noise_test.cpp.
#include "model/thermal/temperature.hpp"

#include "model/formula/index_formula.hpp"

namespace bathline {

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
  const Eigen::VectorXd kT = read_by_particle(section, "kT", system.particles, Bound::nonnegative, mistakes);
  if (mistakes.count() == before) system.temperature = kT.transpose().replicate(system.axes, 1).reshaped();
}

}  // namespace bathline
