// Particles with linear forces and linear damping.
//
//   M q'' + C q' + K q = 0,   V = q^T K q / 2
//
// Source: luo2010, eq. (17), there with M = 1. K is symmetric, so that the forces have a potential, and may be
// indefinite; C is symmetric positive semi-definite, so that it dissipates energy. M is diagonal, as every mass is that
// of a particle.
#include <fmt/format.h>

#include "model/systems/damping_matrix.hpp"
#include "model/systems/matrix_parameter.hpp"
#include "model/systems/external_forces.hpp"
#include "model/system_catalogue.hpp"

namespace bathline {

namespace {

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
    mistakes.add(section.where("M"),
                 fmt::format("`M` is not positive: the mass of particle {} is {}", a, (*matrix)(a, a)));
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

}  // namespace

SystemKind linear_kind() {
  std::vector<Parameter> parameters = {
      {.name = "M",
       .type = ValueType::rows,
       .units = "kg",
       .doc = "masses: one number per particle, or a diagonal matrix as one list per particle",
       .required = true},
      {.name = "K",
       .type = ValueType::rows,
       .units = "N/m",
       .doc = "stiffness: a symmetric matrix as one list per particle, or its diagonal",
       .required = true},
      damping_matrix_parameter("C")};
  for (Parameter& parameter : start_parameters()) parameters.push_back(std::move(parameter));
  for (Parameter& parameter : external_force_parameters()) parameters.push_back(std::move(parameter));
  return {
      {.name = "linear",
       .summary = "any number of particles with linear forces and linear damping",
       .equation = "M q'' + C q' + K q = 0",
       .source = "luo2010, eq. (17)",
       .parameters = std::move(parameters),
       .notes = "Particles have one axis; motion in the plane takes two of them. C = [[0.3, -0.1], [-0.1, 0.1]] damps "
                "two particles; K may be indefinite."},
      build_linear};
}

}  // namespace bathline
