// Elimination of a block tridiagonal system over all ranks whose blocks differ from row to row.
//
//   diagonal_j x_j - before_j x_{j-1} - behind_j x_{j+1} = r_j,   j = 1..N,   x_0 the head;   behind_N = 0
//
// Source: the block Thomas algorithm (golub2013, section 4.5.1); spike_reduced_system.hpp couples the ranks.
// Tested by tests/model/line/nonlinear_line_test.cpp.
#pragma once

#include <Eigen/LU>
#include <cstdint>
#include <optional>
#include <vector>

#include "solve/spike_reduced_system.hpp"

namespace bathline {

/// With B numbers a row.
template <int B>
class BlockLineElimination {
 public:
  using System = SpikeReducedSystem<B>;
  using Block = typename System::Block;
  using Value = typename System::Value;
  struct Row {
    Block before, diagonal, behind;
  };

  /// `row_of(j)` is the row of this rank's site j. @note Collective.
  template <class RowOf>
  void factor(const Layout& layout, const Communicator& communicator, RowOf row_of) {
    const std::int64_t count = layout.count(communicator.rank());
    gain_.resize(static_cast<std::size_t>(count));
    from_before_.resize(gain_.size());
    from_behind_.resize(gain_.size());
    // x_j = gain_j (...) + from_before_j x_{j-1}; `rights` are the parts of x_right.
    std::vector<Block> rights(gain_.size());
    for (std::size_t j = gain_.size(); j-- > 0;) {
      const Row row = row_of(static_cast<std::int64_t>(j));
      Block pivot = row.diagonal;
      if (j + 1 < gain_.size()) pivot.noalias() -= row.behind * from_before_[j + 1];
      gain_[j] = pivot.inverse();
      from_before_[j].noalias() = gain_[j] * row.before;
      from_behind_[j].noalias() = gain_[j] * row.behind;
    }
    typename System::SpikeBlocks ends;
    ends.from_left = ends.from_right = Block::Identity();
    for (std::size_t j = gain_.size(); j-- > 0;)
      rights[j] = ends.from_right = (from_behind_[j] * ends.from_right).eval();
    for (std::size_t j = 0; j < gain_.size(); ++j) {
      ends.last = (rights[j] + from_before_[j] * ends.last).eval();
      ends.from_left = (from_before_[j] * ends.from_left).eval();
    }
    if (!gain_.empty()) ends.near = from_before_[0];
    ranks_.emplace(ends, layout, communicator, 1);
  }
  /// The derivative of x_1 by x_0, the same on every rank.
  const Block& slope() const { return ranks_->slope(); }
  /// Replaces the right-hand side by the solution; rows are `stride` numbers apart, and `head`, x_0, is the same on
  /// every rank. @note Collective.
  void solve(double* x, std::int64_t stride, const Value& head) {
    const auto at = [&](std::size_t j) { return Eigen::Map<Value>(x + stride * static_cast<std::int64_t>(j)); };
    Value value = Value::Zero(), last = Value::Zero();
    for (std::size_t j = gain_.size(); j-- > 0;) at(j) = value = (gain_[j] * at(j) + from_behind_[j] * value).eval();
    for (std::size_t j = 0; j < gain_.size(); ++j) last = (at(j) + from_before_[j] * last).eval();
    ranks_->set_first(0, value);
    ranks_->set_last(0, last);
    ranks_->solve_reduced();
    if (gain_.empty()) return;
    auto [before, behind] = ranks_->neighbours(0, head);
    for (std::size_t j = gain_.size(); j-- > 0 && !behind.isZero(0.0);) {
      behind = (from_behind_[j] * behind).eval();
      at(j) += behind;
    }
    for (std::size_t j = 0; j < gain_.size(); ++j) at(j) = before = (at(j) + from_before_[j] * before).eval();
  }

 private:
  std::vector<Block> gain_, from_before_, from_behind_;
  std::optional<System> ranks_;
};

}  // namespace bathline
