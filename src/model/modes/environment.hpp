// Independent modes around one head.
#pragma once

#include "model/environment.hpp"
#include "model/modes/state.hpp"

namespace bathline {

/// Modes distributed over the ranks, in leaves whose sums do not depend on their number.
class ModesEnvironment : public Environment {
 public:
  /// `temperature` is kT of the start, J; `steps_per_pass` steps of a splitting are taken in one pass over the modes.
  ModesEnvironment(std::string name, Attachment attachment, ModeTable table, double temperature, int steps_per_pass,
                   const Communicator& communicator)
      : Environment(std::move(name), std::move(attachment), communicator),
        state_(std::move(table), Environment::attachment().axes(), communicator),
        temperature_(temperature),
        steps_per_pass_(steps_per_pass) {}

  std::int64_t bytes(const Scheme& scheme) const override;
  void prepare(const RngKey& key) override;
  std::vector<StateField> fields() override;
  void fields_changed() override { state_.refresh_pull(); }
  EnvironmentEnergy energy(std::span<const double> head) override;
  void force(std::span<const double> head, std::span<double> force) const override;
  std::unique_ptr<ExplicitEnvironmentStepper> explicit_stepper(const ExplicitScheme& scheme, double h) override;
  std::unique_ptr<ImplicitEnvironmentStepper> implicit_stepper(const PartitionedRungeKutta& scheme, double h) override;

 protected:
  double temperature() const { return temperature_; }
  const ModesState& state() const { return state_; }

 private:
  ModesState state_;
  double temperature_;
  int steps_per_pass_;
};

}  // namespace bathline
