// Positions with the density exp(-V(q)/kT) by Hamiltonian Monte Carlo.
// Tested by tests/model/thermal/boltzmann_sampler_test.cpp.
#include "model/thermal/hamiltonian_monte_carlo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "random/normal_batch.hpp"
#include "random/streams.hpp"

namespace bathline {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int chains = 64;  // of the convergence test
constexpr int min_trajectories = 32, max_trajectories = 2048;
constexpr int steps = 8;  // of a trajectory
constexpr double max_r = 1.05, max_virial_error = 0.1;

class HamiltonianMonteCarlo final : public BoltzmannSampler {
 public:
  HamiltonianMonteCarlo(const ParticleSystem& system, double kt)
      : potential_(system.potential), mass_(system.mass), q0_(system.q0), kt_(kt) {
    MatrixXd hessian;
    potential_->hessian(q0_, hessian);
    const VectorXd scale = mass_.cwiseSqrt().cwiseInverse();
    const double rate = (scale.asDiagonal() * hessian.cwiseAbs() * scale.asDiagonal()).rowwise().sum().maxCoeff();
    h_ = rate > 0.0 && std::isfinite(rate) ? 1.0 / std::sqrt(rate) : 1.0;
  }

  /// Tunes the step to an acceptance between 0.65 and 0.97, and the number of trajectories; returns why this fails, or
  /// "".
  std::string tune() {
    for (int iteration = 0; iteration < 40; ++iteration) {
      const double accepted = measure(min_trajectories).acceptance;
      if (accepted > 0.65 && accepted < 0.97) break;
      h_ *= accepted > 0.65 ? 1.4 : 0.7;
    }
    for (trajectories_ = min_trajectories; trajectories_ <= max_trajectories; trajectories_ *= 2) {
      measured_ = measure(trajectories_);
      if (measured_.r < max_r && std::abs(measured_.virial - 1.0) < max_virial_error) return "";
    }
    return fmt::format(
        "Hamiltonian Monte Carlo does not converge to the Gibbs distribution within {} trajectories: split-R is "
        "{:.3g}, above {}, or the virial {:.3g}, not 1; barriers of many kT prevent it, so use \"thermal-momenta\"",
        max_trajectories, measured_.r, max_r, measured_.virial);
  }

  VectorXd draw(const RngKey& key) const override {
    VectorXd q = q0_;
    for (int trajectory = 0; trajectory < trajectories_; ++trajectory) advance(key, trajectory, q);
    return q;
  }

  std::string description() const override {
    return fmt::format(
        "positions by Hamiltonian Monte Carlo, {} trajectories of {} steps of {:.3g}: acceptance {:.2f}, split-R "
        "{:.3f}, virial {:.3f}",
        trajectories_, steps, h_, measured_.acceptance, measured_.r, measured_.virial);
  }

 private:
  struct Convergence {
    double acceptance = 0.0, r = std::numeric_limits<double>::infinity(), virial = 0.0;
  };

  /// One trajectory; returns whether it was accepted.
  bool advance(const RngKey& key, int trajectory, VectorXd& q) const {
    const auto number = static_cast<std::uint64_t>(trajectory);
    VectorXd p(q.size()), gradient, position = q;
    fill_normals(key, number * static_cast<std::uint64_t>(p.size()), {p.data(), static_cast<std::size_t>(p.size())});
    p = p.cwiseProduct((kt_ * mass_).cwiseSqrt());
    // The step is random, so that no periodic motion returns to its start.
    const auto [step_number, choice_number] = uniform_pair(following(key, 1), number);
    const double h = h_ * (0.7 + 0.6 * step_number);
    const auto energy = [&] { return potential_->value(position) + 0.5 * p.cwiseAbs2().cwiseQuotient(mass_).sum(); };
    const double before = energy();
    potential_->gradient(position, gradient);
    for (int step = 0; step < steps; ++step) {
      p -= 0.5 * h * gradient;
      position += h * p.cwiseQuotient(mass_);
      potential_->gradient(position, gradient);
      p -= 0.5 * h * gradient;
    }
    if (!(std::log(choice_number) < (before - energy()) / kt_)) return false;
    q = position;
    return true;
  }

  /// End of a chain that is annealed from a thousand times the temperature, so that it crosses barriers into any well.
  VectorXd annealed(const RngKey& key) const {
    constexpr int halvings = 10, per_halving = 4;
    VectorXd q = q0_;
    for (int trajectory = 0; trajectory < halvings * per_halving; ++trajectory) {
      const double ratio = std::exp2(halvings - trajectory / per_halving);
      HamiltonianMonteCarlo warmer = *this;
      warmer.kt_ *= ratio;
      // Hot chains reach steeper parts of the walls, which need shorter steps; several scales are tried.
      warmer.h_ *= std::pow(ratio, -0.25) * std::exp2(-2 * (trajectory % per_halving));
      warmer.advance(following(key, 2), trajectory, q);
    }
    return q;
  }

  /// Convergence of the chains over so many trajectories, the first half of which is discarded.
  Convergence measure(int trajectories) const {
    const auto n = q0_.size();
    const int half = trajectories / 4;                                    // half of the trajectories that count
    MatrixXd means = MatrixXd::Zero(n + 1, 2 * chains), squares = means;  // by welford1962, of every half chain
    Convergence result;
    VectorXd row(n + 1), deviation, gradient;
    for (int chain = 0; chain < chains; ++chain) {
      const RngKey key = streams::sampler_tuning.key(0, static_cast<std::uint32_t>(chain));
      VectorXd q = chain % 2 == 0 ? q0_ : annealed(key);
      for (int trajectory = 0; trajectory < trajectories; ++trajectory) {
        const bool accepted = advance(key, trajectory, q);
        const int sample = trajectory - (trajectories - 2 * half);
        if (sample < 0) continue;
        result.acceptance += accepted / (2.0 * half * chains);
        row << q, potential_->value(q);
        const int column = 2 * chain + sample / half;
        deviation = row - means.col(column);
        means.col(column) += deviation / (sample % half + 1.0);
        squares.col(column) += deviation.cwiseProduct(row - means.col(column));
        potential_->gradient(q, gradient);
        result.virial += (q - q0_).dot(gradient) / (kt_ * static_cast<double>(n)) / (2.0 * half * chains);
      }
    }
    const VectorXd mean = means.rowwise().mean();
    const VectorXd within = squares.rowwise().mean() / (half - 1.0);
    const VectorXd between = (means.colwise() - mean).cwiseAbs2().rowwise().sum() / (2.0 * chains - 1.0);
    result.r = ((half - 1.0) / half + between.array() / within.array()).sqrt().maxCoeff();
    return result;
  }

  std::shared_ptr<const Potential> potential_;
  VectorXd mass_, q0_;
  double kt_, h_ = 0.0;
  int trajectories_ = min_trajectories;
  Convergence measured_;
};

}  // namespace

std::shared_ptr<const BoltzmannSampler> make_hamiltonian_monte_carlo(const ParticleSystem& system, double temperature,
                                                                     std::string& unsupported_reason) {
  auto result = std::make_shared<HamiltonianMonteCarlo>(system, temperature);
  const std::string reason = result->tune();
  if (reason.empty()) return result;
  unsupported_reason = reason;
  return nullptr;
}

}  // namespace bathline
