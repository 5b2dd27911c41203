// Derivatives by central differences of order six: accurate to about 1e-12 where function values are good to round-off.
#pragma once

#include <Eigen/Core>
#include <functional>

namespace bathline {

/// Jacobian of `map` at `x`.
inline Eigen::MatrixXd jacobian_of(const std::function<Eigen::VectorXd(const Eigen::VectorXd&)>& map,
                                   const Eigen::VectorXd& x, double width = 5e-3) {
  Eigen::MatrixXd jacobian;
  for (Eigen::Index column = 0; column < x.size(); ++column) {
    const auto shifted = [&](double offset) -> Eigen::VectorXd {
      Eigen::VectorXd moved = x;
      moved[column] += offset * width;
      return map(moved);
    };
    const Eigen::VectorXd derivative = (45.0 * (shifted(1.0) - shifted(-1.0)) - 9.0 * (shifted(2.0) - shifted(-2.0)) +
                                        (shifted(3.0) - shifted(-3.0))) /
                                       (60.0 * width);
    if (column == 0) jacobian.resize(derivative.size(), x.size());
    jacobian.col(column) = derivative;
  }
  return jacobian;
}

/// Gradient of a number.
inline Eigen::VectorXd gradient_of(const std::function<double(const Eigen::VectorXd&)>& value, const Eigen::VectorXd& x,
                                   double width = 5e-3) {
  return jacobian_of([&](const Eigen::VectorXd& point) { return Eigen::VectorXd::Constant(1, value(point)); }, x, width)
      .transpose();
}

}  // namespace bathline
