// The line's memory in continuous time against Bessel's function.
#include "model/semi_infinite_line/continuous_kernel.hpp"

#include <gtest/gtest.h>
#include <math.h>

namespace bathline::continuous_kernel_test {
namespace {

TEST(ContinuousKernel, IsBesselsFunction) {
  for (const double error : {1e-7, 1e-13}) {
    for (const double horizon : {1e4, KernelAccuracy::forever}) {
      const std::vector<ExponentialTerm> exponential_terms =
          compressed_bessel_kernel({.error = error, .horizon = horizon});
      for (const double t : {0.2, 1.0, 2.6, 9.0, 40.0, 333.0, 2000.0}) {
        double sum = 0.0;
        for (const ExponentialTerm& term : exponential_terms) {
          EXPECT_LE(term.offset.real(), 0.0);
          sum += (term.weight * std::exp(t * term.exponent())).real();
        }
        EXPECT_NEAR(sum, ::j1(2.0 * t) / t, 3.0 * error + 1e-15) << t << " until " << horizon;
      }
    }
  }
}

}  // namespace
}  // namespace bathline::continuous_kernel_test
