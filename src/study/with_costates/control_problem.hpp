// A problem of optimal control as a function of its unknowns.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/resumable_tasks.hpp"
#include "solve/search_on_root.hpp"
#include "study/with_costates/adjoint_run.hpp"
#include "study/with_costates/end_conditions.hpp"

namespace bathline {

/// A position or velocity at the start that is an unknown.
struct FreeStart {
  std::string name;
  Eigen::Index variable;  ///< among the positions and velocities
};

struct ControlPlan {
  PathCost cost;
  EndConditions conditions;
  std::vector<FreeStart> free_start = {};
  std::optional<std::pair<double, double>> free_end = {};  ///< lowest and highest end time, s
  int starts = 1;
  double spread = 1.0;  ///< N
  SearchLimits limits = {};
};

/// The cost of one case as a function of its unknowns: the numbers of the controls times the roots of their weights in
/// time, so that norms are those of functions of time; the free parts of the start; the end time where it is free.
/// Evaluations are resumable tasks.
class ControlProblem final : private ConstrainedFunction {
 public:
  /// Recorded every `every` steps. All arguments must outlive it.
  ControlProblem(const Experiment& experiment, const Case& this_case, const ControlPlan& plan, std::int64_t every,
                 ResumableTasks& tasks);

  Eigen::Index size() const { return numbers_ + starts() + (plan_.free_end ? 1 : 0); }
  /// The unknowns of the recipe, of every start after the first with random numbers added to the controls.
  Eigen::VectorXd start(int index) const;
  /// A search on rank 0, where `progress` is called; its report is on every rank. @note Collective.
  SearchReport search(const SearchPoint& start, const SearchProgress& progress);
  /// Runs with these unknowns and pulls costates back from the end conditions with their multipliers. @note Collective.
  std::optional<Failure> run_at(const SearchPoint& point);

  /// The unknowns in the units of the recipe, which do not depend on the step, and back.
  Eigen::VectorXd unscaled(const Eigen::VectorXd& x) const;
  Eigen::VectorXd scaled(const Eigen::VectorXd& unknowns) const;
  /// The controls with the unknowns x.
  std::shared_ptr<const ControlledDrive> controls_with(const Eigen::VectorXd& x) const;
  double end_of(const Eigen::VectorXd& x) const;
  /// The free parts of the start, in the order of the plan.
  Eigen::VectorXd start_of(const Eigen::VectorXd& x) const { return x.segment(numbers_, starts()); }
  const AdjointRun& last_run() const { return run_; }
  /// Those of the end conditions in the last run, on rank 0.
  Eigen::VectorXd errors() const { return plan_.conditions.errors(at_end()); }

 private:
  double value(const Eigen::VectorXd& x, Eigen::VectorXd& constraints) override;
  void gradient(const Eigen::VectorXd& weights, Eigen::VectorXd& slopes) override;

  /// Those of the system; none where only the start or the end is free.
  std::shared_ptr<const ControlledDrive> controls() const;
  Eigen::Index starts() const { return static_cast<Eigen::Index>(plan_.free_start.size()); }
  Bounds bounds() const;
  /// What rank 0 asks all ranks for: x after 0, the cost and the errors of the conditions; weights after 1, the
  /// gradient for them at the last x. The answer is on rank 0. @note Collective.
  void answer(const Eigen::VectorXd& request);
  /// @note Collective.
  std::optional<Failure> run();
  std::optional<Failure> pull_back(const Eigen::VectorXd& weights, CostGradient& gradient);
  /// By the unknowns.
  Eigen::VectorXd slopes_of(const CostGradient& gradient) const;
  /// The variables of costs at the end of the last run.
  Eigen::VectorXd at_end() const;

  const Experiment& experiment_;
  const Case& case_;
  const ControlPlan& plan_;
  ResumableTasks& tasks_;
  AdjointRun run_;
  Eigen::Index numbers_;
  Eigen::VectorXd scale_;
  Ask ask_;
  Eigen::VectorXd x_;     // of the last value
  bool has_run_ = false;  // whether it was not restored
  std::vector<double> answer_;
};

}  // namespace bathline
