// A change of a matrix by c splits m equal eigenvalues by about c^(1/m), and changes its exponential by about c.
// Tested by tests/command_line/import_test.py.
#include "solve/exponential_terms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "solve/dense.hpp"
#include "solve/larger_or_nan.hpp"
#include "solve/linear_flow.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// By the eigenvectors of a.
std::vector<EigenvalueTerm> terms_of_eigenvectors(const Eigen::RowVectorXd& row, const MatrixXd& a,
                                                  const VectorXd& column) {
  const auto [values, vectors] = real_eigen(a);
  const Eigen::RowVectorXd left = row * vectors;
  const VectorXd right = Lu(vectors).solve(column);
  std::vector<EigenvalueTerm> terms;
  for (Index j = 0; j < a.rows(); ++j) {
    const std::complex<double> rate = values[j];
    if (rate.imag() == 0.0) {
      terms.push_back({rate, left[j] * right[j]});
    } else if (rate.imag() > 0.0) {
      terms.push_back({rate,
                       {0.5 * (left[j] * right[j] + left[j + 1] * right[j + 1]),
                        0.5 * (left[j + 1] * right[j] - left[j] * right[j + 1])}});
    }
  }
  return terms;
}

double sum_at(const std::vector<EigenvalueTerm>& terms, double time) {
  double sum = 0.0;
  for (const auto& [rate, weight] : terms) {
    sum += (rate.imag() > 0.0 ? 2.0 : 1.0) * (weight * std::exp(-rate * time)).real();
  }
  return sum;
}

}  // namespace

ExponentialTerms exponential_terms(const Eigen::RowVectorXd& row, const MatrixXd& a, const VectorXd& column) {
  const auto [t, u] = real_schur(a);
  const Eigen::RowVectorXd schur_row = row * u;
  const VectorXd schur_column = u.transpose() * column, sizes = eigenvalues(t).cwiseAbs();
  std::vector<std::pair<double, double>> exact;  // a time and the sum
  for (double time = 1e-2 / a.norm(); time < 1e4 / a.norm(); time *= 2.0) {
    const double sum = row.dot(matrix_exponential(-time * a) * column);
    if (std::isfinite(sum)) exact.emplace_back(time, sum);  // else it grows beyond all numbers
  }
  ExponentialTerms best{
      .terms = {}, .size = row.norm() * column.norm(), .error = std::numeric_limits<double>::infinity()};
  for (const double change : {0.0, 1e-12, 1e-11, 1e-10, 1e-9}) {
    MatrixXd changed = t;
    for (Index i = 0; i < t.rows(); ++i) {
      for (Index j = 0; j < i; ++j) changed(i, j) -= change * std::min(sizes[i], sizes[j]);
    }
    std::vector<EigenvalueTerm> terms = terms_of_eigenvectors(schur_row, changed, schur_column);
    double error = 0.0;
    for (const auto& [time, sum] : exact) {
      error = larger_or_nan(error, std::abs(sum_at(terms, time) - sum) / std::max(best.size, 1e-300));
    }
    if (!(error < best.error)) continue;
    best.terms = std::move(terms);
    best.error = error;
    if (change == 0.0 && error < 1e-12) break;
  }
  return best;
}

}  // namespace bathline
