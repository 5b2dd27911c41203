// What is known of how well environments stand for what was asked for, in the result and in the log.
#pragma once

#include <string>

#include "model/problem.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// To the group certificate of `label`, a row for each environment, without numbers for those of which nothing is
/// approximated; no group where there is none other. To the group parts, in a group of its name, what such an
/// environment was made of where it says so. `duration` is that of the run, s. @note Collective.
void write_certificates(ResultFile& file, const std::string& label, const Problem& problem, double duration);

}  // namespace bathline
