// The damping matrix C of several particles, as a recipe states it.
#pragma once

#include <Eigen/Dense>
#include <optional>
#include <string>

#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// The parameter `key`: one constant a particle, or a full matrix.
Parameter damping_matrix_parameter(const std::string& key = "damping");

/// C for all degrees of freedom, every axis damped alike: square with particles * axes rows, kg/s. Nothing where the
/// section does not state it, or where it is not a symmetric positive semi-definite matrix (a mistake is added).
std::optional<Eigen::MatrixXd> read_damping_matrix(const Section& section, int particles, int axes, Mistakes& mistakes,
                                                   const std::string& key = "damping");

}  // namespace bathline
