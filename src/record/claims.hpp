// The claims of a recipe, held against the numbers of its finished result file.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "recipe/section.hpp"
#include "record/quantity.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// One claim and what came of it. `lower` and `upper` bound what the claim allows.
struct ClaimResult {
  std::string name, quantity, source, note;
  double measured = std::numeric_limits<double>::quiet_NaN();
  double expected = std::numeric_limits<double>::quiet_NaN();  ///< NaN where the claim gives bounds
  double lower = std::numeric_limits<double>::quiet_NaN();
  double upper = std::numeric_limits<double>::quiet_NaN();
  double uncertainty = std::numeric_limits<double>::quiet_NaN();  ///< NaN where the claim gives none
  bool supported = true;  ///< false: the recipe marks the statement as one that the numbers contradict
  bool holds = false;     ///< lower <= measured <= upper
  bool passed = false;    ///< holds, or for an unsupported statement does not; never where nothing was measured
  std::string problem;    ///< why nothing was measured, or what is unexpected
};

/// Evaluates `claims`, tables with `id`, `quantity` and either `expect` with `tolerance` or `relative_tolerance` (the
/// wider of the two where both stand) or `bounds`; optionally `uncertainty`, `from` and `until` (the rows to look
/// at, by the coordinate of the first dimension), `supported`, `source`, `note`. Whatever is wrong with a claim is its
/// `problem`.
std::vector<ClaimResult> evaluate_claims(const ResultReader& file, std::span<const Section> claims);

/// Writes the group `claims`, replacing an older one, and with it the status `complete`: a run is complete when its
/// claims are judged. By one process, after the file was closed by all.
void write_claims(const std::string& path, std::span<const ClaimResult> claims);
/// The claims of a file, none where it has no group `claims`. Files of before have no uncertainties.
std::vector<ClaimResult> read_claims(const ResultReader& file);
/// A table for the terminal: mark, id, measured value, what was asked, uncertainty, source; problems below their
/// claims.
std::string claims_table(std::span<const ClaimResult> claims);

}  // namespace bathline
