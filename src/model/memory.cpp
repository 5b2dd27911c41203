// A memory in recipes: a kernel of modes, which is an environment of its own, or any other, which becomes a bath.
// Tested by tests/model/memory_test.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "model/environment_catalogue.hpp"
#include "model/memory/from_recipe.hpp"
#include "model/memory/passivity.hpp"
#include "model/kernels/from_recipe.hpp"

namespace bathline {

namespace {

bool is_noisy_memory(const Section& section) {
  const bool is_warm = section.number("kT") > 0.0 || is_quantum(section);
  if (!section.has("rate")) {
    const bool is_sum = section.has("representation") && section.text("representation") == "exponentials";
    return is_warm && (is_sum || is_quantum(section));
  }
  const std::vector<double>& rates = section.numbers("rate");
  return is_warm && std::any_of(rates.begin(), rates.end(), [](double r) { return r > 0.0; });
}

std::string why_not_white(const Section& section) {
  if (!is_quantum(section)) return "";
  return "has quantum noise, and that of a damper alone is infinite: run it closed, or leave `quantum` out";
}

/// Below 0 by more than sums that are fitted until a time are at an edge of a density.
std::optional<std::string> why_not_passive(const std::vector<PronyTerm>& modes) {
  constexpr double most = 0.01;
  if (std::all_of(modes.begin(), modes.end(), [](const PronyTerm& mode) { return mode.is_passive(); })) return {};
  const Passivity passivity = passivity_of(modes);
  if (passivity.negative <= most) return {};
  return fmt::format(
      "no passive environment has this kernel: the real part of its transform is below 0 for {:.0f} % of its weight, "
      "the lowest {:.4g} kg/s at w = {:.4g}; take away from `sine`, or add to `cosine`",
      100.0 * passivity.negative, passivity.lowest, passivity.place);
}

/// Modes are machines of their own by their `stiffness`; by `cosine` and `sine` their sum alone has to be one.
std::vector<PronyTerm> read_modes(const Section& section, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  const bool is_sum = section.has("cosine");
  const char* first = is_sum ? "cosine" : "stiffness";
  const auto &k = section.numbers(first), &r = section.numbers("rate"), &w = section.numbers("frequency");
  const std::vector<double> b = is_sum ? section.numbers("sine") : std::vector<double>(k.size(), 0.0);
  if (k.empty() || r.size() != k.size() || w.size() != k.size() || b.size() != k.size()) {
    mistakes.add(section.where(first),
                 is_sum ? fmt::format("a mode needs a cosine, a sine, a rate and a frequency, but there are {}, {}, {} "
                                      "and {}; give as many of each, at least one",
                                      k.size(), b.size(), r.size(), w.size())
                        : fmt::format("a mode needs a stiffness, a rate and a frequency, but there are {}, {} and {}; "
                                      "give as many of each, at least one",
                                      k.size(), r.size(), w.size()));
    return {};
  }
  std::vector<PronyTerm> modes;
  for (std::size_t j = 0; j < k.size(); ++j) {
    modes.push_back({k[j], r[j], w[j], b[j]});
    if (b[j] != 0.0 && w[j] == 0.0) {
      mistakes.add(section.where("sine"), fmt::format("mode {} has a sine, but no frequency: set it to 0", j));
    } else if (r[j] == 0.0 && !modes.back().is_passive()) {
      mistakes.add(section.where("rate"),
                   fmt::format("mode {} lasts for ever with a sine, or a cosine below 0: give it a `rate`", j));
    }
  }
  if (!is_sum || mistakes.count() > before) return modes;
  if (const std::optional<std::string> why = why_not_passive(modes)) mistakes.add(section.where(first), *why);
  return rescaled_terms(modes);
}

/// What is missing of the keys that describe modes.
bool lacks_modes(const Section& section) {
  const bool is_sum = section.has("cosine") || section.has("sine");
  const auto lacks = [&](const char* key) { return !section.has(key); };
  return lacks("rate") || lacks("frequency") || (is_sum ? lacks("cosine") || lacks("sine") : lacks("stiffness"));
}

std::unique_ptr<Environment> build_memory(const Section& section, const ParticleSystem& system, const RunTimes& run,
                                          const Communicator& communicator, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  const std::vector<std::string> others = kernel_keys(section);
  const char* of_modes[] = {"stiffness", "cosine", "sine", "rate", "frequency"};
  const bool has_modes =
      std::any_of(std::begin(of_modes), std::end(of_modes), [&](const char* key) { return section.has(key); });
  const bool has_kernel = std::any_of(others.begin(), others.end(), [](const std::string& key) {
    return key.starts_with("kernel") || key.starts_with("spectral_density");
  });
  if (has_modes && !others.empty()) {
    mistakes.add(
        section.where(others.front()),
        fmt::format("`{}` has no meaning beside `stiffness`, `rate` and `frequency`; leave one or the others out",
                    others.front()));
    return nullptr;
  }
  if (has_kernel) return build_from_kernel(section, system, run, communicator, mistakes);
  if (lacks_modes(section)) {
    mistakes.add(section.where("kind"),
                 "the memory's kernel is missing: give `stiffness`, `rate` and `frequency` of its "
                 "modes, `cosine` and `sine` in the place of `stiffness` where these are no "
                 "springs, or one of `kernel`, `kernel_file`, `spectral_density` and "
                 "`spectral_density_file`");
    return nullptr;
  }
  if (section.has("stiffness") && section.has("cosine")) {
    mistakes.add(section.where("cosine"), "`stiffness` and `cosine` say the same; leave one out");
    return nullptr;
  }
  const std::vector<PronyTerm> modes = read_modes(section, mistakes);
  if (mistakes.count() > before) return nullptr;
  const std::shared_ptr<const MemoryBath> bath =
      read_memory_bath(section, modes, run.step, "take away from `sine`, or add to `cosine`", mistakes);
  std::optional<Attachment> attachment = attachment_to_particle(section, system, mistakes);
  if (mistakes.count() > before) return nullptr;
  const std::string& name = section.text("name");
  if (bath) return std::make_unique<ColouredNoiseMemory>(name, std::move(*attachment), modes, bath, communicator);
  return std::make_unique<PronyMemory>(name, std::move(*attachment), modes, section.number("kT"), communicator);
}

Parameter parameter_of_modes(const char* name, const char* units, const char* doc, Bound bound) {
  return {.name = name, .type = ValueType::numbers, .units = units, .doc = doc, .bound = bound};
}

}  // namespace

EnvironmentKind memory_environment_kind() {
  std::vector<Parameter> parameters = {
      attach_parameter("particle that remembers, from 0"),
      parameter_of_modes("stiffness", "N/m", "of every mode, what it adds to gamma(0)", Bound::positive),
      parameter_of_modes("rate", "1/s", "at which every mode dies down", Bound::nonnegative),
      parameter_of_modes("frequency", "rad/s", "of every mode", Bound::nonnegative),
      parameter_of_modes("cosine", "N/m",
                         "in the place of `stiffness`, of any sign: what every mode adds to gamma as a cosine",
                         Bound::any),
      parameter_of_modes("sine", "N/m", "beside `cosine`: what every mode adds to gamma as a sine", Bound::any)};
  for (Parameter& parameter : kernel_parameters()) parameters.push_back(std::move(parameter));
  parameters.push_back({.name = "kT",
                        .units = "J",
                        .doc = "kT of the start, and of the noise that belongs to modes",
                        .default_value = "0.0",
                        .bound = Bound::nonnegative});
  parameters.push_back({.name = "quantum",
                        .type = ValueType::boolean,
                        .doc = "whether the noise of modes is that of a quantum bath, whose force has the spectrum "
                               "2 Re g(i w) (hbar w/2) coth(hbar w/(2 kT)); it remembers 1024 steps, or as many up to "
                               "16384 as leave 1e-4 of the spectrum wrong at most",
                        .default_value = "false"});
  parameters.push_back({.name = "hbar",
                        .units = "J s",
                        .doc = "Planck's constant over 2 pi in the units of the recipe",
                        .default_value = "1.054571817e-34",
                        .bound = Bound::positive});
  return {
      {.name = "memory",
       .summary = "memory kernel around one particle: modes, a formula, a table or a spectral density",
       .equation = "m q_a'' + V'(q_a) + integral_0^t gamma(t-s) q_a'(s) ds = 0\n"
                   "gamma(t) = sum_j exp(-rate_j t) (stiffness_j cos(frequency_j t) + sine_j sin(frequency_j t)),\n"
                   "or kernel, "
                   "or (2/pi) integral_0^inf J(w)/w cos(w t) dw,  J = spectral_density",
       .source = "farshi2018, section 4.3, eq. (36); gragg1984 for chains; nakatsukasa2018 for exponentials",
       .keywords = {"prony", "prony series", "mori-zwanzig", "generalised langevin equation",
                    "generalized langevin equation", "gle", "coloured noise", "colored noise", "caldeira-leggett",
                    "spectral density", "debye relaxation", "maxwell element"},
       .parameters = std::move(parameters),
       .notes =
           "Modes stand for the damper D = sum_j stiffness_j rate_j / (rate_j^2 + frequency_j^2), which a mode with "
           "neither rate nor frequency has none of. Where modes decay, splittings take their own motion exactly, "
           "in half steps around those of the particles: of order 2 at most, so compositions with steps backwards "
           "are refused, and so is `lobatto` with more than two stages. What the modes have dissipated stands in "
           "the ledger. With a temperature every mode has noise and starts from its Gibbs distribution: the force on a "
           "particle that is held has the autocorrelation kT gamma(t). On linear systems `gamma` with 0.5 and `gauss` "
           "then have the Gibbs distribution at any step, stoermer-verlet its positions, and `gamma` with 0 and 1 "
           "those of half a drift further or earlier. Modes that are passive together, and not one by one, have that "
           "noise from a filter with the poles of the kernel, the outer factor of 2 kT Re g(i w): under `gamma` with "
           "0.5, `time-centred`, `gauss` and `stoermer-verlet`, which have the same distributions by it. "
           "With `quantum`, of modes or of a kernel's exponentials, particles have the variances of quantum mechanics "
           "on "
           "linear systems, under the midpoint rule at any step; elsewhere this is the quasi-classical Langevin "
           "equation, which is no quantum mechanics of "
           "anharmonic motions. "
           "With `cosine` and `sine` in the place of `stiffness` the modes need not be springs and masses one by one, "
           "as "
           "long as their sum takes energy: what the particle has put into them is energy_environment, and nothing "
           "is called dissipated (the exact flow gives that in two parts). "
           "A kernel or a density becomes one of three environments, each with a group certificate in the results that "
           "says how good it is. A star is the Gauss rule of some w_max T/4 frequencies, w_max the highest that counts "
           "and T = until; a chain, by the algorithm of Gragg and Harrod, the line of unequal sites with the same "
           "kernel: until T nothing comes back, later it does. Exponentials are modes, some ten or twenty for every "
           "power of ten of w_max T, at the poles of a rational fit (AAA) to the kernel's transform at Re s = 1/T, "
           "with their weights by least squares; the least damper with which their sum is passive is added as one more "
           "mode, fast and real, where that costs no more than the tolerance. What comes back after a time, as an echo "
           "does, has no short sum. All stand for the damper D = J(w)/w at w = 0. Peaks of a density much sharper than "
           "1/T may be overlooked: they are oscillators of a `heat-bath`. The kernel is that of continuous time, which "
           "the steps of `stoermer-verlet`, `gamma` and `gauss` keep."},
      build_memory,
      is_noisy_memory,
      why_not_white,
      [](Section& section) {
        if (is_quantum(section)) section.set("quantum", false, section.where("quantum"));
      }};
}

}  // namespace bathline
