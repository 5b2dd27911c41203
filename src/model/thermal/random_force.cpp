// Tested by tests/model/memory/coloured_noise_memory_test.cpp.
#include "model/thermal/random_force.hpp"

#include <algorithm>

namespace bathline {

void RandomForce::begin(NoiseStream& numbers, const RngKey& key, std::size_t axes) {
  numbers_ = &numbers;
  numbers.begin(NoiseStream::environment_key(key));
  steps_ = 0.0;
  drawn_step_ = -1;
  last_.assign(axes, 0.0);
  before_start_ = last_;
  drawn_.assign(axes * stages(), 0.0);
  start(key);
}

void RandomForce::add_step_before_start(std::size_t axis, double first, double last) {
  before_start_[axis] = 0.5 * (last_[axis] + first);
  last_[axis] = last;
}

std::span<const double> RandomForce::at_stages(std::size_t axis) {
  if (drawn_step_ != step()) {
    draw(drawn_);
    drawn_step_ = step();
  }
  return std::span<const double>(drawn_).subspan(axis * stages(), stages());
}

double RandomForce::between_steps(std::size_t axis) { return 0.5 * (last_[axis] + at_stages(axis).front()); }

void RandomForce::end_step() {
  for (std::size_t axis = 0; axis < axes(); ++axis) last_[axis] = at_stages(axis).back();
  if (axes() > 0) advance();
  steps_ += 1.0;
}

std::vector<StateField> RandomForce::fields(int axes, bool is_here) {
  const std::size_t count = is_here ? 1 : 0;
  std::vector<StateField> fields = {{"steps", 0, 0, 1, {&steps_, count}}};
  for (int axis = 0; axis < axes; ++axis) {
    fields.push_back({"last", axis, 0, 1, {is_here ? &last_[static_cast<std::size_t>(axis)] : nullptr, count}});
  }
  add_fields(axes, is_here, fields);
  return fields;
}

void FilteredForce::start(const RngKey& key) {
  const std::size_t count = filter_->start_numbers(), stages = filter_->stages();
  std::vector<double> all(axes() * (count + 2 * stages)), forces(stages);
  if (!all.empty()) numbers().start(key, all);
  std::span<const double> left = all;
  const auto next = [&](std::size_t amount) {
    const std::span<const double> numbers = left.first(amount);
    left = left.subspan(amount);
    return numbers;
  };
  states_.assign(axes(), ConvolutionState());
  for (std::size_t axis = 0; axis < states_.size(); ++axis) {
    filter_->shape().allocate(states_[axis]);
    filter_->start(next(count), states_[axis]);
    for (int step = 0; step < 2; ++step) {
      const std::span<const double> numbers = next(stages);
      filter_->forces(states_[axis], numbers, forces);
      filter_->commit(states_[axis], numbers);
      add_step_before_start(axis, forces.front(), forces.back());
    }
  }
}

std::span<const double> FilteredForce::numbers_of(std::size_t axis) {
  const std::size_t count = filter_->stages();
  return numbers().at(step(), 0, axes() * count).subspan(axis * count, count);
}

void FilteredForce::draw(std::span<double> forces) {
  const std::size_t count = filter_->stages();
  for (std::size_t axis = 0; axis < axes(); ++axis) {
    filter_->forces(states_[axis], numbers_of(axis), forces.subspan(axis * count, count));
  }
}

void FilteredForce::advance() {
  for (std::size_t axis = 0; axis < axes(); ++axis) filter_->commit(states_[axis], numbers_of(axis));
}

void FilteredForce::add_fields(int axes, bool is_here, std::vector<StateField>& fields) {
  for (int axis = 0; axis < axes; ++axis) {
    ConvolutionState* const state = is_here ? &states_[static_cast<std::size_t>(axis)] : nullptr;
    filter_->shape().add_fields("noise_", axis, state, fields);
  }
}

namespace {

class NoisyImplicitStepper final : public ImplicitEnvironmentStepper {
 public:
  NoisyImplicitStepper(std::unique_ptr<ImplicitEnvironmentStepper> friction, const PartitionedRungeKutta& scheme,
                       double h, std::shared_ptr<RandomForce> force, std::vector<double>& heat)
      : friction_(std::move(friction)), weights_(h * scheme.b), force_(std::move(force)), heat_(heat) {}

