// Detects energy errors that the scheme and the step of a run do not explain.
#pragma once

#include <optional>
#include <string>

#include "driver/time_loop.hpp"

namespace bathline {

/// Follows the ledger's total, which is constant for the exact motion, and distinguishes excursions that are normal for
/// the scheme from those of an invalid trajectory, such as a planet that passed through its sun in one step.
///
/// The excursion that a scheme of order p explains depends on the current state and the start alone, with h the step,
/// u^2 = v.Mv, a^2 = F.M^-1 F, omega the frequency of the linearised forces and drag, r = h omega / (the scheme's
/// limit):
///
///   symplectic:  the difference from its modified energy, h u a + h omega u^2 for p = 1 and (h a)^2 + (h omega u)^2
///   for
///                higher orders, divided by 1 - r. Source: hairer2006, section IX.3; for an oscillator u^2 +
///                (a/omega)^2 is twice the energy, and the energy of the symplectic Euler method lies between
///                (1 - r)/(1 + r) of itself and the inverse of that
///   all others:  in addition, the sum of the changes of all steps, (h omega)^(p + 1)/p! of the energy each
///   damping:     in addition, an error of (h omega)^p, p at most 2, in the dissipated energy
///   environments: these are linear and start at rest or thermal; at most their energy, times a power of h omega
///   likewise
///
/// The sum counts twice, plus a thousandth of the energy as a tolerance. For nonlinear motion, a scheme beyond half its
/// limit (without a limit: for h omega above 1) has no modified energy: such states explain nothing, so that only the
/// explanations of earlier states hold, unless the run starts in such a state.
///
/// Splittings have the gyration in a magnetic field exactly, so that its frequency is no part of omega for them.
///
/// Under implicit schemes, stiff lines may have round-off instead of energies: the force lambda eps x of a spring's
/// round-off changes the momentum of each site in each step, in all by N t/h (h lambda eps x)^2/(2M) J. The warning
/// distinguishes that.
///
/// In nonlinear motion, an excursion beyond the energy of the motion itself is reported even if it is explained. That
/// energy is twice the mean over the records of the kinetic and the exchanged energy less the excursion, for a Kepler
/// orbit twice and for an oscillator once its energy, plus the largest energy of the environments. The mean begins with
/// the energy of the oscillation linearised at the start, (u^2 + (a/omega)^2)/2. Excursions below half the kinetic
/// energy at that time are left out: they end with a close passage. Linear motion needs no such report, as only steps
/// beyond the stability limit, of which the checks warn, make its energy grow.
class LedgerMonitor {
 public:
  LedgerMonitor(const Case& this_case, const Problem& problem);

  /// To be called at the start and at every record, with the particles up to date on every rank; the same on all ranks.
  void record(const StateView& moment, const EnergyLedger& ledger);
  /// The warning at the end of the run; nothing if every excursion is explained.
  std::optional<std::string> warning() const;

  /// Declares the state.
  void serialise(Archive& archive);

 private:
  struct History {
    double steps = -1.0;           // since the start; negative: not started
    double start = 0.0;            // the ledger's total at the start
    double kinetic = 0.0;          // maximum so far
    double environments = 0.0;     // maximum so far, including the springs to the particles
    double exchanged = 0.0;        // by damping and drive: sum of absolute changes
    double dissipated = 0.0;       // at the last record
    double work = 0.0;             // at the last record
    double state = 0.0;            // maximal excursion that a state has explained
    double first_state = 0.0;      // excursion that the start explains
    double inspected = 0.0;        // step of the last record whose state was inspected
    double first_rate = 0.0;       // h omega at the start
    double rate = 0.0;             // maximal h omega of the states that explain something
    double drift = 0.0;            // sum of the changes of all steps
    double excursion = 0.0;        // maximum so far
    double unexplained_at = -1.0;  // time of the first unexplained excursion; negative: none
    double explained = 0.0;        // the explained excursion at that time
    double motion = 0.0;           // kinetic and exchanged energy less the excursion, sum over the records
    double records = 0.0;          // number of terms of that sum
    double lasting = 0.0;          // maximal excursion beyond half the kinetic energy
    double lost_at = -1.0;         // time since which that exceeds the energy of the motion; negative: none
    double displacement = 0.0;     // of the particles from the start, maximum so far
  };
  /// Compares the excursion at `time` with the energy of the motion.
  void compare_with_motion(double time, double kinetic, double excursion);
  double energy_of_motion() const { return 2.0 * history_.motion / history_.records + history_.environments; }
  bool is_round_off() const;
  /// The explained excursion, if states explain `by_state` of it.
  double explained(double by_state) const;
  struct Explanation {
    bool is_valid = false;
    double h_omega = 0.0;    // zero if not valid
    double excursion = 0.0;  // explained by the state
  };
  /// The excursion that the current state explains; updates the history.
  Explanation explain(const Problem& problem);

  const Case& case_;
  int order_;
  bool has_drift_;
  bool is_linear_;
  bool has_exact_gyration_;
  double limit_;             // of h omega; infinity where a scheme has none
  double environment_rate_;  // h omega of the environments over the limit
  double round_off_ = 0.0;   // energy from round-off in lines per step and squared displacement, J/m^2
  History history_;
};

}  // namespace bathline
