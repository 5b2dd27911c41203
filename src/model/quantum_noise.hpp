// The force of a quantum bath as a filter of white numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "model/march.hpp"
#include "model/step_numbers.hpp"

namespace bathline {

/// S(w) = 2 Re g(i w) (hbar w/2) coth(hbar w/(2 kT)) in N^2 s, by fluctuation and dissipation the spectrum of the force
/// of a bath in equilibrium: `friction` is Re g(i w) in kg/s with g the transform of a kernel, kT is in J, and may be
/// 0, hbar in J s. Source: weiss2012, section 2.
std::function<double(double)> quantum_spectrum(std::function<double(double)> friction, double kt, double hbar);

/// Forces that are constant over steps of h, for the midpoint rule: R_k = sum_l a_l e_(k+l) with white numbers e and
/// the spectrum S((2/h) tan(theta/2))/h, which is S at the frequency that the rule takes an oscillation of theta in a
/// step for. Linear systems then have the variances of continuous time at any step.
class QuantumNoise {
 public:
  /// How many numbers before and after that of a step matter.
  static constexpr std::size_t reach = 1024;

  /// `spectrum` vanishes at infinite frequencies.
  QuantumNoise(const std::function<double(double)>& spectrum, double h);
  /// In N, from 2 reach + 1 numbers with that of the step in the middle.
  double force(std::span<const double> numbers) const;

 private:
  std::vector<double> weights_;  // of those numbers
};

/// What a march with such forces keeps of a run, on rank 0.
struct QuantumState {
  StepNumbers numbers;
  double steps = 0.0;              ///< done so far, a whole number
  std::vector<double> dissipated;  ///< by axis: what the force has done, with the opposite sign
};

/// The march `friction` of the midpoint rule with steps of h, with noise on its head. `state` must outlive it.
std::unique_ptr<ImplicitMarch> with_quantum_noise(std::unique_ptr<ImplicitMarch> friction, QuantumNoise noise, double h,
                                                  QuantumState& state);

}  // namespace bathline
