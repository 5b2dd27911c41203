// White noise on the particles of an open system, the counterpart of its damping.
//
//   <xi xi^T> = 2 h D for the impulse xi of a step,   D = kT C with one temperature        (fluctuation-dissipation)
#pragma once

#include <Eigen/SparseCore>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/noise_stream.hpp"
#include "model/thermal/temperature_in_time.hpp"

namespace bathline {

/// D at the start for a damping matrix C (kg/s) and temperatures kT (J) of the degrees of freedom, constant or in time;
/// nothing if C couples two of different temperatures.
std::optional<Eigen::MatrixXd> momentum_diffusion(const Eigen::MatrixXd& damping, const Eigen::VectorXd& temperature,
                                                  const TemperaturesInTime& in_time = {});

/// The symmetric R with R R^T = `covariance`, which is symmetric positive semi-definite but for round-off.
Eigen::MatrixXd symmetric_root(const Eigen::MatrixXd& covariance);

/// The noise of an open run.
class WhiteNoise {
 public:
  using Source = NoiseStream::Source;

  /// With the momentum diffusion D, J kg/s, of the start, and where temperatures depend on the time. D couples degrees
  /// of freedom of one temperature only.
  explicit WhiteNoise(Eigen::MatrixXd diffusion, TemperaturesInTime temperatures = {});
  void begin(std::uint64_t seed, std::uint32_t realisation);
  /// Replaces the random numbers by those of `source`.
  void set_source(Source source) { numbers_.set_source(std::move(source)); }

  const Eigen::MatrixXd& diffusion() const { return diffusion_; }
  bool depends_on_time() const { return !temperatures_.empty(); }
  /// The noise of a degree of freedom at the time t over that at the start.
  double amplitude(int dof, double t) const {
    if (temperatures_.empty()) return 1.0;
    const auto& temperature = temperatures_[static_cast<std::size_t>(dof)];
    return temperature ? temperature->amplitude(t) : 1.0;
  }
  /// Standard normal numbers; draws 0 and 1 of a step are independent of each other. `count` is the same at every call.
  std::span<const double> numbers(std::int64_t step, int draw, std::size_t count) {
    return numbers_.at(step, draw, count);
  }
  /// Draw 0 of a step of h as an impulse on every degree of freedom, N s.
  const Eigen::VectorXd& impulse(std::int64_t step, double h);
  /// The same for `count` steps from `step` on: calls put(k, i, impulse) for the k-th of them and every degree of
  /// freedom i with noise.
  template <class Put>
  void impulses(std::int64_t step, int count, double h, Put put);

 private:
  using Root = Eigen::SparseMatrix<double, Eigen::RowMajor>;

  Eigen::MatrixXd diffusion_;
  TemperaturesInTime temperatures_;
  std::vector<int> noisy_;            // degrees of freedom with noise
  std::shared_ptr<const Root> root_;  // symmetric root of their 2 D
  Eigen::VectorXd impulse_;
  NoiseStream numbers_;
};

template <class Put>
void WhiteNoise::impulses(std::int64_t step, int count, double h, Put put) {
  const double root_h = std::sqrt(h);
  const std::size_t noisy = noisy_.size();
  std::span<const double> drawn;
  for (int k = 0; k < count && noisy > 0; ++k) {
    if (drawn.empty()) drawn = numbers_.from(step + k, 0, noisy, count - k);
    for (std::size_t i = 0; i < noisy; ++i) {
      double sum = 0.0;
      for (Root::InnerIterator entry(*root_, static_cast<Eigen::Index>(i)); entry; ++entry) {
        sum += entry.value() * drawn[static_cast<std::size_t>(entry.col())];
      }
      if (!temperatures_.empty()) sum *= amplitude(noisy_[i], (static_cast<double>(step + k) + 0.5) * h);
      put(k, noisy_[i], root_h * sum);
    }
    drawn = drawn.subspan(noisy);
  }
}

}  // namespace bathline
