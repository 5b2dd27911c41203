// Implicit schemes on a semi-infinite line: the force depends on the past, and linearly on the displacement of the step
// itself.
// Tested by tests/model/semi_infinite_line/semi_infinite_line_test.cpp.
#include <algorithm>
#include <cmath>

#include "model/semi_infinite_line/kick_coupling.hpp"
#include "model/semi_infinite_line/scheme_kernel.hpp"
#include "model/semi_infinite_line/stage_noise.hpp"

namespace bathline {

namespace {

using Axis = SemiInfiniteLine::Axis;
using Eigen::Index;

/// Derived classes define a step on one axis.
class SemiInfiniteImplicitStepper : public ImplicitEnvironmentStepper {
 public:
  SemiInfiniteImplicitStepper(SemiInfiniteLine& line, Eigen::MatrixXd damping)
      : line_(line), damping_(std::move(damping)) {}

  int max_block_steps() const override { return 1 << 20; }
  bool condense(std::span<const double> head, StageResponse& response) override {
    response.damping = damping_;
    response.constant.resize(damping_.rows(), static_cast<Index>(line_.axes().size()));
    for (std::size_t axis = 0; axis < line_.axes().size(); ++axis) {
      Axis& row = line_.axes()[axis];
      // Once the head has moved, the two positions differ only by round-off.
      if (row.has_moved == 0.0 && head[axis] != 0.0) {
        start(row, head[axis]);
        row.has_moved = 1.0;
      }
      row.last_kick_position = head[axis];
      begin(row, response.constant.col(static_cast<Index>(axis)));
      if (line_.is_warm()) add_noise(axis, response.constant.col(static_cast<Index>(axis)));
    }
    constant_ = response.constant;
    return true;
  }
  void back_substitute(const Eigen::MatrixXd& head_velocities) override {
    for (std::size_t axis = 0; axis < line_.axes().size(); ++axis) {
      const auto column = static_cast<Index>(axis);
      velocities_ = head_velocities.col(column);
      if (!velocities_.isZero(0.0)) line_.axes()[axis].has_moved = 1.0;
      forces_ = constant_.col(column) - damping_ * velocities_;
      end(axis, velocities_, forces_);
    }
    line_.end_step();
  }

 protected:
  /// Sets the state for a head that does not start at the rest position of the line.
  virtual void start(Axis& axis, double x) = 0;
  virtual void begin(const Axis& axis, Eigen::Ref<Eigen::VectorXd> constant) const = 0;
  virtual void end(std::size_t axis, const Eigen::VectorXd& velocities, const Eigen::VectorXd& forces) = 0;
  /// Adds the random force at the stages.
  virtual void add_noise(std::size_t axis, Eigen::Ref<Eigen::VectorXd> constant) {
    line_.axes()[axis].random = line_.random_force().at_stages(axis).front();
    constant.array() += line_.axes()[axis].random;
  }

  SemiInfiniteLine& line_;

 private:
  Eigen::MatrixXd damping_, constant_;
  Eigen::VectorXd velocities_, forces_;
};

// An initial displacement q of the head from the rest position of the line is taken as the result of steps before the
// start, or as completed by steps after it, such that no stage of the line's past, or of its future, has another
// position:
//
//   g q^k + (1-g) q^{k+1} = 0 for k < 0,   or   g e^k + (1-g) e^{k+1} = 0 for k >= 0,   e the part of q still to come
//
// The first decays for g >= 1/2, the second for g < 1/2.
//
/// One stage at q + (1-g) h V. A force F changes the energy of a particle by F h (v + v+)/2, but its displacement is h
/// V, V = (1-g) v + g v+: with noise the sum of F V drifts by h (g - 1/2) F (v+ - v) a step. The work in the ledger is
/// therefore the sum of F (v + v+)/2, whose remaining error eta dV/dx v, eta = (1/2 - g) h, does not accumulate. (v +
/// v+)/2 is V filtered by (1 + z)/2 over (1-g) + g z, which is stable for g > 1/2; for g < 1/2 the mirror image of the
/// filter is stable, and is applied to F. For g = 0 this is the trapezoidal rule between two kicks.
class GammaStepper final : public SemiInfiniteImplicitStepper {
 public:
  GammaStepper(SemiInfiniteLine& line, std::shared_ptr<const DiscreteConvolution> convolution, double gamma, double h)
      : SemiInfiniteImplicitStepper(line, Eigen::MatrixXd::Constant(1, 1, -convolution->feedthrough() * h)),
        convolution_(std::move(convolution)),
        gamma_(gamma),
        h_(h) {}

