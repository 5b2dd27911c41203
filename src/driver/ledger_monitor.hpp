// Detects runs whose energy errors are as large as the energy of the motion.
#pragma once

#include <optional>
#include <string>

#include "driver/time_loop.hpp"

namespace bathline {

/// Follows the ledger's total, which is constant for the exact motion. A nonlinear trajectory is invalid from where the
/// change of the total exceeds the energy of the motion itself, as that of a planet that passed through its sun in one
/// step, whatever the order of the method. That energy is twice the mean over the records of the kinetic and the
/// exchanged energy less the change of the total, for a Kepler orbit twice and for an oscillator once its energy, plus
/// the largest energy of the environments. Changes below half the kinetic energy at that time are left out: they end
/// with a close passage.
///
/// A drift of more than a tenth of that energy and of the largest kinetic one, or of what was dissipated or exchanged,
/// is reported, too, of linear motion as well. A drift is what the change of the total does not fall below in the
/// second half of the run, or what its means over both halves differ by, twice: energies that oscillate under a
/// symplectic method do not drift.
///
/// Under implicit schemes, stiff lines may have round-off instead of energies: the force lambda eps x of a spring's
/// round-off changes the momentum of each site in each step, in all by N t/h (h lambda eps x)^2/(2M) J. A change of at
/// most four times this estimate that exceeds a thousandth of the energy is reported as that.
class LedgerMonitor {
 public:
  LedgerMonitor(const Case& this_case, const Problem& problem);

  /// To be called at the start and at every record, with the particles up to date on every rank; the same on all ranks.
  void record(const StateView& moment, const EnergyLedger& ledger);
  /// The warning at the end of the run; nothing if the energies are right.
  std::optional<std::string> warning() const;

  /// Declares the state.
  void serialise(Archive& archive);

 private:
  double energy_of_motion() const { return 2.0 * motion_ / records_ + environments_; }
  double drift() const;

  const Case& case_;
  bool is_linear_;
  double round_off_ = 0.0;  // energy from round-off in lines per step and squared displacement, J/m^2

  double records_ = 0.0;
  double start_ = 0.0;                         // the ledger's total at the start
  double dissipated_ = 0.0, work_ = 0.0;       // at the last record
  double exchanged_ = 0.0;                     // by damping and drive: sum of absolute changes
  double environment_start_ = 0.0;             // energy of the environments with the springs to the particles
  double absorbed_ = 0.0;                      // its largest change
  double kinetic_ = 0.0, environments_ = 0.0;  // maxima so far, the latter with the springs to the particles
  double motion_ = 0.0;                        // kinetic and exchanged energy less the change of the total, summed
  double change_ = 0.0;                        // of the total, maximum so far
  double sums_[2] = {}, counts_[2] = {};       // of the change with its sign in both halves of the run, and records
  double least_ = 0.0, largest_ = 0.0;         // change in the second half
  double lasting_ = 0.0;                       // the same beyond half the kinetic energy
  double lost_at_ = -1.0;                      // time since which that exceeds the energy of the motion; negative: none
  double steps_ = 0.0;                         // at the last record
  double displacement_ = 0.0;                  // of the particles from the start, maximum so far
};

}  // namespace bathline
