// Direct solution of the block tridiagonal systems of a uniform line, distributed over the ranks, with s stage values a
// site.
//
//   (1 + 2c) x_j - c x_{j-1} - c x_{j+1} = r_j,   j = 1..N,   x_0 the head;   the last row has a block of its own
//
// Each rank eliminates from its far end towards the head and is left with one relation per end, see
// spike_reduced_system.hpp; with the head known, each rank substitutes back. Exact up to round-off for any number of
// ranks, two sweeps over the sites. One stage, with a number c >= 0, is the tridiagonal case.
#pragma once

#include <memory>

#include "parallel/communicator.hpp"
#include "parallel/layout.hpp"
#include "solve/direct_line_solver.hpp"

namespace bathline {

/// The matrix of all stages of a line: identity plus c times the second difference.
struct LineMatrix {
  Eigen::MatrixXd coupling;  ///< c, s x s
  Eigen::MatrixXd last;      ///< block of the last row, s x s: 1 + 2c, modified by the kind of the far end
};

/// For 1 to 5 stages; throws std::invalid_argument otherwise. `fields` right-hand sides are treated together.
/// @note Collective.
std::unique_ptr<DirectLineSolver> make_tridiagonal(const LineMatrix& matrix, const Layout& layout,
                                                   const Communicator& communicator, int fields);

}  // namespace bathline
