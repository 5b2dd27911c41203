// The exact flow of damping and noise alone, in the modes of M^-1/2 C M^-1/2, each of which decays at its own rate.
// Tested by tests/steppers/noise_test.cpp.
#include "steppers/ornstein_uhlenbeck.hpp"

#include <algorithm>
#include <cmath>

#include "solve/dense.hpp"

namespace bathline {

namespace {

/// (1 - exp(-x)) / x.
double mean_decay(double x) { return std::abs(x) < 1e-300 ? 1.0 : -std::expm1(-x) / x; }

/// The parts of the indices that entries of the symmetric matrices join, each in increasing order.
std::vector<std::vector<int>> joined_by(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  std::vector<std::vector<int>> parts;
  std::vector<char> is_done(static_cast<std::size_t>(a.rows()), 0);
  for (int first = 0; first < a.rows(); ++first) {
    if (is_done[static_cast<std::size_t>(first)]) continue;
    std::vector<int>& part = parts.emplace_back(1, first);
    is_done[static_cast<std::size_t>(first)] = 1;
    for (std::size_t k = 0; k < part.size(); ++k) {
      for (int j = first + 1; j < a.rows(); ++j) {
        if (is_done[static_cast<std::size_t>(j)] || (a(j, part[k]) == 0.0 && b(j, part[k]) == 0.0)) continue;
        is_done[static_cast<std::size_t>(j)] = 1;
        part.push_back(j);
      }
    }
    std::ranges::sort(part);
  }
  return parts;
}

}  // namespace

OrnsteinUhlenbeck::OrnsteinUhlenbeck(Problem& problem, double duration) : problem_(problem), duration_(duration) {
  const Eigen::MatrixXd& matrix = problem.damping();
  const Eigen::Index n = matrix.rows();
  const Eigen::MatrixXd diffusion = problem.noise() ? problem.noise()->diffusion() : Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    if (!matrix.row(i).isZero(0.0) || !diffusion.row(i).isZero(0.0)) dofs_.push_back(static_cast<int>(i));
  }
  if (dofs_.empty()) return;
  mass_ = problem.system().mass(dofs_);
  p_ = next_ = mass_;
  const Eigen::MatrixXd damping = matrix(dofs_, dofs_), noise = diffusion(dofs_, dofs_);
  std::vector<Eigen::Triplet<double>> decay, root;
  for (const std::vector<int>& block : joined_by(damping, noise)) {
    const Eigen::VectorXd root_mass = mass_(block).cwiseSqrt(), inverse = root_mass.cwiseInverse();
    const SymmetricEigen rates = symmetric_eigen(inverse.asDiagonal() * damping(block, block) * inverse.asDiagonal());
    const Eigen::MatrixXd& modes = rates.vectors;
    const auto count = static_cast<Eigen::Index>(block.size());
    Eigen::MatrixXd covariance =
        modes.transpose() * inverse.asDiagonal() * 2.0 * noise(block, block) * inverse.asDiagonal() * modes;
    for (Eigen::Index i = 0; i < count; ++i) {
      for (Eigen::Index j = 0; j < count; ++j) {
        covariance(i, j) *= duration * mean_decay(duration * (rates.values[i] + rates.values[j]));
      }
    }
    const Eigen::VectorXd decays = (-duration * rates.values.array()).exp();
    const Eigen::MatrixXd e =
        root_mass.asDiagonal() * modes * decays.asDiagonal() * modes.transpose() * inverse.asDiagonal();
    const Eigen::MatrixXd r = root_mass.asDiagonal() * symmetric_root(modes * covariance * modes.transpose());
    for (Eigen::Index i = 0; i < count; ++i) {
      for (Eigen::Index j = 0; j < count; ++j) {
        const int row = block[static_cast<std::size_t>(i)], column = block[static_cast<std::size_t>(j)];
        decay.emplace_back(row, column, e(i, j));
        root.emplace_back(row, column, r(i, j));
      }
    }
  }
  const auto size = static_cast<Eigen::Index>(dofs_.size());
  decay_.resize(size, size);
  root_.resize(size, size);
  decay_.setFromTriplets(decay.begin(), decay.end());
  root_.setFromTriplets(root.begin(), root.end());
}

