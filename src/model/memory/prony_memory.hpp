// A memory with a kernel of decaying oscillations (a Prony series).
#pragma once

#include <cmath>
#include <complex>
#include <span>
#include <vector>

#include "model/lumped/lumped.hpp"

namespace bathline {

/// A term exp(-r t) (k cos(w t) + b sin(w t)) of a kernel; k and b in N/m, r in 1/s, w in rad/s. b = 0 if w = 0, and k
/// is not 0.
struct PronyTerm {
  double k = 0.0, r = 0.0, w = 0.0, b = 0.0;
  /// Propagator of z over a time t with a clamped head.
  std::complex<double> propagator(double t) const { return std::exp(t * std::complex(-r, w)); }
  /// Whether the term alone is passive: the real part of its transform is nowhere negative on the imaginary axis.
  bool is_passive() const { return k > 0.0 && std::abs(b) * w <= k * r * (1.0 + 1e-12); }
};

/// sum of exp(-r t) (k cos(w t) + b sin(w t)), N/m.
double kernel_at(const std::vector<PronyTerm>& modes, double t);
/// Real part of its transform at i w, kg/s.
double resistance_at(std::span<const PronyTerm> modes, double w);

/// The same sum with no k small compared with its b, because states are scaled by k: such a mode is split into two.
std::vector<PronyTerm> rescaled_terms(const std::vector<PronyTerm>& modes);
/// Whether each mode has noise of its own: all are passive and have b = 0.
bool has_termwise_noise(const std::vector<PronyTerm>& modes);

/// Modes on rank 0, with their noise at a temperature. If one of them is not passive by itself, the energy of the
/// environment is the work of the head on it, and nothing counts as dissipated.
class PronyMemory : public LumpedEnvironment {
 public:
  /// `temperature` is kT, J; 0 unless has_termwise_noise(modes). `damping`, kg/s, is that of white friction beside
  /// them.
  PronyMemory(std::string name, Attachment attachment, std::vector<PronyTerm> modes, double temperature,
              const Communicator& communicator, double damping = 0.0);

  const std::vector<PronyTerm>& modes() const { return modes_; }
  LumpedNetwork assemble(std::int64_t limit) const override;
  EnvironmentEnergy energy(std::span<const double> head) override;
  bool exact_flow_is_complete() const override { return properties().loses_energy; }
  double apply_exact_flow(double t, double x, std::span<const double> numbers, Axis& axis) const override;
  double apply_transposed_flow(double t, Axis& axis) const override;
  /// A cold memory starts at rest, where it exerts no force on a clamped head.
  std::optional<AnalyticKernel> analytic_kernel(std::span<const double> times) const override;

 protected:
  EnvironmentProperties describe() const override;

 private:
  /// Propagator of z over a time, and the fraction of |z|^2 that is lost.
  struct Decay {
    std::complex<double> factor;
    double loss;
  };
  void cache_step_decays(double t) const;

  std::vector<PronyTerm> modes_;
  double damping_;
  bool is_realisable_;  // of springs, masses and dashpots
  // Cached for the last time step; a run has one.
  mutable double time_ = -1.0;
  mutable std::vector<Decay> decays_;
};

}  // namespace bathline
