// Progress of a run: a bar on a terminal, a line every few seconds in a log.
#include "driver/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

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
  if (per_second >= 10.0) return fmt::format("{:.0f}", per_second);
  return fmt::format("{:.2g}", per_second);
}

}  // namespace

Progress::Progress(ProgressStyle style, bool is_root) : style_(style) {
  if (!is_root) style_ = ProgressStyle::none;
  if (style_ == ProgressStyle::automatic) style_ = isatty(STDERR_FILENO) ? ProgressStyle::bar : ProgressStyle::lines;
}

Pace::Pace(std::int64_t first, std::int64_t done, std::int64_t total, double seconds) {
  const auto newly_done = static_cast<double>(done - first);
  per_second = newly_done / std::max(seconds, 1e-9);
  seconds_left = newly_done > 0.0 ? static_cast<double>(total - done) * seconds / newly_done : 0.0;
}

void Progress::begin(const std::string& label, std::int64_t total, ProgressUnit unit) {
  label_ = label;
  unit_ = std::move(unit);
  total_ = total;
  first_ = 0;
  started_ = shown_ = Clock::now();
  drawn_ = false;
}

void Progress::skip(std::int64_t done) {
  first_ = done;
  started_ = Clock::now();
}

void Progress::update(std::int64_t done, const std::string& note) {
  if (style_ == ProgressStyle::none) return;
  const auto now = Clock::now();
  const double pause = style_ == ProgressStyle::bar ? 0.2 : 10.0;
  if (std::chrono::duration<double>(now - shown_).count() < pause) return;
  shown_ = now;
  show(done, std::chrono::duration<double>(now - started_).count(), note);
}

void Progress::end() {
  if (drawn_ && style_ == ProgressStyle::bar) fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

void Progress::show(std::int64_t done, double seconds, const std::string& note) {
  const double fraction = total_ > 0 ? static_cast<double>(done) / static_cast<double>(total_) : 1.0;
  const Pace pace(first_, done, total_, seconds);
  std::string rates = fmt::format("{} {}s/s", rate(pace.per_second), unit_.name);
  if (unit_.sites > 0) {
    rates += fmt::format(", {} {}-{}s/s", rate(pace.per_second * static_cast<double>(unit_.sites)), unit_.site_name,
                         unit_.name);
  }
  std::string numbers = fmt::format("{:3.0f} %  {}  {} left", 100.0 * fraction, rates, duration(pace.seconds_left));
  if (!note.empty()) numbers += ", " + note;
  if (style_ == ProgressStyle::bar) {
    constexpr int width = 28;
    const int filled = static_cast<int>(fraction * width);
    fmt::print(stderr, "\r\x1b[K{} [{}{}] {}", label_, std::string(filled, '='), std::string(width - filled, ' '),
               numbers);
  } else {
    fmt::print(stderr, "{}: {} {} of {}, {}\n", label_, unit_.name, done, total_, numbers);
  }
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace bathline