double OrnsteinUhlenbeck::middle(int draw) const {
  return problem_.clock.at(duration_ < 0.75 * problem_.clock.h ? 0.25 + 0.5 * draw : 0.5);
}

void OrnsteinUhlenbeck::advance(int draw) {
  if (draw == 1) advance_couplings(draw);
  advance_by_matrix(draw);
  if (draw == 0) advance_couplings(draw);
}

void OrnsteinUhlenbeck::advance_couplings(int draw) {
  struct Bath {
    const CoupledDamper* damper;
    Eigen::Index axis;
  };
  CoupledFriction& friction = problem_.coupled_friction();
  std::vector<Bath> baths;
  for (const CoupledDamper& damper : friction.dampers()) {
    for (Eigen::Index axis = 0; axis < damper.attachment.axes(); ++axis) baths.push_back({&damper, axis});
  }
  if (baths.empty()) return;
  const std::span<const double> numbers =
      friction.is_noisy() ? friction.numbers(problem_.clock.steps, draw) : std::span<const double>();
  const Eigen::VectorXd& mass = problem_.system().mass;
  for (std::size_t i = 0; i < baths.size(); ++i) {
    const std::size_t index = draw == 0 ? i : baths.size() - 1 - i;
    const auto& [attachment, damping, start_temperature, in_time] = *baths[index].damper;
    const double temperature = baths[index].damper->temperature_at(middle(draw));
    const auto gradient = attachment.gradient_at(problem_.q, 0.0).col(baths[index].axis);
    const double b = gradient.cwiseQuotient(mass).dot(gradient);
    if (b == 0.0) continue;
    const double velocity = gradient.dot(problem_.p.cwiseQuotient(mass)), exponent = damping * b * duration_;
    double change = std::expm1(-exponent) * velocity;
    if (temperature > 0.0) change += std::sqrt(-temperature * b * std::expm1(-2.0 * exponent)) * numbers[index];
    problem_.p += change / b * gradient;
    problem_.dissipated -= change / b * (velocity + 0.5 * change);
  }
}

void OrnsteinUhlenbeck::advance_by_matrix(int draw) {
  if (dofs_.empty()) return;
  for (std::size_t i = 0; i < dofs_.size(); ++i) p_[static_cast<Eigen::Index>(i)] = problem_.p[dofs_[i]];
  next_.noalias() = decay_ * p_;
  if (WhiteNoise* noise = problem_.noise()) {
    const std::span<const double> numbers = noise->numbers(problem_.clock.steps, draw, dofs_.size());
    const Eigen::Map<const Eigen::VectorXd> drawn(numbers.data(), next_.size());
    if (noise->depends_on_time()) {
      const Eigen::VectorXd impulse = root_ * drawn;
      for (std::size_t i = 0; i < dofs_.size(); ++i) {
        const auto k = static_cast<Eigen::Index>(i);
        next_[k] += noise->amplitude(dofs_[i], middle(draw)) * impulse[k];
      }
    } else {
      next_.noalias() += root_ * drawn;
    }
  }
  for (std::size_t i = 0; i < dofs_.size(); ++i) problem_.p[dofs_[i]] = next_[static_cast<Eigen::Index>(i)];
  if (problem_.exchange.size() > 0) {
    problem_.exchange(dofs_, dofs_) += (next_ - p_) * (0.5 * (p_ + next_)).cwiseQuotient(mass_).transpose();
  }
  const Eigen::VectorXd loss = 0.5 * (p_.cwiseAbs2() - next_.cwiseAbs2()).cwiseQuotient(mass_);
  problem_.dissipated += loss.sum();
  if (problem_.heat.size() > 0) problem_.heat(dofs_) += loss;
}

}  // namespace bathline
