// Progress of a run: a bar on a terminal, a line every few seconds in a log.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace bathline {

enum class ProgressStyle { automatic, bar, lines, none };

/// The unit in which progress is counted, in the singular.
struct ProgressUnit {
  std::string name = "step";
  std::int64_t sites = 0;          ///< advanced per unit, to show sites per second; 0: not shown
  std::string site_name = "site";  ///< what a site is called, such as "oscillator"
};

/// Rate and remaining time of a task that took `seconds` from `first` to `done` of `total` units.
struct Pace {
  Pace(std::int64_t first, std::int64_t done, std::int64_t total, double seconds);
  double per_second = 0.0;
  double seconds_left = 0.0;
};

/// Shown by rank 0 on standard error, with the rate and the time left.
class Progress {
 public:
  Progress(ProgressStyle style, bool is_root);

  void begin(const std::string& label, std::int64_t total, ProgressUnit unit = {});
  /// Units that were done before, read from a checkpoint: they do not count for the rate.
  void skip(std::int64_t done);
  /// `note` follows the numbers: a result so far.
  void update(std::int64_t done, const std::string& note = {});
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  void show(std::int64_t done, double seconds, const std::string& note);

  ProgressStyle style_;
  std::string label_;
  ProgressUnit unit_;
  std::int64_t total_ = 0;
  std::int64_t first_ = 0;
  Clock::time_point started_, shown_;
  bool drawn_ = false;
};

}  // namespace bathline
