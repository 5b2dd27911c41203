// Implicit schemes on a heat bath: the arrowhead matrix of head and oscillators, eliminated.
//
//   P = p 1 - h k a^ D,   D = w 1 + h/m a P - (x 1 + h a V) the stretches at the stages,   V the head's stage
//   velocities so D = N ((w - x) 1 + p h/m a 1 - h a V),   N = (1 + h^2 k/m a a^)^-1,   force on the head: sum_j k_j
//   D_j w+ = w + h/m b.P,   p+ = p - h k b.D
//
// Source: hairer2006, section II.2; the elimination is ours.
// Tested by tests/model/star/star_test.cpp.
#include <Eigen/LU>
#include <stdexcept>

#include "model/star/state.hpp"

namespace bathline {

namespace {

template <int S>
class StarImplicitMarch final : public ImplicitMarch {
 public:
  StarImplicitMarch(StarState& star, const CollocationScheme& scheme, double h)
      : star_(star),
        h_(h),
        a_(scheme.a),
        product_(scheme.a * scheme.a_hat),
        b_(scheme.b),
        to_end_(scheme.a_hat.transpose() * scheme.b),
        rows_(scheme.a.rowwise().sum()),
        head_(star.axes) {}

  bool respond(std::span<const double> head, StageResponse& response) override;
  void complete(const Eigen::MatrixXd& head_velocities) override;
  std::vector<double> memory() const override;
  void remember(std::span<const double> memory) override;

 private:
  using Block = Eigen::Matrix<double, S, S>;
  using Value = Eigen::Matrix<double, S, 1>;

  Block condensed(double k, double inverse_mass) const {
    return (Block::Identity() + (h_ * h_ * k * inverse_mass) * product_).inverse();
  }
  /// N (w 1 + p h/m a 1).
  Value stretch_at_rest(const Block& n, double w, double p, double inverse_mass) const {
    return n * (Value::Constant(w) + (h_ * inverse_mass * p) * rows_);
  }
  /// What the response is made of, one after the other: sum of k N; sum of k stretch_at_rest, axis by axis; the pull.
  std::size_t width() const { return static_cast<std::size_t>(S * S) + static_cast<std::size_t>(S + 1) * star_.axes; }
  /// Adds an oscillator to those sums.
  void add(std::span<double> sums, const Block& n, std::size_t j) const {
    const double k = star_.stiffness[j], inverse_mass = star_.inverse_mass[j];
    Eigen::Map<Block>(sums.data()) += k * n;
    double* pulls = sums.data() + S * S;
    for (std::size_t axis = 0; axis < star_.axes; ++axis) {
      const double w = star_.w[axis][j];
      Eigen::Map<Value>(pulls + axis * S) += k * stretch_at_rest(n, w, star_.p[axis][j], inverse_mass);
      pulls[star_.axes * S + axis] += k * w;
    }
  }
  /// Work(j) leaves oscillator j as the next step finds it, and returns its N. @note Collective.
  template <class Work>
  void sum_up(Work work);

  StarState& star_;
  double h_;
  Block a_, product_;
  Value b_, to_end_, rows_;    // b, a^^T b and a 1
  std::vector<double> head_;   // at the start of the step
  std::int64_t sums_of_ = -1;  // the change of the state that the sums belong to
  std::vector<double> sums_;   // on rank 0
};

template <int S>
template <class Work>
void StarImplicitMarch<S>::sum_up(Work work) {
  sums_.resize(width());
  star_.sum.open(static_cast<int>(width()));
  star_.for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int count) {
    const std::span<double> sums = star_.sum.leaf(leaf);
    for (auto j = static_cast<std::size_t>(begin); j < static_cast<std::size_t>(begin + count); ++j) {
      const Block n = condensed(star_.stiffness[j], star_.inverse_mass[j]);
      work(j, n);
      add(sums, n, j);
    }
  });
  star_.sum.reduce(sums_);
  std::copy(sums_.end() - static_cast<std::ptrdiff_t>(star_.axes), sums_.end(), star_.pull.begin());
  sums_of_ = star_.changes;
}

template <int S>
bool StarImplicitMarch<S>::respond(std::span<const double> head, StageResponse& response) {
  if (sums_of_ != star_.changes) sum_up([](std::size_t, const Block&) {});
  const Eigen::Map<const Block> stiffness(sums_.data());
  response.damping = h_ * stiffness * a_;
  response.constant.resize(S, static_cast<Eigen::Index>(star_.axes));
  for (std::size_t axis = 0; axis < star_.axes && star_.communicator.is_root(); ++axis) {
    head_[axis] = head[axis];
    const Eigen::Map<const Value> at_rest(sums_.data() + S * S + axis * S);
    response.constant.col(static_cast<Eigen::Index>(axis)) = at_rest - head[axis] * stiffness.rowwise().sum();
  }
  return true;
}

template <int S>
void StarImplicitMarch<S>::complete(const Eigen::MatrixXd& head_velocities) {
  star_.communicator.broadcast(std::span<double>(head_));
  std::vector<Value> ways;
  for (std::size_t axis = 0; axis < star_.axes; ++axis) {
    ways.push_back(h_ * (a_ * head_velocities.col(static_cast<Eigen::Index>(axis))));
  }
  ++star_.changes;
  // What the next step needs to know is summed up while the oscillator is at hand.
  sum_up([&](std::size_t j, const Block& n) {
    const double k = star_.stiffness[j], inverse_mass = star_.inverse_mass[j];
    for (std::size_t axis = 0; axis < star_.axes; ++axis) {
      double& w = star_.w[axis][j];
      double& p = star_.p[axis][j];
      const Value stretch = stretch_at_rest(n, w - head_[axis], p, inverse_mass) - n * ways[axis];
      w += h_ * inverse_mass * (p - h_ * k * to_end_.dot(stretch));
      p -= h_ * k * b_.dot(stretch);
    }
  });
}

template <int S>
std::vector<double> StarImplicitMarch<S>::memory() const {
  if (sums_of_ != star_.changes) return {};
  return sums_;
}

template <int S>
void StarImplicitMarch<S>::remember(std::span<const double> memory) {
  if (memory.empty()) return;
  if (memory.size() != width()) throw std::out_of_range("this is not what a heat bath goes on from");
  sums_.assign(memory.begin(), memory.end());
  std::copy(sums_.end() - static_cast<std::ptrdiff_t>(star_.axes), sums_.end(), star_.pull.begin());
  sums_of_ = star_.changes;
}

}  // namespace

std::unique_ptr<ImplicitMarch> make_implicit_march(StarState& star, const CollocationScheme& scheme, double h) {
  switch (scheme.stages()) {
    case 1:
      return std::make_unique<StarImplicitMarch<1>>(star, scheme, h);
    case 2:
      return std::make_unique<StarImplicitMarch<2>>(star, scheme, h);
    case 3:
      return std::make_unique<StarImplicitMarch<3>>(star, scheme, h);
    case 4:
      return std::make_unique<StarImplicitMarch<4>>(star, scheme, h);
    case 5:
      return std::make_unique<StarImplicitMarch<5>>(star, scheme, h);
    default:
      throw std::invalid_argument("a heat bath is eliminated for 1 to 5 stages");
  }
}

}  // namespace bathline
