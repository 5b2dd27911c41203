// What a recipe says of a kernel or a density, what it must not say, and what is made of it.
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

/// Nothing where the numbers make no sense.
std::optional<BathAccuracy> read_accuracy(const Section& section, const RunTimes& run, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  // Sums of so many terms are known no better than that.
  constexpr double least = 1e-13, most = 1e-2;
  const BathAccuracy accuracy{section.number("tolerance"),
                              section.has("horizon") ? section.number("horizon") : run.end};
  if (accuracy.tolerance < least || accuracy.tolerance > most) {
    mistakes.add(section.where("tolerance"),
                 fmt::format("tolerance = {}: double precision can certify {} and more, and more than {} would be "
                             "another environment; take a number between these",
                             accuracy.tolerance, least, most));
  }
  if (accuracy.horizon < run.end * (1.0 - 1e-12)) {
    mistakes.add(
        section.where("horizon"),
        fmt::format("horizon = {}: the run ends at {}, and what the environment does later than `horizon` is not "
                    "known; take {} or more, or leave it out",
                    accuracy.horizon, run.end, run.end));
  }
  if (!(accuracy.horizon > 0.0)) throw UnreadableValue();
  return mistakes.count() > before ? std::nullopt : std::optional(accuracy);
}

/// What is wanted of a source, by which it is told from others.
struct KernelRequest {
  const KernelInput& source;
  BathAccuracy accuracy;
  double highest;

  std::string cache_key() const {
    return fmt::format("{}|{}|{}|{}|{}", source.key, accuracy.tolerance, accuracy.horizon, highest, source.cache_key);
  }
  /// Of a source that is a density itself.
  SpectralDensity density() const {
    return {.value = source.value,
            .kinks = source.kinks,
            .highest = source.kinks.empty() ? highest : std::min(highest, source.kinks.back())};
  }
};

/// A run builds its environments many times, and checks before it does: the last ones that were made are kept.
template <class Made, class Make>
std::shared_ptr<const Made> cached(const KernelRequest& wanted, const Make& make) {
  constexpr std::size_t most = 16;
  static std::map<std::string, std::shared_ptr<const Made>> all;
  const std::string cache_key = wanted.cache_key();
  if (const auto known = all.find(cache_key); known != all.end()) return known->second;
  if (all.size() >= most) all.clear();
  return all[cache_key] = std::make_shared<const Made>(make());
}

std::shared_ptr<const SpectralDensity> density_of(const KernelRequest& wanted) {
  return cached<SpectralDensity>(wanted, [&] {
    const KernelInput& source = wanted.source;
    return source.is_kernel() ? density_of_kernel(source.value, source.kinks, wanted.accuracy) : wanted.density();
  });
}

std::shared_ptr<const GaussRuleBath> bath_of(const KernelRequest& wanted) {
  return cached<GaussRuleBath>(wanted, [&] { return make_bath(*density_of(wanted), wanted.accuracy); });
}

std::shared_ptr<const ExponentialSum> exponentials_of(const KernelRequest& wanted) {
  return cached<ExponentialSum>(wanted, [&] {
    const KernelInput& source = wanted.source;
    return fit_exponentials(source.is_kernel() ? transform_kernel(source.value, source.kinks, wanted.accuracy)
                                               : transform_kernel(wanted.density(), wanted.accuracy),
                            wanted.accuracy);
  });
}

/// A representation and, where it was not asked for, why it is this one.
struct Representation {
  std::string kind, why = {};
};

/// The one that keeps the fewest numbers; throws UnsuitableFunction where there is none.
Representation cheapest_representation(const KernelRequest& wanted, const Section& memory) {
  if (is_quantum(memory)) return {"exponentials", "as quantum noise is of these alone"};
  // Whether there is noise has to be known before anything is fitted.
  if (memory.number("kT") > 0.0) {
    return {"star", "as nothing else was asked for, which is warm under every method"};
  }
  std::shared_ptr<const ExponentialSum> sum;
  std::string why_none;
  try {
    sum = exponentials_of(wanted);
  } catch (const TooManyExponentials& error) {
    why_none = error.what();
  }
  double oscillators = 0.0;
  try {
    oscillators = oscillators_for(*density_of(wanted), wanted.accuracy);
  } catch (const UnsuitableFunction& error) {
    if (sum == nullptr && dynamic_cast<const TooManyOscillators*>(&error) != nullptr) {
      throw UnsuitableFunction(why_none + ": allow for the error, as a star or a chain would be too large");
    }
    if (sum == nullptr) throw;
    return {"exponentials", "as nothing else was asked for: it has no star or chain of reasonable size"};
  }
  if (sum == nullptr) return {"star", "as nothing else was asked for and no short sum of exponentials is as good"};
  if (static_cast<double>(sum->modes.size()) < oscillators) {
    return {"exponentials",
            fmt::format("as nothing else was asked for: a star or a chain would take {:.0f}", oscillators)};
  }
  return {"star", fmt::format("as nothing else was asked for: there would be {} exponentials", sum->exponentials)};
}

}  // namespace

