// Between velocities and momenta of a Lagrangian.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <optional>
#include <string>

#include "model/lagrangian.hpp"

namespace bathline {

/// p = dL/dv of a Lagrangian v M v / 2 + L(q, v, t, z), M being masses on heads, and the way back: by Newton's method
/// from a velocity nearby, as the equation may have several solutions. L is degenerate where d2L/dv2 is singular; there
/// no motion is determined, which integrators would not notice.
class LegendreTransform {
 public:
  /// Takes q, v at the time 0 as a place where d2L/dv2 has as many negative eigenvalues as it must keep.
  LegendreTransform(std::shared_ptr<const Lagrangian> lagrangian, const Eigen::VectorXd& masses,
                    const Eigen::VectorXd& q, const Eigen::VectorXd& v, double z);

  Eigen::VectorXd momentum(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, double z);
  /// Energy v dL/dv - L.
  double energy(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, double z);
  /// Turns a guess `v` into the velocities that belong to p. Says why there are none.
  std::optional<std::string> find_velocity(const Eigen::VectorXd& q, const Eigen::VectorXd& p, double t, double z,
                                           Eigen::VectorXd& v);
  /// The accelerations under forces beside L; no numbers where it is degenerate.
  Eigen::VectorXd acceleration(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, double z,
                               const Eigen::VectorXd& force);
  /// What is wrong where L is degenerate.
  std::optional<std::string> unsupported_reason(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, double z);

 private:
  void set_point(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, double z);
  /// d2L/dv2 at what was put.
  const Eigen::MatrixXd& mass_matrix();
  /// One and how many eigenvalues are negative; 0 where it is singular or no finite one, up to round-off.
  int signature(const Eigen::MatrixXd& matrix);

  std::shared_ptr<const Lagrangian> lagrangian_;
  Eigen::VectorXd masses_;
  Eigen::Index n_;
  Eigen::VectorXd x_, gradient_, residual_;
  Eigen::MatrixXd hessian_, mass_matrix_, scaled_;
  int signature_ = 0;
};

}  // namespace bathline
