// The exact discrete adjoint of runs: costates are pulled back through the steps, last step first.
//
// The pull-back of a step is the transpose of its derivative. It has the form of an ordinary step of a linear problem
// under the reversed scheme: displacement beta = dJ/dp, momentum alpha = dJ/dq, the Hessian of V on the stored path as
// stiffness, and the same environments, made anew and cold, whose heads follow beta and whose forces act on alpha. Of
// the first run only the path of the particles is needed. Source: sanzserna2016, theorem 3.1, for the schemes alone.
#pragma once

#include <memory>
#include <optional>

#include "model/batched_derivatives.hpp"
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

/// Points of the path at which forces are evaluated, all of some steps, a column for each. The velocities are those
/// that the forces see.
struct ForcePoints {
  Eigen::VectorXd t;       ///< s
  Eigen::VectorXd weight;  ///< of a force in momenta, and of the running cost in its integral, s
  Eigen::MatrixXd q, v;
};

/// A functional along the path; rank 0 only. Pieces of the path come one after the other, the last first: `slopes`,
/// then `collect` of each.
class PathFunctional {
 public:
  virtual ~PathFunctional() = default;
  /// The derivatives of the running cost l(q, v, ...) by q and v, shaped as these; false where they are zero.
  virtual bool slopes(const ForcePoints& points, Eigen::MatrixXd& by_q, Eigen::MatrixXd& by_v) = 0;
  /// `by_force`: dJ/df of a force f that acts at each of the points, shaped as q.
  virtual void collect(const ForcePoints& points, const Eigen::MatrixXd& by_force) = 0;
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

/// The points of the path of a run, but the first.
class PathPoints {
 public:
  explicit PathPoints(const FinishedRun& run) : run_(run), in_step_(points_of_step(run.scheme)) {}
  /// Of a step.
  Eigen::Index count() const { return static_cast<Eigen::Index>(in_step_.size()); }
  /// A number of steps whose points fit into a cache.
  std::int64_t steps_at_once() const;
  /// Those of `steps` steps from one on; valid until the next call.
  const ForcePoints& of_steps(std::int64_t first, std::int64_t steps);

 private:
  FinishedRun run_;
  std::vector<StepPoint> in_step_;
  ForcePoints points_;
};

/// The force on the particles at a point, without those of stepped environments.
class ForceOfParticles {
 public:
  /// Valid until the next call.
  const Eigen::VectorXd& at(const Problem& problem, const ForcePoints& points, Eigen::Index point);

 private:
  Eigen::VectorXd q_, v_, force_, more_;
};

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

/// The linear forces at points of the path, transposed.
class TransposedForces {
 public:
  explicit TransposedForces(const Problem& problem);
  /// To be called before the others, with points that must stay as they are.
  void begin(const ForcePoints& points);
  /// Chooses the point of the others.
  void go_to(Eigen::Index point);
  /// to += (df/dq)^T mu of the particles' own forces.
  template <class Vector>
  void add_by_q(const Vector& mu, Vector& to) {
    if (is_sparse_) {
      to -= sparse_hessian_ * mu;
      if (has_jacobians_) to.noalias() += by_q_.lazyProduct(mu);
    } else {
      using Square = Eigen::Matrix<double, Vector::RowsAtCompileTime, Vector::RowsAtCompileTime>;
      to.noalias() += by_q<Square>().lazyProduct(mu);
    }
  }
  /// (df/dq)^T as a dense matrix, and (df/dv)^T without a magnetic field, as square matrices of a type.
  template <class Square>
  Eigen::Map<const Square> by_q() {
    if (is_sparse_) make_dense();
    return {is_sparse_ ? dense_.data() : by_q_.data() + place_ * n_ * n_, n_, n_};
  }
  template <class Square>
  Eigen::Map<const Square> by_v() const {
    return {by_v_.data() + (has_jacobians_ ? place_ * n_ * n_ : 0), n_, n_};
  }
  /// Whether df/dv is the same everywhere.
  bool is_by_v_constant() const { return !has_jacobians_; }

 private:
  void evaluate(Eigen::Index point, Eigen::Index place);
  void make_dense();

  const Problem& problem_;
  const ForcePoints* points_ = nullptr;
  Eigen::Index n_, place_ = 0;  // of the current matrices among those below
  bool has_jacobians_, is_sparse_;
  const BatchedHessian* batched_;  // nullptr where Hessians are evaluated one by one
  Eigen::MatrixXd by_q_, by_v_;    // side by side, of all points, or of the current one where matrices are sparse
  Eigen::VectorXd q_, v_;
  Eigen::MatrixXd hessian_, force_by_q_, force_by_v_, dense_;
  Eigen::SparseMatrix<double> sparse_hessian_;
};

}  // namespace bathline
