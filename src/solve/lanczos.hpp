// The outermost eigenvalues of large symmetric matrices.
#pragma once

#include <functional>

#include "solve/dense.hpp"

namespace bathline {

/// y = A x with a symmetric matrix A.
using SymmetricProduct = std::function<void(const Eigen::VectorXd& x, Eigen::VectorXd& y)>;

/// The lowest and the highest eigenvalues of a symmetric matrix, as many as asked for where it has so many different
/// ones, ascending, by at most 240 products: to round-off where the matrix is no larger, or where they lie apart. Where
/// many lie together at an end they are found from within, by up to 10^-4 of the range of all.
SymmetricEigen extremal_eigenvalues(const SymmetricProduct& product, Eigen::Index size, Eigen::Index lowest,
                                    Eigen::Index highest);

}  // namespace bathline