  static std::unique_ptr<ImplicitEnvironmentStepper> make(SemiInfiniteLine& line, double gamma, double h) {
    const std::shared_ptr<const LineParts> parts = line.parts(h, gamma);
    auto convolution = std::make_shared<const DiscreteConvolution>(parts->kernel, line.options().stiffness);
    line.set_convolution(
        convolution->shape(),
        [convolution](const Axis& axis, double x) {
          return convolution->between_steps(axis) +
                 convolution->spring(x - axis.last_kick_position + axis.deferred_displacement);
        },
        parts->kernel.certificate, h, line.make_noise(parts->noise));
    return std::make_unique<GammaStepper>(line, convolution, gamma, h);
  }

 private:
  void start(Axis& axis, double x) override {
    const double displacement = x - axis.last_kick_position, ratio = (1.0 - gamma_) / gamma_;
    axis.work -= 0.5 * convolution_->spring(displacement) * displacement;
    if (gamma_ < 0.5) {
      axis.deferred_displacement = displacement;
    } else {
      convolution_->set_geometric_history(axis, displacement / gamma_, -ratio);
    }
  }
  void begin(const Axis& axis, Eigen::Ref<Eigen::VectorXd> constant) const override {
    constant[0] = axis.next_outputs[0] + convolution_->feedthrough() * deferred_input(axis);
  }
  void end(std::size_t axis, const Eigen::VectorXd& velocities, const Eigen::VectorXd& forces) override {
    Axis& row = line_.axes()[axis];
    const double displacement = h_ * velocities[0];
    row.work -= gamma_ < 0.5 ? apply_work_filter(row, forces[0]) * displacement
                             : forces[0] * apply_work_filter(row, displacement);
    row.last_kick_position += displacement;
    convolution_->commit(row, displacement + deferred_input(row));
    if (row.deferred_displacement != 0.0) row.deferred_displacement *= -gamma_ / (1.0 - gamma_);
  }
  /// The part of the deferred initial displacement that enters in this step.
  double deferred_input(const Axis& axis) const {
    return axis.deferred_displacement == 0.0 ? 0.0 : axis.deferred_displacement / (1.0 - gamma_);
  }
  double apply_work_filter(Axis& axis, double value) const {
    const double weight = std::max(gamma_, 1.0 - gamma_);
    const double added = (axis.work_filter_state + (0.5 - weight) * value) / weight;
    axis.work_filter_state = -((1.0 - weight) * added + (0.5 - weight) * value);
    return value + added;
  }

  std::shared_ptr<const DiscreteConvolution> convolution_;
  double gamma_, h_;
};

/// Lobatto IIIA-IIIB with two stages: half a kick, a drift with the mean of both velocities, half a kick.
class LobattoStepper final : public SemiInfiniteImplicitStepper {
 public:
  LobattoStepper(SemiInfiniteLine& line, const KickCoupling& coupling, double h)
      : SemiInfiniteImplicitStepper(line, damping(coupling, h)), coupling_(coupling), h_(h) {}

 private:
  static Eigen::MatrixXd damping(const KickCoupling& coupling, double h) {
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(2, 2);
    matrix.row(1).setConstant(-0.5 * h * coupling.feedthrough());
    return matrix;
  }
  void start(Axis& axis, double x) override { coupling_.start(axis, x, 0.5); }
  void begin(const Axis& axis, Eigen::Ref<Eigen::VectorXd> constant) const override {
    constant << axis.force, coupling_.force_at_kick(axis, axis.last_kick_position);
  }
  void end(std::size_t axis, const Eigen::VectorXd& velocities, const Eigen::VectorXd&) override {
    Axis& row = line_.axes()[axis];
    const double random = line_.is_warm() ? line_.random_force().between_steps(axis) : 0.0;
    coupling_.kick(row, row.last_kick_position + 0.5 * h_ * velocities.sum(), random);
  }
  void add_noise(std::size_t axis, Eigen::Ref<Eigen::VectorXd> constant) override {
    constant[0] += line_.axes()[axis].random;
    constant[1] += line_.random_force().between_steps(axis);
  }

