// Reads kernels and densities from recipes, and builds their representations.
// Tested by tests/command_line/kernels_test.py.
// Tested by tests/command_line/exponentials_test.py.
#include "model/kernels/from_recipe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <exception>
#include <map>

#include "model/formula/scope.hpp"
#include "model/memory/from_recipe.hpp"
#include "model/kernels/certified_environments.hpp"
#include "model/kernels/adaptive_quadrature.hpp"
#include "model/kernels/kernel_input.hpp"
#include "model/kernels/passive_fit.hpp"

namespace bathline {

namespace {

/// Bounds of `tolerance`; the nearest passive kernel may be further away.
constexpr double min_kernel_tolerance = 1e-13, max_kernel_tolerance = 1e-2;

/// Nothing if the values are invalid.
std::optional<BathAccuracy> read_accuracy(const Section& section, const RunTimes& run, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  // The lower bound is the round-off of long sums.
  const double max_tolerance = section.has("fit") ? 1.0 : max_kernel_tolerance;
  const BathAccuracy accuracy{section.number("tolerance"),
                              section.has("horizon") ? section.number("horizon") : run.end};
  if (accuracy.tolerance < min_kernel_tolerance || accuracy.tolerance > max_tolerance) {
    mistakes.add(section.where("tolerance"),
                 fmt::format("tolerance = {}: must lie between {}, the limit of double precision, and {}",
                             accuracy.tolerance, min_kernel_tolerance, max_tolerance));
  }
  if (accuracy.horizon < run.end * (1.0 - 1e-12)) {
    mistakes.add(section.where("horizon"),
                 fmt::format("horizon = {}: must be at least {}, the end of the run; raise it or leave it out",
                             accuracy.horizon, run.end));
  }
  return mistakes.count() > before ? std::nullopt : std::optional(accuracy);
}

/// A kernel with the requested accuracy.
struct KernelRequest {
  KernelInput input;
  BathAccuracy accuracy;
  double highest;
  bool is_passive_fit = false;

