// Direct solution of the tridiagonal systems of a uniform line, cut over the ranks.
//
//   (1 + 2c) x_j - c x_{j-1} - c x_{j+1} = r_j,   j = 1..N,   x_0 the head;   the last row has a diagonal of its own
//
// Each rank eliminates from its far end towards the head and is left with one relation per end; those of all ranks are
// combined into a relation between the first site and the head, which is what the particles need; with the head known,
// each rank substitutes back. Exact up to round-off for any c >= 0 and any number of ranks, two sweeps over the sites.
// Source: the partition method, polizzi2006 (SPIKE); the elimination is the Thomas algorithm.
#pragma once

#include "parallel/communicator.hpp"
#include "parallel/layout.hpp"
#include "solve/direct_line_solver.hpp"
#include "solve/line_elimination.hpp"

namespace bathline {

/// The matrix of one implicit stage of a line: identity plus c times the second difference.
struct LineMatrix {
  double coupling = 0.0;       ///< c
  double last_diagonal = 1.0;  ///< diagonal entry of the last row: 1 + 2c, less or more by the far end's kind
};

class PartitionedTridiagonal final : public DirectLineSolver {
 public:
  /// `fields` right-hand sides are treated together. @note Collective.
  PartitionedTridiagonal(const LineMatrix& matrix, const Layout& layout, const Communicator& communicator, int fields);

  const HeadRelation& eliminate(std::span<double* const> fields) override;
  void substitute(std::span<double* const> fields, std::span<const double> head) override;
  LineRow row(std::int64_t site) const override;

 private:
  /// What a rank's piece looks like from outside: x_first = u + near x_left + far x_right,
  /// x_last = v + far x_left + last x_right.
  struct Piece {
    double near = 0.0;
    double far = 0.0;
    double last = 0.0;
  };

  Communicator communicator_;
  double coupling_;
  int fields_;
  int holders_;
  std::int64_t count_;
  bool is_last_;
  double last_diagonal_;
  LineElimination backward_;   // of this rank's piece
  LineElimination forward_;    // of the piece the other way round
  double last_pivot_ = 0.0;    // reciprocal pivot of the last row in the elimination from the near end
  std::vector<Piece> pieces_;  // of all ranks that hold sites
  std::vector<double> ends_;   // u and v of all ranks and fields
  std::vector<double> mine_;
  std::vector<double> first_;  // x_first = first_[rank, field] + slope_[rank] * x_left, right neighbours eliminated
  std::vector<double> slope_;
  HeadRelation relation_;
};

}  // namespace bathline
