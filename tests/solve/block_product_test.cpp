// Products of small blocks: the bits of those of Eigen.
#include "solve/block_product.hpp"

#include <gtest/gtest.h>

#include <random>

namespace bathline::block_product_test {
namespace {

template <int S>
void expect_bits_of_eigen() {
  using Block = Eigen::Matrix<double, S, S>;
  using Value = Eigen::Matrix<double, S, 1>;
  std::mt19937 random(S);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 100; ++trial) {
    const Block a = Block::NullaryExpr([&] { return normal(random); });
    const Block b = Block::NullaryExpr([&] { return normal(random); });
    const Value x = Value::NullaryExpr([&] { return normal(random); });
    const Block of_blocks = a * b;
    const Value of_value = a * x;
    EXPECT_EQ(times(a, b), of_blocks);
    EXPECT_EQ(times(a, x), of_value);
  }
}

TEST(BlockProduct, HasTheBitsOfEigen) {
  expect_bits_of_eigen<1>();
  expect_bits_of_eigen<2>();
  expect_bits_of_eigen<3>();
  expect_bits_of_eigen<4>();
  expect_bits_of_eigen<5>();
}

}  // namespace
}  // namespace bathline::block_product_test
