// The records of the realisations of an ensemble during the run.
#pragma once

#include <span>
#include <vector>

#include "study/ensemble/ledger.hpp"
#include "study/ensemble/run.hpp"

namespace bathline {

/// The records of one realisation.
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
  /// Adds series, averages over time, and the differences between the averages over the first and the second half,
  /// which show whether the motion is stationary.
  void add_to(EnsembleMoments& moments, Autocorrelation& autocorrelation);
  /// The values stored for every realisation.
  std::vector<double> per_realisation() const { return observation_.per_realisation(); }
  /// Positions by record, followed by velocities.
  std::span<const double> path() const { return {values_.data(), columns_.kinetic()}; }

 private:
  /// The averages over the records in [begin, end) whose halves are compared.
  void compared_averages(std::size_t begin, std::size_t end, std::span<double> averages) const;

  Problem& problem_;
  const EnsembleColumns& columns_;
  LedgerNumbers ledger_;
  Observation observation_;
  std::vector<double> values_;
  Eigen::VectorXd variables_;  // arguments of formulas
  std::size_t next_ = 0;
};

/// Advances realisations of a case to its end, as a batch in SIMD lanes where that is supported, with `every` steps
/// between two records. `failed` is the index of the realisation that fails. @note Collective.
std::optional<Failure> record_all(const Case& this_case, std::int64_t every, const EnsembleColumns& columns,
                                  std::span<Problem> problems, std::vector<Recording>& recordings, bool wants_energy,
                                  std::size_t& failed);

}  // namespace bathline
