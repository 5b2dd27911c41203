// Implicit one-stage schemes on a line: the stage momenta solve one tridiagonal system, whose first half leaves a
// relation between the force on the head and the head's stage velocity.
//
// In blocks of steps where all sites are equal and influence decays within those of a rank, see
// implicit_block.hpp; elsewhere step by step with a system that is reduced over the ranks, exactly, or with the
// solver that the user asks PETSc for. Source: the scheme, farshi2018, eq. (45), in the form of implicit_stage.hpp
// or, where sites differ, of unequal_stage.hpp.
#include "model/line/implicit/implicit_block.hpp"
#include "model/line/state.hpp"
#include "model/line/implicit/unequal_stage.hpp"
#include "solve/line_solver.hpp"

namespace bathline {

namespace {

/// Step by step, with `Stage` the step of equal or of unequal sites.
template <class Stage>
class OneStageMarch : public ImplicitMarch {
 public:
  template <class Matrix>
  OneStageMarch(LineState& line, const Stage& stage, const Matrix& matrix)
      : line_(line), stage_(stage), solver_(matrix, line.layout, line.communicator, line.axes) {
    head_.resize(static_cast<std::size_t>(line.axes));
    head_momentum_.resize(head_.size());
  }

  bool respond(std::span<const double> head, StageResponse& response) override;
  void complete(const Eigen::MatrixXd& head_velocities) override;
  std::string failure() const override { return solver_.failure(); }

 protected:
  bool is_direct() const { return solver_.is_direct(); }
  LineState& line_;

 private:
  Stage stage_;
  LineSolver solver_;
  std::vector<double> head_;           // at the start of the step
  std::vector<double> head_momentum_;  // the head's stage velocity as the solver takes it
  std::vector<double*> momenta_;
};

template <class Stage>
bool OneStageMarch<Stage>::respond(std::span<const double> head, StageResponse& response) {
  line_.touch(line_.sites());
  line_.exchange_next_neighbours();
  momenta_.clear();
  for (int axis = 0; axis < line_.axes; ++axis) {
    double* w = line_.own(line_.w[axis]);
    momenta_.push_back(line_.own(line_.p[axis]));
    if (line_.at_head()) head_[axis] = head[axis];
    if (line_.count == 0) continue;
    // Where a rank has no neighbour the missing value is the head or the far end.
    const double left = line_.at_head() ? head_[axis] : w[-1];
    const double right = line_.at_far_end ? line_.behind_last(w[line_.count - 1]) : w[line_.count];
    stage_.begin(w, momenta_.back(), line_.count, left, right);
  }
  const std::optional<HeadRelation> relation = solver_.eliminate(momenta_);
  if (!relation) return false;
  const double push = line_.head_stiffness * stage_.scheme.b * stage_.h;
  response.damping = Eigen::MatrixXd::Constant(1, 1, push * (1.0 - relation->slope));
  response.constant.resize(1, line_.axes);
  for (int axis = 0; axis < line_.axes && line_.at_head(); ++axis) {
    response.constant(0, axis) = line_.head_stiffness * (line_.own(line_.w[axis])[0] - head_[axis]) +
                                 push * relation->constant[axis] / stage_.solved_mass();
  }
  return true;
}

template <class Stage>
void OneStageMarch<Stage>::complete(const Eigen::MatrixXd& head_velocities) {
  for (int axis = 0; axis < line_.axes; ++axis) head_momentum_[axis] = stage_.solved_mass() * head_velocities(0, axis);
  solver_.substitute(momenta_, head_momentum_);
  line_.exchange_next_neighbours();
  for (int axis = 0; axis < line_.axes && line_.count > 0; ++axis) {
    double* w = line_.own(line_.w[axis]);
    double* p = line_.own(line_.p[axis]);
    const auto stage = [&](std::int64_t site) { return stage_.stage(site, w[site], p[site]); };
    const std::int64_t last = line_.count - 1;
    const double momentum = p[last];
    const double left =
        line_.at_head() ? head_[axis] + stage_.scheme.b * stage_.h * head_velocities(0, axis) : stage(-1);
    const double right = line_.at_far_end ? line_.behind_last(stage(last)) : stage(line_.count);
    stage_.end(w, p, line_.count, left, right);
    if (line_.at_far_end && line_.constants.far_end == FarEnd::matched) {
      line_.dissipated[axis] += stage_.drag(last, momentum, p[last]);
    }
  }
}

/// In blocks of steps, where there are any.
class EqualOneStageMarch final : public OneStageMarch<ImplicitStage> {
 public:
  EqualOneStageMarch(LineState& line, const ImplicitStage& stage)
      : OneStageMarch(line, stage, stage.matrix()),
        block_(is_direct() ? LineImplicitBlock::make(stage, line.layout, line.communicator, line.axes) : nullptr) {}

  int limit() const override { return block_ ? block_->limit() : 0; }
  void open(const BlockPlan& plan) override { block_->open(line_, plan.steps); }
  void close() override { block_->close(); }
  bool respond(std::span<const double> head, StageResponse& response) override {
    if (!block_ || !block_->is_open()) return OneStageMarch::respond(head, response);
    block_->eliminate(head, response);
    return true;
  }
  void complete(const Eigen::MatrixXd& head_velocities) override {
    if (!block_ || !block_->is_open()) return OneStageMarch::complete(head_velocities);
    block_->complete(head_velocities);
  }

 private:
  std::unique_ptr<LineImplicitBlock> block_;
};

}  // namespace

std::unique_ptr<ImplicitMarch> make_one_stage_march(LineState& line, const CollocationScheme& scheme, double h) {
  const OneStage weights = OneStage::of(scheme);
  if (line.is_uniform()) {
    return std::make_unique<EqualOneStageMarch>(line, ImplicitStage{line.constants, weights, h});
  }
  line.prepare_springs();
  const UnequalStage stage{line.springs(), line.constants.far_end, line.constants.dashpot, weights, h};
  return std::make_unique<OneStageMarch<UnequalStage>>(line, stage, stage.matrix(line.count));
}

}  // namespace bathline