  std::string cache_key() const {
    return fmt::format("{}|{}|{}|{}|{}|{}", input.key, accuracy.tolerance, accuracy.horizon, highest, is_passive_fit,
                       input.cache_key);
  }
  /// The density, if the input is one.
  SpectralDensity density() const {
    return {.value = input.value,
            .kinks = input.kinks,
            .highest = input.kinks.empty() ? highest : std::min(highest, input.kinks.back())};
  }
};

/// Caches the last results, failures included, since checks and runs build the same environments several times.
template <class Made, class Make>
std::shared_ptr<const Made> cached(const KernelRequest& request, const Make& make) {
  struct Entry {
    std::shared_ptr<const Made> made;
    std::exception_ptr failure;
  };
  constexpr std::size_t max_entries = 32;
  static std::map<std::string, Entry> entries;
  const std::string cache_key = request.cache_key();
  auto entry = entries.find(cache_key);
  if (entry == entries.end()) {
    if (entries.size() >= max_entries) entries.clear();
    entry = entries.emplace(cache_key, Entry()).first;
    try {
      entry->second.made = std::make_shared<const Made>(make());
    } catch (const UnsuitableFunction&) {
      entry->second.failure = std::current_exception();
    }
  }
  if (entry->second.failure) std::rethrow_exception(entry->second.failure);
  return entry->second.made;
}

std::shared_ptr<const SpectralDensity> density_of(const KernelRequest& request) {
  return cached<SpectralDensity>(request, [&] {
    const KernelInput& input = request.input;
    return input.is_kernel() ? density_of_kernel(input.value, input.kinks, request.accuracy) : request.density();
  });
}

std::shared_ptr<const GaussRuleBath> bath_of(const KernelRequest& request) {
  return cached<GaussRuleBath>(request, [&] { return make_bath(*density_of(request), request.accuracy); });
}

std::shared_ptr<const ExponentialSum> exponentials_of(const KernelRequest& request) {
  return cached<ExponentialSum>(request, [&] {
    const KernelInput& input = request.input;
    if (request.is_passive_fit) return fit_passive(input.value, input.kinks, request.accuracy);
    return fit_exponentials(input.is_kernel() ? transform_kernel(input.value, input.kinks, request.accuracy)
                                              : transform_kernel(request.density(), request.accuracy),
                            request.accuracy);
  });
}

/// Throws UnsuitableFunction if a table of a kernel does not end with 0; its nearest passive kernel does not need that.
void require_complete(const KernelRequest& request) {
  const KernelInput& input = request.input;
  if (input.last_fraction <= request.accuracy.tolerance) return;
  throw UnsuitableFunction(fmt::format("it ends with {} at t = {}; continue the table until the value is 0",
                                       input.value(input.kinks.back()), input.kinks.back()));
}

/// The number of oscillators of a star.
double star_size(const KernelRequest& request) {
  require_complete(request);
  return oscillators_for(*density_of(request), request.accuracy);
}

/// The exponentials with the noise that the memory asks for.
struct NoisyExponentials {
  std::shared_ptr<const ExponentialSum> sum;
  std::shared_ptr<const MemoryBath> noise;
};

NoisyExponentials noisy_exponentials(const KernelRequest& request, const Section& memory, double step) {
  if (!request.is_passive_fit) require_complete(request);
  NoisyExponentials result{exponentials_of(request), nullptr};
  result.noise = make_memory_bath(memory, result.sum->modes, step);
  return result;
}

/// Whether `make` finds a representation.
template <class Make>
bool is_possible(const Make& make) {
  try {
    make();
    return true;
  } catch (const UnsuitableFunction&) {
    return false;
  }
}

/// A representation and, if it was not requested, the reason for it.
struct Representation {
  std::string kind, reason = {};
};

/// The representation with the fewest numbers, and with the noise that is needed; throws UnsuitableFunction if there is
/// none.
Representation cheapest_representation(const KernelRequest& request, const Section& memory, double step) {
  if (request.is_passive_fit) return {"exponentials"};
  if (is_quantum(memory)) return {"exponentials", "since quantum noise needs exponentials"};
  double oscillators = 0.0;
  std::string no_star, no_exponentials;
  bool is_too_large = false;  // by either
  try {
    oscillators = star_size(request);
    if (memory.number("kT") > 0.0) return {"star", "by default, since a star is warm under every method"};
  } catch (const UnsuitableFunction& error) {
    no_star = error.what();
    is_too_large = dynamic_cast<const TooManyOscillators*>(&error) != nullptr;
  }
  NoisyExponentials exponentials;
  try {
    exponentials = noisy_exponentials(request, memory, step);
  } catch (const UnsuitableFunction& error) {
    no_exponentials = error.what();
    is_too_large = is_too_large || dynamic_cast<const TooManyExponentials*>(&error) != nullptr;
  }
  if (!no_star.empty() && !no_exponentials.empty()) {
    // What is wrong with the function itself is said once.
    if (!is_too_large || no_star == no_exponentials) throw UnsuitableFunction(no_star);
    throw UnsuitableFunction(fmt::format("{}; as a star or a chain {}", no_exponentials, no_star));
  }
  if (!no_star.empty()) return {"exponentials", "by default, since a star or chain would be too large"};
  if (!no_exponentials.empty()) return {"star", "by default, since there is no short sum of exponentials"};
  if (static_cast<double>(exponentials.sum->modes.size()) < oscillators) {
    return {"exponentials", fmt::format("by default, since a star or a chain needs {:.0f} parts", oscillators)};
  }
  return {"star", fmt::format("by default, since exponentials would be {}", exponentials.sum->exponentials)};
}

/// Whether a representation of this kind, or any if it is empty, is possible.
bool is_representable(const KernelRequest& request, const std::string& kind, const Section& memory, double step) {
  const bool may_be_star = kind != "exponentials" && !is_quantum(memory);
  if (may_be_star && is_possible([&] { star_size(request); })) return true;
  const bool may_be_sum = kind.empty() || kind == "exponentials";
  return may_be_sum && is_possible([&] { noisy_exponentials(request, memory, step); });
}

/// The changes that make a kernel representable that is not, each tried before, as the end of a message.
std::string remedies(const KernelRequest& request, const std::string& kind, const Section& memory,
                     const RunTimes& run) {
  std::vector<std::string> changes;
  const bool is_star = kind == "star" || kind == "chain";
  if (is_star && is_representable(request, "exponentials", memory, run.step)) {
    changes.emplace_back("representation = \"exponentials\"");
  }
  if (kind == "exponentials" && is_representable(request, "star", memory, run.step)) {
    changes.emplace_back("representation = \"star\" or \"chain\"");
  }
  if (!request.is_passive_fit) {
    double sufficient = 0.0;
    for (double tolerance = max_kernel_tolerance; tolerance > request.accuracy.tolerance; tolerance *= 0.1) {
      KernelRequest looser = request;
      looser.accuracy.tolerance = tolerance;
      if (!is_representable(looser, kind, memory, run.step)) break;
      sufficient = tolerance;
    }
    if (sufficient > 0.0) changes.push_back(fmt::format("tolerance = {:.0e}", sufficient));
  }
  KernelRequest shorter = request;
  shorter.accuracy.horizon = run.end;
  if (request.accuracy.horizon > run.end && is_representable(shorter, kind, memory, run.step)) {
    changes.push_back(fmt::format("horizon = {:.6g}, the end of the run", run.end));
  }
  if (changes.empty() && request.input.is_kernel()) {
    KernelRequest nearest = request;
    nearest.is_passive_fit = true;
    nearest.accuracy.tolerance = min_kernel_tolerance;
    const char* const change = request.is_passive_fit ? "" : "fit = \"passive\" and ";
    const char* const representation = is_star ? "representation = \"exponentials\", " : "";
    constexpr double max_distance = 0.5;  // beyond, the nearest kernel is another one
    try {
      exponentials_of(nearest);
    } catch (const TooFarFromPassive& error) {
      if (error.sufficient_tolerance <= max_distance) {
        changes.push_back(fmt::format("{}{}tolerance = {:.2g}, which gives the nearest passive kernel", representation,
                                      change, error.sufficient_tolerance));
      }
    } catch (const UnsuitableFunction&) {
    }
  }
  const bool is_incomplete = request.input.last_fraction > request.accuracy.tolerance && !request.is_passive_fit;
  return changes.empty() ? "" : fmt::format("{} {}", is_incomplete ? ", or use" : "; use", fmt::join(changes, ", or "));
}

}  // namespace

std::vector<Parameter> kernel_parameters() {
  return {
      optional("kernel", ValueType::text, "N/m",
               "gamma(t), a formula in `t` such as \"k*exp(-t^2/s^2)\"; it has to decay"),
      optional("kernel_file", ValueType::text, "",
               "table of gamma(t): a time (s) from 0 on and a value (N/m) per line, interpolated linearly, down to "
               "0; relative to the folder of the recipe"),
      optional("spectral_density", ValueType::text, "N/m",
               "J(w), a formula in `w` such as \"D*w*exp(-w/c)\": gamma(t) = (2/pi) integral J(w)/w cos(w t) dw"),
      optional("spectral_density_file", ValueType::text, "",
               "table of J(w): a frequency (rad/s) and a value (N/m) per line, interpolated linearly from the "
               "origin on, down to 0; relative to the folder of the recipe"),
      optional("omega_max", ValueType::number, "rad/s",
               "frequency above which the density is 0; default: the frequency above which it is within `tolerance`",
               Bound::positive),
      choice("representation", {"star", "chain", "exponentials"},
             "representation of the kernel: a \"star\" of oscillators, as a `heat-bath`, a \"chain\" of unequal "
             "sites, as a line, or decaying \"exponentials\" (Prony series); default: that with the fewest "
             "numbers within `tolerance`"),
      choice("fit", {"passive"},
             "for a `kernel` or `kernel_file` that is not passive, as measured ones with noise: the nearest "
             "\"passive\" kernel, a sum of decaying cosines with stiffnesses that are not negative, at most "
             "`tolerance` away"),
      defaulted("tolerance", ValueType::number, "", "1e-8",
                "error of the kernel, integrated until `horizon`, relative to the integral of its absolute values",
                Bound::positive),
      optional("horizon", ValueType::number, "s",
               "time until which the kernel is within `tolerance`; default: the end of the run", Bound::positive)};
}

std::vector<std::string> kernel_keys(const Section& section) {
  std::vector<std::string> keys;
  for (const char* key : kernel_input_keys) {
    if (section.has(key)) keys.emplace_back(key);
  }
  for (const char* key : {"omega_max", "representation", "fit", "horizon"}) {
    if (section.has(key)) keys.emplace_back(key);
  }
  return keys;
}

std::unique_ptr<Environment> build_from_kernel(const Section& section, const ParticleSystem& system,
                                               const RunTimes& run, const Communicator& communicator,
                                               Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  const std::optional<KernelInput> input = read_kernel_input(section, communicator, mistakes);
  const std::optional<BathAccuracy> accuracy = read_accuracy(section, run, mistakes);
  const double infinite = std::numeric_limits<double>::infinity();
  const double highest = section.has("omega_max") ? section.number("omega_max") : infinite;
  if (input && input->is_kernel() && highest < infinite) {
    mistakes.add(section.where("omega_max"), "`omega_max` is the end of a density; leave it out for a kernel");
  }
  Representation choice{section.has("representation") ? section.text("representation") : ""};
  const bool is_star = choice.kind == "star" || choice.kind == "chain";
  if (is_quantum(section) && is_star) {
    mistakes.add(section.where("representation"),
                 "quantum noise needs representation = \"exponentials\"; change it, or leave out `quantum`");
  }
  if (section.has("fit") && is_star) {
    mistakes.add(section.where("representation"),
                 "fit = \"passive\" is a sum of exponentials; leave out `representation` or `fit`");
  }
  if (section.has("fit") && input && !input->is_kernel()) {
    mistakes.add(section.where("fit"),
                 "`fit` is for a `kernel` or `kernel_file`; leave it out for a density, and set negative values to 0");
  }
  std::optional<Attachment> attachment = read_attachment(section, system, mistakes);
  if (!input || !accuracy || !attachment || mistakes.count() > before) return nullptr;
  const KernelRequest request{*input, *accuracy, highest, section.has("fit")};
  try {
    if (choice.kind.empty()) choice = cheapest_representation(request, section, run.step);
    const std::string& name = section.text("name");
    BathOptions options{.horizon = accuracy->horizon, .temperature = section.number("kT"), .choice = choice.reason};
    if (choice.kind != "exponentials") {
      star_size(request);
      return (choice.kind == "chain" ? make_chain : make_star)(name, std::move(*attachment), bath_of(request), options,
                                                               communicator);
    }
    const NoisyExponentials exponentials = noisy_exponentials(request, section, run.step);
    options.noise = exponentials.noise;
    options.is_passive_fit = request.is_passive_fit;
    options.has_star = [request] { return !request.is_passive_fit && is_possible([&] { star_size(request); }); };
    return make_exponential_memory(name, std::move(*attachment), exponentials.sum, options, communicator);
  } catch (const UnsuitableFunction& error) {
    mistakes.add(section.where(input->key),
                 fmt::format("{}: {}{}", input->key, error.what(),
                             remedies(request, section.has("representation") ? choice.kind : "", section, run)));
  }
  return nullptr;
}

}  // namespace bathline
