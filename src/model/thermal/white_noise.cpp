// White noise on the particles of an open system.
#include "model/thermal/white_noise.hpp"

#include <cmath>

#include "random/streams.hpp"
#include "solve/dense.hpp"

namespace bathline {

std::optional<Eigen::MatrixXd> momentum_diffusion(const Eigen::MatrixXd& damping, const Eigen::VectorXd& temperature,
                                                  const TemperaturesInTime& in_time) {
  const auto differ = [&](Eigen::Index i, Eigen::Index j) {
    const bool in_time_too =
        !in_time.empty() && in_time[static_cast<std::size_t>(i)] != in_time[static_cast<std::size_t>(j)];
    return temperature[i] != temperature[j] || in_time_too;
  };
  for (Eigen::Index i = 0; i < damping.rows(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      if (damping(i, j) != 0.0 && differ(i, j)) return std::nullopt;
    }
  }
  return Eigen::MatrixXd(damping * temperature.asDiagonal());
}

Eigen::MatrixXd symmetric_root(const Eigen::MatrixXd& covariance) {
  if (covariance.isDiagonal(0.0)) {
    return Eigen::MatrixXd(covariance.diagonal().cwiseMax(0.0).cwiseSqrt().asDiagonal());
  }
  const Eigen::VectorXd unit = covariance.diagonal().unaryExpr(
      [](double square) { return square > 0.0 ? std::exp2(std::round(0.5 * std::log2(square))) : 1.0; });
  const auto inverse = unit.cwiseInverse().asDiagonal();
  const SymmetricEigen eigen = symmetric_eigen(inverse * covariance * inverse);
  return unit.asDiagonal() * eigen.vectors * eigen.values.cwiseMax(0.0).cwiseSqrt().asDiagonal() *
         eigen.vectors.transpose();
}

WhiteNoise::WhiteNoise(Eigen::MatrixXd diffusion, TemperaturesInTime temperatures)
    : diffusion_(std::move(diffusion)),
      temperatures_(std::move(temperatures)),
      impulse_(Eigen::VectorXd::Zero(diffusion_.rows())) {
  for (Eigen::Index i = 0; i < diffusion_.rows(); ++i) {
    if (!diffusion_.row(i).isZero(0.0)) noisy_.push_back(static_cast<int>(i));
  }
  root_ = std::make_shared<Root>(symmetric_root(2.0 * diffusion_(noisy_, noisy_)).sparseView(0.0, 0.0));
}

void WhiteNoise::begin(std::uint64_t seed, std::uint32_t realisation) {
  numbers_.begin(streams::white_noise.key(seed, realisation));
}

const Eigen::VectorXd& WhiteNoise::impulse(std::int64_t step, double h) {
  impulses(step, 1, h, [&](int, int i, double impulse) { impulse_[i] = impulse; });
  return impulse_;
}

}  // namespace bathline
