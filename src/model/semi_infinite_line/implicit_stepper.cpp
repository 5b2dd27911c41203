// Implicit schemes on a line without end: what is left to eliminate is the displacement of the step itself.
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

/// The marches differ in what a step is to one axis.
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
      // Later the two differ by no more than round-off.
      if (row.last_kick_position == 0.0 && head[axis] != 0.0) start(row, head[axis]);
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
      forces_ = constant_.col(column) - damping_ * velocities_;
      end(axis, velocities_, forces_);
    }
    line_.end_step();
  }

 protected:
  /// The head does not begin where the line is at rest.
  virtual void start(Axis& axis, double x) = 0;
  virtual void begin(const Axis& axis, Eigen::Ref<Eigen::VectorXd> constant) const = 0;
  virtual void end(std::size_t axis, const Eigen::VectorXd& velocities, const Eigen::VectorXd& forces) = 0;
  /// The random force at the stages.
  virtual void add_noise(std::size_t axis, Eigen::Ref<Eigen::VectorXd> constant) {
    line_.axes()[axis].random = line_.random_force(axis);
    constant.array() += line_.axes()[axis].random;
  }

  SemiInfiniteLine& line_;

 private:
  Eigen::MatrixXd damping_, constant_;
  Eigen::VectorXd velocities_, forces_;
};

// A head that is away from where the line is at rest has come there before the start or will have come there after it,
// in steps of either sign in which no stage of the line's past, or of its future, sees another place:
//
//   g q^k + (1-g) q^{k+1} = 0 for k < 0   or   g e^k + (1-g) e^{k+1} = 0 for k >= 0, e what is still to come of q
//
// Of the two the first dies down for g >= 1/2, and the second for g < 1/2.
//
/// One stage at q + (1-g) h V. A force changes the energy of a particle along (v + v+)/2, and moves it along
/// V = (1-g) v + g v+: the sum of F V drifts by what noise does, h (g - 1/2) F (v+ - v) a step. The work in the ledger
/// is the sum of F (v + v+)/2, with which all that is left is eta dV/dx v of the particle, eta = (1/2 - g) h, no sum.
/// (v + v+)/2 is V filtered by (1 + z)/2 over (1-g) + g z, which is stable for g > 1/2; for g < 1/2 the mirror image of
/// the filter is, at work on F. For g = 0 that is the trapezoidal rule between two kicks.
class GammaStepper final : public SemiInfiniteImplicitStepper {
 public:
  GammaStepper(SemiInfiniteLine& line, std::shared_ptr<const DiscreteConvolution> memory, double gamma, double h)
      : SemiInfiniteImplicitStepper(line, Eigen::MatrixXd::Constant(1, 1, -memory->feedthrough() * h)),
        memory_(std::move(memory)),
        gamma_(gamma),
        h_(h) {}

  static std::unique_ptr<ImplicitEnvironmentStepper> make(SemiInfiniteLine& line, double gamma, double h) {
    const std::shared_ptr<const LineParts> parts = line.parts(h, gamma);
    auto memory = std::make_shared<const DiscreteConvolution>(parts->kernel, line.options().stiffness);
    line.take(
        memory->shape(),
        [memory](const Axis& axis, double x) {
          return memory->between_steps(axis) + memory->spring(x - axis.last_kick_position + axis.deferred_displacement);
        },
        parts->kernel.certificate, h, line.at_temperature(parts->noise));
    return std::make_unique<GammaStepper>(line, memory, gamma, h);
  }

 private:
  void start(Axis& axis, double x) override {
    const double displacement = x - axis.last_kick_position, ratio = (1.0 - gamma_) / gamma_;
    axis.work -= 0.5 * memory_->spring(displacement) * displacement;
    if (gamma_ < 0.5) {
      axis.deferred_displacement = displacement;
    } else {
      memory_->set_geometric_history(axis, displacement / gamma_, -ratio);
    }
  }
  void begin(const Axis& axis, Eigen::Ref<Eigen::VectorXd> constant) const override {
    constant[0] = axis.next_outputs[0] + memory_->feedthrough() * still_to_come(axis);
  }
  void end(std::size_t axis, const Eigen::VectorXd& velocities, const Eigen::VectorXd& forces) override {
    Axis& row = line_.axes()[axis];
    const double displacement = h_ * velocities[0];
    row.work -= gamma_ < 0.5 ? filtered(row, forces[0]) * displacement : forces[0] * filtered(row, displacement);
    row.last_kick_position += displacement;
    memory_->commit(row, displacement + still_to_come(row));
    if (row.deferred_displacement != 0.0) row.deferred_displacement *= -gamma_ / (1.0 - gamma_);
  }
  /// What of the head's displacement at the start comes in this step.
  double still_to_come(const Axis& axis) const {
    return axis.deferred_displacement == 0.0 ? 0.0 : axis.deferred_displacement / (1.0 - gamma_);
  }
  double filtered(Axis& axis, double value) const {
    const double larger = std::max(gamma_, 1.0 - gamma_);
    const double added = (axis.work_filter_state + (0.5 - larger) * value) / larger;
    axis.work_filter_state = -((1.0 - larger) * added + (0.5 - larger) * value);
    return value + added;
  }

