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
#include <span>
#include <vector>

#include "model/problem.hpp"

namespace bathline {

class WorkSums {
 public:
  /// In the order of the table above.
  static constexpr std::array<const char*, 4> rules = {"left", "trapezoid", "displacements", "hermite"};

  /// Goes on to the state that the problem has at `time`; the first call is the start. On rank 0.
  void go_on(const Problem& problem, double time);
  /// Work since the start in J, by rule.
  const std::array<double, rules.size()>& values() const { return sums_; }

  /// All that later sums depend on; empty before the start.
  std::vector<double> memory() const;
  /// The converse, for `size` degrees of freedom. Throws std::out_of_range where it does not fit.
  void remember(std::span<const double> memory, Eigen::Index size);

 private:
  struct End {
    double time = 0.0, power = 0.0;
    Eigen::VectorXd q, v, a;
  };
  static double power_at(const Problem& problem, const Eigen::VectorXd& q, const Eigen::VectorXd& v);
  static double hermite_integral(const Problem& problem, const End& from, const End& to);

  std::optional<End> last_;
  std::array<double, rules.size()> sums_{};
};

}  // namespace bathline
