// What is known of how well environments stand for what was asked for, in the result and in the log.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "driver/feasibility.hpp"
#include "model/certified.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// Of an environment under the integrator of a case, with the step of that.
struct CaseCertificate {
  std::string label, environment;
  Certificate certificate;  ///< with `trajectory_error_bound` behind its other entries
};

/// An environment that is known by its memory alone knows more of itself once it has a march with the scheme of a case.
/// @note Collective.
void prepare_certificate(Environment& environment, const Case& one);

/// Whether there will be any. @note Collective.
bool has_certificates(const Experiment& experiment);
/// Of all environments of closed cases that numbers stand for. `feasibility` is that of `experiment`, without mistakes,
/// its solvers set up. @note Collective.
std::vector<CaseCertificate> certificates_of(const Experiment& experiment, const Feasibility& feasibility);
/// A sentence each, on rank 0.
void log_certificates(std::span<const CaseCertificate> certificates);
/// To the groups certificate/LABEL/ENVIRONMENT: the numbers, and what the environment was made of where it says so.
/// @note Collective.
void write_certificates(ResultFile& file, std::span<const CaseCertificate> certificates);

}  // namespace bathline
