// Example of a user-defined system: a pendulum, with its angle as the coordinate.
//
//   L = m l^2 theta'^2 / 2 + m g l cos(theta)
//
// A potential has a value, a gradient and a Hessian; explicit, implicit and exact methods, environments, stability
// limits and the ledger need nothing else.
#include <cmath>

#include "command_line/run_program.hpp"
#include "builtin_catalogues.hpp"

using namespace bathline;

class PendulumPotential final : public Potential {
 public:
  explicit PendulumPotential(double weight) : weight_(weight) {}
  double value(const Eigen::VectorXd& q) const override { return weight_ * (1.0 - std::cos(q[0])); }
  void gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const override {
    gradient = Eigen::VectorXd::Constant(1, weight_ * std::sin(q[0]));
  }
  void hessian(const Eigen::VectorXd& q, Eigen::MatrixXd& hessian) const override {
    hessian = Eigen::MatrixXd::Constant(1, 1, weight_ * std::cos(q[0]));
  }

 private:
  double weight_;  ///< m g l, J
};

void build(const Section& section, const Catalogue<PotentialKind>&, ParticleSystem& system, Mistakes& mistakes) {
  system.particles = 1;
  read_start(section, system, mistakes);
  const double m = section.number("m"), l = section.number("l");
  system.mass = Eigen::VectorXd::Constant(1, m * l * l);
  system.potential = std::make_shared<PendulumPotential>(m * section.number("g") * l);
  system.damping = Eigen::MatrixXd::Zero(1, 1);
}

SystemKind pendulum_kind() {
  return {{.name = "pendulum",
           .summary = "plane pendulum with its angle as the coordinate",
           .equation = "m l^2 theta'' + m g l sin(theta) = 0",
           .source = "arnold1989, section 4",
           .parameters = with_start(
               {{.name = "m", .units = "kg", .doc = "mass of the bob", .required = true, .bound = Bound::positive},
                {.name = "l", .units = "m", .doc = "length", .required = true, .bound = Bound::positive},
                {.name = "g",
                 .units = "m/s^2",
                 .doc = "acceleration of gravity",
                 .default_value = "9.81",
                 .bound = Bound::positive}})},
          build};
}

int main(int argc, char** argv) {
  Catalogues catalogues = builtin_catalogues();
  catalogues.systems.add(pendulum_kind());
  return run_program(argc, argv, catalogues);
}
