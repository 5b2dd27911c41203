// The force of a quantum bath as a filter of white numbers.
//
// The numbers of a step are those of the reach before and after it: the filter is its own mirror image, so that its
// transform is the root of the spectrum. Number j of a run belongs to step j - reach, and none is before the first.
#include "model/quantum_noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <unsupported/Eigen/FFT>

namespace bathline {

std::function<double(double)> quantum_spectrum(std::function<double(double)> friction, double kt, double hbar) {
  return [friction = std::move(friction), kt, hbar](double w) {
    const double quantum = 0.5 * hbar * w;
    // At low frequencies that is kT, however low.
    const double energy = kt == 0.0 ? quantum : quantum > 1e-9 * kt ? quantum / std::tanh(quantum / kt) : kt;
    return 2.0 * friction(w) * energy;
  };
}

QuantumNoise::QuantumNoise(const std::function<double(double)>& spectrum, double h) : weights_(2 * reach + 1) {
  // Of so many frequencies that of what is cut off little comes back: a quarter of the last weight where the spectrum
  // falls like 1/w, which tests/study/covariance_test.cpp knows.
  constexpr std::size_t count = 8 * reach;
  std::vector<std::complex<double>> root(count), filter(count);
  for (std::size_t j = 0; j <= count / 2; ++j) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(count);
    const double value = j == count / 2 ? 0.0 : spectrum(2.0 / h * std::tan(0.5 * angle)) / h;
    root[j] = root[(count - j) % count] = std::sqrt(std::max(0.0, value));
  }
  Eigen::FFT<double> transform;
  transform.inv(filter, root);
  for (std::size_t l = 0; l <= reach; ++l) weights_[reach + l] = weights_[reach - l] = filter[l].real();
}

double QuantumNoise::force(std::span<const double> numbers) const {
  // Several sums by turns do not wait for each other.
  constexpr std::size_t turns = 8;
  std::array<double, turns> sums{};
  std::size_t i = 0;
  for (; i + turns <= weights_.size(); i += turns) {
    for (std::size_t turn = 0; turn < turns; ++turn) sums[turn] += weights_[i + turn] * numbers[i + turn];
  }
  for (; i < weights_.size(); ++i) sums[0] += weights_[i] * numbers[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

namespace {

class QuantumMarch final : public ImplicitMarch {
 public:
  QuantumMarch(std::unique_ptr<ImplicitMarch> friction, QuantumNoise noise, double h, QuantumState& state)
      : friction_(std::move(friction)), noise_(std::move(noise)), h_(h), state_(state) {}

  int limit() const override { return friction_->limit(); }
  void open(const BlockPlan& plan) override { friction_->open(plan); }
  void close() override { friction_->close(); }
  std::string failure() const override { return friction_->failure(); }
  std::vector<double> memory() const override { return friction_->memory(); }
  void remember(std::span<const double> memory) override { friction_->remember(memory); }

  bool respond(std::span<const double> head, StageResponse& response) override {
    const bool converged = friction_->respond(head, response);
    if (state_.dissipated.empty()) return converged;
    take_numbers();
    for (std::size_t axis = 0; axis < windows_.size(); ++axis) {
      forces_[axis] = noise_.force(std::span<const double>(windows_[axis]).subspan(begin_, numbers_of_step));
      response.constant(0, static_cast<Eigen::Index>(axis)) += forces_[axis];
    }
    return converged;
  }
  void complete(const Eigen::MatrixXd& head_velocities) override {
    friction_->complete(head_velocities);
    for (std::size_t axis = 0; axis < windows_.size(); ++axis) {
      state_.dissipated[axis] -= h_ * forces_[axis] * head_velocities(0, static_cast<Eigen::Index>(axis));
    }
    if (!windows_.empty()) state_.steps += 1.0;
  }

 private:
  static constexpr std::size_t numbers_of_step = 2 * QuantumNoise::reach + 1;

  /// The numbers of the step under way at `begin_` of every window.
  void take_numbers() {
    const auto step = static_cast<std::int64_t>(state_.steps);
    if (windows_.empty() || step != step_ + 1) {
      windows_.assign(state_.dissipated.size(), {});
      forces_.resize(windows_.size());
      begin_ = 0;
      for (std::size_t i = 0; i < numbers_of_step; ++i) append(step + static_cast<std::int64_t>(i));
    } else {
      append(step + static_cast<std::int64_t>(numbers_of_step) - 1);
      if (++begin_ > 4 * numbers_of_step) {
        const auto past = static_cast<std::ptrdiff_t>(begin_);
        for (std::vector<double>& window : windows_) window.erase(window.begin(), window.begin() + past);
        begin_ = 0;
      }
    }
    step_ = step;
  }
  void append(std::int64_t index) {
    const std::span<const double> numbers = state_.numbers.at(index, 0, windows_.size());
    for (std::size_t axis = 0; axis < windows_.size(); ++axis) windows_[axis].push_back(numbers[axis]);
  }

  std::unique_ptr<ImplicitMarch> friction_;
  QuantumNoise noise_;
  double h_;
  QuantumState& state_;
  std::vector<std::vector<double>> windows_;  // by axis
  std::vector<double> forces_;
  std::size_t begin_ = 0;
  std::int64_t step_ = -2;  // of the windows
};

}  // namespace

std::unique_ptr<ImplicitMarch> with_quantum_noise(std::unique_ptr<ImplicitMarch> friction, QuantumNoise noise, double h,
                                                  QuantumState& state) {
  return std::make_unique<QuantumMarch>(std::move(friction), std::move(noise), h, state);
}

}  // namespace bathline
