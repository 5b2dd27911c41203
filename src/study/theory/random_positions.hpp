// Random positions around a centre.
// Tested by tests/study/doubled_variables_test.cpp.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <random>
#include <utility>

namespace bathline {

/// Uniformly distributed in a cube around the centre; the same on every machine.
class RandomPositions {
 public:
  RandomPositions(Eigen::VectorXd centre, double spread, std::uint64_t seed)
      : centre_(std::move(centre)), spread_(spread), engine_(seed) {}
  /// The next `count` positions, as columns.
  Eigen::MatrixXd positions(Eigen::Index count) {
    Eigen::MatrixXd all = centre_ * Eigen::VectorXd::Ones(count).transpose();
    for (Eigen::Index i = 0; i < all.size(); ++i) {
      // The standard defines the engine's output, but not that of distributions.
      all(i) += spread_ * (2.0 * (static_cast<double>(engine_() >> 11) * 0x1p-53) - 1.0);
    }
    return all;
  }

 private:
  Eigen::VectorXd centre_;
  double spread_;
  std::mt19937_64 engine_;
};

}  // namespace bathline
