// Implicit schemes on a line: the stage momenta of its sites solve a linear system, whose elimination gives the force
// on the head as a linear function of the head's stage velocities.
//
// Steps come in blocks if influence decays within the sites of a rank, see block_stepper.hpp; otherwise each step
// solves the system over all ranks, by a direct method or by the solver that PETSc's options ask for.
#include "model/line/implicit/block_stepper.hpp"
#include "model/line/implicit/in_cache_stepper.hpp"
#include "model/line/implicit/step.hpp"
#include "model/line/state.hpp"
#include "solve/line_solver.hpp"

namespace bathline {

namespace {

template <Sites Kind, int S>
class LineImplicitStepper final : public ImplicitEnvironmentStepper {
 public:
  using Step = LineStep<Kind, S>;

  /// `matrix` is that of the linear system of a step.
  template <class Matrix>
  LineImplicitStepper(LineState& line, const Step& step, const Matrix& matrix)
      : line_(line),
        step_(step),
        solver_(matrix, line.layout, line.communicator, line.axes),
        head_(static_cast<std::size_t>(line.axes)) {}

  bool is_direct() const { return solver_.is_direct(); }
  /// Sets the stepper for blocks, which may be nullptr.
  void set_block_stepper(std::unique_ptr<ImplicitEnvironmentStepper> block_stepper) {
    block_stepper_ = std::move(block_stepper);
  }

  int max_block_steps() const override { return block_stepper_ ? block_stepper_->max_block_steps() : 0; }
  void begin_block(const BlockPlan& plan) override {
    block_stepper_->begin_block(plan);
    in_block_ = true;
  }
  void end_block() override {
    block_stepper_->end_block();
    in_block_ = false;
  }
  bool condense(std::span<const double> head, StageResponse& response) override;
  void back_substitute(const Eigen::MatrixXd& head_velocities) override;
  std::string failure() const override { return solver_.failure(); }

 private:
  /// Updates `stages_`, as the state may have been allocated since the last step.
  void update_stage_pointers();
  double mean(int axis, std::int64_t site) const {
    return step_.mean(site, line_.own(line_.w[axis])[site], Step::momenta(stages_[axis], site));
  }

