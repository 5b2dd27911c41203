// The records of the realisations of an ensemble during the run.
#pragma once

#include "steppers/stepper.hpp"
#include "study/ensemble/columns.hpp"
#include "study/ensemble/ledger.hpp"

namespace bathline {

/// Records one realisation.
class Recording {
 public:
  /// To be called before the stepper of a prepared problem is made; the problem, the columns and the measurements must
  /// outlive it. @note Collective, as is `record`.
  Recording(Problem& problem, const EnsembleColumns& columns, const Measurements& measurements,
            const LedgerNumbers& ledger);

  /// Adds the next record, at `time` in s.
  void record(double time);
  /// Whether all values are finite, on the rank that has the particles.
  bool is_finite() const;
  const Realisation& realisation() const { return values_; }
  /// The times of the first passages; NaN for one that did not occur.
  const std::vector<double>& passage_times() const { return passage_times_; }

 private:
  Problem& problem_;
  const Measurements& measurements_;
  LedgerNumbers ledger_;
  Realisation values_;
  Eigen::VectorXd variables_;  // arguments of formulas: positions, velocities, the time, and the ledger entries
  std::vector<double> last_, passage_times_;  // by passage: the previous value; the time, or NaN
};

/// Advances realisations of a case to its end, as a batch in SIMD lanes where that is supported, with `every` steps
/// between two records. `failed` is the index of the realisation that fails. @note Collective.
std::optional<Failure> record_all(const Case& this_case, std::int64_t every, const EnsembleColumns& columns,
                                  std::span<Problem> problems, std::vector<Recording>& recordings, bool wants_energy,
                                  std::size_t& failed);

}  // namespace bathline
