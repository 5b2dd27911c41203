// Steps of modes: the force on the head is the sums that the last pass computed for it, and the responses to the
// positions of the head since then. This is exact algebra with one reduction a pass.
//
// A pass always spans the same steps, counted from the start of the run or the last change from outside, and the force
// within it always comes from the sums at its start. So neither the number of ranks nor where a run stops to be
// recorded changes a bit.
// Tested by tests/model/modes/modes_test.cpp.
#include "model/modes/stepper.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "model/modes/mode_pass.hpp"

namespace bathline {

namespace {

using Eigen::Index;

class ModesStepper final : public ExplicitEnvironmentStepper, public ImplicitEnvironmentStepper {
 public:
  /// `a` is that of implicit stages.
  ModesStepper(ModesState& modes, std::unique_ptr<ModePass> pass, double h, int steps_per_pass, Eigen::MatrixXd a = {})
      : modes_(modes),
        pass_(std::move(pass)),
        h_(h),
        steps_per_pass_(steps_per_pass),
        a_(std::move(a)),
        length_(static_cast<std::size_t>(pass_->sums(steps_per_pass))),
        width_(static_cast<std::size_t>(steps_per_pass * pass_->inputs())),
        sums_(modes.axes * length_),
        inputs_(modes.axes * width_) {
    std::copy_if(pass_->plan().begin(), pass_->plan().end(), std::back_inserter(stages_),
                 [](const ModePass::Place& place) { return place.input >= 0; });
  }

  int max_block_steps() const override { return a_.size() > 0 ? 0 : steps_per_pass_ - (has_sums() ? done_ : 0); }
  void begin_block(const BlockPlan& plan) override {
    begin_pass();
    steps_ = plan.steps;
  }
  void force(const HeadMotion& head, std::span<double> force) const override;
  void substep(const Substep& substep, const HeadMotion& head) override;
  void end_block() override;
  bool condense(std::span<const double> head, StageResponse& response) override;
  void back_substitute(const Eigen::MatrixXd& head_velocities) override;
  std::vector<double> internal_state() const override;
  void set_internal_state(std::span<const double> memory) override;

 private:
  /// Whether the sums belong to the present state.
  bool has_sums() const { return sums_valid_for_ == modes_.changes; }
  void begin_pass();
  /// The force on the head at x along an axis at a place, of the inputs before the one there.
  double force_at(const ModePass::Place& place, std::size_t axis, double x) const;
  std::size_t sum_at(std::size_t axis, int sum) const {
    return axis * length_ + static_cast<std::size_t>(step_ * pass_->sums_per_step() + sum);
  }
  double response(int input, int sum) const {
    return responses_[static_cast<std::size_t>(input) * length_ + static_cast<std::size_t>(sum)];
  }
  double& input_at(std::size_t axis, int step, int input) {
    return inputs_[axis * width_ + static_cast<std::size_t>(step * pass_->inputs() + input)];
  }
  /// Enters an input of the current step.
  void enter(std::size_t axis, int input, double x);
  void add_responses(std::size_t axis, int input, double x);
  void advance();

