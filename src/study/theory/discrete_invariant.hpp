// The quadratic form that a splitting conserves on linear closed systems, where the energy oscillates.
//
//   drift, kick:        H - h/2 v.F              kick, drift:         H + h/2 v.F
//   kick, drift, kick:  H - h^2/8 F.M^-1 F       drift, kick, drift:  H - h^2/8 v.K v
//
// with all sites of the environments. In exact arithmetic it is constant, so that only round-off makes it drift.
// Source: hairer2006, section IX.3 for modified Hamiltonians; the four forms are derived by hand.
#pragma once

#include <optional>

#include "steppers/assembled_system.hpp"
#include "methods/scheme.hpp"

namespace bathline {

class DiscreteInvariant {
 public:
  /// Whether the scheme is one of these four and the problem is linear and undamped.
  static bool is_known(const Scheme& scheme, const Problem& problem);

  /// `problem` must outlive it. Throws std::logic_error where no invariant is known.
  DiscreteInvariant(const Scheme& scheme, const Problem& problem, double h);

  /// The invariant in J in the state of the problem, whose total energy is `energy`. All sites are gathered on rank 0,
  /// and only there the value is valid. @note Collective.
  double value(double energy) const;

 private:
  enum class Form { drift_kick, kick_drift, kick_drift_kick, drift_kick_drift };
  static std::optional<Form> form_of(const Scheme& scheme);

  Form form_;
  const Problem& problem_;
  AssembledSystem system_;
  double h_;
};

}  // namespace bathline
