// The quadratic form that a splitting conserves on linear closed systems, where the energy only stays near its start.
//
//   q+ = q + h v, then p+ = p + h F(q+):      H - h/2 v.F          the mirror image: H + h/2 v.F
//   half a kick at either end of a drift:     H - h^2/8 F.M^-1 F   half a drift at either end of a kick: H - h^2/8 v.K
//   v
//
// with all sites of the environments. In exact arithmetic it is constant, so that its drift is that of round-off alone.
// Source: hairer2006, section IX.3 for modified Hamiltonians, which end here; by hand for each of the four.
#pragma once

#include <optional>
#include <vector>

#include "steppers/assembled_system.hpp"
#include "methods/scheme.hpp"

namespace bathline {

class DiscreteInvariant {
 public:
  /// Whether a scheme is one of the four and the problem linear and without damping.
  static bool is_known(const Scheme& scheme, const Problem& problem);

  /// `problem` must outlive it. Throws std::logic_error where no invariant is known.
  DiscreteInvariant(const Scheme& scheme, const Problem& problem, double h);

  /// In J, at the problem's state, whose total energy is `energy`. All sites are gathered on rank 0, where alone the
  /// value is right. @note Collective.
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
