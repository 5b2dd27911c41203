// Certificates, the error bounds of environments that approximate a kernel or a density: in the result and in the log.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "driver/feasibility.hpp"
#include "model/certified.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// The certificate of an environment under the integrator and the step of a case.
struct CaseCertificate {
  std::string case_name, environment;
  Certificate certificate;  ///< the last entry is the `trajectory_error_bound`
};

/// Completes the certificate of an environment that is given by its memory kernel alone: that requires a stepper with
/// the scheme and the step of a case. @note Collective.
void prepare_certificate(Environment& environment, const Case& this_case);

/// Whether any environment of a closed case has a certificate. @note Collective.
bool has_certificates(const Experiment& experiment);
/// The certificates of all closed cases. `feasibility` belongs to `experiment`, has found no mistakes and has set up
/// the solvers. @note Collective.
std::vector<CaseCertificate> certificates_of(const Experiment& experiment, const Feasibility& feasibility);
/// Logs one sentence for each certificate, on rank 0.
void log_certificates(std::span<const CaseCertificate> certificates);
/// Writes the groups certificate/LABEL/ENVIRONMENT: the numbers and, if the certificate has them, the arrays that the
/// environment consists of (nodes and weights, modes).
/// @note Collective.
void write_certificates(ResultFile& file, std::span<const CaseCertificate> certificates);

}  // namespace bathline
