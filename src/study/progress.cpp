// How far a run has come: a bar on a terminal, a line now and then in a log.
#include "study/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace bathline {

namespace {

std::string duration(double seconds) {
  const auto s = static_cast<long>(seconds + 0.5);
  if (s >= 3600) return fmt::format("{}:{:02}:{:02} h", s / 3600, s / 60 % 60, s % 60);
  if (s >= 60) return fmt::format("{}:{:02} min", s / 60, s % 60);
  return fmt::format("{} s", s);
}

std::string rate(double per_second) {
  if (per_second >= 1e9) return fmt::format("{:.2f}e9", per_second / 1e9);
  if (per_second >= 1e6) return fmt::format("{:.1f}e6", per_second / 1e6);
  return fmt::format("{:.0f}", per_second);
}

}  // namespace

Progress::Progress(ProgressStyle style, bool is_root) : style_(style) {
  if (!is_root) style_ = ProgressStyle::none;
  if (style_ == ProgressStyle::automatic) style_ = isatty(STDERR_FILENO) ? ProgressStyle::bar : ProgressStyle::lines;
}

void Progress::begin(const std::string& label, std::int64_t steps, std::int64_t sites) {
  label_ = label;
  steps_ = steps;
  sites_ = sites;
  started_ = shown_ = Clock::now();
  drawn_ = false;
}

void Progress::update(std::int64_t step) {
  if (style_ == ProgressStyle::none) return;
  const auto now = Clock::now();
  const double pause = style_ == ProgressStyle::bar ? 0.2 : 10.0;
  if (std::chrono::duration<double>(now - shown_).count() < pause) return;
  shown_ = now;
  show(step, std::chrono::duration<double>(now - started_).count());
}

void Progress::end() {
  if (drawn_ && style_ == ProgressStyle::bar) fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

void Progress::show(std::int64_t step, double seconds) {
  const double share = steps_ > 0 ? static_cast<double>(step) / static_cast<double>(steps_) : 1.0;
  const double per_second = static_cast<double>(step) / std::max(seconds, 1e-9);
  const double left = share > 0.0 ? seconds / share - seconds : 0.0;
  const std::string numbers =
      fmt::format("{:3.0f} %  {} steps/s{}  {} left", 100.0 * share, rate(per_second),
                  sites_ > 0 ? fmt::format(", {} site-steps/s", rate(per_second * static_cast<double>(sites_))) : "",
                  duration(left));
  if (style_ == ProgressStyle::bar) {
    constexpr int width = 28;
    const int filled = static_cast<int>(share * width);
    fmt::print(stderr, "\r\x1b[K{} [{}{}] {}", label_, std::string(filled, '='), std::string(width - filled, ' '),
               numbers);
  } else {
    fmt::print(stderr, "{}: step {} of {}, {}\n", label_, step, steps_, numbers);
  }
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace bathline
