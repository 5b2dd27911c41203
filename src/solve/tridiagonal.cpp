// Direct solution of the tridiagonal systems of a uniform line, cut over the ranks.
#include "solve/tridiagonal.hpp"

#include <cmath>

namespace bathline {

namespace {

/// Influence below this fraction is lost in round-off of the largest value and not followed any further.
constexpr double negligible = 1e-22;

}  // namespace

PartitionedTridiagonal::PartitionedTridiagonal(const LineMatrix& matrix, const Layout& layout,
                                               const Communicator& communicator, int fields)
    : communicator_(communicator),
      coupling_(matrix.coupling),
      fields_(fields),
      holders_(layout.holders()),
      count_(layout.count(communicator.rank())),
      is_last_(communicator.rank() == layout.holders() - 1),
      last_diagonal_(is_last_ ? matrix.last_diagonal : 1.0 + 2.0 * coupling_),
      backward_(coupling_, last_diagonal_, count_),
      forward_(coupling_, count_ == 1 ? last_diagonal_ : 1.0 + 2.0 * coupling_, count_) {
  Piece piece;
  if (count_ > 0) {
    piece.near = backward_.slope(count_);
    piece.far = 1.0;
    for (std::int64_t k = 0; k < count_ && piece.far > 0.0; ++k) piece.far *= coupling_ * backward_.pivot(k);
    last_pivot_ =
        count_ == 1 ? backward_.pivot(0) : 1.0 / (last_diagonal_ - coupling_ * coupling_ * forward_.pivot(count_ - 2));
    piece.last = coupling_ * last_pivot_;
  }
  const double numbers[] = {piece.near, piece.far, piece.last};
  const std::vector<double> all = communicator_.gather_all(numbers);
  for (int rank = 0; rank < holders_; ++rank) pieces_.push_back({all[3 * rank], all[3 * rank + 1], all[3 * rank + 2]});

  mine_.resize(static_cast<std::size_t>(2 * fields_));
  ends_.resize(static_cast<std::size_t>(2 * fields_ * communicator_.size()));
  first_.resize(static_cast<std::size_t>(holders_ * fields_));
  slope_.resize(static_cast<std::size_t>(holders_));
  // x_right of a rank is x_first of the next: eliminate from the far end.
  slope_[holders_ - 1] = pieces_[holders_ - 1].near;
  for (int rank = holders_ - 2; rank >= 0; --rank) {
    const Piece& p = pieces_[rank];
    slope_[rank] = p.near + p.far * slope_[rank + 1] * p.far / (1.0 - p.last * slope_[rank + 1]);
  }
  relation_.constant.resize(static_cast<std::size_t>(fields_));
  relation_.slope = slope_[0];
}

const HeadRelation& PartitionedTridiagonal::eliminate(std::span<double* const> fields) {
  for (int field = 0; field < fields_ && count_ > 0; ++field) {
    double* x = fields[field];
    if (holders_ > 1) {
      // The value that the last site would have: only the right-hand sides near it matter.
      std::int64_t start = count_ - 1;
      for (double influence = 1.0; start > 0 && influence > negligible; --start) {
        influence *= coupling_ * forward_.last_pivot();
      }
      double value = 0.0;
      for (std::int64_t j = start; j < count_ - 1; ++j) value = (x[j] + coupling_ * value) * forward_.pivot(j);
      mine_[2 * field + 1] = (x[count_ - 1] + coupling_ * value) * last_pivot_;
    }
    mine_[2 * field] = backward_.eliminate(x, count_);
  }
  if (communicator_.size() > 1) {
    communicator_.gather_all(mine_, ends_);
  } else {
    ends_ = mine_;
  }
  for (int field = 0; field < fields_; ++field) {
    const auto u = [&](int rank) { return ends_[static_cast<std::size_t>(2 * (rank * fields_ + field))]; };
    const auto v = [&](int rank) { return ends_[static_cast<std::size_t>(2 * (rank * fields_ + field) + 1)]; };
    double next = u(holders_ - 1);
    first_[static_cast<std::size_t>((holders_ - 1) * fields_ + field)] = next;
    for (int rank = holders_ - 2; rank >= 0; --rank) {
      const Piece& p = pieces_[rank];
      const double last = (v(rank) + p.last * next) / (1.0 - p.last * slope_[rank + 1]);
      next = u(rank) + p.far * (next + slope_[rank + 1] * last);
      first_[static_cast<std::size_t>(rank * fields_ + field)] = next;
    }
    relation_.constant[field] = next;
  }
  return relation_;
}

void PartitionedTridiagonal::substitute(std::span<double* const> fields, std::span<const double> head) {
  if (count_ == 0) return;
  const int me = communicator_.rank();
  for (int field = 0; field < fields_; ++field) {
    // Walk from the head to this rank's two neighbours.
    const auto first = [&](int rank) { return first_[static_cast<std::size_t>(rank * fields_ + field)]; };
    const auto v = [&](int rank) { return ends_[static_cast<std::size_t>(2 * (rank * fields_ + field) + 1)]; };
    double left = head[field];
    double right = 0.0;
    for (int rank = 0; rank <= me && rank < holders_ - 1; ++rank) {
      const Piece& p = pieces_[rank];
      const double last = (v(rank) + p.far * left + p.last * first(rank + 1)) / (1.0 - p.last * slope_[rank + 1]);
      right = first(rank + 1) + slope_[rank + 1] * last;
      if (rank < me) left = last;
    }
    double* x = fields[field];
    if (!is_last_) {
      double influence = right;
      for (std::int64_t j = count_ - 1; j >= 0; --j) {
        influence *= coupling_ * backward_.pivot(count_ - 1 - j);
        x[j] += influence;
        if (std::abs(influence) <= negligible * std::abs(right)) break;
      }
    }
    backward_.substitute(x, count_, left);
  }
}

LineRow PartitionedTridiagonal::row(std::int64_t site) const {
  const bool is_end = is_last_ && site == count_ - 1;
  return {coupling_, is_end ? last_diagonal_ : 1.0 + 2.0 * coupling_, is_end ? 0.0 : coupling_, 1.0};
}

}  // namespace bathline
