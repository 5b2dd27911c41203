// Derivatives of a run by one parameter.
//
// The derivative of the steps of a run by a parameter is a run forwards, by the same scheme, of the problem that is
// linear about its path: the Hessian of V on the path as stiffness, the same environments, made anew and cold, and one
// force more, which is what the parameter changes while the path stays: what changes at the particles, and the forces
// of environments whose heads follow the path. All of it is said in velocities, so that masses are parameters, too.
// Tangents and costates have the same product at all steps. Tested by tests/costates/costates_test.cpp and
// tests/costates/gradient_test.cpp.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "steppers/transposed/co_stepper.hpp"

namespace bathline {

/// A number by whose changes a problem is differentiated.
struct ChangedNumber {
  double value;
  double size = 0.0;             ///< of the value where it is not larger
  std::string environment = {};  ///< whose forces depend on it, by name; empty where no environment's do
  bool is_of_system = true;      ///< whether the particles' own forces or masses depend on it
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
};

/// A system, and what prepares the problem of a run with another one in its place. @note Collective.
struct Preparation {
  ParticleSystem system;
  std::function<Problem(const ParticleSystem&)> prepared;
};
/// That with another value of a number; nothing where there is none. @note Collective.
using ChangedPreparation = std::function<std::optional<Preparation>(double value)>;

/// The derivatives of the start, and of the forces at the points of a path but the first, a column for each, N, at
/// given masses; of forces on rank 0.
struct PathChange {
  Eigen::VectorXd q0, v0;
  Eigen::MatrixXd forces;
};
/// By differences of order 4 within the bounds of the number; their error is about 1e-12 of what it changes. Nothing
/// where a problem cannot be made. @note Collective.
std::optional<PathChange> change_on_path(const FinishedRun& run, const ChangedNumber& number,
                                         const ChangedPreparation& make);

/// Of a run without a magnetic field and with linear environments. All that is given must outlive it.
class TangentRun {
 public:
  /// @note Collective.
  TangentRun(const FinishedRun& run, const PathChange& change, const Preparation& start);
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
