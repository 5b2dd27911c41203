// A memory that is a few decaying oscillations.
#pragma once

#include <complex>
#include <vector>

#include "model/lumped.hpp"

namespace bathline {

/// k exp(-r t) cos(w t) of a kernel: N/m, 1/s, rad/s.
struct MemoryMode {
  double k, r, w;
  /// What a time of t makes of z = 1 with the head held.
  std::complex<double> grown(double t) const { return std::exp(t * std::complex(-r, w)); }
};

/// Modes on rank 0, with the noise that belongs to them at a temperature.
class MemoryOfModes : public LumpedEnvironment {
 public:
  /// `temperature` is kT, J.
  MemoryOfModes(std::string name, Attachment attachment, std::vector<MemoryMode> modes, double temperature,
                const Communicator& communicator);

  bool relaxes_wholly() const override { return facts().loses_energy; }
  double relax(double t, double x, std::span<const double> numbers, Axis& axis) const override;
  /// A cold memory starts at rest, where it exerts no force on a head that is held.
  std::optional<MemoryFormulas> formulas(std::span<const double> times) const override;

 protected:
  EnvironmentFacts describe() const override;

 private:
  /// What a time makes of z, and the part of its square that is lost.
  struct Decay {
    std::complex<double> factor;
    double loss;
  };
  void remember_decays(double t) const;

  std::vector<MemoryMode> modes_;
  // Those of the time that was asked for last: a run asks for one.
  mutable double time_ = -1.0;
  mutable std::vector<Decay> decays_;
};

}  // namespace bathline