  int max_block_steps() const override { return friction_->max_block_steps(); }
  void begin_block(const BlockPlan& plan) override { friction_->begin_block(plan); }
  void end_block() override { friction_->end_block(); }
  std::string failure() const override { return friction_->failure(); }
  std::vector<double> internal_state() const override { return friction_->internal_state(); }
  void set_internal_state(std::span<const double> memory) override { friction_->set_internal_state(memory); }

  bool condense(std::span<const double> head, StageResponse& response) override {
    const bool converged = friction_->condense(head, response);
    for (std::size_t axis = 0; axis < heat_.size(); ++axis) {
      response.constant.col(static_cast<Eigen::Index>(axis)) += at_stages(axis);
    }
    return converged;
  }
  void back_substitute(const Eigen::MatrixXd& head_velocities) override {
    friction_->back_substitute(head_velocities);
    for (std::size_t axis = 0; axis < heat_.size(); ++axis) {
      const auto velocities = head_velocities.col(static_cast<Eigen::Index>(axis));
      heat_[axis] -= weights_.cwiseProduct(at_stages(axis)).dot(velocities);
    }
    force_->end_step();
  }

 private:
  Eigen::Map<const Eigen::VectorXd> at_stages(std::size_t axis) {
    const std::span<const double> forces = force_->at_stages(axis);
    return {forces.data(), static_cast<Eigen::Index>(forces.size())};
  }

  std::unique_ptr<ImplicitEnvironmentStepper> friction_;
  Eigen::VectorXd weights_;
  std::shared_ptr<RandomForce> force_;
  std::vector<double>& heat_;
};

class NoisyExplicitStepper final : public ExplicitEnvironmentStepper {
 public:
  NoisyExplicitStepper(std::unique_ptr<ExplicitEnvironmentStepper> friction, const ExplicitScheme& scheme, double h,
                       std::shared_ptr<RandomForce> force, std::vector<double>& heat)
      : friction_(std::move(friction)),
        substeps_(scheme.substeps.size()),
        h_(h),
        force_(std::move(force)),
        heat_(heat) {}

  int max_block_steps() const override { return friction_->max_block_steps(); }
  void begin_block(const BlockPlan& plan) override { friction_->begin_block(plan); }
  void end_block() override { friction_->end_block(); }
  std::vector<double> internal_state() const override { return friction_->internal_state(); }
  void set_internal_state(std::span<const double> memory) override { friction_->set_internal_state(memory); }

  void force(const HeadMotion& head, std::span<double> force) const override {
    friction_->force(head, force);
    for (std::size_t axis = 0; axis < heat_.size(); ++axis) force[axis] += force_->at_stages(axis).front();
  }
  void substep(const Substep& substep, const HeadMotion& head) override {
    friction_->substep(substep, head);
    if (substep.kind == Substep::Kind::drift) {
      for (std::size_t axis = 0; axis < heat_.size(); ++axis) {
        heat_[axis] -= substep.weight * h_ * head.v[axis] * force_->at_stages(axis).front();
      }
    }
    if (++next_ < substeps_) return;
    next_ = 0;
    force_->end_step();
  }

 private:
  std::unique_ptr<ExplicitEnvironmentStepper> friction_;
  std::size_t substeps_, next_ = 0;  // per step, and the next one
  double h_;
  std::shared_ptr<RandomForce> force_;
  std::vector<double>& heat_;
};

}  // namespace

std::unique_ptr<ImplicitEnvironmentStepper> with_random_force(std::unique_ptr<ImplicitEnvironmentStepper> friction,
                                                              const PartitionedRungeKutta& scheme, double h,
                                                              std::shared_ptr<RandomForce> force,
                                                              std::vector<double>& heat) {
  return std::make_unique<NoisyImplicitStepper>(std::move(friction), scheme, h, std::move(force), heat);
}

std::unique_ptr<ExplicitEnvironmentStepper> with_random_force(std::unique_ptr<ExplicitEnvironmentStepper> friction,
                                                              const ExplicitScheme& scheme, double h,
                                                              std::shared_ptr<RandomForce> force,
                                                              std::vector<double>& heat) {
  return std::make_unique<NoisyExplicitStepper>(std::move(friction), scheme, h, std::move(force), heat);
}

}  // namespace bathline
