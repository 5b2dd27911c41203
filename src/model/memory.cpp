// A memory in recipes: a kernel of modes, which is an environment of its own, or any other, which becomes a bath.
// Tested by tests/model/memory_test.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "model/environment_catalogue.hpp"
#include "model/memory_modes.hpp"
#include "model/quantum_memory.hpp"
#include "model/spectral/recipe.hpp"

namespace bathline {

namespace {

bool is_quantum(const Section& section) { return section.has("quantum") && section.boolean("quantum"); }

bool is_noisy_memory(const Section& section) {
  if (!section.has("rate")) return false;
  const std::vector<double>& rates = section.numbers("rate");
  return (section.number("temperature") > 0.0 || is_quantum(section)) &&
         std::any_of(rates.begin(), rates.end(), [](double r) { return r > 0.0; });
}

std::string why_not_white(const Section& section) {
  if (!is_quantum(section)) return "";
  return "has quantum noise, and that of a damper alone is infinite: run it closed, or leave `quantum` out";
}

std::unique_ptr<Environment> build_memory(const Section& section, const OpenSystem& system, const RunTimes& run,
                                          const Communicator& communicator, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  const std::vector<std::string> others = kernel_keys(section);
  const bool has_modes = section.has("stiffness") || section.has("rate") || section.has("frequency");
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
  if (has_kernel && is_quantum(section)) {
    mistakes.add(section.where("quantum"),
                 "quantum noise is known of modes alone: state `stiffness`, `rate` and "
                 "`frequency`, or leave `quantum` out");
    return nullptr;
  }
  if (has_kernel) return build_from_kernel(section, system, run, communicator, mistakes);
  for (const char* key : {"stiffness", "rate", "frequency"}) {
    if (section.has(key)) continue;
    mistakes.add(section.where("kind"), fmt::format("the memory's kernel is missing: give `stiffness`, `rate` and "
                                                    "`frequency` of its modes, or one of `kernel`, `kernel_file`, "
                                                    "`spectral_density` and `spectral_density_file`"));
    return nullptr;
  }
  const auto &k = section.numbers("stiffness"), &r = section.numbers("rate"), &w = section.numbers("frequency");
  if (k.empty() || r.size() != k.size() || w.size() != k.size()) {
    mistakes.add(section.where("stiffness"),
                 fmt::format("a mode needs a stiffness, a rate and a frequency, but there are {}, {} and {}; give as "
                             "many of each, at least one",
                             k.size(), r.size(), w.size()));
  }
  if (is_quantum(section) && std::find(r.begin(), r.end(), 0.0) != r.end()) {
    mistakes.add(section.where("rate"),
                 "a mode without `rate` gives no heat back: quantum noise is of modes that decay");
  }
  std::optional<Attachment> attachment = attachment_to_particle(section, system, mistakes);
  if (mistakes.count() > before) return nullptr;
  std::vector<MemoryMode> modes;
  for (std::size_t j = 0; j < k.size(); ++j) modes.push_back({k[j], r[j], w[j]});
  if (is_quantum(section)) {
    return make_quantum_memory(section.text("name"), std::move(*attachment), modes, section.number("temperature"),
                               section.number("hbar"), communicator);
  }
  return std::make_unique<MemoryOfModes>(section.text("name"), std::move(*attachment), std::move(modes),
                                         section.number("temperature"), communicator);
}

Parameter of_modes(const char* name, const char* units, const char* doc, Bound bound) {
  return {.name = name, .type = ValueType::numbers, .units = units, .doc = doc, .bound = bound};
}

}  // namespace

EnvironmentKind memory_environment_kind() {
  std::vector<Parameter> parameters = {
      attach_parameter("particle that remembers, from 0"),
      of_modes("stiffness", "N/m", "of every mode, what it adds to gamma(0)", Bound::positive),
      of_modes("rate", "1/s", "at which every mode dies down", Bound::nonnegative),
      of_modes("frequency", "rad/s", "of every mode", Bound::nonnegative)};
  for (Parameter& parameter : kernel_parameters()) parameters.push_back(std::move(parameter));
  parameters.push_back(
      {.name = "temperature",
       .units = "J",
       .doc = "kT of the start, and of the noise that belongs to modes; only 0 for chains, which start cold",
       .fallback = "0.0",
       .bound = Bound::nonnegative});
  parameters.push_back({.name = "quantum",
                        .type = ValueType::boolean,
                        .doc = "whether the noise of modes is that of a quantum bath, whose force has the spectrum "
                               "2 Re g(i w) (hbar w/2) coth(hbar w/(2 kT))",
                        .fallback = "false"});
  parameters.push_back({.name = "hbar",
                        .units = "J s",
                        .doc = "Planck's constant over 2 pi in the units of the recipe",
                        .fallback = "1.054571817e-34",
                        .bound = Bound::positive});
  return {
      {.name = "memory",
       .summary = "memory kernel around one particle: modes, a formula, a table or a spectral density",
       .equation = "m q_a'' + V'(q_a) + integral_0^t gamma(t-s) q_a'(s) ds = 0\n"
                   "gamma(t) = sum_j stiffness_j exp(-rate_j t) cos(frequency_j t),  or kernel,\n"
                   "or (2/pi) integral_0^inf J(w)/w cos(w t) dw,  J = spectral_density",
       .source = "farshi2018, section 4.3, eq. (36); gragg1984 for chains",
       .parameters = std::move(parameters),
       .notes =
           "Modes stand for the damper D = sum_j stiffness_j rate_j / (rate_j^2 + frequency_j^2), which a mode with "
           "neither rate nor frequency has none of. Where modes decay, splittings take their own motion exactly, "
           "in half steps around those of the particles: of order 2 at most, so compositions with steps backwards "
           "are refused, and so is `lobatto` with more than two stages. What the modes have dissipated stands in "
           "the ledger. With a temperature every mode has noise and starts from its Gibbs distribution: the force on a "
           "particle that is held has the autocorrelation kT gamma(t). On linear systems `gamma` with 0.5 and `gauss` "
           "then have the Gibbs distribution at any step, stoermer-verlet its positions, and `gamma` with 0 and 1 "
           "those of half a drift further or earlier. "
           "With `quantum` particles have the variances of quantum mechanics on linear systems, under the midpoint "
           "rule "
           "at any step; elsewhere this is the quasi-classical Langevin equation, which is no quantum mechanics of "
           "anharmonic motions. "
           "A kernel or a density becomes a bath without losses: the Gauss rule of some w_max T/4 frequencies, w_max "
           "the highest that counts and T = until, which is a star, or by the algorithm of Gragg and Harrod the "
           "line of unequal sites with the same kernel. Both are environments like any other, and the group "
           "certificate of a result says how good they are; they stand for the damper D = J(w)/w at w = 0. Until T "
           "nothing comes back; later it does. Peaks of a density much sharper than 1/T may be overlooked: they are "
           "oscillators of a `heat-bath`. The kernel is that of continuous time, which the steps of "
           "`stoermer-verlet`, `gamma` and `gauss` keep."},
      build_memory,
      is_noisy_memory,
      why_not_white};
}

}  // namespace bathline
