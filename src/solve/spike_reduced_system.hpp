// The reduced system that couples the pieces of a line on its ranks. Each rank has eliminated its own sites, which
// gives its first and last one by the sites next to its piece,
//
//   x_first = u + near x_left + from_right x_right,   x_last = v + from_left x_left + last x_right,
//
// where x_right is x_first of the next rank. Elimination from the far end gives x_first = first + slope x_left for
// every rank, and for rank 0 the relation to the head; substitution from the head gives the neighbours of each piece.
// Source: the partition method, polizzi2006 (SPIKE).
// Tested by tests/solve/tridiagonal_test.cpp.
#pragma once

#include <Eigen/LU>
#include <vector>

#include "parallel/communicator.hpp"
#include "parallel/layout.hpp"
#include "solve/direct_line_solver.hpp"

namespace bathline {

/// With S numbers a site.
template <int S>
class SpikeReducedSystem {
 public:
  using Block = Eigen::Matrix<double, S, S>;
  using Value = Eigen::Matrix<double, S, 1>;
  struct SpikeBlocks {
    Block near = Block::Zero(), from_right = Block::Zero(), from_left = Block::Zero(), last = Block::Zero();
  };
  struct Neighbours {
    Value left, right;
  };

  /// @note Collective.
  SpikeReducedSystem(const SpikeBlocks& local, const Layout& layout, const Communicator& communicator, int fields);

  /// How many ranks hold sites.
  int active_ranks() const { return active_ranks_; }
  /// The derivative of the first value of all by that of the head.
  const Block& slope() const { return slope_.front(); }
  /// u and v of this rank's piece, to be set before `solve_reduced`; v is needed only with several pieces.
  void set_first(int field, const Value& u) { Eigen::Map<Value>(local_.data() + 2 * S * field) = u; }
  void set_last(int field, const Value& v) { Eigen::Map<Value>(local_.data() + 2 * S * field + S) = v; }
  /// The same on every rank. @note Collective.
  const HeadRelation& solve_reduced();
  /// The values next to this rank's piece, which must not be empty; `head` is x_0, and 0 follows the last piece.
  Neighbours neighbours(int field, const Value& head) const;

 private:
  Value end(int rank, int field, int side) const {
    return Eigen::Map<const Value>(ends_.data() + S * (2 * (rank * fields_ + field) + side));
  }
  const Value& first(int rank, int field) const { return first_[static_cast<std::size_t>(rank * fields_ + field)]; }
  /// x_last of a rank: `own` is v + from_left x_left, and `next` is x_first of the next rank for x_last = 0.
  Value last(int rank, const Value& own, const Value& next) const {
    const auto r = static_cast<std::size_t>(rank);
    return interface_inverse_[r] * (own + pieces_[r].last * next);
  }

  Communicator communicator_;
  int fields_;
  int active_ranks_;
  std::vector<SpikeBlocks> pieces_;               // of all ranks that hold sites
  std::vector<Block> slope_, interface_inverse_;  // interface_inverse_ = (1 - last slope of the next rank)^-1
  std::vector<double> local_, ends_;              // u and v of this rank and of all
  std::vector<Value> first_;                      // by rank, then field
  HeadRelation relation_;
};

template <int S>
SpikeReducedSystem<S>::SpikeReducedSystem(const SpikeBlocks& local, const Layout& layout,
                                          const Communicator& communicator, int fields)
    : communicator_(communicator), fields_(fields), active_ranks_(layout.active_ranks()) {
  std::vector<double> numbers;
  for (const Block& block : {local.near, local.from_right, local.from_left, local.last}) {
    numbers.insert(numbers.end(), block.data(), block.data() + S * S);
  }
  const std::vector<double> all = communicator_.gather_all(numbers);
  for (int rank = 0; rank < active_ranks_; ++rank) {
    const auto block = [&](int i) { return Eigen::Map<const Block>(all.data() + (4 * rank + i) * S * S); };
    pieces_.push_back({block(0), block(1), block(2), block(3)});
  }
  slope_.assign(static_cast<std::size_t>(active_ranks_), pieces_.back().near);
  interface_inverse_.assign(slope_.size(), Block::Identity());
  for (std::size_t rank = slope_.size() - 1; rank-- > 0;) {
    const SpikeBlocks& p = pieces_[rank];
    interface_inverse_[rank] = (Block::Identity() - p.last * slope_[rank + 1]).inverse();
    slope_[rank] = p.near + p.from_right * slope_[rank + 1] * interface_inverse_[rank] * p.from_left;
  }
  local_.assign(static_cast<std::size_t>(2 * S * fields_), 0.0);
  ends_.resize(local_.size() * static_cast<std::size_t>(communicator_.size()));
  first_.assign(static_cast<std::size_t>(active_ranks_ * fields_), Value::Zero());
  relation_ = {Eigen::MatrixXd(S, fields_), slope_[0]};
}

template <int S>
const HeadRelation& SpikeReducedSystem<S>::solve_reduced() {
  if (communicator_.size() > 1) {
    communicator_.gather_all(local_, ends_);
  } else {
    ends_ = local_;
  }
  for (int field = 0; field < fields_; ++field) {
    Value next = end(active_ranks_ - 1, field, 0);
    for (int rank = active_ranks_ - 1; rank >= 0; --rank) {
      if (rank < active_ranks_ - 1) {
        const auto r = static_cast<std::size_t>(rank);
        next = (end(rank, field, 0) +
                pieces_[r].from_right * (next + slope_[r + 1] * last(rank, end(rank, field, 1), next)))
                   .eval();
      }
      first_[static_cast<std::size_t>(rank * fields_ + field)] = next;
    }
    relation_.constant.col(field) = next;
  }
  return relation_;
}

template <int S>
typename SpikeReducedSystem<S>::Neighbours SpikeReducedSystem<S>::neighbours(int field, const Value& head) const {
  const int this_rank = communicator_.rank();
  Neighbours result{head, Value::Zero()};
  for (int rank = 0; rank <= this_rank && rank < active_ranks_ - 1; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    const Value own = end(rank, field, 1) + pieces_[r].from_left * result.left;
    const Value last_value = last(rank, own, first(rank + 1, field));
    result.right = first(rank + 1, field) + slope_[r + 1] * last_value;
    if (rank < this_rank) result.left = last_value;
  }
  // The loop ends at the last interface; no sites follow the last piece.
  if (this_rank == active_ranks_ - 1) result.right.setZero();
  return result;
}

}  // namespace bathline
