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
  };
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
  double limit_;             // of h omega; infinity where a scheme has none
  double environment_rate_;  // h omega of the environments over the limit
  History history_;
};

}  // namespace bathline
