// Random numbers of the steps of a run, by counter.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "random/counter_rng.hpp"

namespace bathline {

/// The random numbers of a run, each named by what it is for: seed, realisation and stream, step, draw within the step,
/// and place. Nothing but these decides about their bits.
class NoiseStream {
 public:
  /// What fills in the standard normal numbers of a draw of a step.
  using Source = std::function<void(std::int64_t step, int draw, std::span<double> numbers)>;
  static constexpr std::int64_t before_first_step = -1;

  /// The key for the numbers of an environment whose thermal start has this one.
  static RngKey of_environment(const RngKey& start);
  /// Draw d has the stream of the key plus d.
  void begin(const RngKey& key);
  /// Numbers of another kind than random ones, from here on.
  void set_source(Source source) { source_ = std::move(source); }
  /// Those of a thermal start that has such a key: draw 0 of the step `before_first_step`.
  void start(const RngKey& key, std::span<double> numbers) const;

  /// Standard normal numbers; draws 0 and 1 of a step are independent of each other. Which ones they are depends on
  /// `count` as well.
  std::span<const double> at(std::int64_t step, int draw, std::size_t count) { return from(step, draw, count, 1); }
  /// The same of several steps from this one on: of one at least, and of `steps` at most.
  std::span<const double> from(std::int64_t step, int draw, std::size_t count, std::int64_t steps);

 private:
  /// Numbers of several steps in a row, drawn together.
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

/// An environment with noise of its own.
class Noisy {
 public:
  virtual ~Noisy() = default;
  /// Its numbers; nullptr where it is cold, or loses nothing.
  virtual NoiseStream* noise() = 0;
  /// Whether its sites are all that a step needs to know of the numbers of steps before.
  virtual bool is_markovian() const { return true; }
  /// Whether what is in equilibrium with it has kT/2 in every velocity.
  virtual bool is_classical() const { return true; }
};

}  // namespace bathline
