// The damping matrix C of several particles, as a recipe states it.
#pragma once

#include <Eigen/Dense>
#include <optional>
#include <string>

#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// The parameter `key`: one constant per particle, or a full matrix.
Parameter damping_matrix_parameter(const std::string& key = "damping");

/// C for all degrees of freedom, the same on every axis: square with particles * axes rows, kg/s. Nothing where the key
/// is absent, or, with a mistake, where the matrix is not symmetric positive semi-definite.
std::optional<Eigen::MatrixXd> read_damping_matrix(const Section& section, int particles, int axes, Mistakes& mistakes,
                                                   const std::string& key = "damping");

}  // namespace bathline