std::vector<Parameter> kernel_parameters() {
  return {
      {.name = "kernel",
       .type = ValueType::text,
       .units = "N/m",
       .doc = "gamma(t), a formula in `t` such as \"k*exp(-t^2/s^2)\"; it has to die down"},
      {.name = "kernel_file",
       .type = ValueType::text,
       .doc = "table of gamma(t): a time (s) from 0 on and a value (N/m) per line, with straight lines between them, "
              "down to 0; seen from the recipe's folder"},
      {.name = "spectral_density",
       .type = ValueType::text,
       .units = "N/m",
       .doc = "J(w), a formula in `w` such as \"D*w*exp(-w/c)\": gamma(t) = (2/pi) integral J(w)/w cos(w t) dw"},
      {.name = "spectral_density_file",
       .type = ValueType::text,
       .doc = "table of J(w): a frequency (rad/s) and a value (N/m) per line, with straight lines between them and "
              "from the origin, down to 0; seen from the recipe's folder"},
      formula_parameters(),
      {.name = "omega_max",
       .units = "rad/s",
       .doc = "the density is 0 beyond; left out, it goes on to where what is left is within `tolerance`",
       .bound = Bound::positive},
      {.name = "representation",
       .type = ValueType::text,
       .doc =
           "what stands for the kernel: a \"star\" of oscillators, as a `heat-bath`, a \"chain\" of unequal sites, as "
           "a line, or modes that decay, \"exponentials\"; left out, what keeps the fewest numbers within `tolerance`",
       .choices = {"star", "chain", "exponentials"}},
      {.name = "tolerance",
       .doc = "error of the kernel, integrated until `horizon`, relative to the integral of its absolute values",
       .default_value = "1e-8",
       .bound = Bound::positive},
      {.name = "horizon",
       .units = "s",
       .doc = "until when that has to hold; left out, the run's end",
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
  const std::optional<KernelInput> source = read_kernel_input(section, communicator, mistakes);
  const std::optional<BathAccuracy> accuracy = read_accuracy(section, run, mistakes);
  const double infinite = std::numeric_limits<double>::infinity();
  const double highest = section.has("omega_max") ? section.number("omega_max") : infinite;
  if (source && source->is_kernel() && highest < infinite) {
    mistakes.add(section.where("omega_max"), "`omega_max` ends a density; a kernel has no such end: leave it out");
  }
  Representation choice{section.has("representation") ? section.text("representation") : ""};
  if (is_quantum(section) && !choice.kind.empty() && choice.kind != "exponentials") {
    mistakes.add(section.where("representation"),
                 "quantum noise is of modes that decay: take \"exponentials\", or leave `quantum` out");
  }
  std::optional<Attachment> attachment = attachment_to_particle(section, system, mistakes);
  if (!source || !accuracy || !attachment || mistakes.count() > before) return nullptr;
  const KernelRequest wanted{*source, *accuracy, highest};
  try {
    if (choice.kind.empty()) choice = cheapest_representation(wanted, section);
    const std::string& name = section.text("name");
    BathOptions options{
        .horizon = accuracy->horizon, .temperature = section.number("kT"), .choice = choice.why, .noise = nullptr};
    if (choice.kind != "exponentials") {
      return (choice.kind == "chain" ? make_chain : make_star)(name, std::move(*attachment), bath_of(wanted), options,
                                                               communicator);
    }
    const std::shared_ptr<const ExponentialSum> sum = exponentials_of(wanted);
    options.noise = read_memory_bath(
        section, sum->modes, run.step,
        std::string("a damper that mends it would cost more than the `tolerance`: allow for more") +
            (is_quantum(section) ? "" : ", or take representation = \"star\", which is warm under every method"),
        mistakes);
    if (mistakes.count() > before) return nullptr;
    return make_exponential_memory(name, std::move(*attachment), sum, options, communicator);
  } catch (const TooManyExponentials& error) {
    mistakes.add(section.where(source->key),
                 fmt::format("{}: {}: allow for the error, or take representation = \"star\" or \"chain\"", source->key,
                             error.what()));
  } catch (const TooManyOscillators& error) {
    mistakes.add(section.where(source->key),
                 fmt::format("{}: {}; or take representation = \"exponentials\", which may do with a few", source->key,
                             error.what()));
  } catch (const UnsuitableFunction& error) {
    mistakes.add(section.where(source->key), fmt::format("{}: {}", source->key, error.what()));
  }
  return nullptr;
}

}  // namespace bathline
