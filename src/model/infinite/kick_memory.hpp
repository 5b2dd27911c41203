// What kicks and drifts by turns need of a line's memory.
#pragma once

#include <string>
#include <vector>

#include "parallel/cache_lines.hpp"

namespace bathline {

struct StateField;

/// What a kernel over steps remembers of what goes into it on one axis.
struct MemoryState {
  std::vector<double> tails;  ///< what comes out in the next step, or the next stages, where nothing goes in
  AlignedVector due;          ///< for exponentials in blocks: what is known of the tail of each step, from its begin on
  std::vector<double> recent;  ///< what went in, the latest first
  AlignedVector real, imaginary;
  double taken = 0.0;  ///< steps of the block under way, a whole number
};
/// How many numbers that takes.
struct MemoryShape {
  std::size_t tails = 0, due = 0, recent = 0, modes = 0;
  bool operator==(const MemoryShape&) const = default;
  void give(MemoryState& state) const;
  /// The state on an axis, each name behind `prefix`; nullptr where it is another rank's.
  void add_fields(const std::string& prefix, int axis, MemoryState* state, std::vector<StateField>& fields) const;
};

/// The force of a line under one or more kicks a step, each behind a drift.
class KickMemory {
 public:
  virtual ~KickMemory() = default;
  int stages() const { return stages_; }
  /// The first drift of a step, in steps.
  double first_drift() const { return first_drift_; }
  /// What a displacement of now adds to the force, per length, negative.
  double at_once() const { return at_once_; }
  virtual MemoryShape shape() const = 0;
  /// The head has moved by `displacement` in the drift before the kick of that number, which comes now.
  virtual void commit(MemoryState& state, int stage, double displacement) const = 0;

 protected:
  KickMemory(int stages, double first_drift, double at_once)
      : stages_(stages), first_drift_(first_drift), at_once_(at_once) {}

 private:
  int stages_;
  double first_drift_, at_once_;
};

}  // namespace bathline
