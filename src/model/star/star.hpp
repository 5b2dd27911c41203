// Independent oscillators around one head: the heat bath of Caldeira and Leggett.
//
//   m_j w_j'' = k_j (x - w_j),   force on the head sum_j k_j (w_j - x)
//
// Source: farshi2018, section 4.3; limebeer2020, section II-A. Equivalent to the memory kernel
// gamma(t) = sum_j k_j cos(omega_j t), farshi2018, eq. (36).
#pragma once

#include "model/star/state.hpp"

namespace bathline {

class Star : public Environment {
 public:
  /// `steps_per_pass` steps of an explicit scheme are taken in one pass; `temperature` is kT of the start, J.
  /// @note Collective.
  Star(std::string name, Attachment attachment, Spectrum spectrum, double temperature, int steps_per_pass,
       const Communicator& communicator);

  std::int64_t bytes(const Scheme& scheme) const override;
  /// The highest half as they are; of the others, as many at a time as it takes, with the frequency of the highest.
  Assembly assemble(std::int64_t limit) const override;
  std::optional<MemoryFormulas> formulas(std::span<const double> times) const override;

  void prepare(const RandomKey& key) override;
  std::vector<StateField> fields() override;
  void take_over_fields() override { state_.refresh_pull(); }
  EnvironmentEnergy energy(std::span<const double> head) override;
  void force(std::span<const double> head, std::span<double> force) const override;

  std::unique_ptr<ExplicitMarch> explicit_march(const ExplicitScheme& scheme, double h) override;
  std::unique_ptr<ImplicitMarch> implicit_march(const CollocationScheme& scheme, double h) override;

 private:
  EnvironmentFacts describe() const override;
  /// The sum of add(oscillator, local number, sums) over all of them, on every rank. @note Collective.
  template <class Add>
  std::vector<double> summed(std::size_t width, Add add) const;

  StarState state_;
  double temperature_;
  int steps_per_pass_;
};

}  // namespace bathline
