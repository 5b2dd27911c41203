// White noise on the particles of an open system.
#include "model/white_noise.hpp"

#include <algorithm>
#include <cmath>

#include "parallel/normal_numbers.hpp"
#include "solve/dense.hpp"

namespace bathline {

namespace {

/// The streams of environments count from 0.
constexpr std::uint32_t first_stream = 0x80000000U;
/// How many numbers are worth drawing together.
constexpr std::int64_t together = 512;

}  // namespace

std::optional<Eigen::MatrixXd> momentum_diffusion(const Eigen::MatrixXd& damping, const Eigen::VectorXd& temperature) {
  for (Eigen::Index i = 0; i < damping.rows(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      if (damping(i, j) != 0.0 && temperature[i] != temperature[j]) return std::nullopt;
    }
  }
  return Eigen::MatrixXd(damping * temperature.asDiagonal());
}

Eigen::MatrixXd symmetric_root(const Eigen::MatrixXd& covariance) {
  if (covariance.isDiagonal(0.0)) {
    return Eigen::MatrixXd(covariance.diagonal().cwiseMax(0.0).cwiseSqrt().asDiagonal());
  }
  const SymmetricEigen eigen = symmetric_eigen(covariance);
  return eigen.vectors * eigen.values.cwiseMax(0.0).cwiseSqrt().asDiagonal() * eigen.vectors.transpose();
}

WhiteNoise::WhiteNoise(Eigen::MatrixXd diffusion)
    : diffusion_(std::move(diffusion)), impulse_(Eigen::VectorXd::Zero(diffusion_.rows())) {
  for (Eigen::Index i = 0; i < diffusion_.rows(); ++i) {
    if (!diffusion_.row(i).isZero(0.0)) noisy_.push_back(static_cast<int>(i));
  }
  root_ = symmetric_root(2.0 * diffusion_(noisy_, noisy_));
}

void WhiteNoise::begin(std::uint64_t seed, std::uint32_t realisation) {
  seed_ = seed;
  realisation_ = realisation;
  blocks_ = {};
}

void WhiteNoise::draw(Block& block, std::int64_t step, int draw, std::size_t count) const {
  const auto size = static_cast<std::int64_t>(count);
  block.steps = std::max<std::int64_t>(1, together / size);
  block.first = step / block.steps * block.steps;
  block.numbers.resize(static_cast<std::size_t>(block.steps) * count);
  const RandomKey key{seed_, realisation_, first_stream + static_cast<std::uint32_t>(draw)};
  fill_normals(key, static_cast<std::uint64_t>(block.first) * count, block.numbers);
}

std::span<const double> WhiteNoise::numbers(std::int64_t step, int draw, std::size_t count) {
  if (count == 0) return {};
  Block& block = blocks_.at(static_cast<std::size_t>(draw));
  if (source_) {
    block.numbers.resize(count);
    source_(step, draw, block.numbers);
    return block.numbers;
  }
  if (step < block.first || step >= block.first + block.steps) this->draw(block, step, draw, count);
  return std::span<const double>(block.numbers).subspan(static_cast<std::size_t>(step - block.first) * count, count);
}

const Eigen::VectorXd& WhiteNoise::impulse(std::int64_t step, double h) {
  const std::span<const double> drawn = numbers(step, 0, noisy_.size());
  const double root_h = std::sqrt(h);
  for (std::size_t i = 0; i < noisy_.size(); ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < noisy_.size(); ++j) {
      sum += root_(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) * drawn[j];
    }
    impulse_[noisy_[i]] = root_h * sum;
  }
  return impulse_;
}

}  // namespace bathline
