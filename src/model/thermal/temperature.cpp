// The temperature and the thermal start of the particles, from a recipe.
// Tested by tests/driver/noise_test.cpp.
#include "model/thermal/temperature.hpp"

#include <fmt/format.h>

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
  if (section.holds<double>("kT")) {
    system.temperature = Eigen::VectorXd::Constant(system.size(), section.number("kT"));
  } else {
    const std::vector<double>& numbers = section.numbers("kT");
    if (static_cast<int>(numbers.size()) != system.particles) {
      mistakes.add(section.where("kT"),
                   fmt::format("`kT` has {} numbers: this system has {} particle(s); one number is for all",
                               numbers.size(), system.particles));
      return;
    }
    system.temperature = Eigen::VectorXd(system.size());
    for (int i = 0; i < system.size(); ++i) {
      (*system.temperature)[i] = numbers[static_cast<std::size_t>(i / system.axes)];
    }
  }
}

}  // namespace bathline
