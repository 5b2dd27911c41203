// Drifts act on the later kicks of their step immediately, and on those of later steps at the end of the step.
// Tested by tests/model/semi_infinite_line/semi_infinite_line_test.cpp.
#include "model/semi_infinite_line/multistage_convolution.hpp"

#include <algorithm>

namespace bathline {

namespace {

ExponentialModes modes_of(const MultistageKernel& kernel, double stiffness) {
  const auto rows = [](const Eigen::MatrixXcd& matrix, double scale) {
    std::vector<ExponentialModes::Row> rows;
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
      rows.emplace_back();
      for (Eigen::Index m = 0; m < matrix.cols(); ++m) rows.back().push_back(scale * matrix(i, m));
    }
    return rows;
  };
  return ExponentialModes(kernel.bases, rows(kernel.drives, 1.0), rows(kernel.weights, -stiffness));
}

}  // namespace

MultistageConvolution::MultistageConvolution(const KickDriftSequence& sequence, const MultistageKernel& kernel,
                                             double stiffness)
    : KickConvolution(sequence.stages(), sequence.drifts.front(), -stiffness),
      stages_(sequence.kicks.size()),
      modes_(modes_of(kernel, stiffness)) {
  for (const Eigen::MatrixXd& matrix : kernel.first) {
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> forces = -stiffness * matrix;
    first_.emplace_back(forces.data(), forces.data() + forces.size());
  }
}

void MultistageConvolution::commit(ConvolutionState& state, int stage, double displacement) const {
  const auto now = static_cast<std::size_t>(stage);
  state.input_history[now] = displacement;
  for (std::size_t i = now + 1; i < stages_; ++i) {
    state.next_outputs[i] += first_.front()[i * stages_ + now] * displacement;
  }
  if (now + 1 == stages_) end_step(state);
}

void MultistageConvolution::end_step(ConvolutionState& state) const {
  const std::size_t steps = first_.size();
  const std::span<const double> leaving = std::span<const double>(state.input_history).last(stages_);
  modes_.advance(state.real.data(), state.imaginary.data(), leaving, state.next_outputs);
  std::copy_backward(state.input_history.begin(), state.input_history.end() - static_cast<std::ptrdiff_t>(stages_),
                     state.input_history.end());
  std::fill_n(state.input_history.begin(), stages_, 0.0);
  for (std::size_t i = 0; i < stages_; ++i) {
    double sum = 0.0;
    for (std::size_t n = 1; n < steps; ++n) {
      for (std::size_t j = 0; j < stages_; ++j)
        sum += first_[n][i * stages_ + j] * state.input_history[n * stages_ + j];
    }
    state.next_outputs[i] += sum;
  }
}

}  // namespace bathline
