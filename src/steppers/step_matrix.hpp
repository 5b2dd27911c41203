// The matrix of one step of an integrator on a linear system.
#pragma once

#include <Eigen/Dense>
#include <optional>

#include "methods/scheme.hpp"
#include "model/problem.hpp"
#include "solve/dense.hpp"

namespace bathline {

/// A_d with x_{k+1} = A_d x_k, x = (q, v), computed by applying the integrator to the unit vectors. With environments x
/// is (q, v, w, p, ...), displacements and momenta of each, site by site, axis by axis, relative to the state of rest.
/// `problem` must be linear; its state is changed, and its noise disabled. Same on every rank. @note Collective.
Eigen::MatrixXd step_matrix(const Scheme& scheme, Problem& problem, double h);

/// Without environments, R with x^T R x the energy that damping dissipates in the step from x, as the integrator
/// computes it: on linear systems a quadratic form. As above otherwise. @note Collective.
Eigen::MatrixXd dissipation_form(const Scheme& scheme, Problem& problem, double h);

/// The covariance of the noise in x+ = A_d x + noise. As above otherwise. @note Collective.
Eigen::MatrixXd noise_covariance(const Scheme& scheme, Problem& problem, double h);

/// What the particles get in a step on average in a stationary state, by the ledger of the integrator, J.
struct StepHeat {
  Eigen::MatrixXd exchange;        ///< from white friction and noise, as `Problem::exchange`
  Eigen::VectorXd by_environment;  ///< from each environment but for its white friction
};
/// In the stationary state with this covariance of x. As above otherwise. @note Collective.
StepHeat heat_of_steps(const Scheme& scheme, Problem& problem, double h, const Eigen::MatrixXd& covariance);

struct StationaryCovariance {
  std::optional<Eigen::MatrixXd> matrix;  ///< nothing where there is none, or none that can be told from round-off
  SlowestMotion slowest;
  std::optional<StepHeat> heat = {};  ///< where it has been summed as well
};
/// The stationary <x x^T> of x = (q, v) alone, from the responses to each of the normal numbers of the steps: for
/// environments whose state is not that of sites, such as semi-infinite lines. The sum over the computed steps is
/// taken once twice as many change it by at most 1e-9 of the variances, likewise the heat. The responses are
/// extrapolated beyond these steps where they decay slowly, until twice as many change the result by at most 1e-11, or
/// 1e-15 over the decay of the slowest motion in a step, or 1e-7 from 32768 steps on. As above otherwise. @note
/// Collective.
StationaryCovariance covariance_from_impulse_responses(const Scheme& scheme, Problem& problem, double h);

/// The matrix A of the exact motion, x' = A x, x = (q, v).
Eigen::MatrixXd system_matrix(const Problem& problem);

}  // namespace bathline
