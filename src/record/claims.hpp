// Evaluating the claims of a recipe with its finished result file.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "recipe/section.hpp"
#include "record/quantity.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// One claim and its evaluation. `lower` and `upper` are the bounds that the claim allows.
struct ClaimResult {
  std::string name, quantity, source, note;
  double measured = std::numeric_limits<double>::quiet_NaN();
  double expected = std::numeric_limits<double>::quiet_NaN();  ///< NaN if the claim gives bounds
  double lower = std::numeric_limits<double>::quiet_NaN();
  double upper = std::numeric_limits<double>::quiet_NaN();
  double uncertainty = std::numeric_limits<double>::quiet_NaN();  ///< NaN if the claim gives none
  bool supported = true;                                          ///< false: the recipe expects the statement to fail
  bool holds = false;                                             ///< lower <= measured <= upper
  bool passed = false;                                            ///< measured, and `holds` equals `supported`
  std::string problem;  ///< why the quantity could not be measured, or what is unexpected
};

/// Evaluates `claims`, tables with `id`, `quantity` and either `expect` with `tolerance` or `relative_tolerance` (the
/// wider one if both are given) or `bounds`; optionally `uncertainty`, `from` and `until` (the window of
/// rows, by the coordinate of the first dimension), `supported`, `source`, `note`. Errors in a claim are reported
/// in its `problem`.
std::vector<ClaimResult> evaluate_claims(const ResultReader& file, std::span<const Section> claims);

/// Writes the group `claims`, replacing an older one, and sets the status `complete`: a run is complete when its claims
/// have been evaluated. Called by one process after all have closed the file.
void write_claims(const std::string& path, std::span<const ClaimResult> claims);
/// The same to a file that only this process has open.
void write_claims(ResultFile& file, std::span<const ClaimResult> claims);
/// The claims in a file; none if it has no group `claims`. Files of older versions have no uncertainties.
std::vector<ClaimResult> read_claims(const ResultReader& file);
/// A table for the terminal: mark, id, measured value, expected value, uncertainty, source; a problem is printed below
/// its claim.
std::string claims_table(std::span<const ClaimResult> claims);

}  // namespace bathline
