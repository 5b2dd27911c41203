// A memory that is a few decaying oscillations.
#pragma once

#include <cmath>
#include <complex>
#include <span>
#include <vector>

#include "model/lumped/lumped.hpp"

namespace bathline {

/// exp(-r t) (k cos(w t) + b sin(w t)) of a kernel: N/m, 1/s, rad/s, N/m. Without w there is no b, and k is not 0.
struct PronyTerm {
  double k = 0.0, r = 0.0, w = 0.0, b = 0.0;
  /// What a time of t makes of z = 1 with the head held.
  std::complex<double> propagator(double t) const { return std::exp(t * std::complex(-r, w)); }
  /// Whether it is one by itself: the real part of its transform is negative nowhere on the imaginary axis.
  bool is_passive() const { return k > 0.0 && std::abs(b) * w <= k * r * (1.0 + 1e-12); }
};

/// sum of exp(-r t) (k cos(w t) + b sin(w t)), N/m.
double kernel_at(const std::vector<PronyTerm>& modes, double t);
/// Real part of its transform at i w, kg/s.
double resistance_at(std::span<const PronyTerm> modes, double w);

/// The same sum of modes in which no k is small beside its b: a state is scaled by k, and such a mode is two.
std::vector<PronyTerm> rescaled_terms(const std::vector<PronyTerm>& modes);
/// Whether each mode has noise of its own: where all are passive, and cosines.
bool has_termwise_noise(const std::vector<PronyTerm>& modes);

/// Modes on rank 0, with the noise that belongs to them at a temperature. Where one of them is not passive by itself,
/// the energy of the environment is what the head has put into it, and nothing counts as dissipated.
class PronyMemory : public LumpedEnvironment {
 public:
  /// `temperature` is kT, J, and 0 where these modes may not be warm.
  PronyMemory(std::string name, Attachment attachment, std::vector<PronyTerm> modes, double temperature,
              const Communicator& communicator);

  const std::vector<PronyTerm>& modes() const { return modes_; }
  LumpedNetwork assemble(std::int64_t limit) const override;
  EnvironmentEnergy energy(std::span<const double> head) override;
  bool exact_flow_is_complete() const override { return properties().loses_energy; }
  double apply_exact_flow(double t, double x, std::span<const double> numbers, Axis& axis) const override;
  /// A cold memory starts at rest, where it exerts no force on a head that is held.
  std::optional<AnalyticKernel> analytic_kernel(std::span<const double> times) const override;

 protected:
  EnvironmentProperties describe() const override;

 private:
  /// What a time makes of z, and the part of its square that is lost.
  struct Decay {
    std::complex<double> factor;
    double loss;
  };
  void cache_step_decays(double t) const;

  std::vector<PronyTerm> modes_;
  bool is_realisable_;  // of springs, masses and dashpots
  // Those of the time that was asked for last: a run asks for one.
  mutable double time_ = -1.0;
  mutable std::vector<Decay> decays_;
};

}  // namespace bathline