  KickCoupling coupling_;
  double h_;
};

/// A Runge-Kutta method applied to the exponentials in continuous time.
class RungeKuttaStepper final : public SemiInfiniteImplicitStepper {
 public:
  RungeKuttaStepper(SemiInfiniteLine& line, const PartitionedRungeKutta& scheme, double h,
                    const RungeKuttaModes& runge_kutta, double damper)
      : SemiInfiniteImplicitStepper(
            line, damper * Eigen::MatrixXd::Identity(scheme.stages(), scheme.stages()) - runge_kutta.feedthrough),
        modes_(runge_kutta.modes),
        stiffness_(line.options().stiffness),
        weights_(h * scheme.b) {}

  static std::unique_ptr<ImplicitEnvironmentStepper> make(SemiInfiniteLine& line, const PartitionedRungeKutta& scheme,
                                                          double h) {
    const SemiInfiniteLineOptions& options = line.options();
    const double courant = line.courant(h), unit = h / courant;  // sqrt(M/lambda)
    const std::shared_ptr<const ContinuousParts> parts =
        continuous_parts(options.tolerance, options.horizon / unit, options.end / unit, line.is_warm());
    const RungeKuttaModes runge_kutta =
        make_runge_kutta_modes(parts->kernel.exponential_terms, scheme, courant, h, -options.stiffness);
    const auto rows = static_cast<std::size_t>(scheme.stages());
    const auto force = [modes = runge_kutta.modes, rows, stiffness = options.stiffness](const Axis& axis, double x) {
      return modes->read(axis.real.data(), axis.imaginary.data(), rows) - stiffness * (x - axis.last_kick_position);
    };
    std::shared_ptr<const LineNoise> noise;
    if (parts->noise) {
      noise =
          std::make_shared<const StageNoise>(parts->noise, scheme, courant, options.temperature * options.stiffness);
    }
    line.set_convolution({.next_outputs = rows, .modes = runge_kutta.modes->size()}, force, parts->kernel.certificate,
                         unit, noise);
    return std::make_unique<RungeKuttaStepper>(line, scheme, h, runge_kutta,
                                               options.stiffness * unit * parts->kernel.damper);
  }

 private:
  void start(Axis& axis, double x) override {
    const double displacement = x - axis.last_kick_position;
    axis.work += 0.5 * stiffness_ * displacement * displacement;
    modes_->shift(axis.real.data(), displacement);
    for (std::size_t i = 0; i < axis.next_outputs.size(); ++i) {
      axis.next_outputs[i] = modes_->read(axis.real.data(), axis.imaginary.data(), i);
    }
  }
  void begin(const Axis& axis, Eigen::Ref<Eigen::VectorXd> constant) const override {
    constant =
        Eigen::Map<const Eigen::VectorXd>(axis.next_outputs.data(), static_cast<Index>(axis.next_outputs.size()));
  }
  void add_noise(std::size_t axis, Eigen::Ref<Eigen::VectorXd> constant) override {
    const std::span<const double> forces = line_.random_force().at_stages(axis);
    constant += Eigen::Map<const Eigen::VectorXd>(forces.data(), static_cast<Index>(forces.size()));
  }
  void end(std::size_t axis, const Eigen::VectorXd& velocities, const Eigen::VectorXd& forces) override {
    Axis& row = line_.axes()[axis];
    row.work -= weights_.cwiseProduct(forces).dot(velocities);
    row.last_kick_position += weights_.dot(velocities);
    const auto stages = static_cast<std::size_t>(velocities.size());
    modes_->advance(row.real.data(), row.imaginary.data(), {velocities.data(), stages}, row.next_outputs);
  }

  std::shared_ptr<const ExponentialModes> modes_;
  double stiffness_;
  Eigen::VectorXd weights_;
};

}  // namespace

std::unique_ptr<ImplicitEnvironmentStepper> make_implicit_environment_stepper(SemiInfiniteLine& line,
                                                                              const PartitionedRungeKutta& scheme,
                                                                              double h) {
  const std::variant<SchemeKernel, std::string> kernel = kernel_of(scheme);
  const SchemeKernel& scheme_kernel = std::get<SchemeKernel>(kernel);
  if (line.is_warm() && is_midpoint(scheme)) return GammaStepper::make(line, 0.5, h);
  if (std::holds_alternative<RungeKuttaKernel>(scheme_kernel)) return RungeKuttaStepper::make(line, scheme, h);
  if (const auto* gamma_kernel = std::get_if<GammaKernel>(&scheme_kernel))
    return GammaStepper::make(line, gamma_kernel->gamma, h);
  return std::make_unique<LobattoStepper>(line, KickCoupling(line, h, 0.5), h);
}

}  // namespace bathline
