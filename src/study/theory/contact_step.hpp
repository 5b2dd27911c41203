// One step of a method with stages on a contact system, and what it does to the contact form.
//
//   Phi^* eta - sigma eta,   eta = dz - p dq,   sigma = 1/l+
//
// with the equations of steppers/contact_stages.hpp. They are differentiated automatically, in forward mode, by
// unknowns and state; the implicit function theorem makes of that the derivatives of the step. Leaves are the
// Lagrangian and its slopes, known with their own derivatives. Source: simoes2020, section 3.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <optional>

#include "methods/scheme.hpp"
#include "model/lagrangian.hpp"

namespace bathline {

/// Positions in m, momenta in kg m/s, the action in J s, time in s.
struct ContactPoint {
  Eigen::VectorXd q, p;
  double z = 0.0, t = 0.0;
  Eigen::VectorXd v;  ///< the velocities that belong to p
};

/// What a step does to the contact form.
struct ContactFormStep {
  double factor = 1.0;  ///< sigma
  double defect = 0.0;  ///< largest coefficient of Phi^* eta - sigma eta
};

class ContactStep {
 public:
  ContactStep(PartitionedRungeKutta scheme, std::shared_ptr<const Lagrangian> lagrangian, double h);

  /// Of the step from a point to one that it is said to lead to, of which the momentum counts. Nothing where Newton's
  /// method does not find the step.
  std::optional<ContactFormStep> form(const ContactPoint& from, const ContactPoint& to) const;

 private:
  PartitionedRungeKutta scheme_;
  std::shared_ptr<const Lagrangian> lagrangian_;
  double h_;
};

}  // namespace bathline
