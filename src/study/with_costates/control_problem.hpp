// A problem of optimal control as a function of its unknowns.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "solve/minimiser.hpp"
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
/// time, so that norms are those of functions of time; the free parts of the start; the end time where it is free. All
/// ranks construct it; rank 0 evaluates, the others `follow`.
class ControlProblem final : public ConstrainedFunction {
 public:
  /// Recorded every `every` steps. All arguments must outlive it.
  ControlProblem(const Experiment& experiment, const Case& this_case, const ControlPlan& plan, std::int64_t every);

  Eigen::Index size() const { return numbers_ + starts() + (plan_.free_end ? 1 : 0); }
  /// The unknowns of the recipe, of every start after the first with random numbers added to the controls.
  Eigen::VectorXd start(int index) const;
  Bounds bounds() const;

  double value(const Eigen::VectorXd& x, Eigen::VectorXd& constraints) override;
  void gradient(const Eigen::VectorXd& weights, Eigen::VectorXd& slopes) override;

  /// What rank 0 asks all ranks for.
  enum class Task : int { run, pull_back, checkpoint, done };
  void ask(Task task, const Eigen::VectorXd& numbers = {}) const;
  /// On the ranks other than 0, until rank 0 is done; `checkpoint` is its counterpart there. @note Collective.
  void follow(const std::function<void()>& checkpoint);

  /// The unknowns in the units of the recipe, which do not depend on the step, and back.
  Eigen::VectorXd unscaled(const Eigen::VectorXd& x) const;
  Eigen::VectorXd scaled(const Eigen::VectorXd& unknowns) const;
  Eigen::VectorXd numbers_of(const Eigen::VectorXd& x) const { return x.head(numbers_).cwiseQuotient(scale_); }
  double end_of(const Eigen::VectorXd& x) const;
  /// The free parts of the start, in the order of the plan.
  Eigen::VectorXd start_of(const Eigen::VectorXd& x) const { return x.segment(numbers_, starts()); }
  const AdjointRun& last_run() const { return run_; }
  const Communicator& communicator() const { return experiment_.communicator(); }

 private:
  Eigen::Index starts() const { return static_cast<Eigen::Index>(plan_.free_start.size()); }
  /// @note Collective.
  std::optional<Failure> run(const Eigen::VectorXd& x);
  /// The number of rank 0.
  std::int64_t shared(std::int64_t number) const;
  Eigen::VectorXd received() const;
  /// The variables of costs at the end of the last run.
  Eigen::VectorXd at_end() const;

  const Experiment& experiment_;
  const Case& case_;
  const ControlPlan& plan_;
  AdjointRun run_;
  Eigen::Index numbers_;
  Eigen::VectorXd scale_;
};

}  // namespace bathline
