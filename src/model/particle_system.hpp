// Particles, the forces on them, and observables.
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

class TemperatureInTime;

/// A quantity recorded beside positions, momenta and energies: value(q, v, t), plus the time integral of
/// integrand(q, v) along the trajectory where that is given.
struct Observable {
  std::string name;
  std::string units;
  std::string long_name;
  int size = 1;
  std::function<Eigen::VectorXd(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t)> value;
  std::function<Eigen::VectorXd(const Eigen::VectorXd& q, const Eigen::VectorXd& v)> integrand;
  /// Name of the dimension of its entries, which are numbered from `first`; empty where they are the components of a
  /// vector, whose magnitude is recorded as well.
  std::string dimension = {};
  int first = 0;
};

/// The data of a contact system, whose Lagrangian depends on the action z with z' = L.
struct Contact {
  /// 1/s, of L = v^T M v / 2 - V(q) + gamma z, where the damping matrix is -gamma M. Zero where the system has a
  /// Lagrangian of another form.
  double gamma = 0.0;
  double z0 = 0.0;  ///< J s
  /// The position one step after q0, if that is given in place of v0; the method finds the momentum that leads there.
  std::optional<Eigen::VectorXd> q1;
};

/// The particles of a recipe: m q'' = -grad V(q) - C q' + f(q, q') + a(q, q', t) + d(t) + B J q'. Vectors have one
/// entry per degree of freedom, index = particle * axes + axis.
struct ParticleSystem {
  int particles = 0;
  int axes = 1;
  Eigen::VectorXd mass;
  std::shared_ptr<const Potential> potential;
  /// A Lagrangian of arbitrary form, if there is one; then the potential is zero, and masses are those on heads alone.
  std::shared_ptr<const Lagrangian> lagrangian;
  /// The damping matrix C of open runs, if the recipe states one; else the environments imply it.
  std::optional<Eigen::MatrixXd> damping;
  /// kT of every degree of freedom in J, if the recipe states it; else the environments imply it.
  std::optional<Eigen::VectorXd> temperature;
  /// Where it depends on the time; `temperature` is that of the start.
  std::vector<std::shared_ptr<const TemperatureInTime>> temperature_in_time;
  /// The nonconservative force f, if there is one; minus its work is counted as dissipated.
  std::shared_ptr<const Force> force;
  /// External forces of closed and open runs, if there are any: the force a and the drive d, which do work.
  std::shared_ptr<const Force> applied;
  std::shared_ptr<const Drive> drive;
  /// B in kg/s, charge included: the force (B v_y, -B v_x) on every two degrees of freedom x and y that follow each
  /// other, 2i and 2i + 1. It does no work, and p stays M v (model/gyration.hpp).
  double magnetic_field = 0.0;
  Eigen::VectorXd q0;
  Eigen::VectorXd v0;
  /// Which of q0 and v0 are drawn at random instead.
  enum class Start { given, thermal_momenta, thermal };
  Start start = Start::given;
  std::vector<Observable> observables;
  /// The names of the degrees of freedom in formulas, where the recipe states them.
  std::vector<std::string> coordinates;
  /// The formulas of the forces as messages print them; empty where there are none.
  std::string formulas;
  std::optional<Contact> contact;

  int size() const { return particles * axes; }
  /// One name per degree of freedom: that of the recipe, or x, y, z for the axes, followed by the particle's number
  /// where there are several, as in x0, y0, x1, y1.
  std::vector<std::string> coordinate_names() const;
  bool is_driven() const { return applied || drive; }
  /// Whether external forces or the time dependence of a Lagrangian do work.
  bool has_work() const { return is_driven() || (lagrangian && lagrangian->depends_on_time()); }
  /// Whether the equations of motion are linear but for an inhomogeneity, the drive.
  bool has_linear_forces() const { return potential->is_quadratic() && !lagrangian && !force && !applied; }
  /// Whether the flow is a linear map of the initial values.
  bool is_linear() const { return has_linear_forces() && !drive; }
};

}  // namespace bathline
