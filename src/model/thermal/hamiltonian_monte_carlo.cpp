// Positions with the density exp(-V(q)/kT) by Hamiltonian Monte Carlo.
// Tested by tests/model/thermal/boltzmann_sampler_test.cpp.
#include "model/thermal/hamiltonian_monte_carlo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "random/normal_batch.hpp"

namespace bathline {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int members = 64;              // of the measurement
constexpr int fewest = 32, most = 2048;  // paths
constexpr int steps = 8;                 // of a path
constexpr double largest_r = 1.05, largest_virial_error = 0.1;

class HamiltonianMonteCarlo final : public BoltzmannSampler {
 public:
  HamiltonianMonteCarlo(const ParticleSystem& system, double kt)
      : potential_(system.potential), mass_(system.mass), q0_(system.q0), kt_(kt) {
    MatrixXd hessian;
    potential_->hessian(q0_, hessian);
    const VectorXd scale = mass_.cwiseSqrt().cwiseInverse();
    const double rate = (scale.asDiagonal() * hessian.cwiseAbs() * scale.asDiagonal()).rowwise().sum().maxCoeff();
    h_ = rate > 0.0 ? 1.0 / std::sqrt(rate) : 1.0;
  }

  /// Finds a step that is mostly taken, and the number of paths; returns what stands in the way.
  std::string settle() {
    for (int turn = 0; turn < 40; ++turn) {
      const double accepted = measure(fewest).acceptance;
      if (accepted > 0.65 && accepted < 0.97) break;
      h_ *= accepted > 0.65 ? 1.4 : 0.7;
    }
    for (paths_ = fewest; paths_ <= most; paths_ *= 2) {
      found_ = measure(paths_);
      if (found_.r < largest_r && std::abs(found_.virial - 1.0) < largest_virial_error) return "";
    }
    return fmt::format(
        "Hamiltonian Monte Carlo does not come to the Gibbs distribution within {} paths: split-R is {:.3g}, above "
        "{}, or the virial {:.3g}, not 1; barriers of many kT keep it in place, so begin with \"thermal-momenta\"",
        most, found_.r, largest_r, found_.virial);
  }

  VectorXd draw(const RngKey& key) const override {
    VectorXd q = q0_;
    for (int path = 0; path < paths_; ++path) go(key, path, q);
    return q;
  }

  std::string description() const override {
    return fmt::format(
        "positions by Hamiltonian Monte Carlo, {} paths of {} steps of {:.3g}: acceptance {:.2f}, split-R {:.3f}, "
        "virial "
        "{:.3f}",
        paths_, steps, h_, found_.acceptance, found_.r, found_.virial);
  }

 private:
  struct Measured {
    double acceptance = 0.0, r = std::numeric_limits<double>::infinity(), virial = 0.0;
  };

  /// One path; returns whether it was taken.
  bool go(const RngKey& key, int path, VectorXd& q) const {
    const auto number = static_cast<std::uint64_t>(path);
    VectorXd p(q.size()), gradient, at = q;
    fill_normals(key, number * static_cast<std::uint64_t>(p.size()), {p.data(), static_cast<std::size_t>(p.size())});
    p = p.cwiseProduct((kt_ * mass_).cwiseSqrt());
    // Steps of several lengths, so that no motion comes back to where it was.
    const auto [for_step, for_choice] = uniform_pair({key.seed, key.realisation, key.stream + 1}, number);
    const double h = h_ * (0.7 + 0.6 * for_step);
    const auto energy = [&] { return potential_->value(at) + 0.5 * p.cwiseAbs2().cwiseQuotient(mass_).sum(); };
    const double before = energy();
    potential_->gradient(at, gradient);
    for (int step = 0; step < steps; ++step) {
      p -= 0.5 * h * gradient;
      at += h * p.cwiseQuotient(mass_);
      potential_->gradient(at, gradient);
      p -= 0.5 * h * gradient;
    }
    if (!(std::log(for_choice) < (before - energy()) / kt_)) return false;
    q = at;
    return true;
  }

  /// Where a member comes to that cools down from a thousand times the temperature, over barriers into any well.
  VectorXd annealed(const RngKey& key) const {
    constexpr int halvings = 10, each = 4;
    VectorXd q = q0_;
    for (int path = 0; path < halvings * each; ++path) {
      const double ratio = std::exp2(halvings - path / each);
      HamiltonianMonteCarlo warmer = *this;
      warmer.kt_ *= ratio;
      // Walls that get steeper are reached the farther up, and where one is very steep no step is short but a very
      // short one.
      warmer.h_ *= std::pow(ratio, -0.25) * std::exp2(-2 * (path % each));
      warmer.go({key.seed, key.realisation, key.stream + 2}, path, q);
    }
    return q;
  }

  /// What members make of so many paths, the first half of which does not count.
  Measured measure(int paths) const {
    const auto n = q0_.size();
    const int half = paths / 4;  // of what counts
    MatrixXd means = MatrixXd::Zero(n + 1, 2 * members), squares = means;
    Measured found;
    VectorXd row(n + 1), gradient;
    for (int member = 0; member < members; ++member) {
      const RngKey key{0, static_cast<std::uint32_t>(member), 0xC0000000U};
      VectorXd q = member % 2 == 0 ? q0_ : annealed(key);
      for (int path = 0; path < paths; ++path) {
        const bool taken = go(key, path, q);
        const int counted = path - (paths - 2 * half);
        if (counted < 0) continue;
        found.acceptance += taken / (2.0 * half * members);
        row << q, potential_->value(q);
        means.col(2 * member + counted / half) += row / half;
        squares.col(2 * member + counted / half) += row.cwiseAbs2() / half;
        potential_->gradient(q, gradient);
        found.virial += (q - q0_).dot(gradient) / (kt_ * static_cast<double>(n)) / (2.0 * half * members);
      }
    }
    const VectorXd mean = means.rowwise().mean();
    const VectorXd within = (squares - means.cwiseAbs2()).rowwise().mean() * half / (half - 1.0);
    const VectorXd between = (means.colwise() - mean).cwiseAbs2().rowwise().sum() / (2.0 * members - 1.0);
    found.r = ((half - 1.0) / half + between.array() / within.array()).sqrt().maxCoeff();
    return found;
  }

  std::shared_ptr<const Potential> potential_;
  VectorXd mass_, q0_;
  double kt_, h_ = 0.0;
  int paths_ = fewest;
  Measured found_;
};

}  // namespace

std::shared_ptr<const BoltzmannSampler> make_hamiltonian_monte_carlo(const ParticleSystem& system, double temperature,
                                                                     std::string& unsupported_reason) {
  auto found = std::make_shared<HamiltonianMonteCarlo>(system, temperature);
  const std::string why = found->settle();
  if (why.empty()) return found;
  unsupported_reason = why;
  return nullptr;
}

}  // namespace bathline
