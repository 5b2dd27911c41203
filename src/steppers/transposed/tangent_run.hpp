// Derivatives of a run by one parameter.
//
// The derivative of the steps of a run by a parameter is a run forwards, by the same scheme, of the problem that is
// linear about its path: the Hessian of V on the path as stiffness, the same environments, made anew and cold, and one
// force more, which is what the parameter changes while the path stays. All of it is said in velocities, so that masses
// are parameters like others. Tangents and costates have the same product at all steps.
// Tested by tests/costates/costates_test.cpp.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "steppers/transposed/co_stepper.hpp"

namespace bathline {

/// Derivatives by a parameter while the path stays, on rank 0.
struct PathChange {
  Eigen::VectorXd q0, v0;         ///< of the start
  Eigen::MatrixXd accelerations;  ///< a column for each point of the path but the first
};

/// A number by whose changes a problem is differentiated.
struct ChangedNumber {
  double value;
  double size = 0.0;             ///< of the value where it is not larger
  std::string environment = {};  ///< whose forces depend on it, by name; empty where no environment's do
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
};

/// A prepared problem with another value of the number; nothing where there is none. Collective.
using ChangedProblem = std::function<std::optional<Problem>(double value)>;

/// The change of a run without a magnetic field, by differences of order 4 within the bounds of the number; their
/// error is about 1e-12 of what it changes. Of environments whose forces depend on it, a run along the path is made for
/// each point of the differences. Nothing where a problem cannot be made. @note Collective.
std::optional<PathChange> change_on_path(const FinishedRun& run, const ChangedNumber& number,
                                         const ChangedProblem& make);

class TangentRun {
 public:
  /// Of a run without a magnetic field and with linear environments. `make` prepares the problem of the run with
  /// another system, of which `system` is that of the run. What `run` refers to and `change` must outlive it.
  /// @note Collective.
  TangentRun(const FinishedRun& run, const PathChange& change, ParticleSystem system,
             const std::function<Problem(const ParticleSystem&)>& make);
  /// @note Collective.
  std::optional<Failure> advance(std::int64_t steps);
  /// The derivatives of positions and velocities after these steps, on rank 0.
  const Eigen::VectorXd& q() const { return problem_->q; }
  Eigen::VectorXd v() const { return problem_->velocity(); }

 private:
  RecordedPath path_;  // its own, whose length tells the linear force where the stepper is
  std::size_t points_of_step_;
  std::optional<Problem> problem_;
  std::unique_ptr<Stepper> stepper_;
};

}  // namespace bathline
