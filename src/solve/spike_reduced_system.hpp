// The pieces of a line that its ranks hold, put together: each has eliminated its own sites and knows them by what they
// make of the sites beside it,
//
//   x_first = u + near x_left + from_right x_right,   x_last = v + from_left x_left + last x_right,
//
// where x_right is x_first of the next rank. Eliminated from the far end this gives x_first = first + slope x_left for
// every rank, and for the first one what the particles need to know; walked from the head, what lies beside each piece.
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
  SpikeReducedSystem(const SpikeBlocks& mine, const Layout& layout, const Communicator& communicator, int fields);

  /// How many ranks hold sites.
  int active_ranks() const { return active_ranks_; }
  /// u and v of this rank's piece, to be set before `join`; v is needed where there are other pieces.
  void set_first(int field, const Value& u) { Eigen::Map<Value>(mine_.data() + 2 * S * field) = u; }
  void set_last(int field, const Value& v) { Eigen::Map<Value>(mine_.data() + 2 * S * field + S) = v; }
  /// The same on every rank. @note Collective.
  const HeadRelation& solve_reduced();
  /// The sites beside this rank's piece, which holds some, with x_0 at the head; 0 behind the last piece.
  Neighbours neighbours(int field, const Value& head) const;

 private:
  Value end(int rank, int field, int side) const {
    return Eigen::Map<const Value>(ends_.data() + S * (2 * (rank * fields_ + field) + side));
  }
  const Value& first(int rank, int field) const { return first_[static_cast<std::size_t>(rank * fields_ + field)]; }
  /// x_last of a rank whose right neighbour has x_first = `next` without it.
  Value last(int rank, const Value& known, const Value& next) const {
    const auto r = static_cast<std::size_t>(rank);
    return interface_inverse_[r] * (known + pieces_[r].last * next);
  }

  Communicator communicator_;
  int fields_;
  int active_ranks_;
  std::vector<SpikeBlocks> pieces_;               // of all ranks that hold sites
  std::vector<Block> slope_, interface_inverse_;  // meeting_ = (1 - last slope of the next rank)^-1
  std::vector<double> mine_, ends_;               // u and v of this rank and of all
  std::vector<Value> first_;                      // by rank, then field
  HeadRelation relation_;
};

template <int S>
SpikeReducedSystem<S>::SpikeReducedSystem(const SpikeBlocks& mine, const Layout& layout,
                                          const Communicator& communicator, int fields)
    : communicator_(communicator), fields_(fields), active_ranks_(layout.active_ranks()) {
  std::vector<double> numbers;
  for (const Block& block : {mine.near, mine.from_right, mine.from_left, mine.last}) {
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
  mine_.assign(static_cast<std::size_t>(2 * S * fields_), 0.0);
  ends_.resize(mine_.size() * static_cast<std::size_t>(communicator_.size()));
  first_.assign(static_cast<std::size_t>(active_ranks_ * fields_), Value::Zero());
  relation_ = {Eigen::MatrixXd(S, fields_), slope_[0]};
}

template <int S>
const HeadRelation& SpikeReducedSystem<S>::solve_reduced() {
  if (communicator_.size() > 1) {
    communicator_.gather_all(mine_, ends_);
  } else {
    ends_ = mine_;
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
  const int me = communicator_.rank();
  Neighbours beside{head, Value::Zero()};
  for (int rank = 0; rank <= me && rank < active_ranks_ - 1; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    const Value known = end(rank, field, 1) + pieces_[r].from_left * beside.left;
    const Value at_cut = last(rank, known, first(rank + 1, field));
    beside.right = first(rank + 1, field) + slope_[r + 1] * at_cut;
    if (rank < me) beside.left = at_cut;
  }
  // The walk has passed the cut before the last piece, which has nothing behind it.
  if (me == active_ranks_ - 1) beside.right.setZero();
  return beside;
}

}  // namespace bathline
