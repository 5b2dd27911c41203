// One environment's oscillators or sites as the other kind of bath.
#pragma once

#include <string>

#include "model/environment.hpp"

namespace bathline {

/// A table of [[environment]] and the table of numbers that its key `file` names.
struct EquivalentEnvironment {
  std::string keys;  ///< TOML
  std::string rows;
  std::int64_t size = 0;  ///< oscillators or sites
};

/// The environment as a `heat-bath` or, where `as_chain`, as a `spring-mass-line` of unequal sites, called as before;
/// `file` is the name of its table. Throws UnsuitableFunction where there is no such environment.
EquivalentEnvironment equivalent_environment(const Environment& environment, bool as_chain, const std::string& file);

}  // namespace bathline
