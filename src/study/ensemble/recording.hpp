// What is recorded of the realisations of an ensemble under way.
#pragma once

#include <span>
#include <vector>

#include "study/ensemble/ledger.hpp"
#include "study/ensemble/run.hpp"

namespace bathline {

/// One realisation that is looked at, record by record.
class Recording {
 public:
  /// Before the stepper of a prepared problem is made; the problem, the columns and the measurements must outlive it.
  /// @note Collective, as are records.
  Recording(Problem& problem, const EnsembleColumns& columns, const Measurements& measurements,
            const LedgerNumbers& ledger);

  /// The next record, at `time` in s.
  void record(double time);
  /// Whether all of it is finite, on the rank that has the particles.
  bool is_finite() const;
  /// Adds series and averages over time, each block a sample of the latter.
  void add_to(Sums& sums);
  /// What is kept of every realisation.
  std::vector<double> per_realisation() const { return observation_.per_realisation(); }
  /// Positions by record, and then velocities.
  std::span<const double> path() const { return {values_.data(), columns_.kinetic()}; }

 private:
  Problem& problem_;
  const EnsembleColumns& columns_;
  LedgerNumbers ledger_;
  Observation observation_;
  std::vector<double> values_;
  Eigen::VectorXd variables_;  // of formulas
  std::size_t next_ = 0;
};

/// Takes realisations of a case to its end, side by side in the lanes of registers where they can be, with `every`
/// steps between two records. The number among them of the one that fails stands in `failed`. @note Collective.
std::optional<Failure> record_all(const Case& one, std::int64_t every, const EnsembleColumns& columns,
                                  std::span<Problem> problems, std::vector<Recording>& recordings, bool wants_energy,
                                  std::size_t& failed);

}  // namespace bathline
