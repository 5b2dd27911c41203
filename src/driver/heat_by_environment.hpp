// The heat that each environment of an open run absorbs.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "driver/experiment.hpp"

namespace bathline {

/// An open run has one damping matrix and one noise for all environments. If no two environments damp the same degree
/// of freedom, the heat by degree of freedom gives the heat by environment. Source: sekimoto2010, section 4.1.
struct HeatByEnvironment {
  /// For each environment of the case, 1 at the degrees of freedom that it damps, else 0; empty if one environment
  /// absorbs all heat, or if the heat cannot be divided.
  std::vector<Eigen::VectorXd> damped_coordinates = {};
  std::vector<std::string> names = {};  ///< of the environments; "all" if the heat cannot be divided
  std::string unsupported_reason = {};  ///< why the heat cannot be divided, else empty
};

/// For an open case. @note Collective.
HeatByEnvironment heat_by_environment(const Experiment& experiment, const Case& this_case);

}  // namespace bathline
