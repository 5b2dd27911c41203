// Positions with the density exp(-V(q)/kT).
#include "model/thermal/boltzmann_sampler.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "model/thermal/hamiltonian_monte_carlo.hpp"
#include "random/normal_batch.hpp"
#include "random/streams.hpp"
#include "solve/dense.hpp"

namespace bathline {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

class Gaussian final : public BoltzmannSampler {
 public:
  Gaussian(const MatrixXd& stiffness, double temperature) : cholesky_(stiffness), deviation_(std::sqrt(temperature)) {}

  VectorXd draw(const RngKey& key) const override {
    VectorXd numbers(cholesky_.rows());
    fill_normals(key, 0, {numbers.data(), static_cast<std::size_t>(numbers.size())});
    return deviation_ * cholesky_.matrixU().solve(numbers);
  }
  std::string description() const override { return "exact Gaussian positions"; }

 private:
  Eigen::LLT<MatrixXd> cholesky_;
  double deviation_;
};

/// Energies above this many kT have weights below round-off.
constexpr double max_energy_over_kt = 40.0;

/// Distance along a direction beyond which V exceeds V(from) by `max_energy_over_kt` kT; nothing if V does not grow
/// without bound.
std::optional<double> confinement_length(const Potential& potential, const VectorXd& from, const VectorXd& direction,
                                         double kt) {
  const double bottom = potential.value(from);
  const auto rise = [&](double s) { return (potential.value(from + s * direction) - bottom) / kt; };
  const double scale = std::max(1e-6, 1e-6 * from.norm());
  double last = scale;
  bool has_risen = false;
  for (double s = scale; s < 1e12 * scale; s *= 2.0) {
    if (std::isnan(rise(s))) return std::nullopt;
    if (rise(s) < max_energy_over_kt) last = s;
    has_risen = has_risen || rise(s) >= max_energy_over_kt;
  }
  // A potential with a plateau, as that of a bond that breaks, confines nothing.
  const double far = rise(1e9 * scale), farther = rise(1e12 * scale);
  const bool keeps_growing = std::isinf(farther) || farther > far + 1.0;
  if (!has_risen || !keeps_growing || !(last < 1e9 * scale)) return std::nullopt;
  return 2.0 * last;
}

/// Inverse transform sampling of one coordinate; the density is integrated cell by cell by a four-point Gauss rule.
class InverseCdfSampler final : public BoltzmannSampler {
 public:
  InverseCdfSampler(std::shared_ptr<const Potential> potential, double begin, double end, double kt)
      : potential_(std::move(potential)), kt_(kt) {
    // Equal cells over the interval that carries the weight.
    narrow(begin, end);
    begin_ = begin;
    width_ = (end - begin) / cells;
    for (int cell = 0; cell < cells; ++cell) {
      const double from = begin_ + cell * width_;
      sums_.push_back((cell == 0 ? 0.0 : sums_.back()) + weight(from, from + width_));
    }
  }

  VectorXd draw(const RngKey& key) const override {
    const double target = uniform_pair(key, 0).first * sums_.back();
    const auto cell =
        std::min<std::ptrdiff_t>(std::lower_bound(sums_.begin(), sums_.end(), target) - sums_.begin(), cells - 1);
    const double from = begin_ + static_cast<double>(cell) * width_;
    const double remainder = target - (cell == 0 ? 0.0 : sums_[static_cast<std::size_t>(cell - 1)]);
    const double cell_weight = sums_[static_cast<std::size_t>(cell)] - (target - remainder);
    double x = from + width_ * (cell_weight > 0.0 ? remainder / cell_weight : 0.5);
    for (int i = 0; i < 3; ++i) {
      const double density = this->density(x);
      if (density > 0.0) x = std::clamp(x + (remainder - weight(from, x)) / density, from, from + width_);
    }
    return VectorXd::Constant(1, x);
  }
  std::string description() const override { return "positions by the inverse of their distribution"; }

 private:
  static constexpr int cells = 4096;

