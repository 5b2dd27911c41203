// The environment `heat-bath` of recipes: its spectrum and its thermal start.
#include <fmt/format.h>

#include "model/environment_catalogue.hpp"
#include "model/discrete_spectrum.hpp"
#include "model/modes/oscillator_bath.hpp"
#include "model/table_file.hpp"

namespace bathline {

namespace {

/// Adds a mistake for each key of `needed` that is absent and each of `unused` that is given. Returns whether there was
/// no mistake.
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

std::optional<DiscreteSpectrum> read_frequencies_and_couplings(const Section& section, const Communicator& communicator,
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
  std::optional<DiscreteSpectrum> spectrum = read_frequencies_and_couplings(section, communicator, mistakes);
  std::optional<Attachment> attachment = read_attachment(section, system, mistakes);
  if (!attachment || !spectrum) return nullptr;
  return std::make_unique<OscillatorBath>(section.text("name"), std::move(*attachment), std::move(*spectrum),
                                          section.number("kT"), communicator);
}

}  // namespace

EnvironmentKind heat_bath_kind() {
  return {
      {.name = "heat-bath",
       .summary = "Caldeira-Leggett bath: independent oscillators attached to one particle",
       .equation = "m_j Q_j'' = k_j (q_a - Q_j),  omega_j^2 = k_j/m_j,  force on the particle sum_j k_j (Q_j - q_a)\n"
                   "so m q'' + V'(q) + integral_0^t gamma(t-s) q'(s) ds = F(t),  gamma(t) = sum_j k_j cos(omega_j t)\n"
                   "ohmic: k_j = 2 D dw/pi,  omega_j = (j - 1/2) dw,  dw = omega_max/oscillators\n"
                   "drude: k_j of ohmic times cutoff^2 / (cutoff^2 + omega_j^2)\n"
                   "power: k_j of ohmic times (omega_j/reference)^(exponent - 1)",
       .source = "farshi2018, section 4.3, eq. (36); limebeer2020, section II-A",
       .keywords = {"caldeira-leggett", "ford-kac-mazur", "oscillator bath", "zwanzig", "independent oscillators"},
       .parameters =
           {attach_parameter("index of the particle that the bath is attached to, from 0"),
            choice("spectrum", {"ohmic", "drude", "power", "table"},
                   "spectral density; \"power\" is sub-Ohmic for exponents below 1, super-Ohmic above", "\"ohmic\""),
            {.name = "oscillators",
             .type = ValueType::integer,
             .doc = "number of oscillators",
             .is_size = true,
             .bound = Bound::positive},
            {.name = "damping",
             .units = "kg/s",
             .doc = "damping constant D that the bath represents; of a table, where absent, that of the Ohmic "
                    "bath with the same total stiffness and highest frequency",
             .bound = Bound::positive},
            optional("omega_max", ValueType::number, "rad/s", "highest frequency", Bound::positive),
            optional("cutoff", ValueType::number, "rad/s", "cutoff frequency of the Drude spectrum, 1/(memory time)",
                     Bound::positive),
            optional("exponent", ValueType::number, "", "exponent of the power spectrum", Bound::positive),
            optional("reference", ValueType::number, "rad/s",
                     "frequency at which the power spectrum has the damping constant D", Bound::positive),
            {.name = "file",
             .type = ValueType::text,
             .doc = "table for spectrum = \"table\", relative to the recipe's folder: a frequency (rad/s) and a "
                    "stiffness (N/m) per line, frequencies rising"},
            start_temperature_parameter(
                "kT of the thermal start: oscillators are drawn from the Gibbs distribution with the "
                "particle clamped; 0: they start at rest at the particle's position")},
       .notes =
           "Evenly spaced frequencies have the recurrence time 2 pi/dw. Before that, an Ohmic bath damps by D with an "
           "error of first order in 1/omega_max. The springs contain the counter term: V is the potential of mean "
           "force, and "
           "programs that couple by s X without it have the potential V - s^2/2 sum_j k_j; `around` = 0 starts the "
           "oscillators as theirs do. Thermal starts depend on the seed, not on the number of ranks. To "
           "represent a bath of infinitely many oscillators, with any spectral density, use a `memory`."},
      build_heat_bath};
}

}  // namespace bathline
