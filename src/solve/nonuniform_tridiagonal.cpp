// Direct solution of the block tridiagonal systems of a line whose sites differ, distributed over the ranks.
#include "solve/nonuniform_tridiagonal.hpp"

#include <vector>

#include "solve/spike_reduced_system.hpp"

namespace bathline {

namespace {

/// Influence below this fraction is neglected: it is below round-off, with a wide margin for sites of very different
/// mass.
constexpr double negligible_influence = 1e-30;

template <int S>
class NonuniformTridiagonal final : public DirectLineSolver {
 public:
  using Block = typename SpikeReducedSystem<S>::Block;
  using Value = typename SpikeReducedSystem<S>::Value;

  NonuniformTridiagonal(const NonuniformLineMatrix& matrix, const Layout& layout, const Communicator& communicator,
                        int fields)
      : spring_(matrix.spring),
        inverse_mass_(matrix.inverse_mass),
        strength_(matrix.strength),
        far_end_(matrix.far_end),
        count_(layout.count(communicator.rank())),
        is_last_(communicator.rank() == layout.active_ranks() - 1),
        gain_(static_cast<std::size_t>(count_)),
        ranks_(count_ > 0 ? factorise() : typename SpikeReducedSystem<S>::SpikeBlocks(), layout, communicator, fields) {
  }

  int stages() const override { return S; }
  const HeadRelation& eliminate(std::span<double* const> fields) override;
  void substitute(std::span<double* const> fields, const Eigen::MatrixXd& head) override;
  LineRow row(std::int64_t site) const override;

 private:
  static Eigen::Map<Value> at(double* x, std::int64_t site) { return Eigen::Map<Value>(x + S * site); }
  Block& gain(std::int64_t site) { return gain_[static_cast<std::size_t>(site)]; }
  const Block& gain(std::int64_t site) const { return gain_[static_cast<std::size_t>(site)]; }
  Block coupling(std::int64_t site) const { return strength_ * spring_[site]; }
  /// The momentum that `site` receives from the velocity at the other end of one of its springs.
  Value received_momentum(std::int64_t site, std::int64_t spring, const Value& velocity) const {
    return gain(site) * coupling(spring) * velocity;
  }
  /// Computes `gain_`, `last_range_` and `right_range_`; returns the blocks for the reduced system.
  typename SpikeReducedSystem<S>::SpikeBlocks factorise();
  /// Velocity of the last site, from the momenta that `eliminate` leaves in `x`.
  Value last_velocity(double* x) const;

