// Every method stays bounded just below the limits that it states and grows just above them.
#include <gtest/gtest.h>

#include <cmath>

#include "method_cases.hpp"
#include "petsc_world.hpp"
#include "simulation.hpp"

namespace bathline::limits_test {
namespace {

/// Largest |q| + |p| over `steps` steps of q'' = -square q - rate q', from q = 0.6, p = 0.8.
double largest(const Scheme& scheme, double square, double rate, double h, int steps = 3000) {
  Scene scene;
  scene.system = make_particles(
      Eigen::VectorXd::Ones(1), std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Constant(1, 1, square)),
      Eigen::VectorXd::Constant(1, square > 0.0 ? 0.6 : 0.0), Eigen::VectorXd::Constant(1, 0.8));
  scene.damping = Eigen::MatrixXd::Constant(1, 1, rate);
  Simulation simulation(scene, scheme, h);
  double result = 0.0;
  for (int step = 0; step < steps && result < 1e6; ++step) {
    simulation.advance(1);
    // In pure decay only the momentum shows growth.
    result = std::max(result, std::abs(simulation.p()[0]) + (square > 0.0 ? std::abs(simulation.q()[0]) : 0.0));
  }
  return result;
}

void expect_limit(const Scheme& scheme, double limit, double square, double rate) {
  if (limit == 0.0) {
    EXPECT_GT(largest(scheme, square, rate, 0.1), 1e3);
  } else if (std::isinf(limit)) {
    EXPECT_LT(largest(scheme, square, rate, 1.0), 1e2);
    EXPECT_LT(largest(scheme, square, rate, 30.0), 1e3);
  } else {
    EXPECT_LT(largest(scheme, square, rate, 0.995 * limit), 1e2) << limit;
    // Accurate methods have an interval of slow growth there, at order 10 narrower than a part in a thousand.
    bool grows = largest(scheme, square, rate, 1.005 * limit) > 1e3;
    for (const double beyond : {1.002, 1.00012}) {
      grows = grows || largest(scheme, square, rate, beyond * limit, 100000) > 1e3;
    }
    EXPECT_TRUE(grows) << limit;
  }
}

TEST(Limits, OfOscillation) {
  for (const MethodCase& method : method_cases()) {
    SCOPED_TRACE(method.name);
    expect_limit(method.scheme, method.properties.imaginary_axis_limit, 1.0, 0.0);
  }
}

TEST(Limits, OfDecay) {
  for (const MethodCase& method : method_cases()) {
    SCOPED_TRACE(method.name);
    expect_limit(method.scheme, method.properties.real_axis_limit, 0.0, 1.0);
  }
}

}  // namespace
}  // namespace bathline::limits_test
