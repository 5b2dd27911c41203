// Reads kernels and densities from recipes, and builds their representations.
// Tested by tests/command_line/kernels_test.py.
// Tested by tests/command_line/exponentials_test.py.
#include "model/kernels/from_recipe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

#include "model/formula/scope.hpp"
#include "model/memory/from_recipe.hpp"
#include "model/kernels/certified_environments.hpp"
#include "model/kernels/adaptive_quadrature.hpp"
#include "model/kernels/kernel_input.hpp"

namespace bathline {

namespace {

/// Nothing if the values are invalid.
std::optional<BathAccuracy> read_accuracy(const Section& section, const RunTimes& run, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  // The lower bound is the round-off of long sums.
  constexpr double min_tolerance = 1e-13, max_tolerance = 1e-2;
  const BathAccuracy accuracy{section.number("tolerance"),
                              section.has("horizon") ? section.number("horizon") : run.end};
  if (accuracy.tolerance < min_tolerance || accuracy.tolerance > max_tolerance) {
    mistakes.add(section.where("tolerance"),
                 fmt::format("tolerance = {}: must lie between {}, the limit of double precision, and {}",
                             accuracy.tolerance, min_tolerance, max_tolerance));
  }
  if (accuracy.horizon < run.end * (1.0 - 1e-12)) {
    mistakes.add(section.where("horizon"),
                 fmt::format("horizon = {}: must be at least {}, the end of the run; raise it or leave it out",
                             accuracy.horizon, run.end));
  }
  if (!(accuracy.horizon > 0.0)) throw UnreadableValue();
  return mistakes.count() > before ? std::nullopt : std::optional(accuracy);
}

/// A kernel with the requested accuracy.
struct KernelRequest {
  const KernelInput& input;
  BathAccuracy accuracy;
  double highest;

  std::string cache_key() const {
    return fmt::format("{}|{}|{}|{}|{}", input.key, accuracy.tolerance, accuracy.horizon, highest, input.cache_key);
  }
  /// The density, if the input is one.
  SpectralDensity density() const {
    return {.value = input.value,
            .kinks = input.kinks,
            .highest = input.kinks.empty() ? highest : std::min(highest, input.kinks.back())};
  }
};

/// Caches the last results, since checks and runs build the same environments several times.
template <class Made, class Make>
std::shared_ptr<const Made> cached(const KernelRequest& request, const Make& make) {
  constexpr std::size_t max_entries = 16;
  static std::map<std::string, std::shared_ptr<const Made>> entries;
  const std::string cache_key = request.cache_key();
  if (const auto entry = entries.find(cache_key); entry != entries.end()) return entry->second;
  if (entries.size() >= max_entries) entries.clear();
  return entries[cache_key] = std::make_shared<const Made>(make());
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
    return fit_exponentials(input.is_kernel() ? transform_kernel(input.value, input.kinks, request.accuracy)
                                              : transform_kernel(request.density(), request.accuracy),
                            request.accuracy);
  });
}

/// A representation and, if it was not requested, the reason for it.
struct Representation {
  std::string kind, reason = {};
};

/// The representation with the fewest numbers; throws UnsuitableFunction if there is none.
Representation cheapest_representation(const KernelRequest& request, const Section& memory) {
  if (is_quantum(memory)) return {"exponentials", "since quantum noise needs exponentials"};
  // The noise is decided before the fit.
  if (memory.number("kT") > 0.0) {
    return {"star", "by default, since a star is warm under every method"};
  }
  std::shared_ptr<const ExponentialSum> sum;
  std::string no_exponentials;
  try {
    sum = exponentials_of(request);
  } catch (const TooManyExponentials& error) {
    no_exponentials = error.what();
  }
  double oscillators = 0.0;
  try {
    oscillators = oscillators_for(*density_of(request), request.accuracy);
  } catch (const UnsuitableFunction& error) {
    if (sum == nullptr && dynamic_cast<const TooManyOscillators*>(&error) != nullptr) {
      throw UnsuitableFunction(no_exponentials + "; raise the `tolerance`, since a star or a chain would be too large");
    }
    if (sum == nullptr) throw;
    return {"exponentials", "by default, since a star or chain would be too large"};
  }
  if (sum == nullptr) return {"star", "by default, since there is no short sum of exponentials"};
  if (static_cast<double>(sum->modes.size()) < oscillators) {
    return {"exponentials", fmt::format("by default, since a star or a chain needs {:.0f} parts", oscillators)};
  }
  return {"star", fmt::format("by default, since exponentials would be {}", sum->exponentials)};
}

}  // namespace

