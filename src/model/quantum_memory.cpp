// The march of a quantum memory adds a force that is drawn beforehand (model/quantum_noise) to what the modes do.
// Tested by tests/model/quantum_noise_test.cpp.
#include "model/quantum_memory.hpp"

#include <fmt/format.h>

#include "model/quantum_noise.hpp"

namespace bathline {

namespace {

class QuantumMemory final : public MemoryOfModes {
 public:
  QuantumMemory(std::string name, Attachment attachment, const std::vector<MemoryMode>& modes, double temperature,
                double hbar, double step, const Communicator& communicator)
      : MemoryOfModes(std::move(name), std::move(attachment), modes, 0.0, communicator),
        spectrum_(quantum_spectrum([modes](double w) { return resistance_at(modes, w); }, temperature, hbar)),
        kt_(temperature),
        step_(step) {}

  void prepare(const RandomKey& key) override {
    MemoryOfModes::prepare(key);
    state_.numbers.begin({key.seed, key.realisation, first_stream + key.stream});
    state_.steps = 0.0;
    state_.dissipated.assign(axes().size(), 0.0);
  }
  std::vector<StateField> fields() override {
    std::vector<StateField> fields = MemoryOfModes::fields();
    const bool is_here = communicator().is_root();
    fields.push_back({"steps", 0, 0, 1, {&state_.steps, is_here ? 1u : 0u}});
    double* const heat = state_.dissipated.data();
    for (int axis = 0; axis < attachment().axes(); ++axis) {
      fields.push_back({"heat", axis, 0, 1, {is_here ? heat + axis : nullptr, is_here ? 1u : 0u}});
    }
    return fields;
  }
  EnvironmentEnergy energy(std::span<const double> head) override {
    EnvironmentEnergy energy = MemoryOfModes::energy(head);
    double heat = 0.0;
    for (const double of_axis : state_.dissipated) heat += of_axis;
    communicator().broadcast(std::span<double>(&heat, 1));
    energy.dissipated += heat;
    return energy;
  }
  StepNumbers* noise() override { return &state_.numbers; }
  bool is_markovian() const override { return false; }
  bool is_classical() const override { return false; }
  std::unique_ptr<ImplicitMarch> implicit_march(const CollocationScheme& scheme, double h) override {
    return with_quantum_noise(MemoryOfModes::implicit_march(scheme, h), QuantumNoise(spectrum_, h), h, state_);
  }

 private:
  /// Behind the streams of other noise.
  static constexpr std::uint32_t first_stream = 0xC0000000U;

  EnvironmentFacts describe() const override {
    EnvironmentFacts facts = MemoryOfModes::describe();
    facts.temperature = kt_;
    return facts;
  }
  std::optional<std::string> own_obstacle(const Scheme& scheme) const override {
    const auto* stages = std::get_if<CollocationScheme>(&scheme);
    const bool is_midpoint =
        stages != nullptr && stages->stages() == 1 && stages->a == stages->a_hat && stages->a(0, 0) == 0.5;
    if (is_midpoint) {
      std::optional<std::string> why = why_forgotten();
      return why ? why : MemoryOfModes::own_obstacle(scheme);
    }
    return "and the quantum noise of `" + name() + "` is known for the midpoint rule alone; take `gamma` with 0.5";
  }

  /// Noise forgets what is too many steps away, and a mode that lasts longer would have another temperature.
  std::optional<std::string> why_forgotten() const {
    // By then a mode has come down to 5e-5. Variances were measured to be off by 1e-6, and by 4e-4 at half as much.
    constexpr double enough = 10.0, steps = static_cast<double>(QuantumNoise::reach);
    for (const MemoryMode& mode : modes()) {
      if (mode.r * step_ * steps >= enough) continue;
      return fmt::format(
          "and the quantum noise of `{}` remembers {} steps, which with {} s is less than its mode of rate {} lasts; "
          "take "
          "a step of {:.3g} s or more",
          name(), QuantumNoise::reach, step_, mode.r, 1.01 * enough / (steps * mode.r));
    }
    return std::nullopt;
  }

  std::function<double(double)> spectrum_;
  double kt_, step_;
  QuantumState state_;
};

}  // namespace

std::unique_ptr<Environment> make_quantum_memory(std::string name, Attachment attachment,
                                                 const std::vector<MemoryMode>& modes, double temperature, double hbar,
                                                 double step, const Communicator& communicator) {
  return std::make_unique<QuantumMemory>(std::move(name), std::move(attachment), modes, temperature, hbar, step,
                                         communicator);
}

}  // namespace bathline
