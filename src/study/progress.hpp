// How far a run has come: a bar on a terminal, a line now and then in a log.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace bathline {

enum class ProgressStyle { automatic, bar, lines, none };

/// Shown by rank 0 on standard error, with the rate and the time left.
class Progress {
 public:
  Progress(ProgressStyle style, bool is_root);

  /// `sites` is the number of sites that a step advances, for the rate; 0 leaves that out.
  void begin(const std::string& label, std::int64_t steps, std::int64_t sites);
  void update(std::int64_t step);
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  void show(std::int64_t step, double seconds);

  ProgressStyle style_;
  std::string label_;
  std::int64_t steps_ = 0;
  std::int64_t sites_ = 0;
  Clock::time_point started_, shown_;
  bool drawn_ = false;
};

}  // namespace bathline
