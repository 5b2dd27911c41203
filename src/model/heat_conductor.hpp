// Heat currents and temperatures along a chain, observed between two steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace bathline {

/// What is known of the ends of a chain between two steps, on rank 0: displacements, velocities, kinetic temperatures
/// and masses of both particles, which are one and the same for a ring.
struct ConductorEnds {
  std::span<const double> x, v, kT, mass;
};

/// What is observed of a chain.
struct HeatObservation {
  /// kT of a site at the momentum p under the force f is (p + kick f)^2/m; in s.
  double kick = 0.0;
  std::size_t bins = 1;  ///< of the profiles
  /// Of a ring: whether the sum of all currents is needed at each observation, and the numbers n of waves of velocities
  /// sum_j v_j exp(i 2 pi n j/N) that are.
  bool has_totals = false;
  std::vector<std::int64_t> waves = {};
};

/// Means by bin, along the chain, and of all: kT in J of the places, particles at the ends included, and currents in W
/// of the springs.
struct HeatProfile {
  std::vector<double> temperature, current;
  double mean_temperature = 0.0, mean_current = 0.0;
};

/// Sums what it observes. All members are collective.
class HeatObserver {
 public:
  virtual ~HeatObserver() = default;
  virtual void observe(const ConductorEnds& ends) = 0;
  /// Of a ring at the last observation, on rank 0: the sum of all currents, W, in the frame of the centre of mass where
  /// momentum is conserved, then real and imaginary part of each wave, m/s.
  virtual std::span<const double> totals() const = 0;
  /// The means of all observations since the last call, on rank 0. Their bits do not depend on the number of ranks.
  virtual HeatProfile take() = 0;
};

/// Implemented by environments that are a chain between two particles, or a ring.
class HeatConductor {
 public:
  virtual ~HeatConductor() = default;
  /// Whether its ends are one particle.
  virtual bool is_ring() const = 0;
  /// Number of its sites, without the particles; 0 of a chain from one particle, which is not observed.
  virtual std::int64_t conducting_sites() const = 0;
  /// The environment must outlive the observer. @note Collective.
  virtual std::unique_ptr<HeatObserver> observe_heat(const HeatObservation& what) = 0;
};

/// The bin of element `index` of `count`, and the first element of a bin.
inline std::size_t bin_of(std::int64_t index, std::int64_t count, std::size_t bins) {
  return static_cast<std::size_t>(static_cast<__int128>(index) * static_cast<std::int64_t>(bins) / count);
}
inline std::int64_t begin_of_bin(std::size_t bin, std::int64_t count, std::size_t bins) {
  const auto all = static_cast<std::int64_t>(bins);
  return static_cast<std::int64_t>((static_cast<__int128>(count) * static_cast<std::int64_t>(bin) + all - 1) / all);
}

}  // namespace bathline
