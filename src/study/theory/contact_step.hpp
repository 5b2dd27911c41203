// One step of a method with stages on a contact system, and its effect on the contact form.
//
//   Phi^* eta - sigma eta,   eta = dz - p dq,   sigma = 1/l+
//
// with the equations of steppers/contact_stages.hpp. They are differentiated automatically, in forward mode, with
// respect to unknowns and state; the derivatives of the step follow by the implicit function theorem. The elementary
// functions are the Lagrangian and its first derivatives, whose derivatives are known. Source: simoes2020, section 3.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <optional>

#include "methods/scheme.hpp"
#include "model/lagrangian.hpp"

namespace bathline {

/// Positions in m, momenta in kg m/s, the action in J s, time in s.
struct ParticleState {
  Eigen::VectorXd q, p;
  double z = 0.0, t = 0.0;
  Eigen::VectorXd v;  ///< velocities of the momenta p
};

/// The effect of a step on the contact form.
struct ContactFormStep {
  double factor = 1.0;  ///< sigma
  double defect = 0.0;  ///< largest coefficient of Phi^* eta - sigma eta
};

class ContactStep {
 public:
  ContactStep(PartitionedRungeKutta scheme, std::shared_ptr<const Lagrangian> lagrangian, double h);

  /// The effect of the step from `from` to `to`, of which only the momentum is used. Nothing where Newton's method does
  /// not converge.
  std::optional<ContactFormStep> form(const ParticleState& from, const ParticleState& to) const;

 private:
  PartitionedRungeKutta scheme_;
  std::shared_ptr<const Lagrangian> lagrangian_;
  double h_;
};

}  // namespace bathline