  LineState& line_;
  Step step_;
  LineSolver solver_;
  std::unique_ptr<ImplicitEnvironmentStepper> block_stepper_;
  bool in_block_ = false;
  std::vector<double> head_;                  // at the start of the step
  std::vector<std::vector<double>> scratch_;  // by axis, then site, then stage; empty if steps work in place
  std::vector<double*> stages_;               // pointers to the stage momenta, by axis
};

template <Sites Kind, int S>
void LineImplicitStepper<Kind, S>::update_stage_pointers() {
  if (!Step::in_place && scratch_.empty()) {
    scratch_.assign(head_.size(), std::vector<double>(static_cast<std::size_t>(line_.count * S)));
  }
  stages_.clear();
  for (int axis = 0; axis < line_.axes; ++axis) {
    stages_.push_back(Step::in_place ? line_.own(line_.p[axis]) : scratch_[axis].data());
  }
}

template <Sites Kind, int S>
bool LineImplicitStepper<Kind, S>::condense(std::span<const double> head, StageResponse& response) {
  if (in_block_) return block_stepper_->condense(head, response);
  line_.mark_active(line_.sites());
  line_.exchange_next_neighbours();
  update_stage_pointers();
  for (int axis = 0; axis < line_.axes; ++axis) {
    const double* w = line_.own(line_.w[axis]);
    if (line_.at_head()) head_[axis] = head[axis];
    if (line_.count == 0) continue;
    // Without a neighbouring rank the value beside the sites is that of the head or the far end.
    const double left = line_.at_head() ? head_[axis] : w[-1];
    const double right = line_.at_far_end ? step_.behind(w[line_.count - 1]) : w[line_.count];
    step_.begin(w, line_.own(line_.p[axis]), stages_[axis], line_.count, left, right);
  }
  const HeadRelation* relation = solver_.eliminate(stages_);
  if (relation == nullptr) return false;
  response.damping = step_.damping(relation->slope);
  if (!line_.at_head()) return true;
  response.constant.resize(S, line_.axes);
  for (int axis = 0; axis < line_.axes; ++axis) {
    const double stretch = line_.own(line_.w[axis])[0] - head_[axis];
    response.constant.col(axis) = step_.force(relation->constant.col(axis), stretch);
  }
  return true;
}

template <Sites Kind, int S>
void LineImplicitStepper<Kind, S>::back_substitute(const Eigen::MatrixXd& head_velocities) {
  if (in_block_) return block_stepper_->back_substitute(head_velocities);
  solver_.substitute(stages_, step_.solved_mass() * head_velocities);
  // Neighbouring ranks need the mean stage displacements at the ends, which are exchanged in place of displacements.
  struct Ends {
    double first, last;
  };
  std::vector<Ends> saved;
  const std::int64_t last = line_.count - 1;
  for (int axis = 0; axis < line_.axes && line_.count > 0; ++axis) {
    double* w = line_.own(line_.w[axis]);
    const Ends means{mean(axis, 0), mean(axis, last)};
    saved.push_back({w[0], w[last]});
    w[0] = means.first;
    w[last] = means.last;
  }
  line_.exchange_next_neighbours();
  for (int axis = 0; axis < line_.axes && line_.count > 0; ++axis) {
    double* w = line_.own(line_.w[axis]);
    const double left = line_.at_head() ? step_.mean_of_head(head_[axis], head_velocities.col(axis)) : w[-1];
    const double right = line_.at_far_end ? step_.behind(w[last]) : w[line_.count];
    w[0] = saved[axis].first;
    w[last] = saved[axis].last;
    line_.dissipated[axis] +=
        step_.end(w, line_.own(line_.p[axis]), stages_[axis], line_.count, left, right, line_.at_far_end);
  }
}

std::unique_ptr<ImplicitEnvironmentStepper> make_nonuniform_stepper(LineState& line,
                                                                    const PartitionedRungeKutta& scheme, double h) {
  line.prepare_rows();
  return with_stages(
      scheme.stages(), [&]<int S>(std::integral_constant<int, S>) -> std::unique_ptr<ImplicitEnvironmentStepper> {
        const auto sites = std::get<NonuniformSites<>>(line.material());
        const LineStep<NonuniformSites<>, S> step(sites, line.head_stiffness, line.constants, scheme, h);
        return std::make_unique<LineImplicitStepper<NonuniformSites<>, S>>(line, step, step.matrix(line.count));
      });
}

}  // namespace

std::unique_ptr<ImplicitEnvironmentStepper> make_implicit_environment_stepper(LineState& line,
                                                                              const PartitionedRungeKutta& scheme,
                                                                              double h) {
  if (!line.has_uniform_sites()) return make_nonuniform_stepper(line, scheme, h);
  return with_stages(scheme.stages(),
                     [&]<int S>(std::integral_constant<int, S>) -> std::unique_ptr<ImplicitEnvironmentStepper> {
                       const auto sites = std::get<UniformSites>(line.material());
                       const LineStep<UniformSites, S> step(sites, line.head_stiffness, line.constants, scheme, h);
                       auto stepper = std::make_unique<LineImplicitStepper<UniformSites, S>>(line, step, step.matrix());
                       if (!stepper->is_direct()) return stepper;
                       const std::optional<LineRecursion> recursion = LineRecursion::of(line.constants, scheme, h);
                       std::unique_ptr<ImplicitEnvironmentStepper> block_stepper;
                       if (recursion) block_stepper = make_in_cache_implicit_stepper(line, scheme, *recursion, h);
                       stepper->set_block_stepper(block_stepper ? std::move(block_stepper)
                                                                : make_line_block_stepper(line, step, recursion));
                       return stepper;
                     });
}

}  // namespace bathline
