// Direct solution of the tridiagonal systems of a line whose sites differ, cut over the ranks.
#include "solve/unequal_tridiagonal.hpp"

namespace bathline {

namespace {

/// Influence below this fraction is lost in round-off, by a wide margin for sites of very different mass, and not
/// followed any further.
constexpr double negligible = 1e-30;

}  // namespace

UnequalTridiagonal::UnequalTridiagonal(const UnequalLineMatrix& matrix, const Layout& layout,
                                       const Communicator& communicator, int fields)
    : communicator_(communicator),
      matrix_(matrix),
      fields_(fields),
      holders_(layout.holders()),
      count_(layout.count(communicator.rank())),
      is_last_(communicator.rank() == layout.holders() - 1),
      gain_(static_cast<std::size_t>(count_)) {
  const Piece mine = count_ > 0 ? factorise() : Piece();
  const double numbers[] = {mine.near, mine.from_right, mine.from_left, mine.last};
  const std::vector<double> all = communicator_.gather_all(numbers);
  for (int rank = 0; rank < holders_; ++rank) {
    const double* of_rank = all.data() + 4 * rank;
    pieces_.push_back({of_rank[0], of_rank[1], of_rank[2], of_rank[3]});
  }
  mine_.resize(static_cast<std::size_t>(2 * fields_));
  ends_.resize(static_cast<std::size_t>(2 * fields_ * communicator_.size()));
  first_.resize(static_cast<std::size_t>(holders_ * fields_));
  // v_right of a rank is v_first of the next: eliminate from the far end.
  slope_.assign(static_cast<std::size_t>(holders_), pieces_.back().near);
  for (std::size_t rank = slope_.size() - 1; rank-- > 0;) {
    const Piece& p = pieces_[rank];
    slope_[rank] = p.near + p.from_right * slope_[rank + 1] * p.from_left / (1.0 - p.last * slope_[rank + 1]);
  }
  relation_.constant.resize(static_cast<std::size_t>(fields_));
  relation_.slope = slope_[0];
}

UnequalTridiagonal::Piece UnequalTridiagonal::factorise() {
  const double* inverse_mass = matrix_.inverse_mass;
  const std::int64_t end = count_ - 1;
  const double behind = is_last_ ? matrix_.far_end : coupling(count_);
  // The same elimination from the near end tells how far the right neighbour is felt; its resistances need no place
  // of their own, as the gains come later.
  std::vector<double>& before = gain_;
  before[0] = coupling(0);
  for (std::int64_t j = 0; j < end; ++j) {
    const double next = coupling(j + 1), z = before[static_cast<std::size_t>(j)];
    before[static_cast<std::size_t>(j + 1)] = next * (1.0 + inverse_mass[j] * z) / (1.0 + inverse_mass[j] * (z + next));
  }
  double influence = 1.0;
  for (std::int64_t j = end; j >= 0 && !is_last_ && influence > negligible; --j, ++to_right_) {
    const double pull = inverse_mass[j] * coupling(j + 1);
    influence *= pull / (1.0 + inverse_mass[j] * before[static_cast<std::size_t>(j)] + pull);
  }
  Piece piece;
  const double last = inverse_mass[end] * behind;
  piece.last = last / (1.0 + inverse_mass[end] * before[static_cast<std::size_t>(end)] + last);

  piece.from_left = piece.from_right = 1.0;
  double z = behind;
  for (std::int64_t j = end; j >= 0; --j) {
    const double e = coupling(j), gain = 1.0 / (1.0 + inverse_mass[j] * (e + z));
    gain_[static_cast<std::size_t>(j)] = gain;
    z = e * gain * (1.0 + inverse_mass[j] * z);
    if (piece.from_left > negligible) ++to_last_;
    piece.from_left *= inverse_mass[j] * gain * e;
  }
  // Symmetry: both are the same entry of the inverse, times the spring at either end.
  const double near_spring = coupling(0);
  piece.from_right = near_spring > 0.0 ? piece.from_left * (behind / near_spring) : 0.0;
  piece.near = inverse_mass[0] * gain_[0] * near_spring;
  return piece;
}

double UnequalTridiagonal::last_velocity(const double* x) const {
  double velocity = 0.0;
  for (std::int64_t j = count_ - to_last_; j < count_; ++j) {
    velocity = matrix_.inverse_mass[j] * (x[j] + gain_[static_cast<std::size_t>(j)] * coupling(j) * velocity);
  }
  return velocity;
}

const HeadRelation& UnequalTridiagonal::eliminate(std::span<double* const> fields) {
  for (int field = 0; field < fields_ && count_ > 0; ++field) {
    double* x = fields[static_cast<std::size_t>(field)];
    double velocity = 0.0;
    for (std::int64_t j = count_ - 1; j >= 0; --j) {
      x[j] = gain_[static_cast<std::size_t>(j)] * (x[j] + coupling(j + 1) * velocity);
      velocity = matrix_.inverse_mass[j] * x[j];
    }
    mine_[static_cast<std::size_t>(2 * field)] = velocity;
    if (holders_ > 1) mine_[static_cast<std::size_t>(2 * field + 1)] = last_velocity(x);
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
      const Piece& p = pieces_[static_cast<std::size_t>(rank)];
      const double slope = slope_[static_cast<std::size_t>(rank + 1)];
      const double last = (v(rank) + p.last * next) / (1.0 - p.last * slope);
      next = u(rank) + p.from_right * (next + slope * last);
      first_[static_cast<std::size_t>(rank * fields_ + field)] = next;
    }
    relation_.constant[static_cast<std::size_t>(field)] = next;
  }
  return relation_;
}

void UnequalTridiagonal::substitute(std::span<double* const> fields, std::span<const double> head) {
  if (count_ == 0) return;
  const int me = communicator_.rank();
  for (int field = 0; field < fields_; ++field) {
    // Walk from the head to this rank's two neighbours.
    const auto first = [&](int rank) { return first_[static_cast<std::size_t>(rank * fields_ + field)]; };
    const auto v = [&](int rank) { return ends_[static_cast<std::size_t>(2 * (rank * fields_ + field) + 1)]; };
    double left = head[static_cast<std::size_t>(field)];
    double right = 0.0;
    for (int rank = 0; rank <= me && rank < holders_ - 1; ++rank) {
      const Piece& p = pieces_[static_cast<std::size_t>(rank)];
      const double slope = slope_[static_cast<std::size_t>(rank + 1)];
      const double last = (v(rank) + p.from_left * left + p.last * first(rank + 1)) / (1.0 - p.last * slope);
      right = first(rank + 1) + slope * last;
      if (rank < me) left = last;
    }
    double* x = fields[static_cast<std::size_t>(field)];
    double velocity = right;
    for (std::int64_t j = count_ - 1; j >= count_ - to_right_; --j) {
      const double change = gain_[static_cast<std::size_t>(j)] * coupling(j + 1) * velocity;
      x[j] += change;
      velocity = matrix_.inverse_mass[j] * change;
    }
    velocity = left;
    for (std::int64_t j = 0; j < count_; ++j) {
      x[j] += gain_[static_cast<std::size_t>(j)] * coupling(j) * velocity;
      velocity = matrix_.inverse_mass[j] * x[j];
    }
  }
}

LineRow UnequalTridiagonal::row(std::int64_t site) const {
  const bool is_end = is_last_ && site == count_ - 1;
  const double mass = 1.0 / matrix_.inverse_mass[site], before = coupling(site);
  const double behind = is_end ? matrix_.far_end : coupling(site + 1);
  return {before, mass + before + behind, is_end ? 0.0 : behind, mass};
}

}  // namespace bathline
