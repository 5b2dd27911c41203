// The order of errors: their slope over the step on logarithmic axes.
//
// An error that has sunk to round-off says nothing about the order, so the fit leaves out points near the floor that
// accumulated round-off sets, and whatever follows once the error no longer shrinks with the step. Nor does one say
// much that is not yet ruled by its leading term: then the slope from point to point is not that of the whole fit.
#include "study/theory/measured_order.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "study/theory/line_fit.hpp"

namespace bathline {

namespace {

/// Orders are whole numbers: slopes that are further from the fit than this do not tell one from the next.
constexpr double allowed_bend = 0.5;

}  // namespace

void MeasuredOrder::begin_step() {
  mean_.push_back(0.0);
  least_.push_back(std::numeric_limits<double>::infinity());
  largest_.push_back(0.0);
}

void MeasuredOrder::add(double error, double exact, std::size_t starts) {
  mean_.back() += error / static_cast<double>(starts);
  least_.back() = std::min(least_.back(), error);
  largest_.back() = std::max(largest_.back(), error);
  scale_ = std::max(scale_, exact);
}

void MeasuredOrder::fit(const std::vector<double>& steps, double end) {
  std::vector<double> x, y;
  bool plateau = false;
  std::size_t in_round_off = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    // N steps accumulate round-off like a random walk at best and linearly at worst; a hundred times the geometric
    // mean of the two keeps its influence on the slope below a percent.
    const double floor = 100.0 * std::numeric_limits<double>::epsilon() * scale_ * std::pow(end / steps[i], 0.75);
    plateau = plateau || mean_[i] < floor || (i > 0 && mean_[i] >= mean_[i - 1]);
    used_.push_back(plateau ? 0.0 : 1.0);
    if (mean_[i] < floor) ++in_round_off;
    if (plateau) continue;
    x.push_back(std::log(steps[i]));
    y.push_back(std::log(mean_[i]));
  }
  points_ = x.size();
  double least_slope = std::numeric_limits<double>::infinity(), largest_slope = -least_slope;
  if (points_ >= 2) {
    for (std::size_t i = 1; i < x.size(); ++i) {
      const double slope = (y[i] - y[i - 1]) / (x[i] - x[i - 1]);
      least_slope = std::min(least_slope, slope);
      largest_slope = std::max(largest_slope, slope);
    }
    order_ = fit_line(x, y).slope;
  }
  find_fit_warning(in_round_off, least_slope, largest_slope);
}

void MeasuredOrder::find_fit_warning(std::size_t in_round_off, double least_slope, double largest_slope) {
  const auto add = [&](const std::string& what) { fit_warning_ += (fit_warning_.empty() ? "" : ", ") + what; };
  const std::size_t all = mean_.size(), no_longer_falling = all - points_ - std::min(in_round_off, all - points_);
  if (in_round_off > 0) add(fmt::format("{} of {} points lie in round-off", in_round_off, all));
  if (no_longer_falling > 0) {
    add(fmt::format("{} of {} points come after the error has stopped falling", no_longer_falling, all));
  }
  if (points_ == 2) add("two points, which do not show whether they lie in the asymptotic range");
  if (largest_slope - order_ > allowed_bend || order_ - least_slope > allowed_bend) {
    add(fmt::format("slopes from {:.2f} to {:.2f} between neighbours: not in the asymptotic range", least_slope,
                    largest_slope));
  }
}

void log_fit_warnings(const std::string& label, std::span<const Measured> all) {
  constexpr std::size_t named = 5;  // of many particles all tend to be in doubt together
  std::string text;
  std::size_t count = 0;
  for (const Measured& measured : all) {
    const MeasuredOrder& errors = measured.errors;
    if (errors.fit_warning().empty() || ++count > named) continue;
    text += fmt::format("{}order_{} = {:.2f} rests on {} points ({})", text.empty() ? "" : "; ", measured.name,
                        errors.order(), errors.points(), errors.fit_warning());
  }
  if (count > named) text += fmt::format("; and {} more", count - named);
  if (count > 0) spdlog::warn("{}: {}", label, text);
}

}  // namespace bathline
