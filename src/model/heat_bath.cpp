// The heat bath of a recipe: which oscillators, and how warm they start.
#include <fmt/format.h>

#include "model/environment_catalogue.hpp"
#include "model/discrete_spectrum.hpp"
#include "model/oscillator_bath/oscillator_bath.hpp"
#include "model/table_file.hpp"

namespace bathline {

namespace {

/// More would gain nothing, and what a pass holds grows with their number.
constexpr long max_steps_per_pass = 256;

/// Adds a mistake for each of `needed` that is absent and each of `unused` that is given. Returns whether there is
/// none.
bool check_keys(const Section& section, std::initializer_list<const char*> needed,
                std::initializer_list<const char*> unused, Mistakes& mistakes) {
  bool good = true;
  const std::string& kind = section.text("spectrum");
  for (const char* key : needed) {
    if (section.has(key)) continue;
    mistakes.add(section.where("spectrum"), fmt::format("spectrum = \"{}\" needs the key `{}`", kind, key));
    good = false;
  }
  for (const char* key : unused) {
    if (!section.has(key)) continue;
    mistakes.add(section.where(key), fmt::format("`{}` has no meaning with spectrum = \"{}\"", key, kind));
    good = false;
  }
  return good;
}

std::optional<DiscreteSpectrum> read_spectrum(const Section& section, const Communicator& communicator,
                                              Mistakes& mistakes) {
  const std::string& kind = section.text("spectrum");
  if (kind == "table") {
    if (!check_keys(section, {"file"}, {"oscillators", "omega_max", "cutoff", "exponent", "reference"}, mistakes)) {
      return std::nullopt;
    }
    const TableForm form{
        .row = "oscillator", .first = {"frequency", "rad/s"}, .second = {"stiffness", "N/m"}, .rising = true};
    const auto rows = read_table_file(section, form, communicator, mistakes);
    if (!rows) return std::nullopt;
    std::vector<BathOscillator> oscillators;
    for (const auto& [frequency, stiffness] : *rows) oscillators.push_back({frequency, stiffness});
    DiscreteSpectrum spectrum = table_spectrum(std::move(oscillators));
    if (section.has("damping")) spectrum.damping = section.number("damping");
    return spectrum;
  }
  const bool is_drude = kind == "drude", is_power = kind == "power";
  bool good = check_keys(section, {"oscillators", "damping", "omega_max"}, {"file"}, mistakes);
  good = (is_drude ? check_keys(section, {"cutoff"}, {}, mistakes) : check_keys(section, {}, {"cutoff"}, mistakes)) &&
         good;
  good = (is_power ? check_keys(section, {"exponent", "reference"}, {}, mistakes)
                   : check_keys(section, {}, {"exponent", "reference"}, mistakes)) &&
         good;
  if (!good || !check_size(section, "oscillators", mistakes)) return std::nullopt;
  const std::int64_t size = section.integer("oscillators");
  const double damping = section.number("damping"), highest = section.number("omega_max");
  if (is_drude) return drude_spectrum(size, damping, highest, section.number("cutoff"));
  if (is_power) {
    return power_spectrum(size, damping, highest, section.number("exponent"), section.number("reference"));
  }
  return ohmic_spectrum(size, damping, highest);
}

std::unique_ptr<Environment> build_heat_bath(const Section& section, const ParticleSystem& system, const RunTimes&,
                                             const Communicator& communicator, Mistakes& mistakes) {
  std::optional<DiscreteSpectrum> spectrum = read_spectrum(section, communicator, mistakes);
  const long steps = section.integer("steps_per_pass");
  if (steps > max_steps_per_pass) {
    mistakes.add(section.where("steps_per_pass"),
                 fmt::format("steps_per_pass = {}: must be at most {}", steps, max_steps_per_pass));
  }
  std::optional<Attachment> attachment = attachment_to_particle(section, system, mistakes);
  if (!attachment || !spectrum || steps > max_steps_per_pass) return nullptr;
  return std::make_unique<OscillatorBath>(section.text("name"), std::move(*attachment), std::move(*spectrum),
                                          section.number("kT"), static_cast<int>(steps), communicator);
}

}  // namespace

EnvironmentKind heat_bath_kind() {
  return {
      {.name = "heat-bath",
       .summary = "Caldeira-Leggett star: independent oscillators around one particle",
       .equation = "m_j Q_j'' = k_j (q_a - Q_j),  omega_j^2 = k_j/m_j,  force on the particle sum_j k_j (Q_j - q_a)\n"
                   "so m q'' + V'(q) + integral_0^t gamma(t-s) q'(s) ds = F(t),  gamma(t) = sum_j k_j cos(omega_j t)\n"
                   "ohmic: k_j = 2 D dw/pi,  omega_j = (j - 1/2) dw,  dw = omega_max/oscillators\n"
                   "drude: the same times cutoff^2 / (cutoff^2 + omega_j^2)\n"
                   "power: the same times (omega_j/reference)^(exponent - 1)",
       .source = "farshi2018, section 4.3, eq. (36); limebeer2020, section II-A",
       .keywords = {"caldeira-leggett", "ford-kac-mazur", "oscillator bath", "zwanzig", "independent oscillators"},
       .parameters = {attach_parameter("particle that the bath surrounds, from 0"),
                      {.name = "spectrum",
                       .type = ValueType::text,
                       .doc = "spectral density; \"power\" is sub-Ohmic for an exponent below 1, super-Ohmic above",
                       .default_value = "\"ohmic\"",
                       .choices = {"ohmic", "drude", "power", "table"}},
                      {.name = "oscillators",
                       .type = ValueType::integer,
                       .doc = "how many",
                       .is_size = true,
                       .bound = Bound::positive},
                      {.name = "damping",
                       .units = "kg/s",
                       .doc = "damping constant D that the bath stands for; of a table, where absent, that of an Ohmic "
                              "bath of its stiffness and highest frequency",
                       .bound = Bound::positive},
                      {.name = "omega_max", .units = "rad/s", .doc = "highest frequency", .bound = Bound::positive},
                      {.name = "cutoff",
                       .units = "rad/s",
                       .doc = "cut-off of the Drude spectrum; the memory lasts its inverse",
                       .bound = Bound::positive},
                      {.name = "exponent", .doc = "exponent of the power spectrum", .bound = Bound::positive},
                      {.name = "reference",
                       .units = "rad/s",
                       .doc = "frequency at which the power spectrum damps by D",
                       .bound = Bound::positive},
                      {.name = "file",
                       .type = ValueType::text,
                       .doc = "table for spectrum = \"table\": a frequency (rad/s) and a stiffness (N/m) per line, in "
                              "rising order, seen from the recipe's folder"},
                      {.name = "kT",
                       .units = "J",
                       .doc =
                           "kT of the start: oscillators drawn from the Gibbs distribution around the particle; 0: at "
                           "rest there",
                       .default_value = "0.0",
                       .bound = Bound::nonnegative},
                      {.name = "steps_per_pass",
                       .type = ValueType::integer,
                       .doc = "steps of an explicit scheme that one pass over the oscillators takes",
                       .default_value = "32",
                       .bound = Bound::positive}},
       .notes = "Evenly spaced oscillators come back together at 2 pi/dw. Before, an Ohmic bath damps by D up to an "
                "error of "
                "first order in 1/omega_max. Thermal starts depend on [output] seed and not on the number of ranks."},
      build_heat_bath};
}

}  // namespace bathline
