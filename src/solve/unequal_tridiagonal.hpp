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
// once and kept. The ranks' pieces are put together as in tridiagonal.hpp; what a piece hands to its two neighbours
// differs here. Source: the partition method, polizzi2006 (SPIKE); the elimination is the Thomas algorithm.
#pragma once

#include "parallel/communicator.hpp"
#include "parallel/layout.hpp"
#include "solve/direct_line_solver.hpp"

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

  const HeadRelation& eliminate(std::span<double* const> fields) override;
  void substitute(std::span<double* const> fields, std::span<const double> head) override;
  LineRow row(std::int64_t site) const override;

  /// Kept for every site of a rank.
  static constexpr std::int64_t bytes_per_site = sizeof(double);

 private:
  /// What a rank's piece looks like from outside: v_first = u + near v_left + from_right v_right,
  /// v_last = v + from_left v_left + last v_right.
  struct Piece {
    double near = 0.0;
    double from_right = 0.0;
    double from_left = 0.0;
    double last = 0.0;
  };

  double coupling(std::int64_t site) const { return matrix_.strength * matrix_.spring[site]; }
  /// Computes the gains and everything that is kept besides.
  Piece factorise();
  /// Velocity of the last site, by what `eliminate` leaves in `x`.
  double last_velocity(const double* x) const;

  Communicator communicator_;
  UnequalLineMatrix matrix_;
  int fields_;
  int holders_;
  std::int64_t count_;
  bool is_last_;
  std::vector<double> gain_;   // g
  std::int64_t to_last_ = 0;   // so many sites from the end are felt by the last one
  std::int64_t to_right_ = 0;  // so many feel the right neighbour
  std::vector<Piece> pieces_;  // of all ranks that hold sites
  std::vector<double> ends_;   // u and v of all ranks and fields
  std::vector<double> mine_;
  std::vector<double> first_;  // v_first = first_[rank, field] + slope_[rank] * v_left, right neighbours eliminated
  std::vector<double> slope_;
  HeadRelation relation_;
};

}  // namespace bathline
