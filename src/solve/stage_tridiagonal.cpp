// Direct solution of the block tridiagonal systems of a uniform line in an implicit method with several stages.
#include "solve/stage_tridiagonal.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

namespace bathline {

namespace {

/// Influence below this fraction is lost in round-off of the largest value and not followed any further.
constexpr double negligible = 1e-22;

template <int S>
class BlockTridiagonal final : public StageSolver {
 public:
  using Block = Eigen::Matrix<double, S, S>;
  using Value = Eigen::Matrix<double, S, 1>;
  template <class T>
  using List = std::vector<T, Eigen::aligned_allocator<T>>;

  BlockTridiagonal(const StageMatrix& matrix, const Layout& layout, const Communicator& communicator, int fields)
      : communicator_(communicator),
        coupling_(matrix.coupling),
        fields_(fields),
        holders_(layout.holders()),
        count_(layout.count(communicator.rank())),
        is_last_(communicator.rank() == layout.holders() - 1) {
    const Block diagonal = Block::Identity() + 2.0 * coupling_;
    const Block last_diagonal = is_last_ ? Block(matrix.last) : diagonal;
    Piece mine{Block::Zero(), Block::Zero(), Block::Zero()};
    if (count_ > 0) {
      backward_ = inverse_pivots(last_diagonal, diagonal);
      forward_ = inverse_pivots(count_ == 1 ? last_diagonal : diagonal, diagonal);
      for (const Block& pivot : backward_) factors_.push_back(pivot * coupling_);
      mine.near = factor(count_ - 1);
      mine.far = Block::Identity();
      for (std::int64_t k = 0; k < count_ && mine.far.squaredNorm() > 0.0; ++k)
        mine.far = (factor(k) * mine.far).eval();
      last_pivot_ = count_ == 1 ? backward_[0]
                                : Block((last_diagonal - coupling_ * at(forward_, count_ - 2) * coupling_).inverse());
      mine.last = last_pivot_ * coupling_;
      Block influence = Block::Identity();
      while (memory_ < count_ && influence.norm() > negligible) {
        influence = (at(forward_, count_) * coupling_ * influence).eval();
        ++memory_;
      }
    }
    share(mine);

    ends_.resize(static_cast<std::size_t>(2 * S * fields_ * communicator_.size()));
    mine_.assign(static_cast<std::size_t>(2 * S * fields_), 0.0);
    first_.assign(static_cast<std::size_t>(holders_ * fields_), Value::Zero());
    // x_right of a rank is x_first of the next: eliminate from the far end.
    slope_.assign(static_cast<std::size_t>(holders_), pieces_.back().near);
    meeting_.assign(static_cast<std::size_t>(holders_), Block::Identity());
    for (std::size_t rank = slope_.size() - 1; rank-- > 0;) {
      const Piece& p = pieces_[rank];
      meeting_[rank] = (Block::Identity() - p.last * slope_[rank + 1]).inverse();
      slope_[rank] = p.near + p.far * slope_[rank + 1] * meeting_[rank] * p.far;
    }
  }

  StageRelation eliminate(std::span<double* const> fields) override {
    for (int field = 0; field < fields_ && count_ > 0; ++field) {
      double* x = fields[static_cast<std::size_t>(field)];
      if (holders_ > 1) {
        // The value that the last site would have: only the right-hand sides near it matter.
        Value value = Value::Zero();
        for (std::int64_t j = std::max<std::int64_t>(0, count_ - 1 - memory_); j < count_ - 1; ++j) {
          value = (at(forward_, j) * (site(x, j) + coupling_ * value)).eval();
        }
        mine(field, 1) = last_pivot_ * (site(x, count_ - 1) + coupling_ * value);
      }
      Value value = Value::Zero();
      for (std::int64_t j = count_ - 1; j >= 0; --j) {
        const Value right = site(x, j) + coupling_ * value;
        value.noalias() = at(backward_, count_ - 1 - j) * right;
        site(x, j) = value;
      }
      mine(field, 0) = value;
    }
    communicator_.gather_all(mine_, ends_);
    StageRelation relation{Eigen::MatrixXd(S, fields_), slope_[0]};
    for (int field = 0; field < fields_; ++field) {
      Value next = end(holders_ - 1, field, 0);
      first(holders_ - 1, field) = next;
      for (int rank = holders_ - 2; rank >= 0; --rank) {
        const Piece& p = pieces_[static_cast<std::size_t>(rank)];
        const Value last = meeting_[static_cast<std::size_t>(rank)] * (end(rank, field, 1) + p.last * next);
        next = (end(rank, field, 0) + p.far * (next + slope_[static_cast<std::size_t>(rank) + 1] * last)).eval();
        first(rank, field) = next;
      }
      for (int i = 0; i < S; ++i) relation.constant(i, field) = next[i];
    }
    return relation;
  }

