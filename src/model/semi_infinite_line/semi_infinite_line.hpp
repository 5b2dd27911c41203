// A line of sites without end, of which nothing is kept but its memory of the head.
//
// A scheme sees of the line a kernel over its steps, or takes the kernel's exponentials along (stepped_kernel.hpp,
// continuous_kernel.hpp): some hundred numbers in the place of all sites, on rank 0, for the path of the closed line of
// any length until its echo. Their state belongs to the scheme that the last march was made for.
//
// A warm one adds the force that a line in equilibrium has on a head that is held: a number of every step, which a
// filter makes of white numbers (line_noise.hpp). Where kicks begin and end a step, one belongs to two steps and has
// the mean of their forces: positions are as exact with it as with the one kick of other steps, and time has no
// direction.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "model/certified.hpp"
#include "model/environment.hpp"
#include "model/semi_infinite_line/line_noise.hpp"
#include "model/semi_infinite_line/multistage_kernel.hpp"
#include "model/noise_stream.hpp"

namespace bathline {

struct SemiInfiniteLineOptions {
  double mass = 1.0;
  double stiffness = 1.0;
  double tolerance = 1e-12;                  ///< of the kernel, relative to the sum of its absolute values
  double horizon = 0.0;                      ///< s; KernelAccuracy::forever, as a warm line always has it
  double temperature = 0.0;                  ///< kT, J
  double step = 1.0;                         ///< of the run, s
  double end = 0.0;                          ///< of the run, s
  std::optional<double> matched_gamma = {};  ///< as in EnvironmentProperties
};

class SemiInfiniteLine final : public Environment, public Certified, public Noisy {
 public:
  /// The line's memory of the head's displacements on one axis.
  struct Axis : ConvolutionState {
    double work = 0.0;                   ///< that the head has done, J
    double last_kick_position = 0.0;     ///< of the head at the last kick
    double force = 0.0;                  ///< at the last kick, but for that of the noise
    double phase = 0.0;                  ///< how much of a step the head has drifted since
    double deferred_displacement = 0.0;  ///< displacement that the line has not been told of yet
    double random = 0.0;                 ///< force of the noise at the last kick
    double last = 0.0;                   ///< that of the last stage of the last step
    double work_filter_state = 0.0;  ///< what the work of the next step takes over from the last, under gamma schemes
    ConvolutionState noise;
  };
  /// Force between steps with the head at x.
  using Force = std::function<double(const Axis& axis, double x)>;

  SemiInfiniteLine(std::string name, Attachment attachment, const SemiInfiniteLineOptions& options,
                   const Communicator& communicator);

  std::int64_t bytes(const Scheme&) const override { return 0; }
  /// Its first `limit` sites, at whose end it is held.
  LumpedNetwork assemble(std::int64_t limit) const override;
  std::optional<AnalyticKernel> analytic_kernel(std::span<const double> times) const override;
  std::optional<Certificate> certificate() const override;
  void prepare(const RngKey&) override;
  std::vector<StateField> fields() override;
  EnvironmentEnergy energy(std::span<const double> head) override;
  void force(std::span<const double> head, std::span<double> force) const override;
  std::unique_ptr<ExplicitEnvironmentStepper> explicit_stepper(const ExplicitScheme& scheme, double h) override;
  std::unique_ptr<ImplicitEnvironmentStepper> implicit_stepper(const PartitionedRungeKutta& scheme, double h) override;

  // What the marches work with.
  const SemiInfiniteLineOptions& options() const { return options_; }
  /// h sqrt(lambda/M).
  double courant(double h) const;
  /// By axis; empty where this rank is not the root.
  std::vector<Axis>& axes() { return axes_; }
  bool is_warm() const { return options_.temperature > 0.0; }
  /// What the marches of kernels over steps are made of. @note Steps of `h` under the gamma scheme with this g.
  std::shared_ptr<const LineParts> parts(double h, double gamma) const;
  /// Makes room for the state of a scheme with such a kernel, and with such noise; one that has moved under another
  /// scheme is at rest again. `time_unit` is that of the kernel, s.
  void take(const ConvolutionShape& shape, Force force, const KernelCertificate& certificate, double time_unit,
            std::shared_ptr<const LineNoise> noise = nullptr);
  /// The march that has taken it has one kick in every step of `h`, and where a step ends the force has come by the
  /// share `later` from that of this kick to that of the next.
  void set_kick_scheme(double h, double later) { kicks_ = {h, later}; }
  /// What its random force comes from; nullptr where it is cold, and before the first march.
  const LineNoise* random_source() const { return noise_.get(); }
  /// A filter at the line's temperature; nullptr for none.
  std::shared_ptr<const LineNoise> at_temperature(std::shared_ptr<const NoiseFilter> filter) const;
  /// The random force at the stages of the step under way, N; 0 where the line is cold.
  std::span<const double> random_forces(std::size_t axis);
  /// Of steps with one stage.
  double random_force(std::size_t axis) { return random_forces(axis)[0]; }
  /// The same in the kick at its end, which is half the next step's.
  double random_force_at_end(std::size_t axis) { return 0.5 * (axes_[axis].last + random_force(axis)); }
  /// The random force after this is that of the next step.
  void end_step() {
    if (noise_) renew_noise();
  }

  NoiseStream* noise() override { return is_warm() ? &numbers_ : nullptr; }
  bool is_markovian() const override { return false; }

 private:
  EnvironmentProperties describe() const override;
  std::optional<std::string> own_unsupported_reason(const Scheme& scheme) const override;
  std::optional<std::string> unsupported_reason_for(const KickDriftSequence& turns) const;
  double force_on(const Axis& axis, double x) const;
  void start_noise();
  /// The same for all axes, with the numbers of the step under way.
  void renew_noise();
  /// Goes on by a step with these numbers.
  void pass_step(Axis& axis, std::span<const double> numbers);
  /// Those of the step under way.
  std::span<const double> numbers_of(std::size_t axis);

  SemiInfiniteLineOptions options_;
  ConvolutionShape shape_;
  Force force_;
  struct OneKick {
    double step, later;
  };
  std::optional<OneKick> kicks_;  // of the march that has taken it last, where it is such a one
  std::optional<KernelCertificate> certificate_;
  double horizon_ = 0.0, norm_unit_ = 0.0;  // of that, s and kg/s
  std::vector<Axis> axes_;
  std::shared_ptr<const LineNoise> noise_;
  std::vector<double> forces_;  // of the stages of an axis
  RngKey key_;                  // of the start
  NoiseStream numbers_;
  double steps_ = 0.0;  // that have used numbers, a whole number; on rank 0
};

std::unique_ptr<ExplicitEnvironmentStepper> make_explicit_environment_stepper(SemiInfiniteLine& line,
                                                                              const ExplicitScheme& scheme, double h);
std::unique_ptr<ImplicitEnvironmentStepper> make_implicit_environment_stepper(SemiInfiniteLine& line,
                                                                              const PartitionedRungeKutta& scheme,
                                                                              double h);

}  // namespace bathline
