// Taylor series over t = h/2^k, at which all norms are at most 1/2, and doubling:
//
//   E(2t) = E(t)^2,   G(2t) = e^{r t} G(t) + E(t)^T G(t) E(t)
//
// For a definite Q all terms of G have one sign. The block exponential of vanloan1978 contains exp(-A^T t), which grows
// as fast as the fastest motion decays, and loses all digits of G once that is 1/eps. Diagonal entries of E that are
// close to 1 are kept as E - 1, since squaring loses the digits of slow motions: golub2013, section 9.3.
// Tested by tests/solve/dense_test.cpp.
#include "solve/linear_flow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

LinearFlow linear_flow(const MatrixXd& a, double t, const MatrixXd& q, double r) {
  constexpr int terms = 18;  // of the exponential of 1, to round-off
  const Index n = a.rows();
  const double size = n > 0 ? 2.0 * std::abs(t) * std::max(a.cwiseAbs().colwise().sum().maxCoeff(), std::abs(r)) : 0.0;
  if (!std::isfinite(size) || !a.allFinite()) {
    const auto invalid = [](const MatrixXd& shape) -> MatrixXd {
      return MatrixXd::Constant(shape.rows(), shape.cols(), std::numeric_limits<double>::quiet_NaN());
    };
    return {invalid(a), invalid(q)};
  }
  const int doublings = size > 1.0 ? std::ilogb(size) + 1 : 0;
  const double part = std::ldexp(t, -doublings);
  MatrixXd change = MatrixXd::Zero(n, n), power = MatrixXd::Identity(n, n);
  MatrixXd gramian = MatrixXd::Zero(q.rows(), q.cols()), integral = gramian, form = q;
  for (int j = 1; j <= terms; ++j) {
    power = part / j * (power * a);
    change += power;
    if (q.size() == 0) continue;
    integral = part / j * (r * integral + form);
    gramian += integral;
    form = part / j * (a.transpose() * form + form * a);
  }
  VectorXd less_one = change.diagonal();
  MatrixXd flow = change;
  flow.diagonal().array() += 1.0;
  for (int doubling = 0; doubling < doublings; ++doubling) {
    if (q.size() > 0) {
      gramian = std::exp(std::ldexp(r * part, doubling)) * gramian + flow.transpose() * gramian * flow;
    }
    change = flow;
    change.diagonal().setZero();
    less_one = (less_one.array() * (less_one.array() + 2.0)).matrix() +
               change.cwiseProduct(change.transpose()).rowwise().sum();
    flow = flow * flow;
    for (Index i = 0; i < n; ++i) {
      less_one[i] > -0.5 ? flow(i, i) = 1.0 + less_one[i] : less_one[i] = flow(i, i) - 1.0;
    }
  }
  return {std::move(flow), std::move(gramian)};
}

}  // namespace bathline
