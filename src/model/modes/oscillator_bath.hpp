// Independent oscillators coupled to one head: the heat bath of Caldeira and Leggett.
//
//   m_j w_j'' = k_j (x - w_j),   force on the head sum_j k_j (w_j - x)
//
// Source: farshi2018, section 4.3; limebeer2020, section II-A. Equivalent to the memory kernel
// gamma(t) = sum_j k_j cos(omega_j t), farshi2018, eq. (36).
#pragma once

#include "model/discrete_spectrum.hpp"
#include "model/modes/environment.hpp"

namespace bathline {

class OscillatorBath : public ModesEnvironment {
 public:
  /// `temperature` is kT of the start, J; `steps_per_pass` steps of a splitting are taken in one pass over the
  /// oscillators.
  OscillatorBath(std::string name, Attachment attachment, DiscreteSpectrum spectrum, double temperature,
                 const Communicator& communicator, int steps_per_pass = 32);

  /// Beyond `limit` oscillators the limit/2 highest remain single; the others are lumped into groups, each with the
  /// highest frequency of its members.
  LumpedNetwork assemble(std::int64_t limit) const override;
  std::optional<AnalyticKernel> analytic_kernel(std::span<const double> times) const override;

 private:
  EnvironmentProperties describe() const override;
  /// Sums over all oscillators, `width` for each of the times, on every rank: add(oscillator, local index, some of the
  /// times, sums) adds the terms of one. @note Collective.
  template <class Add>
  std::vector<double> sum_over_oscillators(std::span<const double> times, std::size_t width, Add add) const;

  DiscreteSpectrum spectrum_;
};

}  // namespace bathline
