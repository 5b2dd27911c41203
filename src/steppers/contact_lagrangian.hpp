// Discrete Lagrangians of contact systems, L = v^T M v / 2 - V(q) + gamma z.
//
//   L_d(q, q+, z) = S(q, q+) + (sigma - 1) z,   sigma = 1 + D_z L_d the same number everywhere
//   midpoint: S = (q+ - q)^T M (q+ - q) / 2h - h V((q + q+)/2),   sigma = 1 + h gamma
//   exact:    S + (sigma - 1) z = the increase of z along the motion from q to q+,   sigma = exp(gamma h)
//
// Source: simoes2020, section 5; eq. (78) is the exact one of a free particle, where its last term must read
// + z0 (e^{gamma h} - 1), as D_z L = e^{gamma h} - 1 of its eq. (64) requires. For V = m k |q|^2 / 2: along a motion
// (e^{-gamma s} q q' / 2)' = e^{-gamma s} (q'^2 - k q^2) / 2, so that S = m (q+.q+' - e^{gamma h} q.q') / 2 with the
// velocities of the motion between the two, in all
//
//   S = m (a |q+|^2 + b |q|^2) / 2 - m c q.q+,   a = gamma/2 + w cot(w h),   b = e^{gamma h} (w cot(w h) - gamma/2),
//   c = e^{gamma h / 2} w / sin(w h),            w^2 = k - gamma^2/4, hyperbolic functions where that is negative.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <string>

#include "methods/scheme.hpp"
#include "model/particle_system.hpp"

namespace bathline {

/// S and sigma; q in m, S in J s, its derivatives in kg m/s. Functions of q and of dq = q+ - q, which far from the
/// origin keeps digits that q+ has lost.
class ContactLagrangian {
 public:
  explicit ContactLagrangian(double sigma) : sigma_(sigma) {}
  virtual ~ContactLagrangian() = default;
  double sigma() const { return sigma_; }
  virtual double value(const Eigen::VectorXd& q, const Eigen::VectorXd& dq) const = 0;
  /// D1 S and D2 S.
  virtual Eigen::VectorXd d1(const Eigen::VectorXd& q, const Eigen::VectorXd& dq) const = 0;
  virtual Eigen::VectorXd d2(const Eigen::VectorXd& q, const Eigen::VectorXd& dq) const = 0;
  /// Second derivatives, square with the size of q; D2 D1 S is the transpose of D1 D2 S, which is symmetric here.
  struct Hessians {
    Eigen::MatrixXd first, mixed, second;
  };
  virtual Hessians hessians(const Eigen::VectorXd& q, const Eigen::VectorXd& dq) const = 0;

 private:
  double sigma_;
};

/// Why a scheme cannot advance a contact system.
struct UnsupportedContact {
  std::string text;         ///< "" where it can
  bool is_of_step = false;  ///< whether another step would help, rather than another Lagrangian
};
UnsupportedContact contact_unsupported_reason(const HerglotzScheme& scheme, const ParticleSystem& system, double h);

/// The discrete Lagrangian of a scheme on a supported system, for steps of h seconds.
std::unique_ptr<ContactLagrangian> make_contact_lagrangian(const HerglotzScheme& scheme, const ParticleSystem& system,
                                                           double h);

}  // namespace bathline
