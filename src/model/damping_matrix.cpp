// The damping matrix C of several particles: q'^T C q' is the power lost, so C is symmetric positive semi-definite.
// Source: farshi2018, eq. (25), where it is called -Lambda~.
#include "model/damping_matrix.hpp"

#include <fmt/format.h>

#include <limits>

#include "model/matrix_parameter.hpp"
#include "solve/dense.hpp"

namespace bathline {

Parameter damping_matrix_parameter(const std::string& key) {
  return {.name = key,
          .type = ValueType::rows,
          .units = "kg/s",
          .doc =
              "damping of open runs: one constant per particle, or a symmetric positive semi-definite matrix as one "
              "list per particle; where absent, what the environments imply"};
}

std::optional<Eigen::MatrixXd> read_damping_matrix(const Section& section, int particles, int axes, Mistakes& mistakes,
                                                   const std::string& key) {
  if (!section.has(key)) return std::nullopt;
  const std::optional<Eigen::MatrixXd> matrix = read_symmetric_matrix(section, key, particles, mistakes);
  if (!matrix) return std::nullopt;
  const Eigen::VectorXd eigenvalues = symmetric_eigen(*matrix).values;
  // What the decomposition itself is uncertain about is no mistake of the user: [[1, -1], [-1, 1]] may come out with
  // the eigenvalue -1e-16.
  const double roundoff = 8.0 * particles * std::numeric_limits<double>::epsilon() * matrix->norm();
  if (eigenvalues[0] < -roundoff) {
    mistakes.add(section.where(key),
                 fmt::format("`{}` would feed energy in: it has the eigenvalue {:.6g} and must be positive "
                             "semi-definite",
                             key, eigenvalues[0]));
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
