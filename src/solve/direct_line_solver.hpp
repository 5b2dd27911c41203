// What the direct solvers of a line have in common: two sweeps over the sites, and between them the particles.
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

/// A row of blocks of the matrix, for solvers that want it assembled:
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
  /// Of this rank's `site`, from 0.
  virtual LineRow row(std::int64_t site) const = 0;
};

/// `use(stages)` with the number of stages known to the compiler. Throws std::invalid_argument where there is no code
/// for as many.
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
      throw std::invalid_argument("a line is eliminated for 1 to 5 stages");
  }
}

}  // namespace bathline
