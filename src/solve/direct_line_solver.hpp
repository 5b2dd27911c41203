// Interface of the direct solvers of a line: an elimination, then, with the head given by the particles, a
// substitution.
// Tested by tests/solve/line_solver_test.cpp.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <type_traits>

namespace bathline {

/// v_1 = constant + slope v_0 for every field (axis) of a line, with s stage values a site.
struct HeadRelation {
  Eigen::MatrixXd constant;  ///< s x fields
  Eigen::MatrixXd slope;     ///< s x s
};

/// A row of blocks of the matrix, for solvers that need it assembled:
/// diagonal v_j - before v_{j-1} - behind v_{j+1} = r_j, where v_0 is the head's.
struct LineRow {
  Eigen::MatrixXd before;  ///< s x s, as the next two
  Eigen::MatrixXd diagonal;
  Eigen::MatrixXd behind;  ///< 0 in the last of all rows
  double unit = 1.0;       ///< the fields hold unit * v
};

class DirectLineSolver {
 public:
  virtual ~DirectLineSolver() = default;
  virtual int stages() const = 0;
  /// Eliminates in place: `fields[f]` points at this rank's part of the right-hand side, s values a site.
  /// The relation is the same on every rank. @note Collective.
  virtual const HeadRelation& eliminate(std::span<double* const> fields) = 0;
  /// Completes the solution in place after `eliminate`; `head` is v_0, s x fields, the same on every rank.
  virtual void substitute(std::span<double* const> fields, const Eigen::MatrixXd& head) = 0;
  /// The row of this rank's `site`, counted from 0.
  virtual LineRow row(std::int64_t site) const = 0;
};

/// Calls `use` with the number of stages as a compile-time constant. Throws std::invalid_argument except for 1 to 5.
template <class Use>
auto with_stages(int stages, const Use& use) {
  switch (stages) {
    case 1:
      return use(std::integral_constant<int, 1>());
    case 2:
      return use(std::integral_constant<int, 2>());
    case 3:
      return use(std::integral_constant<int, 3>());
    case 4:
      return use(std::integral_constant<int, 4>());
    case 5:
      return use(std::integral_constant<int, 5>());
    default:
      throw std::invalid_argument("the elimination of a line supports 1 to 5 stages");
  }
}

}  // namespace bathline
