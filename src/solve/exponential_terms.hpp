// Matrix exponentials between a row and a column as sums of exponentials.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <vector>

namespace bathline {

/// 2 Re(weight exp(-rate t)) where the rate has a positive imaginary part, weight exp(-rate t) where it is real.
struct EigenvalueTerm {
  std::complex<double> rate, weight;
};
/// row exp(-a t) column as such terms. Where eigenvalues are equal and share an eigenvector (a Jordan block) they are
/// split by that change of a, of at most 1e-9 of its eigenvalues, which has the smallest error.
struct ExponentialTerms {
  std::vector<EigenvalueTerm> terms;
  double size = 0.0;   ///< norms of row and column
  double error = 0.0;  ///< largest absolute error at times from 1e-2 to 1e4 over the norm of a, over `size`
};
ExponentialTerms exponential_terms(const Eigen::RowVectorXd& row, const Eigen::MatrixXd& a,
                                   const Eigen::VectorXd& column);

}  // namespace bathline
