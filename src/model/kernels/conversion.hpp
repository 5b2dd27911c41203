// Conversion of an environment to an equivalent star, chain or memory.
#pragma once

#include <string>
#include <vector>

#include "model/environment.hpp"
#include "model/memory/prony_memory.hpp"

namespace bathline {

/// A table of [[environment]], and the numbers of the table file that its key `file` names, if any.
struct EquivalentEnvironment {
  std::string keys;       ///< TOML
  std::string rows = {};  ///< empty without a table file
  std::int64_t size = 0;  ///< number of oscillators, sites or exponentials
};

/// The keys of a `memory` with these terms: `stiffness` or `cosine` and `sine`, `rate` and `frequency`.
std::string prony_keys(const std::vector<PronyTerm>& terms);

/// The environment as a `heat-bath`, as a `spring-mass-line` of unequal sites, or as a `memory` of exponentials, with
/// the same name, attached by the keys `attachment`; `to` is "star", "chain" or "exponentials", and `file` the name of
/// the table file. Throws UnsuitableFunction if there is no such environment.
EquivalentEnvironment equivalent_environment(const Environment& environment, const std::string& attachment,
                                             const std::string& to, const std::string& file);

}  // namespace bathline
