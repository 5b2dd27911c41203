// Whether the energy ledger of a run stays where its scheme can keep it.
#pragma once

#include <optional>
#include <string>

#include "driver/time_loop.hpp"

namespace bathline {

/// Follows the ledger's total, which is constant for the exact motion, and tells excursions that belong to the scheme
/// from those of a motion that has been lost, such as a planet that fell through its sun in one step.
///
/// What a scheme of order p explains, at every moment by the state then and the start alone, with h the step, u^2 =
/// v.Mv, a^2 = F.M^-1 F, omega the frequency of the linearised forces and drag, r = h omega / (the scheme's limit):
///
///   symplectic:  what differs from its modified energy, h u a + h omega u^2 for p = 1 and (h a)^2 + (h omega u)^2 for
///                higher orders, over 1 - r. Source: hairer2006, section IX.3; for an oscillator u^2 + (a/omega)^2 is
///                twice the energy, and the energy of the symplectic Euler method lies between (1 - r)/(1 + r) of
///                itself and the inverse of that
///   all others:  besides, the sum of what each step changes, (h omega)^(p + 1)/p! of the energy
///   damping:     besides, an error of (h omega)^p, p at most 2, in what has been taken
///   environments: those start at rest or warm and stay linear; at most what they hold, times h omega likewise
///
/// All of it twice, and a thousandth of all energy, which is nothing to speak of. Beyond half its limit a scheme has no
/// modified energy left that a nonlinear motion would follow, nor has one without a limit where h omega is above 1:
/// there nothing is explained but what states of before have explained, unless the run begins there.
class LedgerMonitor {
 public:
  LedgerMonitor(const Case& one, const Problem& problem);

  /// At the start and at every record; the particles are up to date on every rank, and the answer is the same there.
  void record(const StateView& moment, const EnergyLedger& ledger);
  /// What to say of it at the end.
  std::optional<std::string> finding() const;

  /// Declares what has been seen so far.
  void serialise(Archive& archive);

 private:
  struct Seen {
    double steps = -1.0;           // since the start; none yet
    double start = 0.0;            // the ledger's total there
    double kinetic = 0.0;          // the most so far
    double environments = 0.0;     // likewise, with their springs to the particles
    double turned_over = 0.0;      // by damping, either way
    double dissipated = 0.0;       // at the last record
    double work = 0.0;             // likewise
    double state = 0.0;            // the most that a state has explained
    double first_state = 0.0;      // what the start explains
    double looked = 0.0;           // steps until the last record whose state was looked at
    double first_rate = 0.0;       // h omega at the start
    double rate = 0.0;             // the highest h omega that counted
    double drift = 0.0;            // the sum of what steps have changed
    double excursion = 0.0;        // the largest
    double unexplained_at = -1.0;  // time of the first that nothing explains; none yet
    double explained = 0.0;        // then
  };
  /// What can be explained in all, `by_state` of it by states.
  double explained(double by_state) const;
  struct Look {
    bool explains = false;
    double turning = 0.0;  // h omega; zero where it explains nothing
    double away = 0.0;     // what it explains
  };
  /// Counts what a state explains.
  Look look_at(const Problem& problem);

  const Case& one_;
  int order_;
  bool drifts_;
  bool is_linear_;
  double limit_;             // of h omega; infinity where a scheme has none
  double environment_rate_;  // h omega of the environments over the limit
  Seen seen_;
};

}  // namespace bathline
