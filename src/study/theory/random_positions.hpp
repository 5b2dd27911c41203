// Random positions around a centre.
// Tested by tests/study/doubled_variables_test.cpp.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <utility>

#include "random/counter_rng.hpp"

namespace bathline {

/// Uniformly distributed in a cube around the centre; the same on every machine.
class RandomPositions {
 public:
  RandomPositions(Eigen::VectorXd centre, double spread, const RngKey& key)
      : centre_(std::move(centre)), spread_(spread), key_(key) {}
  /// The next `count` positions, as columns.
  Eigen::MatrixXd positions(Eigen::Index count) {
    Eigen::MatrixXd all = centre_ * Eigen::VectorXd::Ones(count).transpose();
    for (Eigen::Index i = 0; i < all.size(); ++i) all(i) += spread_ * (2.0 * uniform_pair(key_, drawn_++).first - 1.0);
    return all;
  }

 private:
  Eigen::VectorXd centre_;
  double spread_;
  RngKey key_;
  std::uint64_t drawn_ = 0;
};

}  // namespace bathline
