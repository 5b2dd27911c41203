// Numbers of particles that are given by a formula of their index.
#pragma once

#include <Eigen/Dense>
#include <string>

#include "recipe/catalogue_schema.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

/// The values of the formula `key`, or of element `index` of a list of formulas, for i = 0 ... count - 1 and n = count:
/// zeros, and a mistake, where one is not finite or outside `bound`.
Eigen::VectorXd evaluate_by_index(const Section& section, const std::string& key, int count, Bound bound,
                                  Mistakes& mistakes, std::size_t index = 0);

/// One value of `key` for each of `count` particles, from a list of as many numbers, one number for all, or a formula
/// in `i` and `n`: zeros, and a mistake, where it is invalid.
Eigen::VectorXd read_by_particle(const Section& section, const std::string& key, int count, Bound bound,
                                 Mistakes& mistakes);

}  // namespace bathline
