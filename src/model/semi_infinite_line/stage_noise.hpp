// The noise of a semi-infinite line at the stages of Gauss collocation.
//
// With b_i a_ij + b_j a_ji = b_i b_j a step of x' = A x + B w has for every quadratic form P
//
//   x+^T P x+ - x^T P x = 2 h sum_i b_i X_i^T P (A X_i + B w_i),   with the values X_i and w_i of the stages.
//
// If P^-1 = kT^-1 <x x^T> is the covariance under white noise in continuous time, P A + A^T P = -P B B^T P, and with
// y_i = w_i - B^T P X_i the right-hand side is h sum_i b_i (w_i^2 - y_i^2): the step is an orthogonal map of (P^1/2 x,
// (h b_i)^1/2 w_i) to (P^1/2 x+, (h b_i)^1/2 y_i). So independent w_i of variance 1/(h b_i) preserve the Gibbs
// distribution of linear systems, including exponential memories, for any step and any number of stages. A force that
// is constant during a step does so only with one stage.
//
// A line drawn from exp(-H/kT) and advanced by the same method has this force: at e^{i theta} the stages contain the
// frequencies w_l that the method maps to theta, each with |B(i w_l)|^2 = 2 Re g(i w_l), on vectors that are orthogonal
// with the weights b_i. Theorem and filter are ours.
#pragma once

#include <memory>

#include "model/semi_infinite_line/line_noise.hpp"
#include "model/semi_infinite_line/runge_kutta_modes.hpp"

namespace bathline {

/// A filter in continuous time, B(s) = feedthrough + sum of its exponentials, with |B(i w)|^2 = 2 Re g(i w) for the
/// kernel g in units of lambda and sqrt(M/lambda).
struct ContinuousFilter {
  double feedthrough;
  std::vector<ExponentialTerm> exponential_terms;
  double error;  ///< of the spectrum, relative to its largest value
  StationaryNoiseState start;
  std::vector<std::complex<double>> start_scale;  ///< factor of each exponential of `start`
};
ContinuousFilter make_continuous_filter(const BesselKernel& kernel);

/// The kernel of a line in continuous time, and its noise if kT > 0, made once for all runs.
struct ContinuousParts {
  BesselKernel kernel;
  std::shared_ptr<const ContinuousFilter> noise;  ///< nullptr for kT = 0
};
/// Arguments as those of make_bessel_kernel.
std::shared_ptr<const ContinuousParts> continuous_parts(double tolerance, double horizon, double run, bool is_warm);

/// Whether b_i a_ij + b_j a_ji = b_i b_j, so that quadratic invariants are conserved.
bool keeps_quadratic_invariants(const PartitionedRungeKutta& scheme);

/// The noise for a scheme that conserves quadratic invariants.
class StageNoise final : public LineNoise {
 public:
  /// `courant` is h sqrt(lambda/M), `strength` kT lambda, N^2.
  StageNoise(std::shared_ptr<const ContinuousFilter> filter, const PartitionedRungeKutta& scheme, double courant,
             double strength);

  double error() const override { return filter_->error; }
  /// The last output is the force at the end of a step.
  ConvolutionShape shape() const override { return {.next_outputs = stages() + 1, .modes = modes_.modes->size()}; }
  std::size_t stages() const override { return scale_.size(); }
  std::size_t start_numbers() const override { return filter_->start.numbers(); }
  void start(std::span<const double> numbers, ConvolutionState& state) const override;
  void forces(const ConvolutionState& state, std::span<const double> numbers, std::span<double> forces) const override;
  void commit(ConvolutionState& state, std::span<const double> numbers) const override;

 private:
  std::shared_ptr<const ContinuousFilter> filter_;
  std::vector<double> scale_;  // factors of the standard normal numbers
  RungeKuttaModes modes_;
};

}  // namespace bathline
