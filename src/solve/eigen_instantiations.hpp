// Eigen's decompositions and products that many translation units use, instantiated once: each takes seconds to
// compile. CMakeLists.txt includes this header before all others of the project.
// Tested by tests/solve/eigen_instantiations_test.cpp.
#pragma once

#include <Eigen/Dense>

/// Every instance, declared with `extern` and defined without.
#define BATHLINE_EIGEN_INSTANTIATIONS(EXTERN)                                                                          \
  namespace Eigen {                                                                                                    \
  EXTERN template PartialPivLU<MatrixXd>::PartialPivLU(const EigenBase<MatrixXd>&);                                    \
  EXTERN template void PartialPivLU<MatrixXd>::compute();                                                              \
  EXTERN template void PartialPivLU<MatrixXd>::_solve_impl(const VectorXd&, VectorXd&) const;                          \
  EXTERN template void PartialPivLU<MatrixXd>::_solve_impl(const MatrixXd&, MatrixXd&) const;                          \
  EXTERN template void PartialPivLU<Matrix<double, 5, 5>>::compute();                                                  \
  EXTERN template void PartialPivLU<Matrix<double, 5, 5>>::_solve_impl(                                                \
      const CwiseNullaryOp<internal::scalar_identity_op<double>, Matrix<double, 5, 5>>&, Matrix<double, 5, 5>&) const; \
  EXTERN template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::compute(                         \
      const EigenBase<MatrixXd>&, int);                                                                                \
  EXTERN template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::computeFromTridiagonal(          \
      const VectorXd&, const Tridiagonalization<MatrixXd>::SubDiagonalType&, int);                                     \
  namespace internal {                                                                                                 \
  EXTERN template struct general_matrix_matrix_product<Index, double, ColMajor, false, double, ColMajor, false,        \
                                                       ColMajor, 1>;                                                   \
  EXTERN template struct general_matrix_matrix_product<Index, double, RowMajor, false, double, ColMajor, false,        \
                                                       ColMajor, 1>;                                                   \
  EXTERN template struct general_matrix_matrix_product<Index, double, ColMajor, false, double, RowMajor, false,        \
                                                       ColMajor, 1>;                                                   \
  EXTERN template struct general_matrix_matrix_product<Index, double, RowMajor, false, double, RowMajor, false,        \
                                                       ColMajor, 1>;                                                   \
  EXTERN template struct general_matrix_vector_product<Index, double, const_blas_data_mapper<double, Index, 0>, 0,     \
                                                       false, double, const_blas_data_mapper<double, Index, 0>, false, \
                                                       0>;                                                             \
  EXTERN template struct general_matrix_vector_product<Index, double, const_blas_data_mapper<double, Index, 0>, 0,     \
                                                       false, double, const_blas_data_mapper<double, Index, 1>, false, \
                                                       0>;                                                             \
  EXTERN template struct general_matrix_vector_product<Index, double, const_blas_data_mapper<double, Index, 1>, 1,     \
                                                       false, double, const_blas_data_mapper<double, Index, 0>, false, \
                                                       0>;                                                             \
  EXTERN template struct general_matrix_vector_product<Index, double, const_blas_data_mapper<double, Index, 1>, 1,     \
                                                       false, double, const_blas_data_mapper<double, Index, 1>, false, \
                                                       0>;                                                             \
  }                                                                                                                    \
  }

BATHLINE_EIGEN_INSTANTIATIONS(extern)
