// The work of the drag by quadrature rules that are the same for every integrator.
//
//   left           dt P_k,   P = -v.(f - C v)
//   trapezoid      dt (P_k + P_k+1)/2
//   displacements  -dq.(f - C dq/dt) at the mean position, dq.C dq/dt for linear damping
//   hermite        the integral of P along the polynomial of degree 5 through positions, velocities and accelerations
//                  of both ends, by Lobatto's quadrature with four nodes: order 6
//
// Every integrator computes `energy_dissipated` by its own rule, so that two ledgers may differ by their rules alone:
// the first three have errors of order 1, 2 and 2 even for the exact motion. Source: hairer2006, section II.1.2 for
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
  /// Adds the interval up to the state at `time`; the first call is the start. On rank 0.
  void update(const Problem& problem, double time);
  /// Work since the start in J, for each rule.
  const std::array<double, rules.size()>& values() const { return sums_; }

  /// Declares the state.
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
