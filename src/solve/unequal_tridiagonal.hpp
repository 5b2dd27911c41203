// Direct solution of the tridiagonal systems of a line whose sites differ, cut over the ranks.
//
//   x_j + e_j (v_j - v_{j-1}) + e_{j+1} (v_j - v_{j+1}) = r_j,   v_j = x_j / m_j,   j = 1..N,   v_0 the head;
//   behind the last site something resists its motion by z: z v_N instead of e_{N+1} (v_N - v_{N+1})
//
// In the velocities v the matrix M + E is symmetric and positive definite, and whoever wants it assembled gets that
// one. The sweeps keep the momenta x: their pivots are 1 + (e + z)/m, which is 1 where the step is short, so that a
// momentum that nothing changes keeps its bits.
//
// Elimination from the far end: what lies behind a site is one resistance z_{j+1}, like springs in series,
//
//   g_j = 1 / (1 + (e_j + z_{j+1})/m_j),   z_j = e_j g_j (1 + z_{j+1}/m_j),
//
// sums and products of positive numbers only, so that no ratio of masses or stiffnesses costs a digit. g is computed
// once and kept. Source: the Thomas algorithm; rank_coupling.hpp puts the ranks' pieces together.
#pragma once

#include <vector>

#include "solve/rank_coupling.hpp"

namespace bathline {

/// The matrix on this rank's own sites, all units those of a momentum and of a velocity.
struct UnequalLineMatrix {
  /// Before every site and behind the last one; e is `strength` times it. Has to outlive the solver, as the next.
  const double* spring = nullptr;
  const double* inverse_mass = nullptr;  ///< of every site
  double strength = 0.0;
  double far_end = 0.0;  ///< z of what is behind the last of all sites
};

class UnequalTridiagonal final : public DirectLineSolver {
 public:
  /// `fields` right-hand sides are treated together. @note Collective.
  UnequalTridiagonal(const UnequalLineMatrix& matrix, const Layout& layout, const Communicator& communicator,
                     int fields);

  int stages() const override { return 1; }
  const HeadRelation& eliminate(std::span<double* const> fields) override;
  void substitute(std::span<double* const> fields, const Eigen::MatrixXd& head) override;
  LineRow row(std::int64_t site) const override;

  /// Kept for every site of a rank.
  static constexpr std::int64_t bytes_per_site = sizeof(double);

 private:
  double coupling(std::int64_t site) const { return matrix_.strength * matrix_.spring[site]; }
  /// Computes the gains and everything that is kept besides.
  RankCoupling<1>::Piece factorise();
  /// Velocity of the last site, by what `eliminate` leaves in `x`.
  double last_velocity(const double* x) const;

  UnequalLineMatrix matrix_;
  std::int64_t count_;
  bool is_last_;
  std::vector<double> gain_;   // g
  std::int64_t to_last_ = 0;   // so many sites from the end are felt by the last one
  std::int64_t to_right_ = 0;  // so many feel the right neighbour
  RankCoupling<1> ranks_;
};

}  // namespace bathline
