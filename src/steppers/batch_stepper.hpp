// Explicit steps of many realisations of a few particles at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "methods/scheme.hpp"
#include "model/problem.hpp"

namespace bathline {

/// Advances realisations of one problem together, each in a lane of a register of its own. Lives on the ranks that have
/// the particles.
class BatchStepper {
 public:
  /// As many as are worth it: enough registers for the processor to work on while others wait for a result.
  static constexpr std::size_t most = 64;

  virtual ~BatchStepper() = default;
  /// Takes every problem on by `steps` steps, to the bit of a stepper of its own.
  virtual void advance(std::int64_t steps) = 0;
};

/// Of a splitting on at most four degrees of freedom, on which no force acts but potential, damping matrix and noise.
/// Nothing for other problems. The problems, from 1 to `most` of them, differ in nothing but their start and their
/// random numbers, and have to outlive it.
std::unique_ptr<BatchStepper> make_batch_stepper(const ExplicitScheme& scheme, std::span<Problem> problems, double h);

}  // namespace bathline
