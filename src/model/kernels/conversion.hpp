// One environment's oscillators or sites as the other kind of bath.
#pragma once

#include <string>

#include "model/environment.hpp"

namespace bathline {

/// A table of [[environment]] and the table of numbers that its key `file` names, if there is one.
struct EquivalentEnvironment {
  std::string keys;       ///< TOML
  std::string rows = {};  ///< empty where the keys are all
  std::int64_t size = 0;  ///< oscillators, sites or modes
};

/// The environment as a `heat-bath`, as a `spring-mass-line` of unequal sites, or as a `memory` of modes, called as
/// before; `to` is "star", "chain" or "exponentials", and `file` the name of its table. Throws UnsuitableFunction where
/// there is no such environment.
EquivalentEnvironment equivalent_environment(const Environment& environment, const std::string& to,
                                             const std::string& file);

}  // namespace bathline
