// A memory whose noise is not the sum of independent noises of its modes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "model/memory/prony_memory.hpp"
#include "model/thermal/random_force.hpp"

namespace bathline {

/// The bath of a memory: the source of its random force.
struct MemoryBath {
  double temperature;    ///< kT, J
  double damping = 0.0;  ///< of the white friction whose noise is a part of the force, kg/s
  bool is_classical = true;
  /// The largest error of the force's spectrum, over its largest value.
  std::function<double()> error;
  /// Why the memory `name` has no such force under a scheme, as the end of a sentence that begins with the scheme's
  /// name.
  std::function<std::optional<std::string>(const Scheme& scheme, const std::string& name)> unsupported_reason;
  std::function<std::unique_ptr<RandomForce>(const Scheme& scheme, double h)> force;
};

/// A classical bath at `temperature`, kT in J, of modes that all decay and a damper, kg/s. Throws UnsuitableFunction if
/// their sum is not passive.
std::shared_ptr<const MemoryBath> make_classical_bath(std::vector<PronyTerm> modes, double temperature,
                                                      double damping = 0.0);
/// A quantum bath, for the midpoint rule: `hbar` is in J s, and `step`, in s, is the one for which the truncation of
/// the noise is checked.
std::shared_ptr<const MemoryBath> make_quantum_bath(std::vector<PronyTerm> modes, double temperature, double hbar,
                                                    double step);

/// Modes that start at rest, and the random force of a bath on their head, whose heat balances what they dissipate.
class ColouredNoiseMemory : public PronyMemory {
 public:
  ColouredNoiseMemory(std::string name, Attachment attachment, const std::vector<PronyTerm>& modes,
                      std::shared_ptr<const MemoryBath> bath, const Communicator& communicator)
      : PronyMemory(std::move(name), std::move(attachment), modes, 0.0, communicator, bath->damping),
        bath_(std::move(bath)) {}

  void prepare(const RngKey& key) override;
  std::vector<StateField> fields() override;
  EnvironmentEnergy energy(std::span<const double> head) override;
  void force(std::span<const double> head, std::span<double> force) const override;
  std::optional<AnalyticKernel> analytic_kernel(std::span<const double> times) const override;
  std::unique_ptr<ExplicitEnvironmentStepper> explicit_stepper(const ExplicitScheme& scheme, double h) override;
  std::unique_ptr<ImplicitEnvironmentStepper> implicit_stepper(const PartitionedRungeKutta& scheme, double h) override;

  NoiseStream* noise() override { return &numbers_; }
  bool is_markovian() const override { return false; }
  bool is_classical() const override { return bath_->is_classical; }

 protected:
  EnvironmentProperties describe() const override;
  std::optional<std::string> own_unsupported_reason(const Scheme& scheme) const override;

 private:
  /// The random force for a scheme; it continues if it is the current one.
  const std::shared_ptr<RandomForce>& force_for(const Scheme& scheme, double h);

  std::shared_ptr<const MemoryBath> bath_;
  RngKey key_;
  NoiseStream numbers_;
  // For the scheme of the last stepper, identified by its kind, stages and step.
  std::shared_ptr<RandomForce> force_;
  std::tuple<std::size_t, int, double> force_key_;
  std::vector<double> heat_;  // minus the work of the random force, by axis
};

}  // namespace bathline
