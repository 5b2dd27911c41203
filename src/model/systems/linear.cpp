// Particles with linear forces and linear damping, `linear` with any matrices and three systems of the papers with
// given ones.
//
//   M q'' + C q' + K q = 0,   V = q^T K q / 2
//   single: m q'' + k q + D q' = 0                                                        (limebeer2020, Fig. 2a)
//   dual:   m0 q0'' + k0 q0 = D (Q0' - q0'),  M0 Q0'' + K0 Q0 = -D (Q0' - q0')            (limebeer2020, Fig. 2b)
//   binary: m1 q1'' = -k (q1 - q2) - D1 q1',  m2 q2'' = k (q1 - q2) - D2 q2'              (farshi2018, Fig. 6a)
//
// Source: luo2010, eq. (17), there with M = 1. K is symmetric, so that the forces have a potential, and may be
// indefinite; C is symmetric positive semi-definite, so that it dissipates energy. M is diagonal, as every mass is that
// of a particle.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "model/systems/damping_matrix.hpp"
#include "model/systems/matrix_parameter.hpp"
#include "model/systems/external_forces.hpp"
#include "model/system_catalogue.hpp"
#include "recipe/describe.hpp"

namespace bathline {

namespace {

/// The square of the difference of two coordinates, as a quadratic form.
const Eigen::MatrixXd difference{{1.0, -1.0}, {-1.0, 1.0}};

/// The diagonal of M; ones, and a mistake, where M is invalid.
Eigen::VectorXd read_masses(const Section& section, int particles, Mistakes& mistakes) {
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(particles);
  const std::optional<Eigen::MatrixXd> matrix = read_symmetric_matrix(section, "M", particles, mistakes);
  if (!matrix) return ones;
  for (int a = 0; a < particles; ++a) {
    for (int b = 0; b < a; ++b) {
      if ((*matrix)(a, b) == 0.0) continue;
      mistakes.add(section.where("M"),
                   fmt::format("`M` is not diagonal: M[{}][{}] = {}; masses belong to particles, so transform to "
                               "coordinates in which M is diagonal, such as the generalised eigenvectors of K and M",
                               a, b, (*matrix)(a, b)));
      return ones;
    }
  }
  for (int a = 0; a < particles; ++a) {
    if ((*matrix)(a, a) > 0.0) continue;
    mistakes.add(section.where("M"), fmt::format("`M` is not positive: the mass of particle {} is {}{}", a,
                                                 (*matrix)(a, a), (*matrix)(a, a) == 0.0 ? how_to_hold : ""));
    return ones;
  }
  return matrix->diagonal();
}

void build_linear(const Section& section, const Catalogue<PotentialKind>&, ParticleSystem& system, Mistakes& mistakes) {
  system.particles = static_cast<int>(section.rows("M").size());
  if (system.particles == 0) {
    mistakes.add(section.where("M"), "`M` is empty: a system has at least one particle");
    return;
  }
  read_start(section, system, mistakes);
  system.mass = read_masses(section, system.particles, mistakes);
  const std::optional<Eigen::MatrixXd> stiffness = read_symmetric_matrix(section, "K", system.particles, mistakes);
  system.potential = std::make_shared<QuadraticPotential>(
      stiffness.value_or(Eigen::MatrixXd::Zero(system.particles, system.particles)));
  system.damping = read_damping_matrix(section, system.particles, system.axes, mistakes, "C");
}

/// Reads the start, and the masses under these keys, one for each particle.
void build_oscillators(const Section& section, ParticleSystem& system, Mistakes& mistakes,
                       std::initializer_list<const char*> masses) {
  system.particles = static_cast<int>(masses.size());
  read_start(section, system, mistakes);
  system.mass.resize(system.particles);
  std::transform(masses.begin(), masses.end(), system.mass.begin(),
                 [&](const char* key) { return section.number(key); });
}

void build_single(const Section& section, const Catalogue<PotentialKind>&, ParticleSystem& system, Mistakes& mistakes) {
  build_oscillators(section, system, mistakes, {"m"});
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Constant(1, 1, section.number("k")));
  if (section.has("damping")) system.damping = Eigen::MatrixXd::Constant(1, 1, section.number("damping"));
}

void build_dual(const Section& section, const Catalogue<PotentialKind>&, ParticleSystem& system, Mistakes& mistakes) {
  build_oscillators(section, system, mistakes, {"m0", "M0"});
  system.potential =
      std::make_shared<QuadraticPotential>(Eigen::MatrixXd{{section.number("k0"), 0.0}, {0.0, section.number("K0")}});
  if (section.has("damping")) system.damping = section.number("damping") * difference;
}

void build_binary(const Section& section, const Catalogue<PotentialKind>&, ParticleSystem& system, Mistakes& mistakes) {
  build_oscillators(section, system, mistakes, {"m1", "m2"});
  system.potential = std::make_shared<QuadraticPotential>(section.number("k") * difference);
  system.damping = read_damping_matrix(section, system.particles, system.axes, mistakes);
}

Parameter damping_constant() {
  return optional("damping", ValueType::number, "kg/s",
                  "damping constant of open runs; where absent, the damping that the environments imply",
                  Bound::nonnegative);
}

}  // namespace

