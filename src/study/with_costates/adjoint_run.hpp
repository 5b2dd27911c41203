// The cost of a run and its gradient, by the run and one co-run.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/experiment.hpp"
#include "driver/study.hpp"
#include "model/variation/control.hpp"
#include "model/variation/cost.hpp"
#include "recipe/number_at.hpp"
#include "steppers/transposed/co_stepper.hpp"
#include "study/measured_values.hpp"

namespace bathline {

/// J = final cost at the end + integral of the running cost, by the weights of the method at its evaluations of forces,
/// + the mismatch to measured values.
struct PathCost {
  CostVariables variables;
  ParameterForces forces;
  std::optional<CostFormula> final, running;
  std::optional<MeasuredValues> mismatch = {};
  double path_memory = 0.0;  ///< largest memory for a whole path, bytes

  /// Reads `final_cost`, `running_cost` and `data_file` of the study, of which at least one must be there, and
  /// `path_memory`.
  /// @note Collective.
  static std::optional<PathCost> read(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes);
  bool depends_on_time() const {
    return forces.depends_on_time() || (final && final->depends_on_time()) || (running && running->depends_on_time());
  }
};

/// Derivatives of J, on rank 0.
struct CostGradient {
  Eigen::VectorXd controls;    ///< by the numbers of all controls
  Eigen::VectorXd q0, v0;      ///< by degree of freedom
  Eigen::VectorXd mass;        ///< likewise
  Eigen::VectorXd parameters;  ///< in the order of the variables
  Eigen::VectorXd constants;   ///< of environments, in the order in which they were asked for
  double end = 0.0;            ///< by the end of the run at fixed steps, where it is asked for
};

/// The state of a run at a record.
struct PathRecord {
  std::int64_t step = 0;
  double time = 0.0;
  Eigen::VectorXd q, v;
  double work = 0.0;  ///< of external forces, J
  Costate costate = {};
};

/// A run whose particles' path is stored: whole, or, where that takes more memory than the cost allows, in segments of
/// sqrt(N) steps, of which one is there at a time. Segments begin with a snapshot of the state, from which they are run
/// a second time when costates arrive.
class AdjointRun final : private PathFunctional {
 public:
  /// A run of a case, recorded every `every` steps. All arguments must outlive it.
  AdjointRun(const Experiment& experiment, const Case& this_case, const PathCost& cost, std::int64_t every);

  /// Adds these constants to the gradients, by four runs of the environments alone for each.
  void differentiate_by(const Recipe& recipe, std::vector<NumberAt> constants);
  /// Adds the end to the gradients, of runs that are autonomous and have no sites.
  void differentiate_by_end() { is_end_free_ = true; }
  /// Runs with a system that differs from that of the experiment in its start and the numbers of its controls, with
  /// another step than that of the case if it is given. @note Collective.
  std::optional<Failure> run(const ParticleSystem& system, std::optional<double> step = std::nullopt);
  /// J of the last run, on rank 0.
  double cost() const { return cost_value_; }
  /// The end of the last run, on rank 0.
  const PathRecord& end() const { return states_.back(); }
  /// The records, the last of them the end; with costates after `pull_back`. On rank 0.
  std::vector<PathRecord> records() const;

  /// The gradient of J + f, f a function of the end with the derivatives `at_end` by all variables of costs; empty
  /// where there is none. @note Collective.
  std::optional<Failure> pull_back(const Eigen::VectorXd& at_end, CostGradient& gradient);
  /// The variables of costs at a time, in the order of `CostVariables`. On rank 0.
  Eigen::VectorXd variables(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v) const;
  const ParticleSystem& system() const { return experiment_.system(); }
  /// The largest norm of a recorded costate over that at the end, on rank 0.
  double growth() const { return growth_; }

