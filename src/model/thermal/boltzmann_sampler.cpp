// Positions with the density exp(-V(q)/kT).
#include "model/thermal/boltzmann_sampler.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <vector>

#include "model/thermal/boltzmann_table.hpp"
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

/// Whether V exceeds V(from) by `max_energy_over_kt` kT and grows without bound along a direction.
bool is_confined(const Potential& potential, const VectorXd& from, const VectorXd& direction, double kt) {
  const double bottom = potential.value(from);
  const auto rise = [&](double s) { return (potential.value(from + s * direction) - bottom) / kt; };
  const double scale = std::max(1e-6, 1e-6 * from.norm());
  double last = scale;
  bool has_risen = false;
  for (double s = scale; s < 1e12 * scale; s *= 2.0) {
    if (std::isnan(rise(s))) return false;
    if (rise(s) < max_energy_over_kt) last = s;
    has_risen = has_risen || rise(s) >= max_energy_over_kt;
  }
  // A potential with a plateau, as that of a bond that breaks, confines nothing.
  const double far = rise(1e9 * scale), farther = rise(1e12 * scale);
  const bool keeps_growing = std::isinf(farther) || farther > far + 1.0;
  return has_risen && keeps_growing && last < 1e9 * scale;
}

class InverseCdfSampler final : public BoltzmannSampler {
 public:
  explicit InverseCdfSampler(BoltzmannTable table) : table_(std::move(table)) {}

  VectorXd draw(const RngKey& key) const override {
    return VectorXd::Constant(1, table_.quantile(uniform_pair(key, 0).first));
  }
  std::string description() const override { return "positions by the inverse of their distribution"; }

 private:
  BoltzmannTable table_;
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
    return is_confined(*system.potential, system.q0, direction, kt) &&
           is_confined(*system.potential, system.q0, -direction, kt);
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
  if (is_bound(system, temperature)) {
    if (system.size() > 1) return make_hamiltonian_monte_carlo(system, temperature, unsupported_reason);
    const auto energy = [of = system.potential](double q) { return of->value(VectorXd::Constant(1, q)); };
    if (auto table = BoltzmannTable::of(energy, temperature))
      return std::make_shared<InverseCdfSampler>(std::move(*table));
  }
  unsupported_reason = unbound;
  return nullptr;
}

}  // namespace bathline
