// Products of the small blocks that lines and stars are eliminated by, one for each stage.
//
// Eigen has them, too, with the same sums. But it instantiates two dozen types for every expression that a product
// stands in, for each of five numbers of stages, which took a good part of what the program takes to compile.
// Tested by tests/solve/block_product_test.cpp.
#pragma once

#include <Eigen/Core>

namespace bathline {

/// sum_k a_k b_k by halves; `a` is a row of a block, `b` a column.
template <int Rows, int Count>
double sum_by_halves(const double* a, const double* b) {
  if constexpr (Count == 1) {
    return *a * *b;
  } else {
    constexpr int half = Count / 2;
    return sum_by_halves<Rows, half>(a, b) + sum_by_halves<Rows, Count - half>(a + Rows * half, b + half);
  }
}

/// a b, of which `b` may be a column.
template <int S, int Columns>
Eigen::Matrix<double, S, Columns> times(const Eigen::Matrix<double, S, S>& a,
                                        const Eigen::Matrix<double, S, Columns>& b) {
  Eigen::Matrix<double, S, Columns> product;
  for (int j = 0; j < Columns; ++j) {
    for (int i = 0; i < S; ++i) product.data()[S * j + i] = sum_by_halves<S, S>(a.data() + i, b.data() + S * j);
  }
  return product;
}

}  // namespace bathline
