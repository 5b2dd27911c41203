// Minimisation with bounds and equality constraints, and nonlinear least squares, through PETSc's TAO.
//
// Equality constraints c(x) = 0 are met by an augmented Lagrangian, f + mu.c + (rho/2)|c|^2, which TAO's `blmvm`, a
// quasi-Newton method with bounds, minimises for one mu after the other, mu <- mu + rho c. Its gradient, that of
// f + (mu + rho c).c, is one adjoint sweep. Source: nocedal2006, section 17.4.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <string>

namespace bathline {

/// f and c, which are evaluated together, and then, at the same x, slopes.
class ConstrainedFunction {
 public:
  virtual ~ConstrainedFunction() = default;
  /// f(x); `constraints` becomes c(x). Not finite where it cannot be evaluated: then x is not accepted.
  virtual double value(const Eigen::VectorXd& x, Eigen::VectorXd& constraints) = 0;
  /// The gradient of f + weights.c at the last x for which the value was asked.
  virtual void gradient(const Eigen::VectorXd& weights, Eigen::VectorXd& slopes) = 0;
};

/// Bounds of every unknown; infinite where there is none, empty where none has any.
struct Bounds {
  Eigen::VectorXd lower, upper;
};

/// Where a search begins and ends.
struct SearchPoint {
  Eigen::VectorXd x;
  Eigen::VectorXd multipliers = {};  ///< mu; as many as constraints, which are zero at first
  double penalty = 10.0;             ///< rho
};

struct SearchReport {
  SearchPoint point;
  double value = 0.0;          ///< f, or half the sum of squares
  double residual = 0.0;       ///< 2-norm of the Lagrangian's gradient, projected onto the bounds
  double infeasibility = 0.0;  ///< the largest |c|
  int iterations = 0;
  int evaluations = 0;  ///< of the function
  bool converged = false;
  std::string reason;  ///< why it stopped, in PETSc's words
};

/// Limits that options such as `-tao_gatol` and `-tao_max_funcs` replace.
struct SearchLimits {
  double residual = 1e-7;
  double infeasibility = 1e-10;
  int evaluations = 10000;
};

/// Called at the start and after every iteration with what is known then, but for `reason`.
using SearchProgress = std::function<void(const SearchReport&)>;

/// Searches a minimum of f where c(x) = 0 within the bounds, from `start`. What `function` throws is thrown.
/// Not collective: one rank calls it. TAO's options have no prefix; by default `-tao_type blmvm`,
/// `-tao_blmvm_mat_lmvm_scale_type scalar` and `-tao_blmvm_mat_lmvm_hist_size 20`.
SearchReport minimise(ConstrainedFunction& function, SearchPoint start, const Bounds& bounds = {},
                      const SearchLimits& limits = {}, const SearchProgress& progress = nullptr);

/// Residuals r(x) and their derivatives by x, of sizes that are given. Returns false where they cannot be evaluated.
using Residuals = std::function<bool(const Eigen::VectorXd& x, Eigen::VectorXd& residuals, Eigen::MatrixXd& jacobian)>;

/// Searches a minimum of |r(x)|^2/2 within the bounds by TAO's `brgn`, Gauss-Newton with Levenberg and Marquardt's
/// damping; otherwise as `minimise`.
SearchReport least_squares(const Residuals& function, int residuals, Eigen::VectorXd start, const Bounds& bounds = {},
                           const SearchLimits& limits = {}, const SearchProgress& progress = nullptr);

/// UsageError where `-tao_type` is a method of TAO that the search cannot take, as it needs second derivatives or keeps
/// no bounds. @note The same on every rank.
void check_minimiser_options();
void check_least_squares_options();

/// Makes PETSc query the options of both.
void query_minimiser_options();

}  // namespace bathline
