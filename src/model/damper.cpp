// The environment `damper` of recipes: white friction with its noise, for closed runs as for open ones.
//
// Source: weiss2012, section 2, for the strength of the noise; leimkuhler2013 and gronbech2013 for methods.
// Tested by tests/model/damper_test.cpp and tests/study/covariance_test.cpp.
#include <algorithm>
#include <stdexcept>

#include "model/environment_catalogue.hpp"
#include "model/thermal/temperature_in_time.hpp"

namespace bathline {

namespace {

/// It has no state: the particles' damping matrix and noise contain it (Problem).
class Damper final : public Environment {
 public:
  Damper(std::string name, Attachment attachment, double damping, double temperature,
         std::shared_ptr<const TemperatureInTime> in_time, const Communicator& communicator)
      : Environment(std::move(name), std::move(attachment), communicator),
        damping_(damping),
        temperature_(temperature),
        in_time_(std::move(in_time)) {}

  std::int64_t bytes(const Scheme&) const override { return 0; }
  LumpedNetwork assemble(std::int64_t) const override { return {}; }
  void prepare(const RngKey&) override {}
  std::vector<StateField> fields() override { return {}; }
  EnvironmentEnergy energy(std::span<const double>) override { return {}; }
  void force(std::span<const double>, std::span<double> force) const override {
    std::fill(force.begin(), force.end(), 0.0);
  }
  std::unique_ptr<ExplicitEnvironmentStepper> explicit_stepper(const ExplicitScheme&, double) override { refuse(); }
  std::unique_ptr<ImplicitEnvironmentStepper> implicit_stepper(const PartitionedRungeKutta&, double) override {
    refuse();
  }

 private:
  [[noreturn]] static void refuse() { throw std::logic_error("a white environment has no stepper"); }
  EnvironmentProperties describe() const override {
    EnvironmentProperties properties;
    properties.damping = properties.white_damping = damping_;
    properties.temperature = properties.white_temperature = temperature_;
    properties.temperature_in_time = in_time_;
    properties.loses_energy = properties.is_white = true;
    return properties;
  }

  double damping_, temperature_;
  std::shared_ptr<const TemperatureInTime> in_time_;
};

std::unique_ptr<Environment> build_damper(const Section& section, const ParticleSystem& system, const RunTimes&,
                                          const Communicator& communicator, Mistakes& mistakes) {
  std::optional<Attachment> attachment = read_attachment(section, system, mistakes);
  if (!attachment) return nullptr;
  return std::make_unique<Damper>(section.text("name"), std::move(*attachment), section.number("damping"),
                                  section.number("kT"), read_temperature_in_time(section), communicator);
}

}  // namespace

EnvironmentKind damper_kind() {
  return {
      .entry =
          {.name = "damper",
           .summary = "white friction on one particle, with its noise at a temperature (Langevin bath)",
           .equation = "force on the particle -D q_a' + F,  <F(t) F(t')> = 2 D kT delta(t - t') on every axis",
           .source = "weiss2012, section 2; leimkuhler2013; gronbech2013",
           .keywords = {"langevin", "langevin bath", "white noise", "friction", "dashpot", "thermostat"},
           .parameters = {attach_parameter("index of the particle that the damper acts on, from 0"),
                          required("damping", ValueType::number, "kg/s", "damping constant D", Bound::positive),
                          temperature_parameter("kT of the noise; 0: friction alone")},
           .notes =
               "In closed runs it acts beside lines, baths and memories as the damping and the noise of open runs "
               "do, under every method that takes them: a closed run with dampers alone is the open run. Decays of a "
               "memory come before and after all that, or in the middle of the drift where a step is one kick and "
               "one drift. On linear systems beside memories the distributions that the pages of the methods state "
               "hold with the springs of the memories, gamma(0), included in K: `baoab`, `gjf` and `stoermer-verlet` "
               "have that of the positions at any step, `gamma` with 0.5 and `gauss` that of the momenta as well. "
               "Beside thermal semi-infinite lines `gamma` with 0.5 and, of the positions, `stoermer-verlet` with "
               "drift-kick-drift are exact, and `gjf` and `baoab` have errors of second order. The ledger has its "
               "heat, less the energy that its noise supplies, under its name; its `power` is that averaged since "
               "the previous record. Two dampers of a closed run may not act on one particle, as the heat of each "
               "would be unknown: one damper with the sum of the constants, and with the mean of the temperatures "
               "weighted by them, has the same motion. With a `couple` s that is not linear the friction is -D s' "
               "(s'.v) "
               "at the positions of kicks and stages, under `gamma` below 1/2 that of the line on its characteristic "
               "grid; the noise acts by its exact flow at fixed positions, in the middle of `baoab` and before and "
               "after the steps of others, but under `gamma` with 0 as an impulse. A `kT` that depends on t is "
               "that of the middle of every part of a step that draws noise, so that methods keep their order. In open "
               "runs it implies damping and "
               "noise as every "
               "environment does; `damping` in [system], which replaces what environments imply, is refused beside "
               "it."},
      .build = build_damper,
      .is_noisy = [](const Section& section) { return section.number("kT") > 0.0; },
      .has_white_part = [](const Section&) { return true; },
      .is_white = true};
}

}  // namespace bathline
