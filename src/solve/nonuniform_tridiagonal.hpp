// Direct solution of the block tridiagonal systems of a line whose sites differ, cut over the ranks, with s stage
// values a site.
//
//   x_j + e_j (v_j - v_{j-1}) + e_{j+1} (v_j - v_{j+1}) = r_j,   v_j = x_j / m_j,   j = 1..N,   v_0 the head;
//   behind the last site something resists its motion by z: z v_N instead of e_{N+1} (v_N - v_{N+1})
//
// e_j = k_j G with one s x s matrix G for all sites. In the velocities v and with one stage the matrix M + E is
// symmetric and positive definite, and whoever wants it assembled gets that one. The sweeps keep the momenta x: their
// pivots are 1 + (e + z)/m, which is 1 where the step is short, so that a momentum that nothing changes keeps its bits.
//
// Elimination from the far end: what lies behind a site is one resistance z_{j+1}, like springs in series,
//
//   g_j = (1 + (e_j + z_{j+1})/m_j)^-1,   z_j = e_j g_j (1 + z_{j+1}/m_j),
//
// without a difference: with one stage sums and products of positive numbers only, so that no ratio of masses or
// stiffnesses costs a digit. g is computed once and kept. G need not be diagonalised, which it cannot be safely for the
// pair Lobatto IIIA-IIIB, nor need z of the far end commute with it. Source: the Thomas algorithm, by blocks
// (golub2013, section 4.5.1); rank_coupling.hpp puts the ranks' pieces together.
#pragma once

#include <memory>

#include "parallel/communicator.hpp"
#include "parallel/layout.hpp"
#include "solve/direct_line_solver.hpp"

namespace bathline {

/// The matrix on this rank's own sites, all units those of a momentum and of a velocity.
struct NonuniformLineMatrix {
  /// Before every site and behind the last one; e is `strength` times it. Has to outlive the solver, as the next.
  const double* spring = nullptr;
  const double* inverse_mass = nullptr;  ///< of every site
  Eigen::MatrixXd strength;              ///< G, s x s
  Eigen::MatrixXd far_end;               ///< z of what is behind the last of all sites, s x s
};

/// For 1 to 5 stages; throws std::invalid_argument otherwise. `fields` right-hand sides are treated together.
/// @note Collective.
std::unique_ptr<DirectLineSolver> make_nonuniform_tridiagonal(const NonuniformLineMatrix& matrix, const Layout& layout,
                                                              const Communicator& communicator, int fields);

/// What that keeps for every site of a rank.
std::int64_t bytes_of_nonuniform_tridiagonal(int stages);

}  // namespace bathline
