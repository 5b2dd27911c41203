// Implicit schemes with several stages on a line: the stage momenta of a site are one vector, and a block tridiagonal
// system couples those of neighbours.
//
// In blocks of steps where the scheme is a recursion along the line, see stage_block.hpp; elsewhere step by step.
// Source: hairer2006, section II.2, in the form of stage_step.hpp.
#include <stdexcept>

#include "model/line/implicit/stage_block.hpp"
#include "model/line/state.hpp"
#include "solve/line_stage_solver.hpp"

namespace bathline {

namespace {

class StagesMarch final : public ImplicitMarch {
 public:
  StagesMarch(LineState& line, const CollocationScheme& scheme, double h)
      : line_(line),
        stages_{line.constants, scheme, h},
        solver_(stages_.matrix(), line.layout, line.communicator, line.axes),
        head_(static_cast<std::size_t>(line.axes)) {
    if (solver_.is_direct()) block_ = LineStageBlock::make(stages_, line.layout, line.communicator, line.axes);
  }

  int limit() const override { return block_ ? block_->limit() : 0; }
  void open(const BlockPlan& plan) override { block_->open(line_, plan.steps); }
  void close() override { block_->close(); }
  bool respond(std::span<const double> head, StageResponse& response) override;
  void complete(const Eigen::MatrixXd& head_velocities) override;
  std::string failure() const override { return solver_.failure(); }

 private:
  bool in_block() const { return block_ && block_->is_open(); }

  LineState& line_;
  LineStageStep stages_;
  LineStageSolver solver_;
  std::unique_ptr<LineStageBlock> block_;     // where there can be any
  std::vector<double> head_;                  // at the start of the step
  std::vector<std::vector<double>> momenta_;  // by axis, then site, then stage
  std::vector<double*> fields_;
};

bool StagesMarch::respond(std::span<const double> head, StageResponse& response) {
  if (in_block()) {
    block_->eliminate(head, response);
    return true;
  }
  line_.touch(line_.sites());
  line_.exchange_next_neighbours();
  if (momenta_.empty()) {
    momenta_.resize(static_cast<std::size_t>(line_.axes));
    for (std::vector<double>& field : momenta_) {
      field.resize(static_cast<std::size_t>(line_.count * stages_.scheme.stages()));
      fields_.push_back(field.data());
    }
  }
  for (int axis = 0; axis < line_.axes; ++axis) {
    const double* w = line_.own(line_.w[axis]);
    if (line_.at_head()) head_[axis] = head[axis];
    if (line_.count == 0) continue;
    const double left = line_.at_head() ? head_[axis] : w[-1];
    const double right = line_.at_far_end ? line_.behind_last(w[line_.count - 1]) : w[line_.count];
    stages_.begin(w, line_.own(line_.p[axis]), fields_[axis], line_.count, left, right);
  }
  const std::optional<StageRelation> relation = solver_.eliminate(fields_);
  if (!relation) return false;
  response.damping = stages_.damping(relation->slope);
  if (!line_.at_head()) return true;
  response.constant.resize(stages_.scheme.stages(), line_.axes);
  for (int axis = 0; axis < line_.axes; ++axis) {
    response.constant.col(axis) =
        stages_.force(relation->constant.col(axis), line_.own(line_.w[axis])[0] - head_[axis]);
  }
  return true;
}

void StagesMarch::complete(const Eigen::MatrixXd& head_velocities) {
  if (in_block()) {
    block_->complete(head_velocities);
    return;
  }
  solver_.substitute(fields_, line_.constants.mass * head_velocities);
  for (int axis = 0; axis < line_.axes && line_.count > 0; ++axis) {
    if (line_.at_far_end && line_.constants.far_end == FarEnd::matched) {
      const std::int64_t last = line_.count - 1;
      line_.dissipated[axis] +=
          stages_.drag(fields_[axis] + last * stages_.scheme.stages(), line_.own(line_.p[axis])[last]);
    }
    stages_.move_to_means(line_.own(line_.w[axis]), fields_[axis], line_.count);
  }
  line_.exchange_next_neighbours();
  for (int axis = 0; axis < line_.axes && line_.count > 0; ++axis) {
    double* w = line_.own(line_.w[axis]);
    const double left = line_.at_head() ? stages_.mean(head_[axis], head_velocities.col(axis)) : w[-1];
    const double right = line_.at_far_end ? line_.behind_last(w[line_.count - 1]) : w[line_.count];
    stages_.end(w, line_.own(line_.p[axis]), fields_[axis], line_.count, left, right);
  }
}

}  // namespace

std::unique_ptr<ImplicitMarch> make_stages_march(LineState& line, const CollocationScheme& scheme, double h) {
  if (!line.is_uniform()) throw std::logic_error("implicit schemes with several stages need a line of equal sites");
  return std::make_unique<StagesMarch>(line, scheme, h);
}

}  // namespace bathline
