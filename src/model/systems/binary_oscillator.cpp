// Two particles joined by a spring, each with a damper to the ground.
//
//   m1 q1'' = -k (q1 - q2) - (C q')_1,  m2 q2'' = k (q1 - q2) - (C q')_2,  C = diag(D1, D2)   (farshi2018, Fig. 6a)
// Tested by tests/properties/systems_test.cpp.
#include "model/systems/damping_matrix.hpp"
#include "model/systems/external_forces.hpp"
#include "model/system_catalogue.hpp"

namespace bathline {

namespace {

void build_binary_oscillator(const Section& section, const Catalogue<PotentialKind>&, ParticleSystem& system,
                             Mistakes& mistakes) {
  system.particles = 2;
  read_start(section, system, mistakes);
  system.mass = Eigen::VectorXd{{section.number("m1"), section.number("m2")}};
  system.potential =
      std::make_shared<QuadraticPotential>(section.number("k") * Eigen::MatrixXd{{1.0, -1.0}, {-1.0, 1.0}});
  system.damping = read_damping_matrix(section, system.particles, system.axes, mistakes);
}

}  // namespace

SystemKind binary_oscillator_kind() {
  std::vector<Parameter> parameters = {
      {.name = "m1", .units = "kg", .doc = "mass of the first particle", .required = true, .bound = Bound::positive},
      {.name = "m2", .units = "kg", .doc = "mass of the second particle", .required = true, .bound = Bound::positive},
      {.name = "k",
       .units = "N/m",
       .doc = "stiffness of the spring between them",
       .required = true,
       .bound = Bound::nonnegative},
      damping_matrix_parameter()};
  for (Parameter& parameter : start_parameters()) parameters.push_back(std::move(parameter));
  for (Parameter& parameter : external_force_parameters()) parameters.push_back(std::move(parameter));
  return {{.name = "binary-oscillator",
           .summary = "two particles joined by a spring, each with a damper to the ground",
           .equation = "m1 q1'' = -k (q1 - q2) - D1 q1'\nm2 q2'' =  k (q1 - q2) - D2 q2'",
           .source = "farshi2018, Fig. 6a: V = k (q1 - q2)^2 / 2",
           .parameters = std::move(parameters),
           .notes = "damping = [D1, D2]. Close it with a spring-mass-line on each particle."},
          build_binary_oscillator};
}

}  // namespace bathline