  void substitute(std::span<double* const> fields, const Eigen::MatrixXd& head) override {
    if (count_ == 0) return;
    const int me = communicator_.rank();
    for (int field = 0; field < fields_; ++field) {
      // Walk from the head to this rank's two neighbours.
      Value left = head.col(field), right = Value::Zero();
      for (int rank = 0; rank <= me && rank < holders_ - 1; ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        const Piece& p = pieces_[r];
        const Value last = meeting_[r] * (end(rank, field, 1) + p.far * left + p.last * first(rank + 1, field));
        right = first(rank + 1, field) + slope_[r + 1] * last;
        if (rank < me) left = last;
      }
      double* x = fields[static_cast<std::size_t>(field)];
      if (!is_last_) {
        Value influence = right;
        for (std::int64_t j = count_ - 1; j >= 0; --j) {
          influence = (factor(count_ - 1 - j) * influence).eval();
          site(x, j) += influence;
          if (influence.norm() <= negligible * right.norm()) break;
        }
      }
      Value value = left;
      for (std::int64_t j = 0; j < count_; ++j) {
        value = (site(x, j) + factor(count_ - 1 - j) * value).eval();
        site(x, j) = value;
      }
    }
  }

 private:
  /// What a rank's piece looks like from outside: x_first = u + near x_left + far x_right,
  /// x_last = v + far x_left + last x_right. All but the last rank's blocks are functions of c and commute.
  struct Piece {
    Block near, far, last;
  };

  /// Inverse pivots of the elimination that starts from `first_diagonal`: they converge, so a table up to where
  /// nothing but round-off changes serves a line of any length.
  List<Block> inverse_pivots(const Block& first_diagonal, const Block& diagonal) const {
    List<Block> pivots = {first_diagonal.inverse()};
    while (static_cast<std::int64_t>(pivots.size()) < count_) {
      const Block next = (diagonal - coupling_ * pivots.back() * coupling_).inverse();
      const double change = (next - pivots.back()).norm();
      pivots.push_back(next);
      if (change <= std::numeric_limits<double>::epsilon() * next.norm()) break;
    }
    return pivots;
  }

  static const Block& at(const List<Block>& list, std::int64_t distance) {
    return distance < static_cast<std::int64_t>(list.size()) ? list[static_cast<std::size_t>(distance)] : list.back();
  }
  /// Pivot at a distance from the far end of the piece, times c.
  const Block& factor(std::int64_t distance) const { return at(factors_, distance); }
  static Eigen::Map<Value> site(double* x, std::int64_t j) { return Eigen::Map<Value>(x + S * j); }

  Eigen::Map<Value> mine(int field, int side) { return Eigen::Map<Value>(mine_.data() + S * (2 * field + side)); }
  Eigen::Map<const Value> end(int rank, int field, int side) const {
    return Eigen::Map<const Value>(ends_.data() + S * (2 * (rank * fields_ + field) + side));
  }
  Value& first(int rank, int field) { return first_[static_cast<std::size_t>(rank * fields_ + field)]; }

  /// Tells every rank about all pieces.
  void share(const Piece& piece) {
    std::vector<double> numbers;
    for (const Block& block : {piece.near, piece.far, piece.last}) {
      numbers.insert(numbers.end(), block.data(), block.data() + S * S);
    }
    const std::vector<double> all = communicator_.gather_all(numbers);
    for (int rank = 0; rank < holders_; ++rank) {
      const double* of_rank = all.data() + static_cast<std::size_t>(rank) * numbers.size();
      pieces_.push_back({Eigen::Map<const Block>(of_rank), Eigen::Map<const Block>(of_rank + S * S),
                         Eigen::Map<const Block>(of_rank + 2 * S * S)});
    }
  }

  Communicator communicator_;
  Block coupling_;
  int fields_;
  int holders_;
  std::int64_t count_;
  bool is_last_;
  List<Block> backward_;             // by distance from the far end of the piece
  List<Block> forward_;              // by distance from its near end
  List<Block> factors_;              // backward_ times c
  Block last_pivot_;                 // of the last row in the elimination from the near end
  std::int64_t memory_ = 0;          // sites over which an influence is lost
  List<Piece> pieces_;               // of all ranks that hold sites
  std::vector<double> mine_, ends_;  // u and v of this rank and of all
  List<Value> first_;                // x_first = first_[rank, field] + slope_[rank] x_left, right ranks eliminated
  List<Block> slope_, meeting_;      // meeting_ = (1 - last slope)^-1
};

}  // namespace

std::unique_ptr<StageSolver> make_stage_solver(const StageMatrix& matrix, const Layout& layout,
                                               const Communicator& communicator, int fields) {
  switch (matrix.coupling.rows()) {
    case 1:
      return std::make_unique<BlockTridiagonal<1>>(matrix, layout, communicator, fields);
    case 2:
      return std::make_unique<BlockTridiagonal<2>>(matrix, layout, communicator, fields);
    case 3:
      return std::make_unique<BlockTridiagonal<3>>(matrix, layout, communicator, fields);
    case 4:
      return std::make_unique<BlockTridiagonal<4>>(matrix, layout, communicator, fields);
    case 5:
      return std::make_unique<BlockTridiagonal<5>>(matrix, layout, communicator, fields);
    default:
      throw std::invalid_argument("a line is eliminated for 1 to 5 stages");
  }
}

}  // namespace bathline
