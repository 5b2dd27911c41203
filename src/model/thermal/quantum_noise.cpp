// The force of a quantum bath as filtered white noise.
//
// The force of a step is a weighted sum of the white numbers from `reach` steps before it to `reach` steps after it:
// the filter is symmetric, so its transform is the square root of the spectrum. Number j >= 0 of a run belongs to step
// j - reach.
#include "model/thermal/quantum_noise.hpp"

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
    // It tends to kT at low frequencies.
    const double energy = kt == 0.0 ? quantum : quantum > 1e-9 * kt ? quantum / std::tanh(quantum / kt) : kt;
    return 2.0 * friction(w) * energy;
  };
}

QuantumNoise::QuantumNoise(const std::function<double(double)>& spectrum, double h) {
  std::size_t reach = min_reach;
  truncate(reach, spectrum, h);
  while (truncation_error_ > max_truncation_error && reach < max_reach) truncate(reach *= 2, spectrum, h);
}

void QuantumNoise::truncate(std::size_t reach, const std::function<double(double)>& spectrum, double h) {
  // Enough frequencies for little aliasing of the truncated weights: a quarter of the last weight where the spectrum
  // falls like 1/w, as tests/study/covariance_test.cpp expects.
  const std::size_t count = 8 * reach;
  const auto spectrum_at = [&](std::size_t j, std::size_t frequencies) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(frequencies);
    return 2 * j == frequencies ? 0.0 : std::max(0.0, spectrum(2.0 / h * std::tan(0.5 * angle)) / h);
  };
  std::vector<std::complex<double>> root(count), filter(count);
  for (std::size_t j = 0; j <= count / 2; ++j) root[j] = root[(count - j) % count] = std::sqrt(spectrum_at(j, count));
  Eigen::FFT<double> transform;
  transform.inv(filter, root);
  weights_.resize(2 * reach + 1);
  for (std::size_t l = 0; l <= reach; ++l) weights_[reach + l] = weights_[reach - l] = filter[l].real();
  // The error shows between the frequencies of the filter.
  const std::size_t finer = 4 * count;
  std::vector<std::complex<double>> truncated(finer), transformed(finer);
  for (std::size_t l = 0; l <= reach; ++l) truncated[l] = truncated[(finer - l) % finer] = weights_[reach + l];
  transform.fwd(transformed, truncated);
  double total = 0.0, largest = 0.0;
  truncation_error_ = error_ = 0.0;
  for (std::size_t j = 0; j < finer / 2; ++j) {
    const double exact = spectrum_at(j, finer), error = std::abs(std::norm(transformed[j]) - exact);
    total += exact;
    largest = std::max(largest, exact);
    truncation_error_ += error;
    error_ = std::max(error_, error);
  }
  truncation_error_ /= total;
  error_ /= largest;
}

double QuantumNoise::force(std::span<const double> numbers) const {
  // Independent partial sums, so that the additions overlap.
  constexpr std::size_t lanes = 8;
  std::array<double, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= weights_.size(); i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += weights_[i + lane] * numbers[i + lane];
  }
  for (; i < weights_.size(); ++i) sums[0] += weights_[i] * numbers[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

namespace {

class QuantumForce final : public RandomForce {
 public:
  explicit QuantumForce(std::shared_ptr<const QuantumNoise> noise)
      : noise_(std::move(noise)), window_length_(2 * noise_->reach() + 1) {}

 private:
  std::size_t stages() const override { return 1; }
  void start(const RngKey& key) override {
    numbers().begin({key.seed, key.realisation, first_stream + key.stream});
    windows_.clear();
  }
  void draw(std::span<double> forces) override {
    if (forces.empty()) return;
    fill_windows();
    for (std::size_t axis = 0; axis < forces.size(); ++axis) {
      forces[axis] = noise_->force(std::span<const double>(windows_[axis]).subspan(begin_, window_length_));
    }
  }

  /// Moves the windows so that the numbers of the current step begin at `begin_`.
  void fill_windows() {
    const auto count = static_cast<std::int64_t>(window_length_);
    if (windows_.empty() || step() != step_ + 1) {
      windows_.assign(axes(), {});
      begin_ = 0;
      for (std::int64_t i = 0; i < count; ++i) append(step() + i);
    } else {
      append(step() + count - 1);
      if (++begin_ > 4 * window_length_) {
        const auto past = static_cast<std::ptrdiff_t>(begin_);
        for (std::vector<double>& window : windows_) window.erase(window.begin(), window.begin() + past);
        begin_ = 0;
      }
    }
    step_ = step();
  }
  void append(std::int64_t index) {
    const std::span<const double> numbers_of_axes = numbers().at(index, 0, axes());
    for (std::size_t axis = 0; axis < windows_.size(); ++axis) windows_[axis].push_back(numbers_of_axes[axis]);
  }

  /// Above the streams of other noise.
  static constexpr std::uint32_t first_stream = 0xC0000000U;

  std::shared_ptr<const QuantumNoise> noise_;
  std::size_t window_length_;
  std::vector<std::vector<double>> windows_;  // by axis
  std::size_t begin_ = 0;
  std::int64_t step_ = -2;  // of the windows
};

}  // namespace

std::unique_ptr<RandomForce> make_quantum_force(std::shared_ptr<const QuantumNoise> noise) {
  return std::make_unique<QuantumForce>(std::move(noise));
}

}  // namespace bathline