SystemKind linear_kind() {
  return {
      {.name = "linear",
       .summary = "any number of particles with linear forces and linear damping",
       .equation = "M q'' + C q' + K q = 0",
       .source = "luo2010, eq. (17)",
       .parameters = with_start_and_forces(
           {required("M", ValueType::rows, "kg",
                     "masses: one number per particle, or a diagonal matrix as one list per particle"),
            required("K", ValueType::rows, "N/m",
                     "stiffness: a symmetric matrix as one list per particle, or its diagonal"),
            damping_matrix_parameter("C")}),
       .notes = "Particles have one axis; motion in the plane takes two of them. C = [[0.3, -0.1], [-0.1, 0.1]] damps "
                "two particles; K may be indefinite."},
      build_linear};
}

SystemKind single_oscillator_kind() {
  return {{.name = "single-oscillator",
           .summary = "one particle on a spring, damped",
           .equation = "m q'' + k q + D q' = 0",
           .source = "limebeer2020, Fig. 2a",
           .parameters = with_start_and_forces(
               {required("m", ValueType::number, "kg", "mass", Bound::positive),
                required("k", ValueType::number, "N/m", "stiffness", Bound::nonnegative), damping_constant()}),
           .notes = "One particle with one axis."},
          build_single};
}

SystemKind dual_oscillator_kind() {
  return {
      {.name = "dual-oscillator",
       .summary = "two particles, each on a spring, with a damper between them",
       .equation = "m0 q0'' + k0 q0 = D (Q0' - q0')\nM0 Q0'' + K0 Q0 = -D (Q0' - q0')",
       .source = "limebeer2020, Fig. 2b, eq. (28)",
       .parameters = with_start_and_forces(
           {required("m0", ValueType::number, "kg", "mass of the first (small) particle", Bound::positive),
            required("k0", ValueType::number, "N/m", "stiffness of its spring", Bound::nonnegative),
            required("M0", ValueType::number, "kg", "mass of the second (large) particle", Bound::positive),
            required("K0", ValueType::number, "N/m", "stiffness of its spring", Bound::nonnegative),
            damping_constant()}),
       .notes =
           "Particles in the order small, large: q0 = [q0, Q0]. Close it with a spring-inerter-line, attach = [0, 1]."},
      build_dual};
}

SystemKind binary_oscillator_kind() {
  return {{.name = "binary-oscillator",
           .summary = "two particles joined by a spring, each with a damper to the ground",
           .equation = "m1 q1'' = -k (q1 - q2) - D1 q1'\nm2 q2'' =  k (q1 - q2) - D2 q2'",
           .source = "farshi2018, Fig. 6a: V = k (q1 - q2)^2 / 2",
           .parameters = with_start_and_forces(
               {required("m1", ValueType::number, "kg", "mass of the first particle", Bound::positive),
                required("m2", ValueType::number, "kg", "mass of the second particle", Bound::positive),
                required("k", ValueType::number, "N/m", "stiffness of the spring between them", Bound::nonnegative),
                damping_matrix_parameter()}),
           .notes = "damping = [D1, D2]. Close it with a spring-mass-line on each particle."},
          build_binary};
}

}  // namespace bathline
