// Implicit schemes with several stages on a heat bath: s equations an oscillator, the head between them.
//
//   G P = p 1 - h k u a^ 1 + h^2 k a^ a V,   G = 1 + h^2 k/m a^ a,   u = w - x at the start of the step
//   force on the head: sum_j k_j (u_j 1 + h/m_j a P_j - h a V) = constant - sum_j k_j h a G_j^-1 V
//   w+ = w + h/m b.P,   p+ = p - h k b.(u 1 + h/m a P - h a V)
//
// Source: hairer2006, section II.2; the elimination is ours.
#include <Eigen/LU>

#include "model/star/star.hpp"

namespace bathline {

namespace {

/// Calls work(std::integral_constant<int, s>).
template <class Work>
void with_stages(int stages, Work&& work) {
  switch (stages) {
    case 1:
      return work(std::integral_constant<int, 1>());
    case 2:
      return work(std::integral_constant<int, 2>());
    case 3:
      return work(std::integral_constant<int, 3>());
    case 4:
      return work(std::integral_constant<int, 4>());
    case 5:
      return work(std::integral_constant<int, 5>());
    default:
      throw std::invalid_argument("a heat bath is eliminated for 1 to 5 stages");
  }
}

/// The matrices of a scheme, and what an oscillator makes of them.
template <int S>
struct Stages {
  using Block = Eigen::Matrix<double, S, S>;
  using Value = Eigen::Matrix<double, S, 1>;

  Stages(const CollocationScheme& scheme, double step)
      : h(step), a(scheme.a), square(scheme.a_hat * scheme.a), b(scheme.b), rows(scheme.a_hat.rowwise().sum()) {}

  Block inverse(double k, double inverse_mass) const {
    return (Block::Identity() + (h * h * k * inverse_mass) * square).inverse();
  }
  /// Stage momenta of an oscillator whose head rests.
  Value momenta(const Block& inverse, double k, double u, double p) const {
    return inverse * (Value::Constant(p) - (h * k * u) * rows);
  }

  double h;
  Block a, square;  // a and a^ a
  Value b, rows;    // b and a^ 1
};

}  // namespace

void Star::set_up_stages(const CollocationScheme& scheme, double h) {
  stages_ = scheme;
  h_ = h;
  stage_damping_.resize(0, 0);
}

template <int S>
void Star::measure_stage_damping() {
  const Stages<S> stages(stages_, h_);
  using Block = typename Stages<S>::Block;
  sum_.open(S * S);
  for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int n) {
    Eigen::Map<Block> sums(sum_.leaf(leaf).data());
    for (auto j = static_cast<std::size_t>(begin); j < static_cast<std::size_t>(begin + n); ++j) {
      sums += stiffness_[j] * h_ * stages.a * stages.inverse(stiffness_[j], inverse_mass_[j]);
    }
  });
  stage_damping_.resize(S, S);
  sum_.reduce({stage_damping_.data(), S * S});
}

std::optional<StageResponse> Star::eliminate_stages(std::span<const double> head) {
  // Not before: setting up needs no oscillators yet.
  if (stage_damping_.size() == 0) {
    with_stages(stages_.stages(), [&](auto s) { measure_stage_damping<decltype(s)::value>(); });
  }
  if (communicator_.is_root()) head_.assign(head.begin(), head.end());
  communicator_.broadcast(std::span<double>(head_));
  StageResponse response{Eigen::MatrixXd(stages_.stages(), static_cast<Eigen::Index>(axes_)), stage_damping_};
  with_stages(stages_.stages(), [&](auto s) { eliminate_with<decltype(s)::value>(response.constant); });
  return response;
}

template <int S>
void Star::eliminate_with(Eigen::MatrixXd& constant) {
  const Stages<S> stages(stages_, h_);
  using Value = typename Stages<S>::Value;
  sum_.open(S * static_cast<int>(axes_));
  for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int n) {
    const std::span<double> sums = sum_.leaf(leaf);
    for (auto j = static_cast<std::size_t>(begin); j < static_cast<std::size_t>(begin + n); ++j) {
      const double k = stiffness_[j];
      const auto inverse = stages.inverse(k, inverse_mass_[j]);
      for (std::size_t axis = 0; axis < axes_; ++axis) {
        const double u = w_[axis][j] - head_[axis];
        const Value momenta = stages.momenta(inverse, k, u, p_[axis][j]);
        Eigen::Map<Value>(sums.data() + axis * S) +=
            k * (Value::Constant(u) + (h_ * inverse_mass_[j]) * (stages.a * momenta));
      }
    }
  });
  sum_.reduce({constant.data(), static_cast<std::size_t>(constant.size())});
}

void Star::complete_stages(const Eigen::MatrixXd& head_velocities) {
  with_stages(stages_.stages(), [&](auto s) { complete_with<decltype(s)::value>(head_velocities); });
  refresh_pull();
}

template <int S>
void Star::complete_with(const Eigen::MatrixXd& head_velocities) {
  const Stages<S> stages(stages_, h_);
  using Value = typename Stages<S>::Value;
  for_each_chunk([&](std::int64_t, std::int64_t begin, int n) {
    for (auto j = static_cast<std::size_t>(begin); j < static_cast<std::size_t>(begin + n); ++j) {
      const double k = stiffness_[j], drift = h_ * inverse_mass_[j];
      const auto inverse = stages.inverse(k, inverse_mass_[j]);
      for (std::size_t axis = 0; axis < axes_; ++axis) {
        const Value way = h_ * head_velocities.col(static_cast<Eigen::Index>(axis));
        const double u = w_[axis][j] - head_[axis];
        const Value momenta = stages.momenta(inverse, k, u, p_[axis][j]) + (h_ * k) * (inverse * (stages.square * way));
        w_[axis][j] += drift * stages.b.dot(momenta);
        p_[axis][j] -= h_ * k * stages.b.dot(Value::Constant(u) + stages.a * (drift * momenta - way));
      }
    }
  });
}

}  // namespace bathline
