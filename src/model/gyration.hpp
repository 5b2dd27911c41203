// A uniform magnetic field across the plane.
//
//   M q'' = B J q',  J (x, y) = (y, -x) on every two degrees of freedom, 2i and 2i + 1
//
// of the Lagrangian v.M v/2 + B (x y' - y x')/2, whose momentum is M v + B (-y, x)/2. Stored and recorded is p = M v.
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "model/particle_system.hpp"

namespace bathline {

/// B J v for an even number of degrees of freedom, N; `field` is B in kg/s, charge included.
Eigen::VectorXd magnetic_force(double field, const Eigen::VectorXd& v);

/// B J, its derivative with respect to v: square with `size` rows, kg/s.
Eigen::MatrixXd magnetic_jacobian(double field, Eigen::Index size);

/// The angular frequency of the fastest free gyration, 1/s; 0 without a field.
double cyclotron_frequency(double field, const Eigen::VectorXd& mass);

/// The exact flow of M q'' = B J q' over a given time, which is that of the kinetic energy in canonical variables: the
/// drift of a splitting. As the kinetic energy is a quadratic form in the canonical momentum at every position,
/// splittings for q'' = f(q) keep their order. Masses in x and y may differ.
class Gyration {
 public:
  /// Over `t` seconds, of either sign.
  Gyration(double field, const Eigen::VectorXd& mass, double t);
  /// q and p = M v.
  void advance(Eigen::VectorXd& q, Eigen::VectorXd& p) const;
  /// The transpose, for the derivatives alpha by q and beta by p of a function of what `advance` gives: beta becomes
  /// the derivative by the momentum before the flow, alpha stays the same.
  void pull_back(const Eigen::VectorXd& alpha, Eigen::VectorXd& beta) const;

 private:
  /// Of one pair of degrees of freedom: q += displacement p, p = rotation p.
  struct Pair {
    Eigen::Matrix2d displacement;  // s/kg
    Eigen::Matrix2d rotation;
  };
  std::vector<Pair> pairs_;
};

}  // namespace bathline
