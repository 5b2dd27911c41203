// The order of errors: their slope over the step on logarithmic axes.
//
// The fit excludes errors near the floor of accumulated round-off and those within ten times the error of the
// reference. Of the others it takes the consecutive falling errors with the largest total fall: errors before it are
// saturated, where steps are so large that the solution is lost, and those after it lie on a plateau that does not
// depend on the step. Errors outside the asymptotic range, where the leading term does not dominate, are recognised by
// slopes between neighbouring points that differ from that of the fit.
#include "study/theory/measured_order.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "study/theory/line_fit.hpp"

namespace bathline {

namespace {

/// Orders are integers: slopes that differ from the fit by more than this do not determine one.
constexpr double max_slope_deviation = 0.5;

}  // namespace

void MeasuredOrder::begin_step() {
  mean_.push_back(0.0);
  min_.push_back(std::numeric_limits<double>::infinity());
  max_.push_back(0.0);
  reference_.push_back(0.0);
}

void MeasuredOrder::add(double error, double exact, std::size_t starts, double reference) {
  mean_.back() += error / static_cast<double>(starts);
  min_.back() = std::min(min_.back(), error);
  max_.back() = std::max(max_.back(), error);
  reference_.back() += reference / static_cast<double>(starts);
  scale_ = std::max(scale_, exact);
}

void MeasuredOrder::fit(const std::vector<double>& steps, double end) {
  // The consecutive falling errors from `first` to `last`, exclusive, and the best ones until now.
  std::size_t first = 0, last = 0;
  double largest_fall = 0.0;
  std::size_t in_round_off = 0, in_reference = 0;
  for (std::size_t i = 0, begin = 0; i < steps.size(); ++i) {
    // N steps accumulate round-off like a random walk at best and linearly at worst; a hundred times the geometric
    // mean of the two keeps its influence on the slope below one percent.
    const double floor = 100.0 * std::numeric_limits<double>::epsilon() * scale_ * std::pow(end / steps[i], 0.75);
    if (mean_[i] < floor || mean_[i] < 10.0 * reference_[i]) {
      ++(mean_[i] < floor ? in_round_off : in_reference);
      begin = i + 1;
      continue;
    }
    if (!std::isfinite(mean_[i])) {
      begin = i + 1;
      continue;
    }
    if (i > begin && mean_[i] >= mean_[i - 1]) begin = i;
    const double fall = mean_[begin] / mean_[i];
    if (fall > largest_fall) {
      largest_fall = fall;
      first = begin;
      last = i + 1;
    }
  }
  std::vector<double> x, y;
  used_.assign(steps.size(), 0.0);
  for (std::size_t i = first; i < last; ++i) {
    used_[i] = 1.0;
    x.push_back(std::log(steps[i]));
    y.push_back(std::log(mean_[i]));
  }
  points_ = x.size();
  const auto add_reason = [&](const char* reason) {
    not_fitted_ += (not_fitted_.empty() ? "" : ", ") + std::string(reason);
  };
  if (in_round_off > 0) add_reason("round-off");
  if (in_reference > 0) add_reason("error of the reference");
  if (points_ + in_round_off + in_reference < steps.size()) add_reason("error does not fall with the step");
  double min_slope = std::numeric_limits<double>::infinity(), max_slope = -min_slope;
  if (points_ >= 2) {
    for (std::size_t i = 1; i < x.size(); ++i) {
      const double slope = (y[i] - y[i - 1]) / (x[i] - x[i - 1]);
      min_slope = std::min(min_slope, slope);
      max_slope = std::max(max_slope, slope);
    }
    order_ = fit_line(x, y).slope;
  }
  find_fit_warning(min_slope, max_slope);
}

void MeasuredOrder::find_fit_warning(double min_slope, double max_slope) {
  const auto add = [&](const std::string& what) { fit_warning_ += (fit_warning_.empty() ? "" : "; ") + what; };
  const std::size_t all = mean_.size();
  if (points_ < all) add(fmt::format("{} of {} points not fitted ({})", all - points_, all, not_fitted_));
  if (points_ == 2) add("two points do not show whether they lie in the asymptotic range");
  if (max_slope - order_ > max_slope_deviation || order_ - min_slope > max_slope_deviation) {
    add(fmt::format("slopes between neighbouring points range from {:.2f} to {:.2f}: not in the asymptotic range",
                    min_slope, max_slope));
  }
}

void log_fit_warnings(const std::string& label, std::span<const Measured> all) {
  constexpr std::size_t max_listed = 5;  // with many particles all fits tend to be doubtful at once
  std::string text;
  std::size_t count = 0;
  for (const Measured& measured : all) {
    const MeasuredOrder& errors = measured.errors;
    if (errors.fit_warning().empty() || ++count > max_listed) continue;
    text += fmt::format("{}order_{} = {:.2f} is fitted to {} points ({})", text.empty() ? "" : "; ", measured.name,
                        errors.order(), errors.points(), errors.fit_warning());
  }
  if (count > max_listed) text += fmt::format("; and {} more", count - max_listed);
  if (count > 0) spdlog::warn("{}: {}", label, text);
}

}  // namespace bathline
