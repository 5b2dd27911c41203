// Symmetric matrices in recipes, with a row for each particle.
#pragma once

#include <Eigen/Dense>
#include <optional>
#include <string>

#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

/// The matrix under `key`, which the section must have: the `particles` numbers of its diagonal, or that many lists of
/// as many numbers. Square with `particles` rows. Nothing, and a mistake, where the size is wrong or the matrix is not
/// exactly symmetric.
std::optional<Eigen::MatrixXd> read_symmetric_matrix(const Section& section, const std::string& key, int particles,
                                                     Mistakes& mistakes);

}  // namespace bathline
