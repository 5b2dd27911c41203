// A line in plain loops over all of its sites, one axis, on one rank: the reference of the fast explicit paths. Kicks
// and drifts are the documented expressions in std::fma, so that their bits can be compared.
#pragma once

#include <cmath>
#include <vector>

#include "methods/scheme.hpp"
#include "model/line/sites.hpp"

namespace bathline {

class SerialLine {
 public:
  SerialLine(const LineConstants& line, double dashpot, std::vector<double> displacements, std::vector<double> momenta)
      : w(std::move(displacements)), p(std::move(momenta)), line_(line), dashpot_(dashpot) {}

  std::vector<double> w, p;
  double dissipated = 0.0;
  /// For nonuniform lines: the stiffness of the spring before each site and of the one behind the last, and 1/mass.
  std::vector<double> springs, inverse_masses;

  double force_on_head(double head) const {
    const double stiffness = springs.empty() ? line_.stiffness : springs[0];
    return stiffness * ((stages_.empty() ? w : stage_w_)[0] - head);
  }

  void substep(const Substep& substep, const ExplicitScheme& scheme, double h, double head) {
    if (substep.kind == Substep::Kind::drift) {
      for (std::size_t j = 0; j < w.size(); ++j) {
        const double rate = springs.empty() ? substep.weight * h / line_.mass : substep.weight * h * inverse_masses[j];
        w[j] = std::fma(rate, p[j], w[j]);
      }
    } else if (substep.kind == Substep::Kind::kick) {
      kick(substep.weight * h, substep.velocity_after, head);
    } else {
      stage(substep.stage, scheme, h, head);
    }
  }

 private:
  struct Derivative {
    std::vector<double> w, p;
  };

  /// Spring forces, over the stiffness where that is the same everywhere.
  std::vector<double> differences(const std::vector<double>& field, double head) const {
    std::vector<double> result(field.size());
    for (std::size_t j = 0; j < field.size(); ++j) {
      const double left = j == 0 ? head : field[j - 1];
      const double behind = line_.far_end == FarEnd::fixed ? 0.0 : field[j];
      const double right = j + 1 < field.size() ? field[j + 1] : behind;
      const double before = field[j] - left, after = right - field[j];
      result[j] = springs.empty() ? after - before : springs[j + 1] * after - springs[j] * before;
    }
    return result;
  }

  void kick(double weighted_step, bool velocity_after, double head) {
    const double before = p.back();
    const std::vector<double> difference = differences(w, head);
    const double strength = springs.empty() ? weighted_step * line_.stiffness : weighted_step;
    for (std::size_t j = 0; j < p.size(); ++j) p[j] = std::fma(strength, difference[j], p[j]);
    if (line_.far_end != FarEnd::matched) return;
    const double rate = weighted_step * dashpot_ / line_.mass;
    p.back() = velocity_after ? p.back() / (1.0 + rate) : p.back() - rate * before;
    const double velocity = (velocity_after ? p.back() : before) / line_.mass;
    dissipated += weighted_step * dashpot_ * velocity * velocity;
  }

  /// Textbook Runge-Kutta: the derivative at the stage values, then the values of the next stage or of the end.
  void stage(int stage, const ExplicitScheme& scheme, double h, double head) {
    if (stage == 0) {
      stage_w_ = w;
      stage_p_ = p;
    }
    Derivative derivative{stage_p_, differences(stage_w_, head)};
    for (std::size_t j = 0; j < w.size(); ++j) {
      derivative.w[j] *= springs.empty() ? 1.0 / line_.mass : inverse_masses[j];
      if (springs.empty()) derivative.p[j] *= line_.stiffness;
    }
    derivative.p.back() -= dashpot_ * derivative.w.back();
    dissipated += h * scheme.b[static_cast<std::size_t>(stage)] * dashpot_ * derivative.w.back() * derivative.w.back();
    stages_.push_back(std::move(derivative));
    const bool last = stages_.size() == scheme.b.size();
    const std::vector<double>& weights = last ? scheme.b : scheme.a[stages_.size()];
    for (std::size_t j = 0; j < w.size(); ++j) {
      double sum_w = 0.0, sum_p = 0.0;
      for (std::size_t i = 0; i < weights.size(); ++i) {
        sum_w += weights[i] * stages_[i].w[j];
        sum_p += weights[i] * stages_[i].p[j];
      }
      stage_w_[j] = w[j] + h * sum_w;
      stage_p_[j] = p[j] + h * sum_p;
    }
    if (!last) return;
    w = stage_w_;
    p = stage_p_;
    stages_.clear();
  }

  LineConstants line_;
  double dashpot_;
  std::vector<Derivative> stages_;  // of the current step
  std::vector<double> stage_w_, stage_p_;
};

}  // namespace bathline
