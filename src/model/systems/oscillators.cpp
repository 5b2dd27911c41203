// Linear oscillators: one particle on a spring, and two particles each on a spring with a damper between them.
//
//   single: m q'' + k q + D q' = 0                                                        (limebeer2020, Fig. 2a)
//   dual:   m0 q0'' + k0 q0 = D (Q0' - q0'),  M0 Q0'' + K0 Q0 = -D (Q0' - q0')            (limebeer2020, Fig. 2b)
#include "model/systems/external_forces.hpp"
#include "model/system_catalogue.hpp"

namespace bathline {

namespace {

Parameter damping_parameter() {
  return {.name = "damping",
          .units = "kg/s",
          .doc = "damping constant of open runs; where absent, the damping that the environments imply",
          .bound = Bound::nonnegative};
}

void build_single(const Section& section, const Catalogue<PotentialKind>&, ParticleSystem& system, Mistakes& mistakes) {
  system.particles = 1;
  read_start(section, system, mistakes);
  system.mass = Eigen::VectorXd::Constant(1, section.number("m"));
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Constant(1, 1, section.number("k")));
  if (section.has("damping")) system.damping = Eigen::MatrixXd::Constant(1, 1, section.number("damping"));
}

void build_dual(const Section& section, const Catalogue<PotentialKind>&, ParticleSystem& system, Mistakes& mistakes) {
  system.particles = 2;
  read_start(section, system, mistakes);
  system.mass = Eigen::VectorXd{{section.number("m0"), section.number("M0")}};
  const Eigen::MatrixXd stiffness{{section.number("k0"), 0.0}, {0.0, section.number("K0")}};
  system.potential = std::make_shared<QuadraticPotential>(stiffness);
  if (section.has("damping")) system.damping = section.number("damping") * Eigen::MatrixXd{{1.0, -1.0}, {-1.0, 1.0}};
}

std::vector<Parameter> with_start(std::vector<Parameter> parameters) {
  for (Parameter& parameter : start_parameters()) parameters.push_back(std::move(parameter));
  for (Parameter& parameter : external_force_parameters()) parameters.push_back(std::move(parameter));
  return parameters;
}

}  // namespace

SystemKind single_oscillator_kind() {
  return {{.name = "single-oscillator",
           .summary = "one particle on a spring, damped",
           .equation = "m q'' + k q + D q' = 0",
           .source = "limebeer2020, Fig. 2a",
           .parameters = with_start(
               {{.name = "m", .units = "kg", .doc = "mass", .required = true, .bound = Bound::positive},
                {.name = "k", .units = "N/m", .doc = "stiffness", .required = true, .bound = Bound::nonnegative},
                damping_parameter()}),
           .notes = "One particle with one axis."},
          build_single};
}

SystemKind dual_oscillator_kind() {
  return {
      {.name = "dual-oscillator",
       .summary = "two particles, each on a spring, with a damper between them",
       .equation = "m0 q0'' + k0 q0 = D (Q0' - q0')\nM0 Q0'' + K0 Q0 = -D (Q0' - q0')",
       .source = "limebeer2020, Fig. 2b, eq. (28)",
       .parameters = with_start({{.name = "m0",
                                  .units = "kg",
                                  .doc = "mass of the first (small) particle",
                                  .required = true,
                                  .bound = Bound::positive},
                                 {.name = "k0",
                                  .units = "N/m",
                                  .doc = "stiffness of its spring",
                                  .required = true,
                                  .bound = Bound::nonnegative},
                                 {.name = "M0",
                                  .units = "kg",
                                  .doc = "mass of the second (large) particle",
                                  .required = true,
                                  .bound = Bound::positive},
                                 {.name = "K0",
                                  .units = "N/m",
                                  .doc = "stiffness of its spring",
                                  .required = true,
                                  .bound = Bound::nonnegative},
                                 damping_parameter()}),
       .notes =
           "Particles in the order small, large: q0 = [q0, Q0]. Close it with a spring-inerter-line, attach = [0, 1]."},
      build_dual};
}

}  // namespace bathline
