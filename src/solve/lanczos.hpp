// Extremal eigenvalues of large symmetric matrices.
#pragma once

#include <functional>

#include "solve/dense.hpp"

namespace bathline {

/// y = A x with a symmetric matrix A.
using SymmetricProduct = std::function<void(const Eigen::VectorXd& x, Eigen::VectorXd& y)>;

/// The `lowest` smallest and the `highest` largest eigenvalues of a symmetric matrix in ascending order, fewer if it
/// has fewer distinct ones, by at most 240 products: to round-off if the matrix is no larger than that or if these
/// eigenvalues are well separated. If many are clustered at an end they are approximated from inside the spectrum, with
/// errors of up to 10^-4 of its width.
SymmetricEigen extremal_eigenvalues(const SymmetricProduct& product, Eigen::Index size, Eigen::Index lowest,
                                    Eigen::Index highest);

}  // namespace bathline
