// A memory kernel from velocities and forces along a thermal path.
//
// Of m v' = F(t) - integral_0^t gamma(t - s) v(s) ds + R(t), where R is uncorrelated with v(0), the correlations
// C_vv(t) = <v(t) v(0)> and C_Fv(t) = <F(t) v(0)> obey, integrated once with G = integral of gamma,
//
//   m (C_vv(0) - C_vv(t)) + integral_0^t C_Fv ds = integral_0^t G(t - s) C_vv(s) ds,
//
// a Volterra equation of the first kind without derivatives of data. gamma = sum of k_j exp(-r_j t) with k_j >= 0 on a
// grid of rates is found by non-negative least squares over all lags: it is passive, and regular where the inversion
// step by step magnifies errors. C_vv is taken as linear between lags: errors are of order 2 in their interval. Errors
// are those of the jackknife over blocks of time. Source: kowalik2019, section II, for the integrated equation;
// lawson1974, chapter 23; efron1982, chapter 3.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

namespace bathline {

/// Velocities, m/s, and forces, N, of one coordinate at equal intervals.
struct ThermalSeries {
  std::vector<double> velocity, force;
};

struct KernelEstimateOptions {
  double mass = 1.0;      ///< kg
  double interval = 1.0;  ///< s, of the series
  Eigen::Index lags = 2;  ///< the longest lag, in intervals
  int rates = 25;         ///< of the grid, from the inverse of the longest lag to that of the interval
  int blocks = 10;        ///< of time, of which the jackknife leaves out one
};

/// All over the lags 0, 1, ..., with standard errors.
struct KernelEstimate {
  Eigen::VectorXd velocity_correlation, force_correlation;  ///< m^2/s^2, N m/s
  Eigen::VectorXd kernel, kernel_error;                     ///< gamma, N/m
  Eigen::VectorXd integral, integral_error;                 ///< G, kg/s
  Eigen::VectorXd inverted;                                 ///< G step by step, neighbours averaged
  std::vector<double> stiffness, rate;                      ///< k_j, N/m, all positive, and r_j, 1/s, ascending
  double damping = 0.0, damping_error = 0.0;                ///< sum of k_j/r_j, kg/s
  double temperature = 0.0, temperature_error = 0.0;        ///< m <v^2>, J
  double mismatch = 0.0;  ///< rms difference of the two sides over the rms of the left one
};

/// The estimate of exact correlations over the lags, without errors.
KernelEstimate kernel_from_correlations(const Eigen::VectorXd& vv, const Eigen::VectorXd& fv,
                                        const KernelEstimateOptions& options);

/// All series must have the same length, more than `lags` intervals in each block.
KernelEstimate estimate_kernel(std::span<const ThermalSeries> series, const KernelEstimateOptions& options);

}  // namespace bathline
