// Counter-based random numbers of the steps of a run.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "random/counter_rng.hpp"

namespace bathline {

/// The random numbers of a run, indexed by seed, realisation and stream, step, draw within the step, and position.
/// Their bits depend on these alone.
class NoiseStream {
 public:
  /// Fills in the standard normal numbers of a draw of a step.
  using Source = std::function<void(std::int64_t step, int draw, std::span<double> numbers)>;
  static constexpr std::int64_t before_first_step = -1;

  /// The key of an environment's noise; `start` is the key of its thermal start.
  static RngKey environment_key(const RngKey& start);
  /// Draw d has the stream of the key plus d.
  void begin(const RngKey& key);
  /// Replaces the random numbers by those of `source` from here on.
  void set_source(Source source) { source_ = std::move(source); }
  /// The numbers of a thermal start with this key: draw 0 of the step `before_first_step`.
  void start(const RngKey& key, std::span<double> numbers) const;

  /// `count` standard normal numbers of a step; its draws 0 and 1 are independent. The numbers depend on `count` as
  /// well.
  std::span<const double> at(std::int64_t step, int draw, std::size_t count) { return from(step, draw, count, 1); }
  /// The numbers of several steps, beginning with this one: of at least one and at most `steps`.
  std::span<const double> from(std::int64_t step, int draw, std::size_t count, std::int64_t steps);

 private:
  /// Numbers of consecutive steps that are drawn together.
  struct Block {
    std::int64_t first = 0, steps = 0;
    std::size_t count = 0;
    std::vector<double> numbers;
  };
  void draw(Block& block, std::int64_t step, int draw, std::size_t count) const;

  RngKey key_;
  Source source_;
  std::array<Block, 2> blocks_;
};

/// Implemented by environments with noise.
class Noisy {
 public:
  virtual ~Noisy() = default;
  /// Its random numbers; nullptr at temperature 0 or without dissipation.
  virtual NoiseStream* noise() = 0;
  /// Whether a step depends on the random numbers of earlier steps through the state of the sites alone.
  virtual bool is_markovian() const { return true; }
  /// Whether a particle in equilibrium with it has the energy kT/2 in every velocity.
  virtual bool is_classical() const { return true; }
};

}  // namespace bathline
