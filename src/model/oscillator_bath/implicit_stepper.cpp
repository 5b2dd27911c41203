// Implicit schemes on an oscillator bath: block elimination of the arrowhead matrix of head and oscillators.
//
//   P = p 1 - h k a^ D,   D = w 1 + h/m a P - (x 1 + h a V)
//   D = N ((w - x) 1 + p h/m a 1 - h a V),   N = (1 + h^2 k/m a a^)^-1
//   force on the head: sum_j k_j D_j,   w+ = w + h/m b.P,   p+ = p - h k b.D
//
// with the stage momenta P and stage stretches D of an oscillator, and the stage velocities V of the head.
//
// Source: hairer2006, section II.2; the elimination is ours.
// Tested by tests/model/oscillator_bath/oscillator_bath_test.cpp.
#include <Eigen/LU>
#include <stdexcept>

#include "model/oscillator_bath/state.hpp"
#include "solve/direct_line_solver.hpp"

namespace bathline {

namespace {

template <int S>
class OscillatorBathImplicitStepper final : public ImplicitEnvironmentStepper {
 public:
  OscillatorBathImplicitStepper(OscillatorBathState& bath, const PartitionedRungeKutta& scheme, double h)
      : bath_(bath),
        h_(h),
        a_(scheme.a),
        product_(scheme.a * scheme.a_hat),
        b_(scheme.b),
        end_weights_(scheme.a_hat.transpose() * scheme.b),
        row_sums_(scheme.a.rowwise().sum()),
        head_(bath.axes) {}

  bool condense(std::span<const double> head, StageResponse& response) override;
  void back_substitute(const Eigen::MatrixXd& head_velocities) override;
  std::vector<double> internal_state() const override;
  void set_internal_state(std::span<const double> memory) override;

 private:
  using Block = Eigen::Matrix<double, S, S>;
  using Value = Eigen::Matrix<double, S, 1>;

  Block condensation_matrix(double k, double inverse_mass) const {
    return (Block::Identity() + (h_ * h_ * k * inverse_mass) * product_).inverse();
  }
  /// N (w 1 + p h/m a 1), the stretches with the head at 0.
  Value stretch_at_rest(const Block& n, double w, double p, double inverse_mass) const {
    return n * (Value::Constant(w) + (h_ * inverse_mass * p) * row_sums_);
  }
  /// Length of `sums_`: the sum of k N, then by axis that of k stretch_at_rest, then by axis the pull.
  std::size_t width() const { return static_cast<std::size_t>(S * S) + static_cast<std::size_t>(S + 1) * bath_.axes; }
  /// Adds oscillator j to these sums.
  void add(std::span<double> sums, const Block& n, std::size_t j) const {
    const double k = bath_.stiffness[j], inverse_mass = bath_.inverse_mass[j];
    Eigen::Map<Block>(sums.data()) += k * n;
    double* pulls = sums.data() + S * S;
    for (std::size_t axis = 0; axis < bath_.axes; ++axis) {
      const double w = bath_.w[axis][j];
      Eigen::Map<Value>(pulls + axis * S) += k * stretch_at_rest(n, w, bath_.p[axis][j], inverse_mass);
      pulls[bath_.axes * S + axis] += k * w;
    }
  }
  /// Recomputes the sums; work(j, N) is called before oscillator j is added, and may advance it. @note Collective.
  template <class Work>
  void recompute_sums(Work work);

  OscillatorBathState& bath_;
  double h_;
  Block a_, product_;
  Value b_, end_weights_, row_sums_;  // b, a^^T b and a 1
  std::vector<double> head_;          // at the start of the step
  std::int64_t sums_valid_for_ = -1;  // value of `changes` that the sums belong to
  std::vector<double> sums_;          // on rank 0
};

template <int S>
template <class Work>
void OscillatorBathImplicitStepper<S>::recompute_sums(Work work) {
  sums_.resize(width());
  bath_.sum.allocate(static_cast<int>(width()));
  bath_.for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int count) {
    const std::span<double> sums = bath_.sum.leaf(leaf);
    for (auto j = static_cast<std::size_t>(begin); j < static_cast<std::size_t>(begin + count); ++j) {
      const Block n = condensation_matrix(bath_.stiffness[j], bath_.inverse_mass[j]);
      work(j, n);
      add(sums, n, j);
    }
  });
  bath_.sum.reduce(sums_);
  std::copy(sums_.end() - static_cast<std::ptrdiff_t>(bath_.axes), sums_.end(), bath_.pull.begin());
  sums_valid_for_ = bath_.changes;
}

template <int S>
bool OscillatorBathImplicitStepper<S>::condense(std::span<const double> head, StageResponse& response) {
  if (sums_valid_for_ != bath_.changes) recompute_sums([](std::size_t, const Block&) {});
  const Eigen::Map<const Block> stiffness(sums_.data());
  response.damping = h_ * stiffness * a_;
  response.constant.resize(S, static_cast<Eigen::Index>(bath_.axes));
  for (std::size_t axis = 0; axis < bath_.axes && bath_.communicator.is_root(); ++axis) {
    head_[axis] = head[axis];
    const Eigen::Map<const Value> at_rest(sums_.data() + S * S + axis * S);
    response.constant.col(static_cast<Eigen::Index>(axis)) = at_rest - head[axis] * stiffness.rowwise().sum();
  }
  return true;
}

template <int S>
void OscillatorBathImplicitStepper<S>::back_substitute(const Eigen::MatrixXd& head_velocities) {
  bath_.communicator.broadcast(std::span<double>(head_));
  std::vector<Value> displacements;
  for (std::size_t axis = 0; axis < bath_.axes; ++axis) {
    displacements.push_back(h_ * (a_ * head_velocities.col(static_cast<Eigen::Index>(axis))));
  }
  ++bath_.changes;
  // The sums of the next step are computed in the same pass.
  recompute_sums([&](std::size_t j, const Block& n) {
    const double k = bath_.stiffness[j], inverse_mass = bath_.inverse_mass[j];
    for (std::size_t axis = 0; axis < bath_.axes; ++axis) {
      double& w = bath_.w[axis][j];
      double& p = bath_.p[axis][j];
      const Value stretch = stretch_at_rest(n, w - head_[axis], p, inverse_mass) - n * displacements[axis];
      w += h_ * inverse_mass * (p - h_ * k * end_weights_.dot(stretch));
      p -= h_ * k * b_.dot(stretch);
    }
  });
}

template <int S>
std::vector<double> OscillatorBathImplicitStepper<S>::internal_state() const {
  if (sums_valid_for_ != bath_.changes) return {};
  return sums_;
}

template <int S>
void OscillatorBathImplicitStepper<S>::set_internal_state(std::span<const double> memory) {
  if (memory.empty()) return;
  if (memory.size() != width()) throw std::out_of_range("the saved numbers do not fit the stepper of this heat bath");
  sums_.assign(memory.begin(), memory.end());
  std::copy(sums_.end() - static_cast<std::ptrdiff_t>(bath_.axes), sums_.end(), bath_.pull.begin());
  sums_valid_for_ = bath_.changes;
}

}  // namespace

std::unique_ptr<ImplicitEnvironmentStepper> make_implicit_environment_stepper(OscillatorBathState& bath,
                                                                              const PartitionedRungeKutta& scheme,
                                                                              double h) {
  return with_stages(scheme.stages(), [&]<int S>(std::integral_constant<int, S>) {
    return std::unique_ptr<ImplicitEnvironmentStepper>(
        std::make_unique<OscillatorBathImplicitStepper<S>>(bath, scheme, h));
  });
}

}  // namespace bathline
