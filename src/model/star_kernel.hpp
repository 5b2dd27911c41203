// A handful of bath oscillators, small enough for the first-level cache, advanced by an explicit scheme.
//
//   m w'' = k (x(t) - w)
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "integrate/scheme.hpp"

namespace bathline {

/// The update that every path shares: momentum after a kick of `strength` = weight h.
inline double bath_kicked(double p, double strength, double stiffness, double head, double w) {
  return std::fma(strength * stiffness, head - w, p);
}
/// Displacement after a drift of `weight` h.
inline double bath_drifted(double w, double weight, double inverse_mass, double p) {
  return std::fma(weight * inverse_mass, p, w);
}

class StarKernel {
 public:
  /// Oscillators that are advanced together.
  static constexpr int chunk = 256;

  StarKernel(const ExplicitScheme& scheme, double h) : scheme_(scheme), h_(h), stages_(scheme.b.size()) {}

  const ExplicitScheme& scheme() const { return scheme_; }
  double step() const { return h_; }
  int substeps() const { return static_cast<int>(scheme_.substeps.size()); }

  /// Advances `count` <= chunk oscillators by `steps` steps with the head at `heads[i]` during substep i (everywhere 0
  /// where `heads` is empty). Adds to `pulls[i]`, where that is not empty, the sum of k w as it is before substep i,
  /// for the substeps that feel a force and for the first of every step.
  void run(int steps, std::span<const double> heads, int count, double* w, double* p, const double* stiffness,
           const double* inverse_mass, std::span<double> pulls);
  /// The same for copies of the oscillators, which themselves stay.
  void forecast(int steps, std::span<const double> heads, int count, const double* w, const double* p,
                const double* stiffness, const double* inverse_mass, std::span<double> pulls);

 private:
  struct Stage {
    std::vector<double> velocity = std::vector<double>(chunk), force = std::vector<double>(chunk);
  };
  void stage(const Substep& substep, double head, int count, double* w, double* p, const double* stiffness,
             const double* inverse_mass);

  ExplicitScheme scheme_;
  double h_;
  std::vector<Stage> stages_;
  std::vector<double> stage_w_ = std::vector<double>(chunk), stage_p_ = std::vector<double>(chunk);
  std::vector<double> copy_w_ = std::vector<double>(chunk), copy_p_ = std::vector<double>(chunk);
};

}  // namespace bathline
