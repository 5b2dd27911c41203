// Bath oscillators in plain loops, one axis, one step at a time, on one rank: the oracle of the fast explicit paths.
// Kicks and drifts are the documented expressions in std::fma, so that their bits can be compared.
#pragma once

#include <cmath>
#include <vector>

#include "methods/scheme.hpp"
#include "model/discrete_spectrum.hpp"
#include "random_numbers.hpp"

namespace bathline {

class SerialOscillatorBath {
 public:
  explicit SerialOscillatorBath(const DiscreteSpectrum& spectrum) {
    for (std::int64_t j = 0; j < spectrum.size; ++j) {
      const BathOscillator oscillator = spectrum.oscillator(j);
      stiffness.push_back(oscillator.stiffness);
      inverse_mass.push_back(oscillator.frequency * oscillator.frequency / oscillator.stiffness);
    }
    w.resize(stiffness.size());
    p.resize(stiffness.size());
  }

  std::vector<double> stiffness, inverse_mass, w, p;

  double force_on_head(double head) const {
    long double sum = 0.0L;
    for (std::size_t j = 0; j < w.size(); ++j) {
      sum += static_cast<long double>(stiffness[j]) * ((stages_.empty() ? w : stage_w_)[j] - head);
    }
    return static_cast<double>(sum);
  }

  void substep(const Substep& substep, const ExplicitScheme& scheme, double h, double head) {
    for (std::size_t j = 0; j < w.size() && substep.kind == Substep::Kind::drift; ++j) {
      w[j] = std::fma(substep.weight * h * inverse_mass[j], p[j], w[j]);
    }
    for (std::size_t j = 0; j < w.size() && substep.kind == Substep::Kind::kick; ++j) {
      p[j] = std::fma(substep.weight * h * stiffness[j], head - w[j], p[j]);
    }
    if (substep.kind == Substep::Kind::stage) stage(scheme, h, head);
  }

 private:
  struct Derivative {
    std::vector<double> w, p;
  };

  /// Textbook Runge-Kutta: derivatives at the stage values, then the values of the next stage or of the end.
  void stage(const ExplicitScheme& scheme, double h, double head) {
    if (stages_.empty()) {
      stage_w_ = w;
      stage_p_ = p;
    }
    Derivative derivative{stage_p_, stage_w_};
    for (std::size_t j = 0; j < w.size(); ++j) {
      derivative.w[j] *= inverse_mass[j];
      derivative.p[j] = stiffness[j] * (head - derivative.p[j]);
    }
    stages_.push_back(std::move(derivative));
    const bool last = stages_.size() == scheme.b.size();
    const std::vector<double>& weights = last ? scheme.b : scheme.a[stages_.size()];
    for (std::size_t j = 0; j < w.size(); ++j) {
      stage_w_[j] = w[j];
      stage_p_[j] = p[j];
      for (std::size_t i = 0; i < weights.size(); ++i) {
        stage_w_[j] += h * weights[i] * stages_[i].w[j];
        stage_p_[j] += h * weights[i] * stages_[i].p[j];
      }
    }
    if (!last) return;
    w = stage_w_;
    p = stage_p_;
    stages_.clear();
  }

  std::vector<Derivative> stages_;  // of the current step
  std::vector<double> stage_w_, stage_p_;
};

/// Irregular oscillators, with frequencies between 0.1 and 3 and about the damping of an Ohmic bath.
inline DiscreteSpectrum uneven_spectrum(std::int64_t size) {
  RandomNumbers random(static_cast<std::uint64_t>(size));
  std::vector<BathOscillator> all;
  for (std::int64_t j = 0; j < size; ++j) {
    const double fraction = (static_cast<double>(j) + random.uniform(0.1, 0.9)) / static_cast<double>(size);
    all.push_back({0.1 + 2.9 * fraction, random.uniform(0.5, 1.5) / static_cast<double>(size)});
  }
  return table_spectrum(all);
}

}  // namespace bathline
