// The streams of random numbers by name: what each is drawn for, and its place among all keys.
#pragma once

#include <cstdint>

#include "random/counter_rng.hpp"

namespace bathline {

/// Consecutive streams with one purpose.
struct StreamRange {
  const char* purpose;
  std::uint32_t first, count;

  /// The key of stream `index` of the range, which must be below `count`.
  constexpr RngKey key(std::uint64_t seed, std::uint32_t realisation, std::uint32_t index = 0) const {
    return {seed, realisation, first + index};
  }
  /// The index of a key of this range.
  constexpr std::uint32_t index_of(const RngKey& key) const { return key.stream - first; }
};

/// The stream `offset` places after that of `key`, in the same range.
constexpr RngKey following(const RngKey& key, std::uint32_t offset) {
  return {key.seed, key.realisation, key.stream + offset};
}

/// All streams of the program but the `random_dampings` of a commutativity study, which have a generator of their own.
/// No two ranges overlap (tests/random/streams_test.cpp), and no other code makes keys (tests/sources).
namespace streams {

inline constexpr std::uint32_t max_environments = 0x20000000U;

inline constexpr StreamRange environment_starts = {"thermal start of environment i", 0, max_environments};
/// Stream 2 i has the first draw of every step of environment i, 2 i + 1 the second.
inline constexpr StreamRange environment_noise = {"noise of environment i", 0x40000000U, 2 * max_environments};
inline constexpr StreamRange white_noise = {"both draws of white noise on particles", 0x80000000U, 2};
inline constexpr StreamRange coupled_noise = {"both draws of white noise on couplings", 0x80000002U, 2};
inline constexpr StreamRange particle_momenta = {"momenta of a thermal start", 0x80000010U, 1};
/// By Monte Carlo: momenta, choices, and both of a chain that is annealed.
inline constexpr StreamRange particle_positions = {"positions of a thermal start", 0x80000011U, 4};
inline constexpr StreamRange convergence_starts = {"starts of a convergence study", 0x80000020U, 1};
inline constexpr StreamRange sampler_tuning = {"tuning of the Monte Carlo start", 0x80000030U, 4};
inline constexpr StreamRange confinement_directions = {"directions of the test of confinement", 0x80000040U, 1};
inline constexpr StreamRange doubled_positions = {"positions of a doubled-variables study", 0x80000050U, 1};
inline constexpr StreamRange lagrangian_positions = {"positions of the order of a Lagrangian", 0x80000051U, 1};
inline constexpr StreamRange lagrangian_velocities = {"velocities of the order of a Lagrangian", 0x80000052U, 1};
inline constexpr StreamRange control_starts = {"starts of controls", 0x80000053U, 1};
inline constexpr StreamRange repeated_data = {"noise of the repeated experiments of a fit", 0x80000060U, 1};
inline constexpr StreamRange fit_starts = {"starts of the searches of a fit", 0x80000061U, 1};
inline constexpr StreamRange quantum_noise = {"quantum noise of environment i", 0xC0000000U, max_environments};

inline constexpr StreamRange all[] = {
    environment_starts,     environment_noise,  white_noise,          coupled_noise,
    particle_momenta,       particle_positions, convergence_starts,   sampler_tuning,
    confinement_directions, doubled_positions,  lagrangian_positions, lagrangian_velocities,
    control_starts,         repeated_data,      fit_starts,           quantum_noise};

}  // namespace streams

}  // namespace bathline
