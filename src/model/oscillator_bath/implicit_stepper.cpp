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
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "model/oscillator_bath/state.hpp"
#include "simd/simd_double.hpp"
#include "solve/direct_line_solver.hpp"

namespace bathline {

namespace {

/// The first `count` lanes; the others are zero.
SimdDouble load_some(const double* from, int count) {
  if (count == simd_width) return load(from);
  SimdDouble value{};
  std::memcpy(&value, from, static_cast<std::size_t>(count) * sizeof(double));
  return value;
}
void store_some(SimdDouble value, double* to, int count) {
  std::memcpy(to, &value, static_cast<std::size_t>(count) * sizeof(double));
}

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
  /// One oscillator in each lane.
  struct Lanes {
    SimdDouble value{};
  };
  struct Values {
    SimdDouble value[S];
  };
  struct Blocks {
    Values row[S];
  };

  Blocks condensation_matrices(SimdDouble k, SimdDouble inverse_mass) const;
  /// N (w 1 + p h/m a 1), the stretches with the head at 0.
  Values stretches_at_rest(const Blocks& n, SimdDouble w, SimdDouble p, SimdDouble inverse_mass) const {
    const SimdDouble drift = h_ * inverse_mass * p;
    Values stretches{};
    for (int i = 0; i < S; ++i) {
      for (int j = 0; j < S; ++j) stretches.value[i] += n.row[i].value[j] * (w + drift * row_sums_[j]);
    }
    return stretches;
  }
  /// Length of `sums_`: the sum of k N, then by axis that of k stretches_at_rest, then by axis the pull.
  std::size_t width() const { return static_cast<std::size_t>(S * S) + static_cast<std::size_t>(S + 1) * bath_.axes; }
  /// Adds the `lanes` oscillators from j on to these sums.
  void add(Lanes* sums, std::size_t j, int lanes, SimdDouble k, SimdDouble inverse_mass, const Blocks& n) const {
    for (int column = 0; column < S; ++column) {
      for (int row = 0; row < S; ++row) sums++->value += k * n.row[row].value[column];
    }
    Lanes* pulls = sums + S * bath_.axes;
    for (std::size_t axis = 0; axis < bath_.axes; ++axis) {
      const SimdDouble w = load_some(&bath_.w[axis][j], lanes), p = load_some(&bath_.p[axis][j], lanes);
      const Values stretches = stretches_at_rest(n, w, p, inverse_mass);
      for (const SimdDouble stretch : stretches.value) sums++->value += k * stretch;
      pulls++->value += k * w;
    }
  }
  /// Recomputes the sums; work(j, lanes, k, 1/m, N) is called before the `lanes` oscillators from j on are added, and
  /// may advance them. @note Collective.
  template <class Work>
  void recompute_sums(Work work);

  OscillatorBathState& bath_;
  double h_;
  Block a_, product_;
  Value b_, end_weights_, row_sums_;  // b, a^^T b and a 1
  std::vector<double> head_;          // at the start of the step
  std::int64_t sums_valid_for_ = -1;  // value of `changes` that the sums belong to
  std::vector<double> sums_;          // on rank 0
  /// Of a chunk, for each of eight consecutive oscillators, whatever the width of the registers.
  static constexpr std::size_t registers = 8 / simd_width;
  std::vector<Lanes> lane_sums_;
};

template <int S>
typename OscillatorBathImplicitStepper<S>::Blocks OscillatorBathImplicitStepper<S>::condensation_matrices(
    SimdDouble k, SimdDouble inverse_mass) const {
  const SimdDouble square = h_ * h_ * k * inverse_mass;
  Blocks n;
  if constexpr (S == 1) {
    n.row[0].value[0] = 1.0 / (1.0 + square * product_(0, 0));
  } else if constexpr (S == 2) {
    const SimdDouble a = 1.0 + square * product_(0, 0), b = square * product_(0, 1);
    const SimdDouble c = square * product_(1, 0), d = 1.0 + square * product_(1, 1);
    const SimdDouble inverse = 1.0 / (a * d - b * c);
    n = {{{{d * inverse, -b * inverse}}, {{-c * inverse, a * inverse}}}};
  } else {
    for (int lane = 0; lane < simd_width; ++lane) {
      const Block matrix = (Block::Identity() + square[lane] * product_).inverse();
      for (int i = 0; i < S; ++i) {
        for (int j = 0; j < S; ++j) n.row[i].value[j][lane] = matrix(i, j);
      }
    }
  }
  return n;
}

template <int S>
template <class Work>
void OscillatorBathImplicitStepper<S>::recompute_sums(Work work) {
  sums_.resize(width());
  bath_.sum.allocate(static_cast<int>(width()));
  bath_.for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int count) {
    lane_sums_.assign(registers * width(), Lanes());
    for (int done = 0; done < count; done += simd_width) {
      const auto j = static_cast<std::size_t>(begin + done);
      const int lanes = std::min(simd_width, count - done);
      // A lane without an oscillator has no stiffness.
      const SimdDouble k = load_some(&bath_.stiffness[j], lanes),
                       inverse_mass = load_some(&bath_.inverse_mass[j], lanes);
      const Blocks n = condensation_matrices(k, inverse_mass);
      work(j, lanes, k, inverse_mass, n);
      const auto part = static_cast<std::size_t>(done / simd_width) % registers;
      add(lane_sums_.data() + part * width(), j, lanes, k, inverse_mass, n);
    }
    const std::span<double> sums = bath_.sum.leaf(leaf);
    for (std::size_t i = 0; i < lane_sums_.size(); ++i) {
      for (int lane = 0; lane < simd_width; ++lane) sums[i % width()] += lane_sums_[i].value[lane];
    }
  });
  bath_.sum.reduce(sums_);
  std::copy(sums_.end() - static_cast<std::ptrdiff_t>(bath_.axes), sums_.end(), bath_.pull.begin());
  sums_valid_for_ = bath_.changes;
}

template <int S>
bool OscillatorBathImplicitStepper<S>::condense(std::span<const double> head, StageResponse& response) {
  if (sums_valid_for_ != bath_.changes) recompute_sums([](auto&&...) {});
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
  const Eigen::MatrixXd displacements = h_ * a_ * head_velocities;
  ++bath_.changes;
  // The sums of the next step are computed in the same pass.
  recompute_sums([&](std::size_t j, int lanes, SimdDouble k, SimdDouble inverse_mass, const Blocks& n) {
    for (std::size_t axis = 0; axis < bath_.axes; ++axis) {
      SimdDouble w = load_some(&bath_.w[axis][j], lanes), p = load_some(&bath_.p[axis][j], lanes);
      const Values at_rest = stretches_at_rest(n, w - head_[axis], p, inverse_mass);
      SimdDouble force{}, end_force{};
      for (int i = 0; i < S; ++i) {
        SimdDouble stretch = at_rest.value[i];
        for (int other = 0; other < S; ++other) {
          stretch -= n.row[i].value[other] * displacements(other, static_cast<Eigen::Index>(axis));
        }
        force += b_[i] * stretch;
        end_force += end_weights_[i] * stretch;
      }
      w += h_ * inverse_mass * (p - h_ * k * end_force);
      p -= h_ * k * force;
      store_some(w, &bath_.w[axis][j], lanes);
      store_some(p, &bath_.p[axis][j], lanes);
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
