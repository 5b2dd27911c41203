// A uniform magnetic field across the plane: with w = B / sqrt(m_x m_y), theta = w t and r = sqrt(m_y / m_x),
//
//   x += sin(theta)/w v_x + r (1 - cos(theta))/w v_y,   v_x = cos(theta) v_x + r sin(theta) v_y
//   y += sin(theta)/w v_y - (1 - cos(theta))/(r w) v_x, v_y = cos(theta) v_y - sin(theta)/r v_x
#include "model/gyration.hpp"

#include <cmath>

namespace bathline {

namespace {

double sine_ratio(double x) { return x == 0.0 ? 1.0 : std::sin(x) / x; }

}  // namespace

Eigen::VectorXd magnetic_force(double field, const Eigen::VectorXd& v) {
  Eigen::VectorXd force(v.size());
  for (Eigen::Index x = 0; x < v.size(); x += 2) {
    force[x] = field * v[x + 1];
    force[x + 1] = -field * v[x];
  }
  return force;
}

Eigen::MatrixXd magnetic_jacobian(double field, Eigen::Index size) {
  Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(size, size);
  for (Eigen::Index x = 0; x < size; x += 2) {
    jacobian(x, x + 1) = field;
    jacobian(x + 1, x) = -field;
  }
  return jacobian;
}

double cyclotron_frequency(double field, const Eigen::VectorXd& mass) {
  double highest = 0.0;
  if (field == 0.0) return highest;
  for (Eigen::Index x = 0; x < mass.size(); x += 2) {
    highest = std::max(highest, std::abs(field) / std::sqrt(mass[x] * mass[x + 1]));
  }
  return highest;
}

Gyration::Gyration(double field, const Eigen::VectorXd& mass, double t) {
  for (Eigen::Index x = 0; x < mass.size(); x += 2) {
    const double mass_x = mass[x], mass_y = mass[x + 1];
    const double mean = std::sqrt(mass_x * mass_y), theta = field / mean * t, r = std::sqrt(mass_x / mass_y);
    // 1 - cos(theta) = 2 sin(theta/2)^2, which has no cancellation for small angles.
    const double along = t * sine_ratio(theta), across = t * std::sin(0.5 * theta) * sine_ratio(0.5 * theta);
    Pair pair;
    pair.displacement << along / mass_x, across / mean, -across / mean, along / mass_y;
    pair.rotation << std::cos(theta), r * std::sin(theta), -std::sin(theta) / r, std::cos(theta);
    pairs_.push_back(pair);
  }
}

void Gyration::advance(Eigen::VectorXd& q, Eigen::VectorXd& p) const {
  Eigen::Index x = 0;
  for (const Pair& pair : pairs_) {
    const Eigen::Vector2d before = p.segment<2>(x);
    q.segment<2>(x) += pair.displacement * before;
    p.segment<2>(x) = pair.rotation * before;
    x += 2;
  }
}

void Gyration::pull_back(const Eigen::VectorXd& alpha, Eigen::VectorXd& beta) const {
  Eigen::Index x = 0;
  for (const Pair& pair : pairs_) {
    const Eigen::Vector2d after = beta.segment<2>(x);
    beta.segment<2>(x) = pair.displacement.transpose() * alpha.segment<2>(x) + pair.rotation.transpose() * after;
    x += 2;
  }
}

}  // namespace bathline
