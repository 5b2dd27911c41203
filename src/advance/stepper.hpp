// A scheme at work on a problem.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "integrate/scheme.hpp"
#include "model/problem.hpp"

namespace bathline {

/// A numerical failure, the same on every rank.
struct Failure {
  std::int64_t step = 0;  ///< the step that could not be completed, from 1
  double residual = 0.0;
  std::string reason;
};

/// Advances a problem by many steps at a time, so that schemes may block in time.
class Stepper {
 public:
  virtual ~Stepper() = default;
  /// Advances by `steps` steps. Where it fails the problem is left somewhere inside the failed step.
  /// @note Collective.
  virtual std::optional<Failure> advance(std::int64_t steps) = 0;
  /// A number of steps whose multiples `advance` can be given one after the other, or all at once, without any change
  /// in the bits. The same on every rank. An exact flow knows none.
  virtual std::int64_t portion() const { return 1; }
  /// What the next steps depend on besides the problem's state, on rank 0. Most steppers depend on nothing else.
  virtual std::vector<double> memory() const { return {}; }
  /// The converse, on a stepper that has not advanced yet.
  virtual void remember(std::span<const double>) {}
};

/// The stepper of a scheme; `problem` must outlive it. Reads PETSc's options where it needs a solver and throws
/// SolverError where PETSc refuses one. A contact problem whose start is given by two positions gets its momentum here.
/// @note Collective.
std::unique_ptr<Stepper> make_stepper(const Scheme& scheme, Problem& problem, double h);

// One function per kind of scheme, in files of their own.
std::unique_ptr<Stepper> make_explicit_stepper(const ExplicitScheme& scheme, Problem& problem, double h);
std::unique_ptr<Stepper> make_one_stage_stepper(const OneStageScheme& scheme, Problem& problem, double h);
std::unique_ptr<Stepper> make_collocation_stepper(const CollocationScheme& scheme, Problem& problem, double h);
std::unique_ptr<Stepper> make_exact_stepper(Problem& problem, double h);
std::unique_ptr<Stepper> make_exact_contact_stepper(Problem& problem, double h);
std::unique_ptr<Stepper> make_herglotz_stepper(const HerglotzScheme& scheme, Problem& problem, double h);

}  // namespace bathline