  double energy(double x) const { return potential_->value(VectorXd::Constant(1, x)) / kt_; }
  double density(double x) const { return std::exp(bottom_ - energy(x)); }
  double weight(double from, double to) const {
    static constexpr double nodes[] = {0.069431844202973712, 0.33000947820757187, 0.66999052179242813,
                                       0.93056815579702629};
    static constexpr double weights[] = {0.17392742256872693, 0.32607257743127307, 0.32607257743127307,
                                         0.17392742256872693};
    double sum = 0.0;
    for (int i = 0; i < 4; ++i) sum += weights[i] * density(from + nodes[i] * (to - from));
    return sum * (to - from);
  }
  void narrow(double& begin, double& end) {
    for (int iteration = 0; iteration < 20; ++iteration) {
      const double cell = (end - begin) / cells;
      bottom_ = std::numeric_limits<double>::infinity();
      for (int i = 0; i <= cells; ++i) bottom_ = std::min(bottom_, energy(begin + i * cell));
      int first = cells, last = 0;
      for (int i = 0; i <= cells; ++i) {
        if (!(energy(begin + i * cell) < bottom_ + max_energy_over_kt)) continue;
        first = std::min(first, i);
        last = std::max(last, i);
      }
      const double from = begin + std::max(0, first - 1) * cell, to = begin + std::min(cells, last + 1) * cell;
      if (to - from > 0.9 * (end - begin)) return;
      begin = from;
      end = to;
    }
  }

  std::shared_ptr<const Potential> potential_;
  double kt_, begin_ = 0.0, width_ = 0.0;
  double bottom_ = 0.0;       // the lowest energy over kT
  std::vector<double> sums_;  // cumulative weights of the cells
};

/// Whether V confines the particles, tested along the axes, the translations and some random directions.
bool is_bound(const ParticleSystem& system, double kt) {
  const Eigen::Index n = system.size();
  std::vector<VectorXd> directions;
  for (Eigen::Index i = 0; i < n; ++i) directions.emplace_back(VectorXd::Unit(n, i));
  for (int axis = 0; axis < system.axes; ++axis) {
    VectorXd translation = VectorXd::Zero(n);
    for (Eigen::Index i = axis; i < n; i += system.axes) translation[i] = 1.0;
    directions.push_back(translation);
  }
  std::vector<double> numbers(static_cast<std::size_t>(n));
  for (std::uint64_t i = 0; i < 16; ++i) {
    fill_normals(streams::confinement_directions.key(0, 0), i * numbers.size(), numbers);
    directions.emplace_back(Eigen::Map<const VectorXd>(numbers.data(), n).normalized());
  }
  return std::all_of(directions.begin(), directions.end(), [&](const VectorXd& direction) {
    return confinement_length(*system.potential, system.q0, direction, kt) &&
           confinement_length(*system.potential, system.q0, -direction, kt);
  });
}

}  // namespace

std::shared_ptr<const BoltzmannSampler> make_boltzmann_sampler(const ParticleSystem& system, double temperature,
                                                               std::string& unsupported_reason) {
  const char* const unbound =
      "the potential does not bind all particles, so their positions have no Gibbs distribution; add a confining "
      "potential, or use \"thermal-momenta\"";
  const Potential& potential = *system.potential;
  if (potential.is_quadratic()) {
    MatrixXd stiffness;
    potential.hessian(system.q0, stiffness);
    if (is_positive_definite(stiffness)) return std::make_shared<Gaussian>(stiffness, temperature);
    unsupported_reason = unbound;
    return nullptr;
  }
  if (system.size() == 1) {
    const VectorXd right = VectorXd::Ones(1);
    const auto up = confinement_length(potential, system.q0, right, temperature);
    const auto down = confinement_length(potential, system.q0, -right, temperature);
    if (up && down) {
      return std::make_shared<InverseCdfSampler>(system.potential, system.q0[0] - *down, system.q0[0] + *up,
                                                 temperature);
    }
  } else if (is_bound(system, temperature)) {
    return make_hamiltonian_monte_carlo(system, temperature, unsupported_reason);
  }
  unsupported_reason = unbound;
  return nullptr;
}

}  // namespace bathline
