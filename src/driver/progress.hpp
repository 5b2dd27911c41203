// How far a run has come: a bar on a terminal, a line now and then in a log.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace bathline {

enum class ProgressStyle { automatic, bar, lines, none };

/// What progress is counted in, in the singular.
struct ProgressUnit {
  std::string name = "step";
  std::int64_t sites = 0;          ///< that each advances, for the rate; 0 leaves that out
  std::string site_name = "site";  ///< what they are called
};

/// What is known of the pace of a task after `seconds`, in which it has come from `first` to `done` of `total`.
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
  /// So much was done before this process began, or is known from its checkpoint: it counts for neither rate nor time.
  void known(std::int64_t done);
  void update(std::int64_t done);
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  void show(std::int64_t done, double seconds);

  ProgressStyle style_;
  std::string label_;
  ProgressUnit unit_;
  std::int64_t total_ = 0;
  std::int64_t first_ = 0;
  Clock::time_point started_, shown_;
  bool drawn_ = false;
};

}  // namespace bathline
