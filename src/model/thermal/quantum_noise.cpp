// The force of a quantum bath as a filter of white numbers.
//
// The numbers of a step are those of the reach before and after it: the filter is its own mirror image, so that its
// transform is the root of the spectrum. Number j of a run belongs to step j - reach, and none is before the first.
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
    // At low frequencies that is kT, however low.
    const double energy = kt == 0.0 ? quantum : quantum > 1e-9 * kt ? quantum / std::tanh(quantum / kt) : kt;
    return 2.0 * friction(w) * energy;
  };
}

QuantumNoise::QuantumNoise(const std::function<double(double)>& spectrum, double h) {
  std::size_t reach = shortest;
  truncate(reach, spectrum, h);
  while (truncation_error_ > good_enough && reach < longest) truncate(reach *= 2, spectrum, h);
}

void QuantumNoise::truncate(std::size_t reach, const std::function<double(double)>& spectrum, double h) {
  // Of so many frequencies that of what is cut off little comes back: a quarter of the last weight where the spectrum
  // falls like 1/w, which tests/study/covariance_test.cpp knows.
  const std::size_t count = 8 * reach;
  const auto at = [&](std::size_t j, std::size_t of) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(of);
    return 2 * j == of ? 0.0 : std::max(0.0, spectrum(2.0 / h * std::tan(0.5 * angle)) / h);
  };
  std::vector<std::complex<double>> root(count), filter(count);
  for (std::size_t j = 0; j <= count / 2; ++j) root[j] = root[(count - j) % count] = std::sqrt(at(j, count));
  Eigen::FFT<double> transform;
  transform.inv(filter, root);
  weights_.resize(2 * reach + 1);
  for (std::size_t l = 0; l <= reach; ++l) weights_[reach + l] = weights_[reach - l] = filter[l].real();
  // What is wrong shows between these frequencies.
  const std::size_t finer = 4 * count;
  std::vector<std::complex<double>> cut(finer), found(finer);
  for (std::size_t l = 0; l <= reach; ++l) cut[l] = cut[(finer - l) % finer] = weights_[reach + l];
  transform.fwd(found, cut);
  double all = 0.0, largest = 0.0;
  truncation_error_ = error_ = 0.0;
  for (std::size_t j = 0; j < finer / 2; ++j) {
    const double wanted = at(j, finer), off = std::abs(std::norm(found[j]) - wanted);
    all += wanted;
    largest = std::max(largest, wanted);
    truncation_error_ += off;
    error_ = std::max(error_, off);
  }
  truncation_error_ /= all;
  error_ /= largest;
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

class QuantumForce final : public RandomForce {
 public:
  explicit QuantumForce(std::shared_ptr<const QuantumNoise> noise)
      : noise_(std::move(noise)), numbers_of_step_(2 * noise_->reach() + 1) {}

 private:
  std::size_t stages() const override { return 1; }
  void start(const RngKey& key) override {
    numbers().begin({key.seed, key.realisation, first_stream + key.stream});
    windows_.clear();
  }
  void draw(std::span<double> forces) override {
    if (forces.empty()) return;
    take_numbers();
    for (std::size_t axis = 0; axis < forces.size(); ++axis) {
      forces[axis] = noise_->force(std::span<const double>(windows_[axis]).subspan(begin_, numbers_of_step_));
    }
  }

  /// The numbers of the step under way at `begin_` of every window.
  void take_numbers() {
    const auto count = static_cast<std::int64_t>(numbers_of_step_);
    if (windows_.empty() || step() != step_ + 1) {
      windows_.assign(axes(), {});
      begin_ = 0;
      for (std::int64_t i = 0; i < count; ++i) append(step() + i);
    } else {
      append(step() + count - 1);
      if (++begin_ > 4 * numbers_of_step_) {
        const auto past = static_cast<std::ptrdiff_t>(begin_);
        for (std::vector<double>& window : windows_) window.erase(window.begin(), window.begin() + past);
        begin_ = 0;
      }
    }
    step_ = step();
  }
  void append(std::int64_t index) {
    const std::span<const double> of_index = numbers().at(index, 0, axes());
    for (std::size_t axis = 0; axis < windows_.size(); ++axis) windows_[axis].push_back(of_index[axis]);
  }

  /// Behind the streams of other noise.
  static constexpr std::uint32_t first_stream = 0xC0000000U;

  std::shared_ptr<const QuantumNoise> noise_;
  std::size_t numbers_of_step_;
  std::vector<std::vector<double>> windows_;  // by axis
  std::size_t begin_ = 0;
  std::int64_t step_ = -2;  // of the windows
};

}  // namespace

std::unique_ptr<RandomForce> make_quantum_force(std::shared_ptr<const QuantumNoise> noise) {
  return std::make_unique<QuantumForce>(std::move(noise));
}

}  // namespace bathline
