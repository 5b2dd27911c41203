// The force of a quantum bath as filtered white noise.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "model/thermal/random_force.hpp"

namespace bathline {

/// S(w) = 2 Re g(i w) (hbar w/2) coth(hbar w/(2 kT)) in N^2 s, by fluctuation and dissipation the spectrum of the force
/// of a bath in equilibrium: `friction` is Re g(i w) in kg/s with g the transform of a kernel, kT is in J, and may be
/// 0, hbar in J s. Source: weiss2012, section 2.
std::function<double(double)> quantum_spectrum(std::function<double(double)> friction, double kt, double hbar);

/// Forces that are constant over steps of h, for the midpoint rule: R_k = sum_l a_l e_(k+l) with white numbers e and
/// the spectrum S((2/h) tan(theta/2))/h: S at the frequency that the rule assigns to an oscillation by theta per step.
/// Linear systems then have the variances of continuous time at any step.
class QuantumNoise {
 public:
  static constexpr std::size_t min_reach = 1024, max_reach = 16384;
  /// Relative error of the spectrum down to which `reach` grows.
  static constexpr double max_truncation_error = 1e-4;

  /// `spectrum` must vanish at infinite frequency.
  QuantumNoise(const std::function<double(double)>& spectrum, double h);
  /// Number of steps before and after a step whose white numbers enter its force.
  std::size_t reach() const { return weights_.size() / 2; }
  /// The integral of the absolute error of the spectrum, over the integral of the spectrum.
  double truncation_error() const { return truncation_error_; }
  /// The largest error of the spectrum, over its largest value.
  double error() const { return error_; }
  /// The weights of the 2 reach + 1 white numbers of a force, that of the step in the middle.
  std::span<const double> weights() const { return weights_; }
  /// Forces are computed for blocks of `block_steps` steps, from as many and 2 reach further white numbers.
  std::size_t block_steps() const { return 2 * reach(); }
  /// The weights' discrete Fourier transform of length block_steps + 2 reach, up to the Nyquist frequency.
  const std::vector<std::complex<double>>& transform() const { return transform_; }

 private:
  void truncate(std::size_t reach, const std::function<double(double)>& spectrum, double h);

  std::vector<double> weights_;
  std::vector<std::complex<double>> transform_;
  double truncation_error_ = 0.0, error_ = 0.0;
};

std::unique_ptr<RandomForce> make_quantum_force(std::shared_ptr<const QuantumNoise> noise);

}  // namespace bathline
