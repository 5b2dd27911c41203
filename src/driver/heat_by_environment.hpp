// Which environment of an open run takes which heat.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "driver/experiment.hpp"

namespace bathline {

/// In an open run all dampers and all noise are one. Where no two environments damp the same particle, what each degree
/// of freedom gives says what each of them has taken. Source: sekimoto2010, section 4.1.
struct HeatByEnvironment {
  /// By environment of the case 1 at the degrees of freedom that it damps, else 0; empty where one environment takes
  /// all, or where that is not known.
  std::vector<Eigen::VectorXd> of_environments = {};
  std::vector<std::string> names = {};  ///< of those that take it: "all" where it is not known which
  std::string unsupported_reason = {};  ///< why that is not known, else empty
};

/// Of a case that is open. @note Collective.
HeatByEnvironment heat_by_environment(const Experiment& experiment, const Case& one);

}  // namespace bathline
