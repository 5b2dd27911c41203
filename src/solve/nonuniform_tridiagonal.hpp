// Direct solution of the block tridiagonal systems of a line whose sites differ, distributed over the ranks, with s
// stage values a site.
//
//   x_j + e_j (v_j - v_{j-1}) + e_{j+1} (v_j - v_{j+1}) = r_j,   v_j = x_j / m_j,   j = 1..N,   v_0 the head;
//   the far end resists the motion of the last site: z v_N instead of e_{N+1} (v_N - v_{N+1})
//
// e_j = k_j G with one s x s matrix G for all sites. In the velocities v and with one stage the matrix M + E is
// symmetric and positive definite; this is the matrix that is assembled for PETSc. The sweeps work on the momenta x:
// their pivots 1 + (e + z)/m round to 1 for very short steps, so that a momentum that no force changes keeps its bits.
//
// Elimination from the far end: all sites behind site j act on it as one resistance z_{j+1}, like springs in series,
//
//   g_j = (1 + (e_j + z_{j+1})/m_j)^-1,   z_j = e_j g_j (1 + z_{j+1}/m_j),
//
// without subtractions: with one stage these are sums and products of positive numbers, so that no ratio of masses or
// stiffnesses causes cancellation. g is computed once and stored. G need not be diagonalised, which is ill-conditioned
// for the pair Lobatto IIIA-IIIB, nor need z of the far end commute with it. Source: the block Thomas algorithm
// (golub2013, section 4.5.1); spike_reduced_system.hpp couples the ranks.
#pragma once

#include <memory>

#include "parallel/communicator.hpp"
#include "parallel/layout.hpp"
#include "solve/direct_line_solver.hpp"

namespace bathline {

/// The matrix on this rank's sites, between velocities and momenta in their own units.
struct NonuniformLineMatrix {
  /// Springs in front of every site and behind the last one; e is `strength` times these. Must outlive the solver, as
  /// must `inverse_mass`.
  const double* spring = nullptr;
  const double* inverse_mass = nullptr;  ///< of every site
  Eigen::MatrixXd strength;              ///< G, s x s
  Eigen::MatrixXd far_end;               ///< z of what is behind the last of all sites, s x s
};

/// For 1 to 5 stages; throws std::invalid_argument otherwise. `fields` right-hand sides are treated together.
/// @note Collective.
std::unique_ptr<DirectLineSolver> make_nonuniform_tridiagonal(const NonuniformLineMatrix& matrix, const Layout& layout,
                                                              const Communicator& communicator, int fields);

/// Memory of that solver per site of a rank.
std::int64_t bytes_of_nonuniform_tridiagonal(int stages);

}  // namespace bathline
