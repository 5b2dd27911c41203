// The order of errors: their slope over the step on logarithmic axes.
//
// An error that has sunk to round-off says nothing about the order, so the fit leaves out points near the floor that
// accumulated round-off sets, and whatever follows once the error no longer shrinks with the step.
#include "study/measured_order.hpp"

#include <algorithm>
#include <cmath>

namespace bathline {

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
  for (std::size_t i = 0; i < steps.size(); ++i) {
    // N steps accumulate round-off like a random walk at best and linearly at worst; a hundred times the geometric
    // mean of the two keeps its influence on the slope below a percent.
    const double floor = 100.0 * std::numeric_limits<double>::epsilon() * scale_ * std::pow(end / steps[i], 0.75);
    plateau = plateau || mean_[i] < floor || (i > 0 && mean_[i] >= mean_[i - 1]);
    used_.push_back(plateau ? 0.0 : 1.0);
    if (plateau) continue;
    x.push_back(std::log(steps[i]));
    y.push_back(std::log(mean_[i]));
  }
  if (x.size() < 2) return;
  double mean_x = 0.0, mean_y = 0.0, xx = 0.0, xy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / static_cast<double>(x.size());
    mean_y += y[i] / static_cast<double>(x.size());
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  order_ = xy / xx;
}

}  // namespace bathline
