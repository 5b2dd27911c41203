// Derivatives of a run by one parameter.
//
// The derivative of the steps of a run by a parameter is a run forwards, by the same scheme, of the problem that is
// linear about its path: the Hessian of V on the path as stiffness, the same environments, made anew and cold, and one
// force more, which is what the parameter changes while the path stays. A parameter of masses or environments changes
// the linear problem itself: its derivative is the difference of such runs with other values, whose motions begin on
// the path and leave it by what they change, however the run amplifies it. All of it is said in velocities. Tangents
// and costates have the same product at all steps. Tested by tests/costates/costates_test.cpp and
// tests/costates/gradient_test.cpp.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "steppers/transposed/co_stepper.hpp"

namespace bathline {

/// A number by whose changes a problem is differentiated.
struct ChangedNumber {
  double value;
  double size = 0.0;             ///< of the value where it is not larger
  std::string environment = {};  ///< whose forces depend on it, by name; empty where no environment's do
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
};

/// A system, and what prepares the problem of a run with another one in its place. @note Collective.
struct Preparation {
  ParticleSystem system;
  std::function<Problem(const ParticleSystem&)> prepared;
};
/// That with another value of a number; nothing where there is none. @note Collective.
using ChangedPreparation = std::function<std::optional<Preparation>(double value)>;

/// The forces of a linear problem at points of a path that do not depend on its own motion: a column for each, N.
using PathForces = std::function<void(const ForcePoints& points, Eigen::MatrixXd& forces)>;

class LinearRun;

/// Of a run without a magnetic field and with linear environments. What `run` refers to must outlive it.
class TangentRun {
 public:
  /// With these derivatives of the forces by the parameter; those of the start are q0 and v0 of the system.
  /// @note Collective.
  TangentRun(const FinishedRun& run, const Preparation& start, PathForces forces);
  /// By differences of order 4 within the bounds of the number; their error is about 1e-12 of what it changes. Where it
  /// changes neither masses nor environments it is one run, else one for each point of the differences. Nothing where a
  /// problem cannot be made. @note Collective.
  static std::optional<TangentRun> by(const FinishedRun& run, const ChangedNumber& number,
                                      const ChangedPreparation& make);
  TangentRun(TangentRun&&) noexcept;
  ~TangentRun();

  /// @note Collective.
  std::optional<Failure> advance(std::int64_t steps);
  /// The derivatives of positions and velocities after these steps, on rank 0, and at the points of some of the last
  /// ones, from step `first` on.
  Eigen::VectorXd q() const;
  Eigen::VectorXd v() const;
  std::pair<Eigen::MatrixXd, Eigen::MatrixXd> at_points(std::int64_t first, std::int64_t steps) const;

 private:
  TangentRun() = default;
  std::vector<std::pair<double, std::unique_ptr<LinearRun>>> parts_;  // summed with these weights
};

}  // namespace bathline
