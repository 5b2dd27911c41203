// Direct solution of the block tridiagonal systems of a uniform line, distributed over the ranks.
#include "solve/tridiagonal.hpp"

#include "solve/block_thomas.hpp"
#include "solve/spike_reduced_system.hpp"

namespace bathline {

namespace {

/// Influence below this fraction is below the round-off of the largest value and is neglected.
constexpr double negligible = 1e-22;

template <int S>
class Tridiagonal final : public DirectLineSolver {
 public:
  using Elimination = BlockThomas<S>;
  using Block = typename Elimination::Block;
  using Value = typename Elimination::Value;

  Tridiagonal(const LineMatrix& matrix, const Layout& layout, const Communicator& communicator, int fields)
      : count_(layout.count(communicator.rank())),
        is_last_(communicator.rank() == layout.active_ranks() - 1),
        coupling_(matrix.coupling),
        diagonal_(Block::Identity() + 2.0 * coupling_),
        last_diagonal_(is_last_ ? Block(matrix.last) : diagonal_),
        backward_(coupling_, last_diagonal_, count_),
        forward_(coupling_, count_ == 1 ? last_diagonal_ : diagonal_, count_),
        ranks_(make_spike_blocks(), layout, communicator, fields) {}

  int stages() const override { return S; }

  const HeadRelation& eliminate(std::span<double* const> fields) override {
    for (std::size_t f = 0; f < fields.size() && count_ > 0; ++f) {
      const auto field = static_cast<int>(f);
      if (ranks_.active_ranks() > 1) ranks_.set_last(field, last_value(fields[f]));
      ranks_.set_first(field, backward_.eliminate(fields[f], count_));
    }
    return ranks_.solve_reduced();
  }

  void substitute(std::span<double* const> fields, const Eigen::MatrixXd& head) override {
    for (std::size_t f = 0; f < fields.size() && count_ > 0; ++f) {
      const auto field = static_cast<int>(f);
      const auto [left, right] = ranks_.neighbours(field, head.col(field));
      Value influence = right;
      for (std::int64_t j = count_ - 1; j >= 0 && !(influence.norm() <= negligible * right.norm()); --j) {
        influence = (backward_.factor(count_ - 1 - j) * influence).eval();
        Elimination::site(fields[f], j) += influence;
      }
      backward_.substitute(fields[f], count_, left);
    }
  }

  LineRow row(std::int64_t site) const override {
    const bool is_end = is_last_ && site == count_ - 1;
    return {coupling_, is_end ? last_diagonal_ : diagonal_, is_end ? Block(Block::Zero()) : coupling_};
  }

 private:
  /// Also sets `last_pivot_` and `influence_length_`.
  typename SpikeReducedSystem<S>::SpikeBlocks make_spike_blocks() {
    typename SpikeReducedSystem<S>::SpikeBlocks blocks;
    if (count_ == 0) return blocks;
    Block far = Block::Identity();
    for (std::int64_t k = 0; k < count_ && far.squaredNorm() > 0.0; ++k) far = (backward_.factor(k) * far).eval();
    last_pivot_ =
        count_ == 1 ? backward_.pivot(0) : Block((last_diagonal_ - coupling_ * forward_.factor(count_ - 2)).inverse());
    Block influence = Block::Identity();
    for (; influence_length_ < count_ && influence.norm() > negligible; ++influence_length_) {
      influence = (forward_.factor(count_) * influence).eval();
    }
    // Blocks of all but the last rank are functions of c and commute; of the last one nothing uses `from_left`.
    return {backward_.slope(count_), far, far, last_pivot_ * coupling_};
  }

  /// The value that the last site would have if the neighbours of the piece were 0; only right-hand sides near it
  /// matter.
  Value last_value(double* x) const {
    Value value = Value::Zero();
    for (std::int64_t j = std::max<std::int64_t>(0, count_ - 1 - influence_length_); j < count_ - 1; ++j) {
      value = (forward_.pivot(j) * Elimination::site(x, j) + forward_.factor(j) * value).eval();
    }
    return last_pivot_ * (Elimination::site(x, count_ - 1) + coupling_ * value);
  }

  std::int64_t count_;
  bool is_last_;
  Block coupling_, diagonal_, last_diagonal_;
  Elimination backward_;               // of this rank's piece
  Elimination forward_;                // of the piece in reverse order
  Block last_pivot_;                   // of the last row in the elimination from the near end
  std::int64_t influence_length_ = 0;  // sites over which an influence becomes negligible
  SpikeReducedSystem<S> ranks_;
};

}  // namespace

std::unique_ptr<DirectLineSolver> make_tridiagonal(const LineMatrix& matrix, const Layout& layout,
                                                   const Communicator& communicator, int fields) {
  return with_stages(static_cast<int>(matrix.coupling.rows()),
                     [&]<int S>(std::integral_constant<int, S>) -> std::unique_ptr<DirectLineSolver> {
                       return std::make_unique<Tridiagonal<S>>(matrix, layout, communicator, fields);
                     });
}

}  // namespace bathline