  std::shared_ptr<const DiscreteConvolution> memory_;
  double gamma_, h_;
};

/// Lobatto IIIA-IIIB with two stages: half a kick, a drift with both velocities, half a kick.
class LobattoStepper final : public SemiInfiniteImplicitStepper {
 public:
  LobattoStepper(SemiInfiniteLine& line, const KickCoupling& kicks, double h)
      : SemiInfiniteImplicitStepper(line, damping(kicks, h)), kicks_(kicks), h_(h) {}

 private:
  static Eigen::MatrixXd damping(const KickCoupling& kicks, double h) {
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(2, 2);
    matrix.row(1).setConstant(-0.5 * h * kicks.feedthrough());
    return matrix;
  }
  void start(Axis& axis, double x) override { kicks_.start(axis, x, 0.5); }
  void begin(const Axis& axis, Eigen::Ref<Eigen::VectorXd> constant) const override {
    constant << axis.force, kicks_.force_at_kick(axis, 0, axis.last_kick_position);
  }
  void end(std::size_t axis, const Eigen::VectorXd& velocities, const Eigen::VectorXd&) override {
    Axis& row = line_.axes()[axis];
    const double random = line_.is_warm() ? line_.random_force_at_end(axis) : 0.0;
    kicks_.kick(row, 0, row.last_kick_position + 0.5 * h_ * velocities.sum(), random);
  }
  void add_noise(std::size_t axis, Eigen::Ref<Eigen::VectorXd> constant) override {
    constant[0] += line_.axes()[axis].random;
    constant[1] += line_.random_force_at_end(axis);
  }

  KickCoupling kicks_;
  double h_;
};

/// A Runge-Kutta method on exponentials in continuous time.
class RungeKuttaStepper final : public SemiInfiniteImplicitStepper {
 public:
  RungeKuttaStepper(SemiInfiniteLine& line, const PartitionedRungeKutta& scheme, double h,
                    const RungeKuttaModes& staged, double damper)
      : SemiInfiniteImplicitStepper(
            line, damper * Eigen::MatrixXd::Identity(scheme.stages(), scheme.stages()) - staged.feedthrough),
        modes_(staged.modes),
        stiffness_(line.options().stiffness),
        weights_(h * scheme.b) {}

  static std::unique_ptr<ImplicitEnvironmentStepper> make(SemiInfiniteLine& line, const PartitionedRungeKutta& scheme,
                                                          double h) {
    const SemiInfiniteLineOptions& options = line.options();
    const double courant = line.courant(h), unit = h / courant;  // sqrt(M/lambda)
    const std::shared_ptr<const ContinuousParts> parts =
        continuous_parts(options.tolerance, options.horizon / unit, options.end / unit, line.is_warm());
    const RungeKuttaModes staged =
        make_runge_kutta_modes(parts->kernel.exponential_terms, scheme, courant, h, -options.stiffness);
    const auto rows = static_cast<std::size_t>(scheme.stages());
    const auto force = [modes = staged.modes, rows, stiffness = options.stiffness](const Axis& axis, double x) {
      return modes->read(axis.real.data(), axis.imaginary.data(), rows) - stiffness * (x - axis.last_kick_position);
    };
    std::shared_ptr<const LineNoise> noise;
    if (parts->noise) {
      noise =
          std::make_shared<const StageNoise>(parts->noise, scheme, courant, options.temperature * options.stiffness);
    }
    line.take({.next_outputs = rows, .modes = staged.modes->size()}, force, parts->kernel.certificate, unit, noise);
    return std::make_unique<RungeKuttaStepper>(line, scheme, h, staged,
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
    const std::span<const double> forces = line_.random_forces(axis);
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
  const SchemeKernel& known = std::get<SchemeKernel>(kernel);
  if (line.is_warm() && is_midpoint(scheme)) return GammaStepper::make(line, 0.5, h);
  if (std::holds_alternative<RungeKuttaKernel>(known)) return RungeKuttaStepper::make(line, scheme, h);
  if (const auto* of_stage = std::get_if<GammaKernel>(&known)) return GammaStepper::make(line, of_stage->gamma, h);
  auto stepper = std::make_unique<LobattoStepper>(line, KickCoupling(line, h), h);
  line.set_kick_scheme(h, 0.5);
  return stepper;
}

}  // namespace bathline
