// Direct solution of the tridiagonal systems of a line whose sites differ, cut over the ranks.
#include "solve/unequal_tridiagonal.hpp"

namespace bathline {

namespace {

/// Influence below this fraction is lost in round-off, by a wide margin for sites of very different mass, and not
/// followed any further.
constexpr double negligible_influence = 1e-30;

}  // namespace

UnequalTridiagonal::UnequalTridiagonal(const UnequalLineMatrix& matrix, const Layout& layout,
                                       const Communicator& communicator, int fields)
    : matrix_(matrix),
      count_(layout.count(communicator.rank())),
      is_last_(communicator.rank() == layout.holders() - 1),
      gain_(static_cast<std::size_t>(count_)),
      ranks_(count_ > 0 ? factorise() : RankCoupling<1>::Piece(), layout, communicator, fields) {}

RankCoupling<1>::Piece UnequalTridiagonal::factorise() {
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
  for (std::int64_t j = end; j >= 0 && !is_last_ && influence > negligible_influence; --j, ++to_right_) {
    const double pull = inverse_mass[j] * coupling(j + 1);
    influence *= pull / (1.0 + inverse_mass[j] * before[static_cast<std::size_t>(j)] + pull);
  }
  const double to_last = inverse_mass[end] * behind;
  const double last = to_last / (1.0 + inverse_mass[end] * before[static_cast<std::size_t>(end)] + to_last);

  double through = 1.0, z = behind;
  for (std::int64_t j = end; j >= 0; --j) {
    const double e = coupling(j), gain = 1.0 / (1.0 + inverse_mass[j] * (e + z));
    gain_[static_cast<std::size_t>(j)] = gain;
    z = e * gain * (1.0 + inverse_mass[j] * z);
    if (through > negligible_influence) ++to_last_;
    through *= inverse_mass[j] * gain * e;
  }
  // Symmetry: either way through the piece is the same entry of the inverse, times the spring where it begins.
  const double near_spring = coupling(0);
  const double back = near_spring > 0.0 ? through * (behind / near_spring) : 0.0;
  using Block = RankCoupling<1>::Block;
  return {Block(inverse_mass[0] * gain_[0] * near_spring), Block(back), Block(through), Block(last)};
}

double UnequalTridiagonal::last_velocity(const double* x) const {
  double velocity = 0.0;
  for (std::int64_t j = count_ - to_last_; j < count_; ++j) {
    velocity = matrix_.inverse_mass[j] * (x[j] + gain_[static_cast<std::size_t>(j)] * coupling(j) * velocity);
  }
  return velocity;
}

const HeadRelation& UnequalTridiagonal::eliminate(std::span<double* const> fields) {
  using Value = RankCoupling<1>::Value;
  for (std::size_t f = 0; f < fields.size() && count_ > 0; ++f) {
    double* x = fields[f];
    double velocity = 0.0;
    for (std::int64_t j = count_ - 1; j >= 0; --j) {
      x[j] = gain_[static_cast<std::size_t>(j)] * (x[j] + coupling(j + 1) * velocity);
      velocity = matrix_.inverse_mass[j] * x[j];
    }
    ranks_.set_first(static_cast<int>(f), Value(velocity));
    if (ranks_.holders() > 1) ranks_.set_last(static_cast<int>(f), Value(last_velocity(x)));
  }
  return ranks_.join();
}

void UnequalTridiagonal::substitute(std::span<double* const> fields, const Eigen::MatrixXd& head) {
  for (std::size_t f = 0; f < fields.size() && count_ > 0; ++f) {
    const auto field = static_cast<int>(f);
    const auto [left, right] = ranks_.neighbours(field, head.col(field));
    double* x = fields[f];
    double velocity = right[0];
    for (std::int64_t j = count_ - 1; j >= count_ - to_right_; --j) {
      const double change = gain_[static_cast<std::size_t>(j)] * coupling(j + 1) * velocity;
      x[j] += change;
      velocity = matrix_.inverse_mass[j] * change;
    }
    velocity = left[0];
    for (std::int64_t j = 0; j < count_; ++j) {
      x[j] += gain_[static_cast<std::size_t>(j)] * coupling(j) * velocity;
      velocity = matrix_.inverse_mass[j] * x[j];
    }
  }
}

LineRow UnequalTridiagonal::row(std::int64_t site) const {
  const auto number = [](double x) { return Eigen::MatrixXd::Constant(1, 1, x); };
  const bool is_end = is_last_ && site == count_ - 1;
  const double mass = 1.0 / matrix_.inverse_mass[site], before = coupling(site);
  const double behind = is_end ? matrix_.far_end : coupling(site + 1);
  return {number(before), number(mass + before + behind), number(is_end ? 0.0 : behind), mass};
}

}  // namespace bathline
