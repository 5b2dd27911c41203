// Energies are relative to the minimum of V, which is (grad V) K^-1 (grad V)/2 below V(q0).
#include "model/trajectory_error_bound.hpp"

#include <cmath>

#include "solve/dense.hpp"

namespace bathline {

std::optional<double> trajectory_error_bound(const ParticleSystem& system, const Attachment& attachment, double error,
                                             double duration) {
  if (!system.is_linear() || attachment.nonlinear() != nullptr || system.start != ParticleSystem::Start::given)
    return std::nullopt;
  const Eigen::Index n = system.size();
  Eigen::MatrixXd stiffness(n, n);
  system.potential->hessian(system.q0, stiffness);
  if (!is_positive_definite(stiffness)) return std::nullopt;
  const Eigen::MatrixXd compliance = inverse(stiffness);
  Eigen::VectorXd gradient(n);
  system.potential->gradient(system.q0, gradient);
  const double energy =
      0.5 * system.v0.dot(system.mass.cwiseProduct(system.v0)) + 0.5 * gradient.dot(compliance * gradient);
  double inverse_mass = 0.0;
  for (const Attachment::Term& term : attachment.terms()) {
    if (term.axis == 0) inverse_mass += term.weight * term.weight / system.mass[term.coordinate];
  }
  const double max_compliance = compliance.diagonal().maxCoeff();
  return system.axes * error * duration * inverse_mass * std::sqrt(2.0 * energy * max_compliance);
}

}  // namespace bathline
