// The damping matrix C of several particles: q'^T C q' is the power lost, so C is symmetric positive semi-definite.
// Source: farshi2018, eq. (25), where it is called -Lambda~.
// Tested by tests/properties/systems_test.cpp.
#include "model/systems/damping_matrix.hpp"

#include <fmt/format.h>

#include <limits>

#include "model/formula/index_formula.hpp"
#include "model/systems/matrix_parameter.hpp"
#include "solve/dense.hpp"

namespace bathline {

Parameter damping_matrix_parameter(const std::string& key) {
  return {.name = key,
          .type = ValueType::rows,
          .units = "kg/s",
          .doc =
              "damping of open runs: one constant per particle, one number for all, a formula in the particle's index "
              "`i`, from 0, and the number `n` of particles, or a symmetric positive semi-definite matrix as one list "
              "per particle; where absent, the damping that the environments imply",
          .alternative_types = {ValueType::number, ValueType::text}};
}

std::optional<Eigen::MatrixXd> read_damping_matrix(const Section& section, int particles, int axes, Mistakes& mistakes,
                                                   const std::string& key) {
  if (!section.has(key)) return std::nullopt;
  std::optional<Eigen::MatrixXd> matrix;
  if (section.holds<double>(key) || section.holds<std::string>(key)) {
    matrix = read_by_particle(section, key, particles, Bound::nonnegative, mistakes).asDiagonal();
  } else {
    matrix = read_symmetric_matrix(section, key, particles, mistakes);
  }
  if (!matrix) return std::nullopt;
  // Round-off of the decomposition must not be reported as a mistake: [[1, -1], [-1, 1]] may have the eigenvalue
  // -1e-16.
  const double roundoff = 8.0 * particles * std::numeric_limits<double>::epsilon() * matrix->norm();
  Eigen::MatrixXd lifted = *matrix;
  lifted.diagonal().array() += 2.0 * roundoff;
  // For many particles the Cholesky decomposition takes a fraction of the time of eigenvalues.
  double lowest = 0.0;
  if (matrix->isDiagonal(0.0)) {
    lowest = matrix->diagonal().minCoeff();
  } else if (!is_positive_definite(lifted)) {
    lowest = symmetric_eigen(*matrix).values[0];
  }
  if (lowest < -roundoff) {
    mistakes.add(section.where(key),
                 fmt::format("`{}` has the eigenvalue {:.6g}, but it must be positive semi-definite to dissipate "
                             "energy",
                             key, lowest));
    return std::nullopt;
  }
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(particles * axes, particles * axes);
  for (int a = 0; a < particles; ++a) {
    for (int b = 0; b < particles; ++b) {
      for (int axis = 0; axis < axes; ++axis) all(a * axes + axis, b * axes + axis) = (*matrix)(a, b);
    }
  }
  return all;
}

}  // namespace bathline
