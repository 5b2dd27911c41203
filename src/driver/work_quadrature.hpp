// The work of the drag, summed by rules that are the same for every integrator.
//
//   left           dt P_k,   P = -v.(f - C v)
//   trapezoid      dt (P_k + P_k+1)/2
//   displacements  -dq.(f - C dq/dt) at the mean position, dq.C dq/dt for linear damping
//   hermite        the integral of P along the polynomial of degree 5 through positions, velocities and accelerations
//                  of both ends, by Lobatto's quadrature with four nodes: order 6
//
// An integrator sums `energy_dissipated` by a rule of its own, so that two ledgers may differ by their rules alone: the
// first three are wrong by orders 1, 2 and 2 for the exact motion, too. Source: hairer2006, section II.1.2 for
// quadrature.
#pragma once

#include <array>

#include "driver/archive.hpp"
#include "driver/quintic_hermite.hpp"
#include "model/problem.hpp"

namespace bathline {

class WorkQuadrature {
 public:
  /// In the order of the table above.
  static constexpr std::array<const char*, 4> rules = {"left", "trapezoid", "displacements", "hermite"};

  explicit WorkQuadrature(const Problem& problem);
  /// Goes on to the state that the problem has at `time`; the first call is the start. On rank 0.
  void update(const Problem& problem, double time);
  /// Work since the start in J, by rule.
  const std::array<double, rules.size()>& values() const { return sums_; }

  /// Declares all that later sums depend on.
  void serialise(Archive& archive);

 private:
  struct End : HermiteNode {
    double power = 0.0;
  };
  static double power_at(const Problem& problem, const Eigen::VectorXd& q, const Eigen::VectorXd& v);
  static double hermite_integral(const Problem& problem, const End& from, const End& to);

  bool is_damped_;
  bool has_begun_ = false;
  End last_;
  std::array<double, rules.size()> sums_{};
};

}  // namespace bathline
