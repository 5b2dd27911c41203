// Random damping matrices.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

namespace bathline {

/// `count` dense symmetric positive semi-definite matrices with `size` rows, whose diagonals have the mean `scale`
/// (kg/s). The same on every machine for the same seed: only sums, products and a quotient in a fixed order.
std::vector<Eigen::MatrixXd> random_dampings(std::int64_t count, int size, double scale, std::uint64_t seed);

}  // namespace bathline
