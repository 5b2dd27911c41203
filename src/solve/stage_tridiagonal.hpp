// Direct solution of the block tridiagonal systems of a uniform line in an implicit method with several stages.
//
//   (1 + 2c) x_j - c x_{j-1} - c x_{j+1} = r_j,   j = 1..N,   x_0 the head;   the last row has a block of its own
//
// As in tridiagonal.hpp, with s x s matrices for numbers and one vector of stage values a site: any stage matrix c is
// served, whether or not it can be diagonalised. Exact up to round-off for any number of ranks, two sweeps over the
// sites. Source: polizzi2006; the elimination is the block Thomas algorithm (golub2013, section 4.5.1).
#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>

#include "parallel/communicator.hpp"
#include "parallel/layout.hpp"

namespace bathline {

/// The matrix of all stages of a line.
struct StageMatrix {
  Eigen::MatrixXd coupling;  ///< c, s x s
  Eigen::MatrixXd last;      ///< block of the last row, s x s
};

/// x_1 = constant + slope x_0 for every field (axis) of a line.
struct StageRelation {
  Eigen::MatrixXd constant;  ///< s x fields
  Eigen::MatrixXd slope;     ///< s x s
};

class StageSolver {
 public:
  virtual ~StageSolver() = default;
  /// Eliminates in place: `fields[f]` points at this rank's part of the right-hand side, s values a site. The relation
  /// is the same on every rank. @note Collective.
  virtual StageRelation eliminate(std::span<double* const> fields) = 0;
  /// Completes the solution in place after `eliminate`; `head` is x_0, s x fields, the same on every rank.
  virtual void substitute(std::span<double* const> fields, const Eigen::MatrixXd& head) = 0;
};

/// For 1 to 5 stages; throws std::invalid_argument otherwise. `fields` right-hand sides are treated together.
/// @note Collective.
std::unique_ptr<StageSolver> make_stage_solver(const StageMatrix& matrix, const Layout& layout,
                                               const Communicator& communicator, int fields);

}  // namespace bathline
