// The matrix of one step of an integrator on a linear system.
#pragma once

#include <Eigen/Dense>
#include <optional>

#include "methods/scheme.hpp"
#include "model/problem.hpp"

namespace bathline {

/// A_d with x_{k+1} = A_d x_k, x = (q, v), found by stepping the unit vectors through the integrator itself. With
/// environments x is (q, v, w, p, ...), displacements and momenta of each, site by site, axis by axis, and measured
/// from where the system is at rest. `problem` must be linear; its state is left changed, and noise that it has silent.
/// Same on every rank.
/// @note Collective.
Eigen::MatrixXd step_matrix(const Scheme& scheme, Problem& problem, double h);

/// Without environments, R with x^T R x the work that damping takes in the step from x, as the integrator counts it: on
/// linear systems a quadratic form. As above otherwise. @note Collective.
Eigen::MatrixXd dissipation_form(const Scheme& scheme, Problem& problem, double h);

/// The covariance of what noise adds to x in a step, in which x+ = A_d x + noise. As above otherwise.
/// @note Collective.
Eigen::MatrixXd noise_covariance(const Scheme& scheme, Problem& problem, double h);

/// The stationary <x x^T> of x = (q, v) alone, from what each of the normal numbers of the start and of the steps does
/// to it: for environments whose state is not that of sites, such as lines without end, which nobody could wait for to
/// become stationary. Right to 1e-11 of the variances as far as doubling the time tells; nothing where 10^5 steps do
/// not come that far. As above otherwise. @note Collective.
std::optional<Eigen::MatrixXd> covariance_from_impulse_responses(const Scheme& scheme, Problem& problem, double h);

/// The matrix A of the exact motion, x' = A x, x = (q, v).
Eigen::MatrixXd system_matrix(const Problem& problem);

}  // namespace bathline
