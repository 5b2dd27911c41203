// The convolution in blocks of steps against the sum over all steps before, in every step of a block.
#include "model/semi_infinite_line/discrete_convolution.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace bathline::discrete_convolution_test {
namespace {

using List = std::vector<double>;

constexpr double stiffness = 1.7;

struct Line {
  double courant, gamma;
};
/// With 4 first lags or, for small Courant numbers, 17 and 167; the last has one, and no exponentials.
const std::vector<Line> lines = {{0.126, 0.0}, {0.7, 0.3}, {0.03, 0.5}, {0.7, 0.8}, {0.003, 0.0}, {1.0, 0.0}};

LineKernel kernel_of(const Line& line) {
  return make_line_kernel(DiscreteLine(line.courant, line.gamma), 1e-12, 1000.0, 1000.0);
}

ConvolutionState room(const DiscreteConvolution& convolution) {
  ConvolutionState state;
  convolution.shape().allocate(state);
  return state;
}

/// K_0, K_1 ...
List values(const DiscreteKernel& kernel, std::size_t count) {
  List all = kernel.first;
  for (std::size_t n = all.size(); n < count; ++n) {
    double sum = 0.0;
    for (const ExponentialTerm& term : kernel.exponential_terms) {
      sum += (term.weight * std::exp(static_cast<double>(n - kernel.first.size()) * term.exponent())).real();
    }
    all.push_back(sum);
  }
  return all;
}

/// -lambda times the convolution of kernel and displacements; the last displacement has the lag 1.
double force(const List& kernel, const List& displacements) {
  double sum = 0.0;
  for (std::size_t n = 1; n <= displacements.size(); ++n) sum += kernel[n] * displacements[displacements.size() - n];
  return -stiffness * sum;
}

double displacement(std::size_t step) { return std::sin(0.31 * static_cast<double>(step * step)); }

/// Round-off for 300 displacements and kernels with values up to 1/c.
double bound(const Line& line) { return 1e-12 / line.courant; }

TEST(DiscreteConvolution, IsTheSumOverAllStepsInEveryStep) {
  for (const Line& line : lines) {
    const LineKernel kernel = kernel_of(line);
    const DiscreteConvolution convolution(kernel, stiffness);
    ConvolutionState state = room(convolution);
    const List on_stage = values(kernel.on_stage, 302), between = values(kernel.between_steps, 302);
    List displacements;
    for (std::size_t step = 0; step < 300; ++step) {
      displacements.push_back(displacement(step));
      convolution.commit(state, displacements.back());
      ASSERT_NEAR(state.next_outputs[0], force(on_stage, displacements), bound(line))
          << line.courant << " at step " << step;
      if (line.gamma == 0.0) continue;
      ASSERT_NEAR(convolution.between_steps(state), force(between, displacements), bound(line))
          << line.courant << " at step " << step;
    }
  }
}

// After any number of steps of a block.
TEST(DiscreteConvolution, SetsAGeometricHistory) {
  constexpr double latest = 0.8, ratio = -0.6;
  constexpr std::size_t past = 80;
  for (const Line& line : lines) {
    const LineKernel kernel = kernel_of(line);
    const DiscreteConvolution convolution(kernel, stiffness);
    const List on_stage = values(kernel.on_stage, 400);
    for (int block_position = 0; block_position < 8; ++block_position) {
      ConvolutionState state = room(convolution);
      for (int step = 0; step < block_position; ++step) convolution.commit(state, 1.0);
      convolution.set_geometric_history(state, latest, ratio);
      List displacements;
      for (std::size_t n = past; n > 0; --n) {
        displacements.push_back(latest * std::pow(ratio, static_cast<double>(n - 1)));
      }
      for (std::size_t step = 0; step < 200; ++step) {
        ASSERT_NEAR(state.next_outputs[0], force(on_stage, displacements), bound(line))
            << line.courant << " at step " << step;
        displacements.push_back(displacement(step));
        convolution.commit(state, displacements.back());
      }
    }
  }
}

}  // namespace
}  // namespace bathline::discrete_convolution_test
