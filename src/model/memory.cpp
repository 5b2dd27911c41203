// The environment `memory` of recipes: a kernel given as a Prony series, or by a formula, a table or a spectral
// density.
// Tested by tests/model/memory_test.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "model/environment_catalogue.hpp"
#include "model/memory/from_recipe.hpp"
#include "model/memory/passivity.hpp"
#include "model/kernels/adaptive_quadrature.hpp"
#include "model/kernels/from_recipe.hpp"
#include "model/thermal/temperature_in_time.hpp"

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
  return "has quantum noise, which diverges for a pure damper: run it closed, or leave `quantum` out";
}

/// Why the sum of the terms is not passive. Sums that are fitted until some time are slightly negative at the edges of
/// a density, which is allowed.
std::optional<std::string> why_not_passive(const std::vector<PronyTerm>& terms, double damping) {
  constexpr double max_negative = 0.01;
  if (std::all_of(terms.begin(), terms.end(), [](const PronyTerm& term) { return term.is_passive(); })) return {};
  const Passivity passivity = passivity_of(terms, damping);
  if (passivity.negative <= max_negative) return {};
  return fmt::format(
      "no passive environment has this kernel: the real part of its transform is below 0 for {:.0f} % of its weight, "
      "the lowest {:.4g} kg/s at w = {:.4g}; decrease `sine`, or increase `cosine` or `damping`",
      100.0 * passivity.negative, passivity.lowest, passivity.frequency);
}

/// The terms of the section. With `stiffness` each term is passive; with `cosine` and `sine` only the sum has to be.
std::vector<PronyTerm> read_terms(const Section& section, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  const bool is_sum = section.has("cosine");
  const char* first = is_sum ? "cosine" : "stiffness";
  const auto &k = section.numbers(first), &r = section.numbers("rate");
  const std::vector<double> w =
      section.has("frequency") ? section.numbers("frequency") : std::vector<double>(k.size(), 0.0);
  const std::vector<double> b = is_sum ? section.numbers("sine") : std::vector<double>(k.size(), 0.0);
  if (k.empty() || r.size() != k.size() || w.size() != k.size() || b.size() != k.size()) {
    mistakes.add(section.where(first),
                 is_sum ? fmt::format("a term needs a cosine, a sine, a rate and a frequency, but there are {}, {}, {} "
                                      "and {}; give as many of each, at least one",
                                      k.size(), b.size(), r.size(), w.size())
                        : fmt::format("a term needs a stiffness, a rate and a frequency, but there are {}, {} and {}; "
                                      "give as many of each, at least one",
                                      k.size(), r.size(), w.size()));
    return {};
  }
  std::vector<PronyTerm> terms;
  for (std::size_t j = 0; j < k.size(); ++j) {
    terms.push_back({k[j], r[j], w[j], b[j]});
    if (b[j] != 0.0 && w[j] == 0.0) {
      mistakes.add(section.where("sine"),
                   fmt::format("term {} has a `sine`, but the frequency 0: set its `sine` to 0", j));
    } else if (r[j] == 0.0 && !terms.back().is_passive()) {
      mistakes.add(section.where("rate"),
                   fmt::format("term {} is undamped and not passive, as it has a sine, or a cosine below 0: give it a "
                               "`rate`",
                               j));
    }
  }
  if (!is_sum || mistakes.count() > before) return terms;
  const double damping = section.has("damping") ? section.number("damping") : 0.0;
  if (const std::optional<std::string> reason = why_not_passive(terms, damping))
    mistakes.add(section.where(first), *reason);
  return rescaled_terms(terms);
}

/// Whether any of the keys that describe terms is missing.
bool lacks_terms(const Section& section) {
  const bool is_sum = section.has("cosine") || section.has("sine");
  const auto lacks = [&](const char* key) { return !section.has(key); };
  return lacks("rate") || (is_sum ? lacks("cosine") || lacks("sine") : lacks("stiffness"));
}

