// The force of a quantum bath as filtered white noise.
//
// The force of a step is a weighted sum of the white numbers from `reach` steps before it to `reach` steps after it:
// the filter is symmetric, so its transform is the square root of the spectrum. Number j >= 0 of a run belongs to step
// j - reach. Forces are convolved by Fourier transforms, block by block (overlap-save). A block begins at a multiple of
// its length, so that its forces do not depend on where a run is resumed.
#include "model/thermal/quantum_noise.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <unsupported/Eigen/FFT>

#include "random/streams.hpp"
#include "solve/larger_or_nan.hpp"

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
  while (!(truncation_error_ <= max_truncation_error) && reach < max_reach) truncate(reach *= 2, spectrum, h);
  std::vector<double> padded(block_steps() + 2 * reach);
  std::copy(weights_.begin(), weights_.end(), padded.begin());
  Eigen::FFT<double> fft;
  fft.SetFlag(Eigen::FFT<double>::HalfSpectrum);
  fft.fwd(transform_, padded);
}

void QuantumNoise::truncate(std::size_t reach, const std::function<double(double)>& spectrum, double h) {
  // Enough frequencies for little aliasing of the truncated weights: a quarter of the last weight where the spectrum
  // falls like 1/w, as tests/study/covariance_test.cpp expects.
  const std::size_t count = 8 * reach;
  const auto spectrum_at = [&](std::size_t j, std::size_t frequencies) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(frequencies);
    return 2 * j == frequencies ? 0.0 : larger_or_nan(0.0, spectrum(2.0 / h * std::tan(0.5 * angle)) / h);
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
    error_ = larger_or_nan(error_, error);
  }
  truncation_error_ /= total;
  error_ /= largest;
}

namespace {

class QuantumForce final : public RandomForce {
 public:
  explicit QuantumForce(std::shared_ptr<const QuantumNoise> noise)
      : noise_(std::move(noise)), steps_(static_cast<std::int64_t>(noise_->block_steps())) {
    fft_.SetFlag(Eigen::FFT<double>::HalfSpectrum);
  }

 private:
  struct Axis {
    std::vector<double> numbers;  // of the steps of the block, and those behind it that enter their forces
    std::vector<double> forces;   // of its steps; later ones are invalid
  };

  std::size_t stages() const override { return 1; }
  void start(const RngKey& key) override {
    numbers().begin(streams::quantum_noise.key(key.seed, key.realisation, streams::environment_starts.index_of(key)));
    axes_.clear();
    for (std::size_t axis = 0; axis < axes(); ++axis) {
      const double first = at_stages(axis).front();
      add_step_before_start(axis, first, first);
    }
  }
  void draw(std::span<double> forces) override {
    if (forces.empty()) return;
    if (axes_.empty() || step() / steps_ != block_) compute_block();
    for (std::size_t axis = 0; axis < forces.size(); ++axis) {
      forces[axis] = axes_[axis].forces[static_cast<std::size_t>(step() % steps_)];
    }
  }

  /// Computes the forces of the block of the current step.
  void compute_block() {
    const std::int64_t block = step() / steps_, first = block * steps_;
    const std::int64_t count = steps_ + 2 * static_cast<std::int64_t>(noise_->reach());
    const bool is_next = !axes_.empty() && block == block_ + 1;
    const std::int64_t cached = is_next ? count - steps_ : 0;
    axes_.resize(axes());
    for (Axis& axis : axes_) {
      if (is_next) std::copy(axis.numbers.end() - cached, axis.numbers.end(), axis.numbers.begin());
      axis.numbers.resize(static_cast<std::size_t>(count));
    }
    for (std::int64_t i = cached; i < count; ++i) {
      const std::span<const double> numbers_of_axes = numbers().at(first + i, 0, axes());
      for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
        axes_[axis].numbers[static_cast<std::size_t>(i)] = numbers_of_axes[axis];
      }
    }
    for (Axis& axis : axes_) {
      fft_.fwd(spectrum_, axis.numbers);
      for (std::size_t k = 0; k < spectrum_.size(); ++k) spectrum_[k] *= std::conj(noise_->transform()[k]);
      fft_.inv(axis.forces, spectrum_);
    }
    block_ = block;
  }

  std::shared_ptr<const QuantumNoise> noise_;
  std::int64_t steps_;      // of a block
  std::int64_t block_ = 0;  // of `axes_`
  std::vector<Axis> axes_;
  Eigen::FFT<double> fft_;
  std::vector<std::complex<double>> spectrum_;
};

}  // namespace

std::unique_ptr<RandomForce> make_quantum_force(std::shared_ptr<const QuantumNoise> noise) {
  return std::make_unique<QuantumForce>(std::move(noise));
}

}  // namespace bathline