  ModesState& modes_;
  std::unique_ptr<ModePass> pass_;
  double h_;
  int steps_per_pass_;
  Eigen::MatrixXd a_;
  std::size_t length_, width_;  // sums and inputs of a pass
  std::vector<ModePass::Place> stages_;
  std::int64_t sums_valid_for_ = -1;  // value of `changes` that the present pass belongs to
  int steps_ = 1;                     // of the open block
  int done_ = 0, step_ = 0;           // steps of the pass before this block, and steps that the head has taken
  std::size_t substep_ = 0;           // of the current step
  std::vector<double> sums_;          // of the pass, with the head at 0, by axis; on rank 0
  std::vector<double> moved_sums_;    // the same with the responses so far; empty until computed
  std::vector<double> responses_;     // by input, then sum
  std::vector<double> inputs_;        // of the pass by axis, then step; on rank 0
  std::vector<double> block_inputs_;  // of the open block, on every rank
  std::vector<double> head_;          // at the start of an implicit step
};

// Not in the constructor: a stepper may be made before the modes are prepared.
void ModesStepper::begin_pass() {
  if (responses_.empty()) responses_ = pass_->prepare(steps_per_pass_);
  if (!has_sums()) {
    done_ = step_ = 0;
    pass_->run(0, {}, sums_);
    sums_valid_for_ = modes_.changes;
    moved_sums_ = sums_;
  } else if (moved_sums_.empty()) {
    moved_sums_ = sums_;
    for (step_ = 0; step_ < done_; ++step_) {
      for (std::size_t axis = 0; axis < modes_.axes; ++axis) {
        for (int input = 0; input < pass_->inputs(); ++input) add_responses(axis, input, input_at(axis, step_, input));
      }
    }
  }
}

double ModesStepper::force_at(const ModePass::Place& place, std::size_t axis, double x) const {
  return moved_sums_[sum_at(axis, place.sum)] + (pass_->direct() + response(place.input, place.sum)) * x;
}

void ModesStepper::force(const HeadMotion& head, std::span<double> force) const {
  for (std::size_t axis = 0; axis < modes_.axes; ++axis)
    force[axis] = force_at(pass_->plan()[substep_], axis, head.x[axis]);
}

void ModesStepper::enter(std::size_t axis, int input, double x) {
  input_at(axis, step_, input) = x;
  add_responses(axis, input, x);
}

void ModesStepper::add_responses(std::size_t axis, int input, double x) {
  const std::size_t first = static_cast<std::size_t>(step_ * pass_->sums_per_step());
  double* const sum = moved_sums_.data() + axis * length_ + first;
  const double* const by_input = responses_.data() + static_cast<std::size_t>(input) * length_;
  for (std::size_t i = 1; i < length_ - first; ++i) sum[i] += by_input[i] * x;
}

void ModesStepper::substep(const Substep&, const HeadMotion& head) {
  const int input = pass_->plan()[substep_].input;
  for (std::size_t axis = 0; axis < modes_.axes && input >= 0; ++axis) enter(axis, input, head.x[axis]);
  if (++substep_ < pass_->plan().size()) return;
  substep_ = 0;
  ++step_;
}

void ModesStepper::end_block() {
  const auto count = static_cast<std::size_t>(steps_ * pass_->inputs());
  block_inputs_.resize(modes_.axes * count);
  for (std::size_t axis = 0; axis < modes_.axes && modes_.communicator.is_root() && count > 0; ++axis)
    std::copy_n(&input_at(axis, done_, 0), count, block_inputs_.begin() + static_cast<std::ptrdiff_t>(axis * count));
  modes_.communicator.broadcast(std::span<double>(block_inputs_));
  done_ += steps_;
  if (done_ < steps_per_pass_) {
    pass_->run(steps_, block_inputs_, modes_.pull);
  } else {
    pass_->run(steps_, block_inputs_, sums_);
    for (std::size_t axis = 0; axis < modes_.axes; ++axis) modes_.pull[axis] = sums_[axis * length_];
    moved_sums_ = sums_;
    done_ = step_ = 0;
  }
  sums_valid_for_ = modes_.changes;
}

bool ModesStepper::condense(std::span<const double> head, StageResponse& response) {
  begin_pass();
  head_.assign(head.begin(), head.end());
  const Index stages = a_.rows();
  response.constant.resize(stages, static_cast<Index>(modes_.axes));
  Eigen::MatrixXd by_position = Eigen::MatrixXd::Identity(stages, stages) * pass_->direct();
  for (Index i = 0; i < stages; ++i) {
    const int sum = stages_[static_cast<std::size_t>(i)].sum;
    for (Index j = 0; j < stages; ++j) by_position(i, j) += this->response(static_cast<int>(j), sum);
    for (std::size_t axis = 0; axis < modes_.axes && modes_.communicator.is_root(); ++axis) {
      response.constant(i, static_cast<Index>(axis)) =
          moved_sums_[sum_at(axis, sum)] + by_position.row(i).sum() * head[axis];
    }
  }
  response.damping = -h_ * by_position * a_;
  return true;
}

void ModesStepper::back_substitute(const Eigen::MatrixXd& head_velocities) {
  const Eigen::MatrixXd displacements = h_ * a_ * head_velocities;
  for (std::size_t axis = 0; axis < modes_.axes && modes_.communicator.is_root(); ++axis) {
    for (int i = 0; i < pass_->inputs(); ++i)
      input_at(axis, 0, i) = head_[axis] + displacements(i, static_cast<Index>(axis));
  }
  end_block();
}

// The pull is part of it, as its recomputed sum would differ in the last bits.
std::vector<double> ModesStepper::internal_state() const {
  std::vector<double> all = modes_.pull;
  all.push_back(has_sums() ? done_ : 0);
  if (all.back() == 0.0) return all;
  all.insert(all.end(), sums_.begin(), sums_.end());
  all.insert(all.end(), inputs_.begin(), inputs_.end());
  return all;
}

void ModesStepper::set_internal_state(std::span<const double> memory) {
  const std::size_t axes = modes_.axes;
  const auto require = [](bool fits) {
    if (!fits) throw std::out_of_range("the saved numbers do not fit the stepper of these modes");
  };
  require(memory.size() > axes);
  const double done = memory[axes];
  require(done >= 0.0 && done < steps_per_pass_);
  require(memory.size() == axes + 1 + (done > 0.0 ? sums_.size() + inputs_.size() : 0));
  std::copy_n(memory.begin(), axes, modes_.pull.begin());
  if (done == 0.0) return;
  sums_valid_for_ = modes_.changes;
  done_ = static_cast<int>(done);
  moved_sums_.clear();
  const auto sums = memory.begin() + static_cast<std::ptrdiff_t>(axes + 1);
  std::copy_n(sums, sums_.size(), sums_.begin());
  std::copy_n(sums + static_cast<std::ptrdiff_t>(sums_.size()), inputs_.size(), inputs_.begin());
}

}  // namespace

std::unique_ptr<ExplicitEnvironmentStepper> make_explicit_stepper(ModesState& modes, const ExplicitScheme& scheme,
                                                                  double h, int steps_per_pass) {
  if (scheme.b.empty())
    return std::make_unique<ModesStepper>(modes, make_splitting_pass(modes, scheme, h), h, steps_per_pass);
  const auto stages = static_cast<Index>(scheme.b.size());
  PartitionedRungeKutta tableau{.a = Eigen::MatrixXd::Zero(stages, stages), .a_hat = {}, .b = {}};
  tableau.b = Eigen::Map<const Eigen::VectorXd>(scheme.b.data(), stages);
  for (Index i = 0; i < stages; ++i) {
    for (Index j = 0; j < i; ++j) tableau.a(i, j) = scheme.a[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  }
  tableau.a_hat = tableau.a;
  return std::make_unique<ModesStepper>(modes, make_stage_pass(modes, tableau, h), h, 1);
}

std::unique_ptr<ImplicitEnvironmentStepper> make_implicit_stepper(ModesState& modes,
                                                                  const PartitionedRungeKutta& scheme, double h) {
  const double a = scheme.a(0, 0), a_hat = scheme.a_hat(0, 0);
  using Kind = Substep::Kind;
  const bool is_splitting = is_kick_between_drifts(scheme);
  auto pass = is_splitting
                  ? make_splitting_pass(modes, splitting({{Kind::drift, a}, {Kind::kick, 1.0}, {Kind::drift, a_hat}}),
                                        h, h * h * a * a_hat)
                  : make_stage_pass(modes, scheme, h);
  return std::make_unique<ModesStepper>(modes, std::move(pass), h, 1, scheme.a);
}

}  // namespace bathline