  const double* spring_;
  const double* inverse_mass_;
  Block strength_, far_end_;
  std::int64_t count_;
  bool is_last_;
  std::vector<Block> gain_;       // g
  std::int64_t last_range_ = 0;   // number of sites from the end that influence the last one
  std::int64_t right_range_ = 0;  // number of sites that the right neighbour influences
  SpikeReducedSystem<S> ranks_;
};

template <int S>
typename SpikeReducedSystem<S>::SpikeBlocks NonuniformTridiagonal<S>::factorise() {
  const Block identity = Block::Identity();
  const std::int64_t end = count_ - 1;
  const Block behind = is_last_ ? far_end_ : coupling(count_);
  // The same elimination from the near end gives the distance over which the right neighbour has an influence. Its
  // resistances are stored where the gains are written later.
  std::vector<Block>& before = gain_;
  before[0] = coupling(0);
  for (std::int64_t j = 0; j < end; ++j) {
    const Block next = coupling(j + 1), z = gain(j);
    const Block pivot = identity + inverse_mass_[j] * (z + next);
    gain(j + 1) = next * (identity + inverse_mass_[j] * z) * pivot.inverse();
  }
  Block influence = identity;
  for (std::int64_t j = end; j >= 0 && !is_last_ && influence.norm() > negligible_influence; --j, ++right_range_) {
    const Block pull = inverse_mass_[j] * coupling(j + 1);
    const Block pivot = identity + inverse_mass_[j] * gain(j) + pull;
    influence = (pivot.inverse() * pull * influence).eval();
  }
  const Block to_last = inverse_mass_[end] * behind;
  const Block last_pivot = identity + inverse_mass_[end] * gain(end) + to_last;
  const Block last = last_pivot.inverse() * to_last;

  Block through = identity, z = behind;
  for (std::int64_t j = end; j >= 0; --j) {
    const Block e = coupling(j), pivot = identity + inverse_mass_[j] * (e + z);
    gain(j) = pivot.inverse();
    z = (e * gain(j) * (identity + inverse_mass_[j] * z)).eval();
    if (through.norm() > negligible_influence) ++last_range_;
    through = (through * (inverse_mass_[j] * gain(j)) * e).eval();
  }
  // By symmetry both directions through the piece are the same entry of the inverse, times the spring where they begin,
  // as the blocks of all ranks but the last are functions of G and commute; those of the last rank are not used.
  return {inverse_mass_[0] * gain(0) * coupling(0), through * (spring_[count_] / spring_[0]), through, last};
}

template <int S>
typename NonuniformTridiagonal<S>::Value NonuniformTridiagonal<S>::last_velocity(double* x) const {
  Value velocity = Value::Zero();
  for (std::int64_t j = count_ - last_range_; j < count_; ++j) {
    velocity = (inverse_mass_[j] * (at(x, j) + received_momentum(j, j, velocity))).eval();
  }
  return velocity;
}

template <int S>
const HeadRelation& NonuniformTridiagonal<S>::eliminate(std::span<double* const> fields) {
  for (std::size_t f = 0; f < fields.size() && count_ > 0; ++f) {
    double* x = fields[f];
    Value velocity = Value::Zero();
    for (std::int64_t j = count_ - 1; j >= 0; --j) {
      const Value pulled = at(x, j) + coupling(j + 1) * velocity;
      const Value momentum = gain(j) * pulled;
      velocity = inverse_mass_[j] * momentum;
      at(x, j) = momentum;
    }
    ranks_.set_first(static_cast<int>(f), velocity);
    if (ranks_.active_ranks() > 1) ranks_.set_last(static_cast<int>(f), last_velocity(x));
  }
  return ranks_.solve_reduced();
}

template <int S>
void NonuniformTridiagonal<S>::substitute(std::span<double* const> fields, const Eigen::MatrixXd& head) {
  for (std::size_t f = 0; f < fields.size() && count_ > 0; ++f) {
    const auto field = static_cast<int>(f);
    const auto [left, right] = ranks_.neighbours(field, head.col(field));
    double* x = fields[f];
    Value velocity = right;
    for (std::int64_t j = count_ - 1; j >= count_ - right_range_; --j) {
      const Value change = received_momentum(j, j + 1, velocity);
      at(x, j) += change;
      velocity = inverse_mass_[j] * change;
    }
    velocity = left;
    for (std::int64_t j = 0; j < count_; ++j) {
      const Value momentum = at(x, j) + received_momentum(j, j, velocity);
      velocity = inverse_mass_[j] * momentum;
      at(x, j) = momentum;
    }
  }
}

template <int S>
LineRow NonuniformTridiagonal<S>::row(std::int64_t site) const {
  const bool is_end = is_last_ && site == count_ - 1;
  const double mass = 1.0 / inverse_mass_[site];
  const Block before = coupling(site), behind = is_end ? far_end_ : coupling(site + 1);
  return {before, mass * Block::Identity() + before + behind, is_end ? Block(Block::Zero()) : behind, mass};
}

}  // namespace

std::unique_ptr<DirectLineSolver> make_nonuniform_tridiagonal(const NonuniformLineMatrix& matrix, const Layout& layout,
                                                              const Communicator& communicator, int fields) {
  return with_stages(static_cast<int>(matrix.strength.rows()),
                     [&]<int S>(std::integral_constant<int, S>) -> std::unique_ptr<DirectLineSolver> {
                       return std::make_unique<NonuniformTridiagonal<S>>(matrix, layout, communicator, fields);
                     });
}

std::int64_t bytes_of_nonuniform_tridiagonal(int stages) {
  return std::int64_t{stages} * stages * static_cast<std::int64_t>(sizeof(double));
}

}  // namespace bathline