 private:
  bool slopes(const ForcePoints& points, Eigen::MatrixXd& by_q, Eigen::MatrixXd& by_v) override;
  void collect(const ForcePoints& points, const Eigen::MatrixXd& by_force) override;
  FinishedRun finished() const { return {case_.scheme, *problem_, *path_, case_.steps, step_, is_end_free_}; }
  /// The index among the measured times of a stop, if it is one.
  std::optional<std::size_t> measured_at(std::int64_t step) const;
  /// The state of a run between two steps, on this rank.
  struct Snapshot {
    Eigen::VectorXd q, p;
    std::vector<std::vector<double>> fields;  // of the environments
    std::vector<double> stepper;
  };
  /// Advances the run from step to step, with all that begins and ends in between. @note Collective.
  std::optional<Failure> advance(Stepper& stepper, std::int64_t from, std::int64_t to);
  void begin_segment(std::int64_t step, const Stepper& stepper);
  /// Empties the path for a segment that begins here.
  void begin_path(std::int64_t segment);
  /// Runs a segment again, unless it is there. @note Collective.
  std::optional<Failure> recall(std::int64_t segment);
  /// Sums the running cost over some steps.
  void sum_running_cost(std::int64_t from, std::int64_t to);
  /// Sums the costs of the run.
  void sum_costs();
  /// The derivatives of the final cost and the mismatch at a stop by the variables of costs; empty
  /// where there are none. On rank 0.
  Eigen::VectorXd slopes_at(std::size_t stop) const;
  /// The largest number among the constants of the list of one, 1 where all are 0.
  double size_beside(const NumberAt& constant) const;
  /// dJ/dconstant from the costates, on rank 0. @note Collective.
  std::optional<Failure> find_slope(const NumberAt& constant, const Costate& at_start, double& slope);

  const Experiment& experiment_;
  const Case& case_;
  const PathCost& cost_;
  std::vector<std::int64_t> stops_;     // of records and measured values
  std::vector<std::int64_t> measured_;  // steps
  std::int64_t every_;
  std::optional<Problem> problem_;
  double step_ = 0.0;
  bool is_end_free_ = false;
  std::int64_t segment_;           // steps of a segment
  std::int64_t segment_here_ = 0;  // the one whose path is there
  std::vector<Snapshot> snapshots_;
  std::optional<RecordedPath> path_;
  std::vector<PathRecord> states_;  // at all stops
  double cost_value_ = 0.0, running_sum_ = 0.0;
  double growth_ = 0.0;
  CostGradient* gradient_ = nullptr;
  std::optional<Recipe> recipe_;
  std::vector<NumberAt> constants_;
  Eigen::MatrixXd by_force_;                         // of all points of the path, where there are constants
  Eigen::Index last_point_ = 0;                      // the first one that is there
  std::shared_ptr<const ControlledDrive> controls_;  // of the run
  // Of the points of the path that are at hand, a row for each: the variables of costs, the running cost and its
  // slopes.
  Eigen::MatrixXd variables_, slopes_;
  Eigen::VectorXd running_;
  Eigen::VectorXd by_control_;
};

/// The keys of `PathCost::read`, but for those of mismatches.
std::vector<Parameter> cost_parameters();
/// The dimensions of what has a value for every degree of freedom at the records: time, then those of the system.
std::vector<Dimension> record_dimensions(const AdjointRun& run);
/// That of a control's numbers.
Dimension number_dimension(const Control& control);
/// Writes `alpha` and `beta` of the records and, where particles move in a plane, `costate_moment`, the sum over all of
/// them of q x alpha + p x beta: Noether's invariant of costates where forces and costs are invariant under rotations.
void write_costates(ResultFile& file, const std::string& group, const AdjointRun& run);
/// Warns where costates grow so much that gradients are useless.
void warn_of_growth(const std::string& name, double growth);
/// Adds a mistake for each thing in the recipe that costates do not support, of gradients by constants of environments
/// or without. @note Collective.
void refuse_without_costates(const Recipe& recipe, const Experiment& experiment, bool is_by_constants,
                             Mistakes& mistakes);

}  // namespace bathline
