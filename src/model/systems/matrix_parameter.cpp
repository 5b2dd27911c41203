// Reading symmetric matrices with a row for each particle.
// Tested by tests/model/systems/linear_test.cpp.
#include "model/systems/matrix_parameter.hpp"

#include <fmt/format.h>

namespace bathline {

std::optional<Eigen::MatrixXd> read_symmetric_matrix(const Section& section, const std::string& key, int particles,
                                                     Mistakes& mistakes) {
  const Section::Rows& rows = section.rows(key);
  const auto n = static_cast<std::size_t>(particles);
  const bool is_diagonal = rows.size() == n && rows.front().size() == 1;
  if (!is_diagonal && (rows.size() != n || rows.front().size() != n)) {
    mistakes.add(section.where(key),
                 fmt::format("`{0}` has the wrong size: must be {1} number(s), one per particle, or a symmetric matrix "
                             "as {1} lists of {1} numbers",
                             key, particles));
    return std::nullopt;
  }
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(particles, particles);
  for (int a = 0; a < particles; ++a) {
    if (is_diagonal) matrix(a, a) = rows[a][0];
    for (int b = 0; b < particles && !is_diagonal; ++b) matrix(a, b) = rows[a][b];
  }
  for (int a = 0; a < particles; ++a) {
    for (int b = 0; b < a; ++b) {
      if (matrix(a, b) == matrix(b, a)) continue;
      mistakes.add(section.where(key),
                   fmt::format("`{0}` is not symmetric: {0}[{1}][{2}] = {3} but {0}[{2}][{1}] = {4}", key, a, b,
                               matrix(a, b), matrix(b, a)));
      return std::nullopt;
    }
  }
  return matrix;
}

}  // namespace bathline
