// Two van der Pol oscillators joined by a spring.
//
//   L = (q1'^2 + q2'^2)/2 - (q1^2 + (1 + rho) q2^2)/2 - lambda (q1 - q2)^2/2,   f_a = (epsilon - q_a^2) q_a'
//
// Source: martin2018, section 7.1. Unit masses. The force supplies energy where |q_a| < sqrt(epsilon) and dissipates it
// elsewhere.
// Tested by tests/properties/systems_test.cpp.
#include "model/systems/external_forces.hpp"
#include "model/system_catalogue.hpp"

namespace bathline {

namespace {

/// f_a = (epsilon - q_a^2) v_a.
class VanDerPolForce final : public Force {
 public:
  explicit VanDerPolForce(double epsilon) : epsilon_(epsilon) {}
  void value(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double, Eigen::VectorXd& force) const override {
    force = (epsilon_ - q.array().square()) * v.array();
  }
  void jacobians(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double, Eigen::MatrixXd& by_q,
                 Eigen::MatrixXd& by_v) const override {
    by_q = (-2.0 * q.array() * v.array()).matrix().asDiagonal();
    by_v = (epsilon_ - q.array().square()).matrix().asDiagonal();
  }

 private:
  double epsilon_;
};

void build_coupled_van_der_pol(const Section& section, const Catalogue<PotentialKind>&, ParticleSystem& system,
                               Mistakes& mistakes) {
  system.particles = 2;
  read_start(section, system, mistakes);
  system.mass = Eigen::VectorXd::Ones(2);
  const double rho = section.number("rho"), lambda = section.number("lambda");
  system.potential =
      std::make_shared<QuadraticPotential>(Eigen::MatrixXd{{1.0 + lambda, -lambda}, {-lambda, 1.0 + rho + lambda}});
  system.force = std::make_shared<VanDerPolForce>(section.number("epsilon"));
  system.damping = Eigen::MatrixXd::Zero(2, 2);
}

}  // namespace

SystemKind coupled_van_der_pol_kind() {
  return {
      {.name = "coupled-van-der-pol",
       .summary = "two van der Pol oscillators joined by a spring",
       .equation = "q1'' = -q1 - lambda (q1 - q2) + (epsilon - q1^2) q1'\n"
                   "q2'' = -(1 + rho) q2 + lambda (q1 - q2) + (epsilon - q2^2) q2'",
       .source = "martin2018, section 7.1",
       .parameters = with_start_and_forces(
           {required("epsilon", ValueType::number, "kg/s", "negative damping of the force at the origin",
                     Bound::nonnegative),
            required("rho", ValueType::number, "N/m",
                     "stiffness of the second oscillator minus that of the first, which is 1", Bound::nonnegative),
            required("lambda", ValueType::number, "N/m", "stiffness of the spring between them", Bound::nonnegative)}),
       .notes = "Unit masses. The power of the force has either sign; energy_dissipated is minus its work. It acts in "
                "closed runs as well, in addition to the environments."},
      build_coupled_van_der_pol};
}

}  // namespace bathline
