// White noise on the particles of an open system, the other half of what environments do beside damping.
//
//   <xi xi^T> = 2 h D for the impulse xi of a step,   D = kT C with one temperature        (fluctuation-dissipation)
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/step_numbers.hpp"

namespace bathline {

/// D of a damping matrix C (kg/s) whose degrees of freedom have temperatures kT (J) of their own; nothing where C
/// couples two with different ones.
std::optional<Eigen::MatrixXd> momentum_diffusion(const Eigen::MatrixXd& damping, const Eigen::VectorXd& temperature);

/// The symmetric R with R R^T = `covariance`, which is symmetric positive semi-definite but for round-off.
Eigen::MatrixXd symmetric_root(const Eigen::MatrixXd& covariance);

/// The noise of an open run.
class WhiteNoise {
 public:
  using Source = StepNumbers::Source;

  /// With the momentum diffusion D, J kg/s.
  explicit WhiteNoise(Eigen::MatrixXd diffusion);
  void begin(std::uint64_t seed, std::uint32_t realisation);
  /// Numbers of another kind than random ones, from here on.
  void take_from(Source source) { numbers_.take_from(std::move(source)); }

  const Eigen::MatrixXd& diffusion() const { return diffusion_; }
  /// Standard normal numbers; draws 0 and 1 of a step are independent of each other. `count` is the same at every call.
  std::span<const double> numbers(std::int64_t step, int draw, std::size_t count) {
    return numbers_.at(step, draw, count);
  }
  /// Draw 0 of a step of h as an impulse on every degree of freedom, N s.
  const Eigen::VectorXd& impulse(std::int64_t step, double h);

 private:
  Eigen::MatrixXd diffusion_;
  std::vector<int> noisy_;  // degrees of freedom that feel it
  Eigen::MatrixXd root_;    // of 2 D among them
  Eigen::VectorXd impulse_;
  StepNumbers numbers_;
};

}  // namespace bathline
