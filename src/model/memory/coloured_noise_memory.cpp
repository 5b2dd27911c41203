// The stepper of such a memory adds a separate random force (random_force.hpp) to that of the modes.
// Tested by tests/model/memory/coloured_noise_memory_test.cpp.
// Tested by tests/model/thermal/quantum_noise_test.cpp.
#include "model/memory/coloured_noise_memory.hpp"

#include <fmt/format.h>

#include <numeric>

#include "model/semi_infinite_line/keyed_cache.hpp"
#include "model/semi_infinite_line/scheme_kernel.hpp"
#include "model/memory/coloured_noise.hpp"
#include "model/memory/minimum_phase_factor.hpp"
#include "model/thermal/quantum_noise.hpp"

namespace bathline {

std::shared_ptr<const MemoryBath> make_classical_bath(std::vector<PronyTerm> modes, double temperature,
                                                      double damping) {
  const double error = minimum_phase_factor(modes, damping).error;
  const auto unsupported_reason = [=](const Scheme& scheme, const std::string& name) -> std::optional<std::string> {
    if (damping > 0.0 && !is_midpoint(scheme)) {
      return "the noise of `" + name +
             "`, whose modes are passive only with its `damping`, is supported by the midpoint rule only";
    }
    if (supports_coloured_noise(scheme)) return std::nullopt;
    return "the noise of `" + name +
           "`, whose modes are passive only together, is supported by `gauss`, `gamma` with 0.5 and symmetric "
           "splittings";
  };
  return std::make_shared<const MemoryBath>(MemoryBath{
      .temperature = temperature,
      .damping = damping,
      .error = [error] { return error; },
      .unsupported_reason = unsupported_reason,
      .force =
          [=, modes = std::move(modes)](const Scheme& scheme, double h) {
            return std::make_unique<FilteredForce>(make_memory_noise(modes, scheme, h, temperature, damping));
          }});
}

std::shared_ptr<const MemoryBath> make_quantum_bath(std::vector<PronyTerm> modes, double temperature, double hbar,
                                                    double step) {
  const auto friction = [modes = std::move(modes)](double w) { return resistance_at(modes, w); };
  const auto noise_for = [spectrum = quantum_spectrum(friction, temperature, hbar),
                          cache = std::make_shared<KeyedCache<double, QuantumNoise>>()](double h) {
    return cache->get_or_make(h, [&] { return QuantumNoise(spectrum, h); });
  };
  const auto unsupported_reason = [=](const Scheme& scheme, const std::string& name) -> std::optional<std::string> {
    if (!is_midpoint(scheme)) {
      return "the quantum noise of `" + name + "` is supported by the midpoint rule only";
    }
    const QuantumNoise& noise = *noise_for(step);
    if (noise.truncation_error() <= QuantumNoise::max_truncation_error) return std::nullopt;
    return fmt::format(
        "the quantum noise of `{}` has correlations over at most {} steps, which for a step of {} s leaves a "
        "relative error of {:.1e} in its spectrum, above {:.0e}; use a longer step, or modes that decay faster",
        name, noise.reach(), step, noise.truncation_error(), QuantumNoise::max_truncation_error);
  };
  return std::make_shared<const MemoryBath>(
      MemoryBath{.temperature = temperature,
                 .is_classical = false,
                 .error = [=] { return noise_for(step)->error(); },
                 .unsupported_reason = unsupported_reason,
                 .force = [=](const Scheme&, double h) { return make_quantum_force(noise_for(h)); }});
}

void ColouredNoiseMemory::prepare(const RngKey& key) {
  PronyMemory::prepare(key);
  key_ = key;
  heat_.assign(axes().size(), 0.0);
  if (force_) force_->begin(numbers_, key_, axes().size());
}

std::vector<StateField> ColouredNoiseMemory::fields() {
  std::vector<StateField> fields = PronyMemory::fields();
  const bool is_here = communicator().is_root();
  for (int axis = 0; axis < attachment().axes(); ++axis) {
    double* const heat = is_here ? &heat_[static_cast<std::size_t>(axis)] : nullptr;
    fields.push_back({"heat", axis, 0, 1, {heat, is_here ? 1u : 0u}});
  }
  if (!force_) return fields;
  for (StateField& field : force_->fields(attachment().axes(), is_here)) fields.push_back(std::move(field));
  return fields;
}

EnvironmentEnergy ColouredNoiseMemory::energy(std::span<const double> head) {
  EnvironmentEnergy energy = PronyMemory::energy(head);
  double heat = std::accumulate(heat_.begin(), heat_.end(), 0.0);
  communicator().broadcast(std::span<double>(&heat, 1));
  energy.dissipated += heat;
  return energy;
}

void ColouredNoiseMemory::force(std::span<const double> head, std::span<double> force) const {
  PronyMemory::force(head, force);
  if (!force_) return;
  for (std::size_t axis = 0; axis < heat_.size(); ++axis) force[axis] += force_->between_steps(axis);
}

std::optional<AnalyticKernel> ColouredNoiseMemory::analytic_kernel(std::span<const double> times) const {
  std::optional<AnalyticKernel> kernel = PronyMemory::analytic_kernel(times);
  if (kernel) kernel->random_force.clear();
  return kernel;
}

std::unique_ptr<ExplicitEnvironmentStepper> ColouredNoiseMemory::explicit_stepper(const ExplicitScheme& scheme,
                                                                                  double h) {
  return with_random_force(PronyMemory::explicit_stepper(scheme, h), scheme, h, force_for(scheme, h), heat_);
}

std::unique_ptr<ImplicitEnvironmentStepper> ColouredNoiseMemory::implicit_stepper(const PartitionedRungeKutta& scheme,
                                                                                  double h) {
  return with_random_force(PronyMemory::implicit_stepper(scheme, h), scheme, h, force_for(scheme, h), heat_);
}

const std::shared_ptr<RandomForce>& ColouredNoiseMemory::force_for(const Scheme& scheme, double h) {
  const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme);
  const std::tuple scheme_key(scheme.index(), stages == nullptr ? 0 : stages->stages(), h);
  if (force_ && force_key_ == scheme_key) return force_;
  force_ = bath_->force(scheme, h);
  force_key_ = scheme_key;
  force_->begin(numbers_, key_, axes().size());
  return force_;
}

EnvironmentProperties ColouredNoiseMemory::describe() const {
  EnvironmentProperties properties = PronyMemory::describe();
  properties.temperature = bath_->temperature;
  properties.white_temperature = 0.0;  // the random force contains it
  return properties;
}

std::optional<std::string> ColouredNoiseMemory::own_unsupported_reason(const Scheme& scheme) const {
  const std::optional<std::string> reason = bath_->unsupported_reason(scheme, name());
  return reason ? reason : PronyMemory::own_unsupported_reason(scheme);
}

}  // namespace bathline
