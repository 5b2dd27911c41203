// The Legendre transform between velocities and momenta of a Lagrangian.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <optional>
#include <string>

#include "model/lagrangian.hpp"

namespace bathline {

/// p = dL/dv of a Lagrangian v M v / 2 + L(q, v, t, z), M being masses on heads, and its inverse by Newton's method
/// from a velocity nearby, as the equation may have several solutions. L is degenerate where d2L/dv2 is singular: the
/// motion is undetermined there, and integrators would not detect it.
class LegendreTransform {
 public:
  /// The number of negative eigenvalues of d2L/dv2 at q, v and time 0 must be kept along the motion.
  LegendreTransform(std::shared_ptr<const Lagrangian> lagrangian, const Eigen::VectorXd& masses,
                    const Eigen::VectorXd& q, const Eigen::VectorXd& v, double z);

  Eigen::VectorXd momentum(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, double z);
  /// Energy v dL/dv - L.
  double energy(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, double z);
  /// Replaces the initial guess `v` by the velocities of the momenta p. Returns the reason where none are found.
  std::optional<std::string> find_velocity(const Eigen::VectorXd& q, const Eigen::VectorXd& p, double t, double z,
                                           Eigen::VectorXd& v);
  /// The accelerations under L and further forces; NaN or infinity where L is degenerate.
  Eigen::VectorXd acceleration(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, double z,
                               const Eigen::VectorXd& force);
  /// A message where L is degenerate, else nothing.
  std::optional<std::string> unsupported_reason(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, double z);

 private:
  void set_point(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, double z);
  /// d2L/dv2 at the point set last.
  const Eigen::MatrixXd& mass_matrix();
  /// 1 + the number of negative eigenvalues; 0 where the matrix is singular up to round-off or not finite.
  int signature(const Eigen::MatrixXd& matrix);

  std::shared_ptr<const Lagrangian> lagrangian_;
  Eigen::VectorXd masses_;
  Eigen::Index n_;
  Eigen::VectorXd x_, gradient_, residual_;
  Eigen::MatrixXd hessian_, mass_matrix_, scaled_;
  int signature_ = 0;
};

}  // namespace bathline
