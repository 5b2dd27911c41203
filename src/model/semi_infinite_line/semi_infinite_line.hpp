// A semi-infinite line of sites, represented by its memory kernel.
//
// A scheme uses a kernel over its steps, or integrates the exponentials of the kernel in continuous time
// (discrete_kernel.hpp, continuous_kernel.hpp): some hundred numbers on rank 0 replace all sites, for the trajectory of
// the closed line of any length until its echo. Their state belongs to the scheme of the stepper made last.
//
// With kT > 0 the force of a line in equilibrium on a clamped head is added: filtered white noise with one value a step
// (line_noise.hpp). Where a step begins and ends with kicks, each of these kicks is shared by two steps and has the
// mean of their random forces: positions are as accurate as with one kick a step, and the scheme remains
// time-symmetric.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "model/certified.hpp"
#include "model/environment.hpp"
#include "model/semi_infinite_line/line_noise.hpp"
#include "model/thermal/random_force.hpp"

namespace bathline {

struct SemiInfiniteLineOptions {
  double mass = 1.0;
  double stiffness = 1.0;
  double tolerance = 1e-12;                  ///< of the kernel, relative to the sum of its absolute values
  double horizon = 0.0;                      ///< s, or KernelAccuracy::forever, which kT > 0 implies
  double temperature = 0.0;                  ///< kT, J
  double step = 1.0;                         ///< of the run, s
  double end = 0.0;                          ///< of the run, s
  std::optional<double> matched_gamma = {};  ///< as in EnvironmentProperties
};

class SemiInfiniteLine final : public Environment, public Certified, public Noisy {
 public:
  /// The state of the line's memory on one axis.
  struct Axis : ConvolutionState {
    double work = 0.0;                   ///< done by the head, J
    double last_kick_position = 0.0;     ///< of the head at the last kick
    double has_moved = 0.0;              ///< 1 once the head has left the rest position, under implicit schemes
    double force = 0.0;                  ///< at the last kick, without the random force
    double phase = 0.0;                  ///< drift of the head since then, in steps
    double deferred_displacement = 0.0;  ///< part of the initial displacement that has not entered yet
    double random = 0.0;                 ///< random force at the last kick
    double work_filter_state = 0.0;      ///< state of the filter for the work, under gamma schemes
  };
  /// Force between steps with the head at x.
  using Force = std::function<double(const Axis& axis, double x)>;

  SemiInfiniteLine(std::string name, Attachment attachment, const SemiInfiniteLineOptions& options,
                   const Communicator& communicator);

  std::int64_t bytes(const Scheme&) const override { return 0; }
  /// The first `limit` sites, clamped at the end.
  LumpedNetwork assemble(std::int64_t limit) const override;
  std::optional<AnalyticKernel> analytic_kernel(std::span<const double> times) const override;
  std::optional<Certificate> certificate() const override;
  void prepare(const RngKey&) override;
  std::vector<StateField> fields() override;
  EnvironmentEnergy energy(std::span<const double> head) override;
  void force(std::span<const double> head, std::span<double> force) const override;
  bool has_force_within_blocks() const override { return true; }
  std::unique_ptr<ExplicitEnvironmentStepper> explicit_stepper(const ExplicitScheme& scheme, double h) override;
  std::unique_ptr<ImplicitEnvironmentStepper> implicit_stepper(const PartitionedRungeKutta& scheme, double h) override;

  // For steppers.
  const SemiInfiniteLineOptions& options() const { return options_; }
  /// h sqrt(lambda/M).
  double courant(double h) const;
  /// By axis; empty except on rank 0.
  std::vector<Axis>& axes() { return axes_; }
  bool is_warm() const { return options_.temperature > 0.0; }
  /// Kernel over steps and noise, for steps `h` of the gamma scheme with this g.
  std::shared_ptr<const LineParts> parts(double h, double gamma) const;
  /// Allocates the state of a scheme with this kernel and noise; a state of another shape is reset to rest. `time_unit`
  /// is that of the kernel, s.
  void set_convolution(const ConvolutionShape& shape, Force force, const KernelCertificate& certificate,
                       double time_unit, std::shared_ptr<const LineNoise> noise = nullptr);
  /// Declares a scheme with one kick in every step `h`; at the end of a step the force is interpolated by
  /// `end_fraction` from this kick to the next one.
  void set_kick_scheme(double h, double end_fraction) { kick_scheme_ = {h, end_fraction}; }
  /// The source of the random force; nullptr for kT = 0, and before the first stepper is made.
  const LineNoise* random_source() const { return noise_.get(); }
  /// The noise of `filter` at the line's temperature; nullptr without a filter.
  std::shared_ptr<const LineNoise> make_noise(std::shared_ptr<const NoiseFilter> filter) const;
  /// The random force of a warm line.
  RandomForce& random_force() { return *random_force_; }
  void end_step() {
    if (random_force_) random_force_->end_step();
  }

  NoiseStream* noise() override { return is_warm() ? &noise_stream_ : nullptr; }
  bool is_markovian() const override { return false; }

 private:
  EnvironmentProperties describe() const override;
  std::optional<std::string> own_unsupported_reason(const Scheme& scheme) const override;
  double force_on(const Axis& axis, double x) const;

  SemiInfiniteLineOptions options_;
  ConvolutionShape shape_;
  Force force_;
  struct KickScheme {
    double step, end_fraction;
  };
  std::optional<KickScheme> kick_scheme_;  // of the stepper made last, if it has one kick a step
  std::optional<KernelCertificate> certificate_;
  double horizon_ = 0.0, norm_unit_ = 0.0;  // of the certificate, s and kg/s
  std::vector<Axis> axes_;
  std::shared_ptr<const LineNoise> noise_;
  std::unique_ptr<RandomForce> random_force_;  // with this noise
  RngKey key_;                                 // of the start
  NoiseStream noise_stream_;
};

std::unique_ptr<ExplicitEnvironmentStepper> make_explicit_environment_stepper(SemiInfiniteLine& line,
                                                                              const ExplicitScheme& scheme, double h);
std::unique_ptr<ImplicitEnvironmentStepper> make_implicit_environment_stepper(SemiInfiniteLine& line,
                                                                              const PartitionedRungeKutta& scheme,
                                                                              double h);

}  // namespace bathline
