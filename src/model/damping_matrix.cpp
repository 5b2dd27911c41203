// The damping matrix C of several particles: q'^T C q' is the power lost, so C is symmetric positive semi-definite.
// Source: farshi2018, eq. (25), where it is called -Lambda~.
#include "model/damping_matrix.hpp"

#include <fmt/format.h>

#include <limits>

#include "solve/dense.hpp"

namespace bathline {

namespace {

/// The matrix between particles, or nothing and a mistake.
std::optional<Eigen::MatrixXd> read_matrix(const Section& section, int particles, Mistakes& mistakes) {
  const Section::Rows& rows = section.rows("damping");
  const auto n = static_cast<std::size_t>(particles);
  const bool is_diagonal = rows.size() == n && rows.front().size() == 1;
  if (!is_diagonal && (rows.size() != n || rows.front().size() != n)) {
    mistakes.add(section.where("damping"),
                 fmt::format("`damping` has the wrong size: must be {0} number(s), one per particle, or a symmetric "
                             "matrix as {0} lists of {0} numbers",
                             particles));
    return std::nullopt;
  }
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(particles, particles);
  for (int a = 0; a < particles; ++a) {
    if (is_diagonal) matrix(a, a) = rows[a][0];
    for (int b = 0; b < particles && !is_diagonal; ++b) matrix(a, b) = rows[a][b];
  }
  return matrix;
}

bool is_symmetric(const Eigen::MatrixXd& matrix, const Location& where, Mistakes& mistakes) {
  for (Eigen::Index a = 0; a < matrix.rows(); ++a) {
    for (Eigen::Index b = 0; b < a; ++b) {
      if (matrix(a, b) == matrix(b, a)) continue;
      mistakes.add(where, fmt::format("`damping` is not symmetric: damping[{0}][{1}] = {2} but damping[{1}][{0}] = {3}",
                                      a, b, matrix(a, b), matrix(b, a)));
      return false;
    }
  }
  return true;
}

}  // namespace

Parameter damping_matrix_parameter() {
  return {.name = "damping",
          .type = ValueType::rows,
          .units = "kg/s",
          .doc =
              "damping of open runs: one constant per particle, or a symmetric positive semi-definite matrix as one "
              "list per particle; where absent, what the environments imply"};
}

std::optional<Eigen::MatrixXd> read_damping_matrix(const Section& section, int particles, int axes,
                                                   Mistakes& mistakes) {
  if (!section.has("damping")) return std::nullopt;
  const Location where = section.where("damping");
  const std::optional<Eigen::MatrixXd> matrix = read_matrix(section, particles, mistakes);
  if (!matrix || !is_symmetric(*matrix, where, mistakes)) return std::nullopt;
  const Eigen::VectorXd eigenvalues = symmetric_eigen(*matrix).values;
  // What the decomposition itself is uncertain about is no mistake of the user: [[1, -1], [-1, 1]] may come out with
  // the eigenvalue -1e-16.
  const double roundoff = 8.0 * particles * std::numeric_limits<double>::epsilon() * matrix->norm();
  if (eigenvalues[0] < -roundoff) {
    mistakes.add(where, fmt::format("`damping` would feed energy in: it has the eigenvalue {:.6g} and must be positive "
                                    "semi-definite",
                                    eigenvalues[0]));
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
