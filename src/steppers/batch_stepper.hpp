// Explicit steps of many realisations of a few particles at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "methods/scheme.hpp"
#include "model/problem.hpp"

namespace bathline {

/// Advances realisations of one problem together, each in a lane of a SIMD register. It exists on the ranks that have
/// the particles.
class BatchStepper {
 public:
  /// Enough realisations to hide the latency of operations behind those on other registers.
  static constexpr std::size_t max_realisations = 64;

  virtual ~BatchStepper() = default;
  /// Advances every problem by `steps` steps, with the bits of a stepper of its own.
  virtual void advance(std::int64_t steps) = 0;
};

/// The batch stepper of a splitting on at most four degrees of freedom, whose forces are those of potential, damping
/// matrix and noise only; null for other problems. The problems, from 1 to `max_realisations` of them, differ only in
/// their start and their random numbers, and must outlive it.
std::unique_ptr<BatchStepper> make_batch_stepper(const ExplicitScheme& scheme, std::span<Problem> problems, double h);

}  // namespace bathline