std::vector<Parameter> kernel_parameters() {
  return {{.name = "kernel",
           .type = ValueType::text,
           .units = "N/m",
           .doc = "gamma(t), a formula in `t` such as \"k*exp(-t^2/s^2)\"; it has to decay"},
          {.name = "kernel_file",
           .type = ValueType::text,
           .doc = "table of gamma(t): a time (s) from 0 on and a value (N/m) per line, interpolated linearly, down to "
                  "0; relative to the folder of the recipe"},
          {.name = "spectral_density",
           .type = ValueType::text,
           .units = "N/m",
           .doc = "J(w), a formula in `w` such as \"D*w*exp(-w/c)\": gamma(t) = (2/pi) integral J(w)/w cos(w t) dw"},
          {.name = "spectral_density_file",
           .type = ValueType::text,
           .doc = "table of J(w): a frequency (rad/s) and a value (N/m) per line, interpolated linearly from the "
                  "origin on, down to 0; relative to the folder of the recipe"},
          formula_parameters(),
          {.name = "omega_max",
           .units = "rad/s",
           .doc = "frequency above which the density is 0; default: the frequency above which it is within `tolerance`",
           .bound = Bound::positive},
          {.name = "representation",
           .type = ValueType::text,
           .doc = "representation of the kernel: a \"star\" of oscillators, as a `heat-bath`, a \"chain\" of unequal "
                  "sites, as a line, or decaying \"exponentials\" (Prony series); default: that with the fewest "
                  "numbers within `tolerance`",
           .choices = {"star", "chain", "exponentials"}},
          {.name = "tolerance",
           .doc = "error of the kernel, integrated until `horizon`, relative to the integral of its absolute values",
           .default_value = "1e-8",
           .bound = Bound::positive},
          {.name = "horizon",
           .units = "s",
           .doc = "time until which the kernel is within `tolerance`; default: the end of the run",
           .bound = Bound::positive}};
}

std::vector<std::string> kernel_keys(const Section& section) {
  std::vector<std::string> keys;
  for (const char* key : kernel_input_keys) {
    if (section.has(key)) keys.emplace_back(key);
  }
  for (const char* key : {"parameters", "omega_max", "representation", "horizon"}) {
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
  if (is_quantum(section) && !choice.kind.empty() && choice.kind != "exponentials") {
    mistakes.add(section.where("representation"),
                 "quantum noise needs representation = \"exponentials\"; change it, or leave out `quantum`");
  }
  std::optional<Attachment> attachment = attachment_to_particle(section, system, mistakes);
  if (!input || !accuracy || !attachment || mistakes.count() > before) return nullptr;
  const KernelRequest request{*input, *accuracy, highest};
  try {
    if (choice.kind.empty()) choice = cheapest_representation(request, section);
    const std::string& name = section.text("name");
    BathOptions options{
        .horizon = accuracy->horizon, .temperature = section.number("kT"), .choice = choice.reason, .noise = nullptr};
    if (choice.kind != "exponentials") {
      return (choice.kind == "chain" ? make_chain : make_star)(name, std::move(*attachment), bath_of(request), options,
                                                               communicator);
    }
    const std::shared_ptr<const ExponentialSum> sum = exponentials_of(request);
    options.noise = read_memory_bath(
        section, sum->modes, run.step,
        std::string("a damper that compensates it would exceed the `tolerance`: raise it") +
            (is_quantum(section) ? "" : ", or use representation = \"star\", which is warm under every method"),
        mistakes);
    if (mistakes.count() > before) return nullptr;
    return make_exponential_memory(name, std::move(*attachment), sum, options, communicator);
  } catch (const TooManyExponentials& error) {
    mistakes.add(section.where(input->key),
                 fmt::format("{}: {}; raise the `tolerance`, or use representation = \"star\" or \"chain\"", input->key,
                             error.what()));
  } catch (const TooManyOscillators& error) {
    mistakes.add(section.where(input->key),
                 fmt::format("{}: {}, or use representation = \"exponentials\", which may need fewer numbers",
                             input->key, error.what()));
  } catch (const UnsuitableFunction& error) {
    mistakes.add(section.where(input->key), fmt::format("{}: {}", input->key, error.what()));
  }
  return nullptr;
}

}  // namespace bathline