std::unique_ptr<Environment> build_memory(const Section& section, const ParticleSystem& system, const RunTimes& run,
                                          const Communicator& communicator, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  const std::vector<std::string> kernel_only_keys = kernel_keys(section);
  const char* term_keys[] = {"stiffness", "cosine", "sine", "rate", "frequency"};
  const bool has_terms =
      std::any_of(std::begin(term_keys), std::end(term_keys), [&](const char* key) { return section.has(key); });
  const bool has_kernel = std::any_of(kernel_only_keys.begin(), kernel_only_keys.end(), [](const std::string& key) {
    return key.starts_with("kernel") || key.starts_with("spectral_density");
  });
  if (has_terms && !kernel_only_keys.empty()) {
    mistakes.add(section.where(kernel_only_keys.front()),
                 fmt::format("`{}` has no meaning beside `stiffness`, `rate` and `frequency`; leave it or these out",
                             kernel_only_keys.front()));
    return nullptr;
  }
  if (section.has("damping") && (has_kernel || is_quantum(section))) {
    mistakes.add(section.where("damping"),
                 has_kernel
                     ? "`damping` belongs to a sum of terms; beside a kernel or a density give an environment of "
                       "the kind `damper`"
                     : "quantum noise diverges for white friction; leave `damping` or `quantum` out");
    return nullptr;
  }
  if (has_kernel) return build_from_kernel(section, system, run, communicator, mistakes);
  if (lacks_terms(section)) {
    mistakes.add(
        section.where("kind"),
        "the memory's kernel is missing: give the lists `stiffness` and `rate`, and perhaps `frequency`, of a Prony "
        "series, or "
        "`cosine` and `sine` instead of `stiffness`, or one of `kernel`, `kernel_file`, `spectral_density` and "
        "`spectral_density_file`");
    return nullptr;
  }
  if (section.has("stiffness") && section.has("cosine")) {
    mistakes.add(section.where("cosine"), "`stiffness` and `cosine` are the same coefficient; leave one out");
    return nullptr;
  }
  const std::vector<PronyTerm> terms = read_terms(section, mistakes);
  if (mistakes.count() > before) return nullptr;
  std::shared_ptr<const MemoryBath> bath;
  try {
    bath = make_memory_bath(section, terms, run.step);
  } catch (const UnsuitableFunction& error) {
    const bool is_undamped = std::any_of(terms.begin(), terms.end(), [](const PronyTerm& t) { return t.r == 0.0; });
    mistakes.add(section.where(is_undamped           ? "rate"
                               : is_quantum(section) ? "quantum"
                                                     : "kT"),
                 fmt::format("{}{}", error.what(), is_undamped ? "" : "; decrease `sine`, or increase `cosine`"));
  }
  std::optional<Attachment> attachment = read_attachment(section, system, mistakes);
  if (mistakes.count() > before) return nullptr;
  const std::string& name = section.text("name");
  if (bath) return std::make_unique<ColouredNoiseMemory>(name, std::move(*attachment), terms, bath, communicator);
  const double damping = section.has("damping") ? section.number("damping") : 0.0;
  auto memory =
      std::make_unique<PronyMemory>(name, std::move(*attachment), terms, section.number("kT"), communicator, damping);
  // Of terms that have noise of their own each, so that no bath behind the kernel has to be imagined.
  const bool is_noisy = std::all_of(terms.begin(), terms.end(), [](const PronyTerm& term) { return term.r > 0.0; });
  if (is_noisy) memory->set_temperature_in_time(read_temperature_in_time(section));
  return memory;
}

Parameter term_parameter(const char* name, const char* units, const char* doc, Bound bound) {
  return optional(name, ValueType::numbers, units, doc, bound);
}

}  // namespace

