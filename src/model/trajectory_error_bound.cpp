// Energies are those above the lowest, which is (grad V) K^-1 (grad V)/2 below V.
#include "model/trajectory_error_bound.hpp"

#include <Eigen/Cholesky>
#include <cmath>

namespace bathline {

std::optional<double> trajectory_error_bound(const ParticleSystem& system, const Attachment& attachment, double error,
                                             double duration) {
  if (!system.is_linear() || system.start != ParticleSystem::Start::given) return std::nullopt;
  const Eigen::Index n = system.size();
  Eigen::MatrixXd stiffness(n, n);
  system.potential->hessian(system.q0, stiffness);
  const Eigen::LLT<Eigen::MatrixXd> root(stiffness);
  if (root.info() != Eigen::Success) return std::nullopt;
  const Eigen::MatrixXd compliance = root.solve(Eigen::MatrixXd::Identity(n, n));
  Eigen::VectorXd slope(n);
  system.potential->gradient(system.q0, slope);
  const double energy = 0.5 * system.v0.dot(system.mass.cwiseProduct(system.v0)) + 0.5 * slope.dot(compliance * slope);
  double inverse_mass = 0.0;
  for (const Attachment::Weight& one : attachment.weights()) {
    inverse_mass += one.weight * one.weight / system.mass[static_cast<Eigen::Index>(one.particle) * system.axes];
  }
  const double farthest = compliance.diagonal().maxCoeff();
  return system.axes * error * duration * inverse_mass * std::sqrt(2.0 * energy * farthest);
}

}  // namespace bathline
