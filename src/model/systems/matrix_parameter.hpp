// Symmetric matrices between particles, as a recipe states them.
#pragma once

#include <Eigen/Dense>
#include <optional>
#include <string>

#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

/// The matrix that `key` of the section states, which must have it: `particles` numbers, the diagonal, or that many
/// lists of as many numbers. Square with `particles` rows. Nothing, and a mistake, where it has another size or is not
/// symmetric to the last digit.
std::optional<Eigen::MatrixXd> read_symmetric_matrix(const Section& section, const std::string& key, int particles,
                                                     Mistakes& mistakes);

}  // namespace bathline