EnvironmentKind memory_environment_kind() {
  std::vector<Parameter> parameters = {
      attach_parameter("index of the particle that the memory acts on, from 0"),
      term_parameter("stiffness", "N/m", "of each term of a Prony series: its contribution to gamma(0)",
                     Bound::positive),
      term_parameter("rate", "1/s", "decay rate of each term", Bound::nonnegative),
      term_parameter("frequency", "rad/s", "angular frequency of each term; zeros where absent", Bound::nonnegative),
      term_parameter("cosine", "N/m", "instead of `stiffness`, of any sign: the coefficient of the cosine of each term",
                     Bound::any),
      term_parameter("sine", "N/m", "beside `cosine`: the coefficient of the sine of each term", Bound::any)};
  parameters.push_back(optional(
      "damping", ValueType::number, "kg/s",
      "beside a sum of terms: white friction D, so that the kernel is 2 D delta(t) and the sum", Bound::positive));
  for (Parameter& parameter : kernel_parameters()) parameters.push_back(std::move(parameter));
  parameters.push_back(temperature_parameter("kT of the thermal start, and of the noise of decaying terms"));
  parameters.push_back({.name = "quantum",
                        .type = ValueType::boolean,
                        .doc =
                            "whether decaying terms have the noise of a quantum bath, with the spectrum of the force 2 "
                            "Re g(i w) (hbar w/2) coth(hbar w/(2 kT)); its filter has 1024 steps, or as many up to "
                            "16384 as are needed for an error of at most 1e-4 of the spectrum",
                        .default_value = "false"});
  parameters.push_back(defaulted("hbar", ValueType::number, "J s", "1.054571817e-34",
                                 "reduced Planck constant in the units of the recipe", Bound::positive));
  return {
      {.name = "memory",
       .summary =
           "memory kernel on one particle (generalised Langevin equation): a Prony series, a formula, a table or a "
           "spectral density",
       .equation = "m q_a'' + V'(q_a) + integral_0^t gamma(t-s) q_a'(s) ds = 0\n"
                   "gamma(t) = sum_j exp(-rate_j t) (stiffness_j cos(frequency_j t) + sine_j sin(frequency_j t)),\n"
                   "or kernel, or (2/pi) integral_0^inf J(w)/w cos(w t) dw,  J = spectral_density",
       .source = "farshi2018, section 4.3, eq. (36); gragg1984 for chains; nakatsukasa2018 for exponentials",
       .keywords = {"prony", "prony series", "mori-zwanzig", "generalised langevin equation",
                    "generalized langevin equation", "gle", "coloured noise", "colored noise", "caldeira-leggett",
                    "spectral density", "debye relaxation", "maxwell element"},
       .parameters = std::move(parameters),
       .notes =
           "A Prony series represents the damper D = sum_j stiffness_j rate_j / (rate_j^2 + frequency_j^2), unless a "
           "term has neither rate nor frequency: that is a spring. Where terms decay, splittings apply the decay "
           "exactly in half steps before and after those of the particles: they then have order 2 at most, and "
           "compositions with negative substeps are refused, as is `lobatto` with more than two stages. The energy "
           "that the terms have dissipated is in the ledger. At a positive temperature every term has noise and starts "
           "from its Gibbs distribution: the force on a clamped particle has the autocorrelation kT gamma(t). With a "
           "`kT` "
           "that depends on t every term has a reservoir of its own at that temperature, which is a choice: other "
           "reservoirs with the same kernel give another motion. On "
           "linear systems `gamma` with 0.5 and `gauss` then have the Gibbs distribution at any step, "
           "`stoermer-verlet` that of the positions, and `gamma` with 0 and 1 that of the positions half a drift later "
           "or earlier. Terms that are passive only together have that noise from a filter with the poles of the "
           "kernel, the outer factor of 2 kT Re g(i w), under `gamma` with 0.5, `time-centred`, `gauss` and "
           "`stoermer-verlet`, with the same distributions. With `quantum`, which is for terms and for the "
           "exponentials of a kernel, particles of linear systems have the variances of quantum mechanics, under the "
           "midpoint rule at any step; elsewhere this is the quasi-classical Langevin equation, which is not the "
           "quantum mechanics of anharmonic motion. With `cosine` and `sine` instead of `stiffness` only the sum of "
           "the terms, with `damping`, has to be passive: energy_environment is then the work of the particle on them, "
           "and nothing is "
           "counted as dissipated (the exact flow separates the two). The springs of the terms contain the counter "
           "term: V is "
           "the potential of mean force, and programs that couple by s X without it have the potential V - gamma(0) "
           "s^2/2; `around` = 0 starts the terms as theirs do. A kernel or a spectral density is represented by "
           "one of three environments, with its errors in the group certificate of the results. A star is a bath of "
           "about w_max T/4 oscillators, the Gauss quadrature of the density, where w_max is its highest relevant "
           "frequency and T = horizon; a chain is the line of nonuniform sites with the same kernel, by the algorithm "
           "of Gragg and Harrod: both have no recurrence before T. Exponentials are ten to twenty terms for every "
           "power of ten of w_max T, at the poles of a rational approximation (AAA) of the kernel's transform on Re s "
           "= 1/T, with coefficients by least squares; the smallest damper that makes the sum passive is added as one "
           "more term, fast and real, if the tolerance allows it. A kernel with an echo has no short sum of "
           "exponentials. A kernel with noise is not passive: with fit = \"passive\" it is replaced by the nearest sum "
           "of "
           "decaying cosines with stiffnesses that are not negative, each with noise of its own; few terms suffice, as "
           "the fit ends within `tolerance`. All represent the damper D = J(w)/w at w = 0. Peaks of a density that are "
           "much narrower than "
           "1/T may be missed: give them as oscillators of a `heat-bath`. The certificate is for the kernel in "
           "continuous time, without the error of the integrator."},
      build_memory,
      is_noisy_memory,
      why_not_white,
      [](Section& section) {
        if (is_quantum(section)) section.set("quantum", false, section.where("quantum"));
      },
      [](const Section& section) { return section.has("damping"); }};
}

}  // namespace bathline
