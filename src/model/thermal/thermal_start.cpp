// Particles that start from their Gibbs distribution.
// Tested by tests/model/thermal/boltzmann_sampler_test.cpp.
#include "model/thermal/thermal_start.hpp"

#include <fmt/format.h>

#include <cmath>

#include "model/thermal/boltzmann_sampler.hpp"
#include "random/normal_batch.hpp"
#include "random/streams.hpp"

namespace bathline {

namespace {

using Eigen::VectorXd;

class GibbsStart final : public ThermalStart {
 public:
  GibbsStart(VectorXd temperature, std::shared_ptr<const BoltzmannSampler> positions)
      : temperature_(std::move(temperature)), positions_(std::move(positions)) {}

  void draw(std::uint64_t seed, std::uint32_t realisation, const VectorXd& mass, VectorXd& q,
            VectorXd& p) const override {
    VectorXd numbers(mass.size());
    fill_normals(streams::particle_momenta.key(seed, realisation), 0,
                 {numbers.data(), static_cast<std::size_t>(numbers.size())});
    p = temperature_.cwiseProduct(mass).cwiseSqrt().cwiseProduct(numbers);
    if (positions_) q = positions_->draw(streams::particle_positions.key(seed, realisation));
  }
  bool is_warm() const override { return !temperature_.isZero(0.0); }
  std::string description() const override {
    return positions_ ? positions_->description() : std::string("momenta of the Gibbs distribution");
  }

 private:
  VectorXd temperature_;
  std::shared_ptr<const BoltzmannSampler> positions_;
};

}  // namespace

std::shared_ptr<const ThermalStart> make_thermal_start(const ParticleSystem& system, const VectorXd& temperature,
                                                       std::string& unsupported_reason) {
  if (system.lagrangian || system.contact) {
    unsupported_reason = "it needs constant masses and a potential";
    return nullptr;
  }
  if (system.start == ParticleSystem::Start::thermal_momenta) return std::make_shared<GibbsStart>(temperature, nullptr);
  if (!(temperature.array() == temperature[0]).all()) {
    unsupported_reason =
        "particles of several temperatures have no Gibbs distribution of positions; use \"thermal-momenta\", or one "
        "temperature for the start, `start_kT`";
    return nullptr;
  }
  if (!(temperature[0] > 0.0)) {
    unsupported_reason = "positions have a Gibbs distribution only above temperature 0";
    return nullptr;
  }
  std::shared_ptr<const BoltzmannSampler> positions =
      make_boltzmann_sampler(system, temperature[0], unsupported_reason);
  return positions ? std::make_shared<GibbsStart>(temperature, positions) : nullptr;
}

}  // namespace bathline
