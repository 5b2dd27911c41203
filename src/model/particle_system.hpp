// Particles, the potential between them, and what one likes to measure on them.
#pragma once  // Public: programs of others may include this header.

#include <Eigen/Dense>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/force.hpp"
#include "model/lagrangian.hpp"
#include "model/potential.hpp"

namespace bathline {

/// Something to record beside positions, momenta and energies: value(q, v, t), plus the time integral of
/// integrand(q, v) along the path where that is given.
struct Observable {
  std::string name;
  std::string units;
  std::string long_name;
  int size = 1;
  std::function<Eigen::VectorXd(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t)> value;
  std::function<Eigen::VectorXd(const Eigen::VectorXd& q, const Eigen::VectorXd& v)> integrand;
  /// What counts its entries, from `first`; empty where they are components of a vector, whose magnitude is recorded
  /// as well.
  std::string dimension = {};
  int first = 0;
};

/// What makes the Lagrangian one of contact mechanics, which depends on the action z' = L.
struct Contact {
  /// 1/s, of L = v^T M v / 2 - V(q) + gamma z, where the damping matrix is -gamma M. Zero where the system has a
  /// Lagrangian of another form.
  double gamma = 0.0;
  double z0 = 0.0;  ///< J s
  /// The position one step after q0, where the start is given by both; the method finds the momentum that leads there.
  std::optional<Eigen::VectorXd> q1;
};

/// The particles of a recipe: m q'' = -grad V(q) - C q' + f(q, q') + a(q, q', t) + d(t) + B J q'. Vectors have one
/// entry per degree of freedom, index = particle * axes + axis.
struct ParticleSystem {
  int particles = 0;
  int axes = 1;
  Eigen::VectorXd mass;
  std::shared_ptr<const Potential> potential;
  /// A Lagrangian of any other form, if there is one: then masses, but for those on heads, and potential are zero.
  std::shared_ptr<const Lagrangian> lagrangian;
  /// The damping matrix C of open runs, if the recipe states one; else the environments imply it.
  std::optional<Eigen::MatrixXd> damping;
  /// kT of every degree of freedom in J, if the recipe states it; else the environments imply it.
  std::optional<Eigen::VectorXd> temperature;
  /// The force f of open runs, if there is one; what it takes is dissipated.
  std::shared_ptr<const Force> force;
  /// What acts from outside in closed and open runs alike, if anything: the force a and the drive d, which do work.
  std::shared_ptr<const Force> applied;
  std::shared_ptr<const Drive> drive;
  /// B in kg/s, charge included: the force (B v_y, -B v_x) on every two degrees of freedom x and y that follow each
  /// other, 2i and 2i + 1. It does no work, and p stays M v (model/gyration.hpp).
  double magnetic_field = 0.0;
  Eigen::VectorXd q0;
  Eigen::VectorXd v0;
  /// What is drawn at random in place of these.
  enum class Start { given, thermal_momenta, thermal };
  Start start = Start::given;
  std::vector<Observable> observables;
  /// The names of the degrees of freedom in formulas, where the system has its own.
  std::vector<std::string> coordinates;
  /// The formulas that the forces are typed as, the way messages name them; empty where there are none.
  std::string formulas;
  std::optional<Contact> contact;

  int size() const { return particles * axes; }
  /// One name per degree of freedom: its own, or x, y, z for the axes, of several particles with the number of each
  /// behind it, as in x0, y0, x1, y1.
  std::vector<std::string> coordinate_names() const;
  bool is_driven() const { return applied || drive; }
  /// Whether energy comes from outside: a Lagrangian may depend on time.
  bool has_work() const { return is_driven() || (lagrangian && lagrangian->depends_on_time()); }
  /// Whether nothing but the drive keeps the equations of motion from being linear.
  bool has_linear_forces() const { return potential->is_quadratic() && !lagrangian && !force && !applied; }
  /// Whether the motion is a linear map of the start.
  bool is_linear() const { return has_linear_forces() && !drive; }
};

}  // namespace bathline
