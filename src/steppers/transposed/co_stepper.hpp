// The exact discrete adjoint of runs: costates are pulled back through the steps, last step first.
//
// The pull-back of a step is the transpose of its derivative. It has the form of an ordinary step of a linear problem
// under the reversed scheme: displacement beta = dJ/dp, momentum alpha = dJ/dq, the Hessian of V on the stored path as
// stiffness, and the same environments, made anew and cold, whose heads follow beta and whose forces act on alpha. Of
// the first run only the path of the particles is needed. Source: sanzserna2016, theorem 3.1, for the schemes alone.
#pragma once

#include <memory>
#include <optional>

#include "model/problem.hpp"
#include "steppers/stepper.hpp"
#include "steppers/transposed/recorded_path.hpp"

namespace bathline {

/// The splitting with its substeps in reverse, kicks with the velocity before them for those with that after.
ExplicitScheme reversed(const ExplicitScheme& splitting);
/// The pair whose steps, the last stage first, are the transposed ones of linear forces: b_k a^_ki/b_i for the
/// positions and b_k a_ki/b_i for the momenta. No b may be zero. Symmetric symplectic pairs are their own. Source:
/// sanzserna2016, section 4.
PartitionedRungeKutta reversed(const PartitionedRungeKutta& pair);
/// That of a scheme with a pull-back.
Scheme reversed(const Scheme& scheme);

/// dJ/dq and dJ/dp between two steps, on rank 0.
struct Costate {
  Eigen::VectorXd alpha, beta;
};

/// A point of the path at which forces are evaluated. The velocities are those that the forces see.
struct ForcePoint {
  double t;  ///< s
  const Eigen::VectorXd& q;
  const Eigen::VectorXd& v;
};

/// A functional along the path; rank 0 only.
class PathFunctional {
 public:
  virtual ~PathFunctional() = default;
  /// The derivatives of the running cost l(q, v, ...) by q and v; false where they are zero.
  virtual bool slopes(const ForcePoint& point, Eigen::VectorXd& by_q, Eigen::VectorXd& by_v) = 0;
  /// Called once for each point, the last first: dJ/df of a force f that acts there, which contributes with the factor
  /// `weight`, s, to momenta and to the integral of the running cost.
  virtual void collect(const ForcePoint& point, const Eigen::VectorXd& by_force, double weight) = 0;
};

/// What is summed beside the costates, on rank 0: explicit derivatives by constants at given path and momenta.
struct ConstantSlopes {
  Eigen::VectorXd mass;    ///< by the masses of all degrees of freedom, at given momenta at the start
  Eigen::VectorXd origin;  ///< by the positions from which the heads of environments are measured
  double step = 0.0;       ///< by h where it is asked for, without stepped environments, of autonomous forces
};

class CoStepper {
 public:
  virtual ~CoStepper() = default;
  /// Pulls `costate` back by `steps` steps. @note Collective.
  virtual std::optional<Failure> pull_back(std::int64_t steps, Costate& costate) = 0;
  const ConstantSlopes& slopes() const { return slopes_; }

 protected:
  ConstantSlopes slopes_;
};

/// The run whose costates are asked for.
struct FinishedRun {
  const Scheme& scheme;
  const Problem& problem;    ///< as it was given to the stepper
  const RecordedPath& path;  ///< from its first point, that of the start, on rank 0
  std::int64_t steps;
  double h;
  bool is_end_free = false;  ///< whether the derivative by h is asked for
};

/// An evaluation of forces in a step.
struct StepPoint {
  double node;          ///< its time, in steps
  double weight;        ///< w or b, in steps
  bool velocity_after;  ///< whether the forces see the velocities of this point of the path, not of that before
};
/// Those of a splitting without stages or of a pair, one for each point of the path in a step.
std::vector<StepPoint> points_of_step(const Scheme& scheme);

/// The points of the path of a run, but the first, one at a time.
class PathPoints {
 public:
  explicit PathPoints(const FinishedRun& run) : run_(run), points_(points_of_step(run.scheme)) {}
  /// From index 1; valid until the next call.
  ForcePoint at(std::size_t point);

 private:
  FinishedRun run_;
  std::vector<StepPoint> points_;
  Eigen::VectorXd q_, v_;
};

/// The forces on the particles at a point, without those of stepped environments.
Eigen::VectorXd forces_of_particles(const Problem& problem, const ForcePoint& point);

/// Why the steps of a scheme have no pull-back, a sentence without its subject, the method; nothing where they have.
std::optional<std::string> why_no_pull_back(const Scheme& scheme);

/// `environments` has the environments of the run made anew and prepared without a temperature, and must outlive it as
/// `functional` must; it gets all costates' motion. @note Collective.
std::unique_ptr<CoStepper> make_co_stepper(const FinishedRun& run, Problem& environments, PathFunctional& functional);

// One function per kind of scheme, in files of their own.
std::unique_ptr<CoStepper> make_explicit_co_stepper(const ExplicitScheme& scheme, const FinishedRun& run,
                                                    Problem& environments, PathFunctional& functional);
std::unique_ptr<CoStepper> make_implicit_co_stepper(const PartitionedRungeKutta& scheme, const FinishedRun& run,
                                                    Problem& environments, PathFunctional& functional);

/// The linear forces at a point of the path, transposed.
class TransposedForces {
 public:
  explicit TransposedForces(const Problem& problem);
  /// To be called before the others.
  void evaluate(const ForcePoint& point);
  /// to += (df/dq)^T mu of the particles' own forces.
  void add_by_q(const Eigen::VectorXd& mu, Eigen::VectorXd& to) const;
  /// df/dv without a magnetic field.
  const Eigen::MatrixXd& by_v() const { return by_v_; }
  /// Whether df/dv is the same everywhere.
  bool is_by_v_constant() const { return !has_jacobians_; }
  /// Sets `to` to (df/dq)^T as a dense matrix.
  void by_q(Eigen::MatrixXd& to) const;

 private:
  const Problem& problem_;
  bool has_jacobians_, is_sparse_;
  Eigen::VectorXd q_;  // of hessian_
  Eigen::MatrixXd hessian_, by_q_, by_v_;
  Eigen::SparseMatrix<double> sparse_hessian_;
};

}  // namespace bathline
