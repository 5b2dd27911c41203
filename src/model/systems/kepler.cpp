// The planar Kepler problem with linear damping.
//
//   r'' + alpha r' + mu r / |r|^3 = 0;   with mass M: V = -mu M / |r|, damping D0 = alpha M
//
// Source: limebeer2020, section V, eqs. (62)-(66). Undamped it conserves energy, angular momentum and the
// Laplace-Runge-Lenz vector; damped, H = H0 exp(-alpha t), and J = (r' x H^)/H + integral mu (r^ x H^)/(H r^2) dt is
// constant.
#include <cmath>

#include "model/systems/external_forces.hpp"
#include "model/system_catalogue.hpp"

namespace bathline {

namespace {

class KeplerPotential final : public Potential {
 public:
  explicit KeplerPotential(double strength) : strength_(strength) {}

  double value(const Eigen::VectorXd& q) const override { return -strength_ / q.norm(); }
  void gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const override {
    const double r2 = q.squaredNorm();
    gradient = strength_ / (r2 * std::sqrt(r2)) * q;
  }
  void hessian(const Eigen::VectorXd& q, Eigen::MatrixXd& hessian) const override {
    const double r2 = q.squaredNorm();
    const double r3 = r2 * std::sqrt(r2);
    hessian = strength_ / r3 * (Eigen::MatrixXd::Identity(2, 2) - 3.0 / r2 * q * q.transpose());
  }

 private:
  double strength_;  // mu M
};

double angular_momentum_per_mass(const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  return q[0] * v[1] - q[1] * v[0];
}

/// a x z^ for a vector a of the plane and the unit normal z^.
Eigen::Vector2d cross_normal(const Eigen::Vector2d& a) { return {a[1], -a[0]}; }

void build_kepler(const Section& section, const Catalogue<PotentialKind>&, ParticleSystem& system, Mistakes& mistakes) {
  system.particles = 1;
  system.axes = 2;
  const std::size_t before = mistakes.count();
  read_start(section, system, mistakes);
  if (mistakes.count() == before && system.q0.norm() == 0.0) {
    mistakes.add(section.where("q0"), "`q0` is the centre, where the potential is singular");
  }
  const double mass = section.number("M");
  const double mu = section.number("mu");
  system.mass = Eigen::VectorXd::Constant(2, mass);
  system.potential = std::make_shared<KeplerPotential>(mu * mass);
  if (section.has("alpha")) system.damping = section.number("alpha") * mass * Eigen::MatrixXd::Identity(2, 2);
  system.observables = {{.name = "angular_momentum",
                         .units = "m^2/s",
                         .long_name = "angular momentum per mass H = |r x r'|",
                         .value = [](const Eigen::VectorXd& q, const Eigen::VectorXd& v, double) -> Eigen::VectorXd {
                           return Eigen::VectorXd::Constant(1, std::abs(angular_momentum_per_mass(q, v)));
                         },
                         .integrand = {}},
                        {.name = "laplace_runge_lenz",
                         .units = "s/m",
                         .long_name = "analogue J of the Laplace-Runge-Lenz vector (limebeer2020, section V)",
                         .size = 2,
                         .value = [](const Eigen::VectorXd& q, const Eigen::VectorXd& v, double) -> Eigen::VectorXd {
                           return cross_normal(v) / angular_momentum_per_mass(q, v);
                         },
                         .integrand = [mu](const Eigen::VectorXd& q, const Eigen::VectorXd& v) -> Eigen::VectorXd {
                           const double r2 = q.squaredNorm();
                           return mu / (angular_momentum_per_mass(q, v) * r2 * std::sqrt(r2)) * cross_normal(q);
                         }}};
}

}  // namespace

SystemKind kepler_kind() {
  return {
      {.name = "kepler",
       .summary = "planar Kepler problem with linear damping",
       .equation = "r'' + alpha r' + mu r / |r|^3 = 0",
       .source = "limebeer2020, eqs. (62)-(66)",
       .parameters = with_start_and_forces(
           {required("M", ValueType::number, "kg", "mass of the planet", Bound::positive),
            required("mu", ValueType::number, "m^3/s^2", "strength of the attraction", Bound::positive),
            optional("alpha", ValueType::number, "1/s",
                     "damping rate of open runs, D0 = alpha M; where absent, the damping that the environments imply",
                     Bound::nonnegative)}),
       .notes = "One particle with two axes: q0 = [[5.0, 0.0]]. Records angular_momentum and laplace_runge_lenz; the "
                "time integral of the latter is computed by the trapezoidal rule over the records."},
      build_kepler};
}

}  // namespace bathline
