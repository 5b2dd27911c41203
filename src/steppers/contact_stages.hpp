// What the stages of a step have besides where the Lagrangian L(q, v, t, z) depends on the action z' = L.
//
//   Z_i = z + h sum_j a_ij L_j,   l_i = 1 - h sum_j a^_ij (dL/dz l)_j,   l_i P_i = p + h sum_j a^_ij (l F)_j
//   z+ = z + h sum_i b_i L_i,     l+  = 1 - h sum_i b_i (dL/dz l)_i,     p+ = (p + h sum_i b_i (l F)_i) / l+
//
// With the momenta l p and -l of q and z this is the method on the homogeneous Hamiltonian l H(q, p, z). A symplectic
// one keeps l (p dq - dz) and with it scales the contact form dz - p dq by sigma = 1/l+: a discrete Herglotz equation
// with the Lagrangian L_d = z+ - z, stationary in the inner stages, of the order of the method. Source: simoes2020,
// section 3, for what is discretised.
// Tested by tests/steppers/contact_stages_test.cpp.
#pragma once

#include <Eigen/Dense>

#include "methods/scheme.hpp"

namespace bathline {

/// The unknowns Z and l, stage by stage, behind those of the positions, and what belongs to them.
class ContactStages {
  using Index = Eigen::Index;
  using VectorXd = Eigen::VectorXd;
  using MatrixXd = Eigen::MatrixXd;

 public:
  /// Of `n` coordinates.
  ContactStages(const PartitionedRungeKutta& scheme, Index n, double h)
      : h_(h),
        a_(scheme.a),
        a_hat_(scheme.a_hat),
        b_(scheme.b),
        action_a_(scheme.a),
        weight_a_(scheme.a_hat),
        z_(b_),
        conformal_factors_(b_),
        value_(b_),
        by_z_(b_),
        by_zz_(b_),
        by_q_(MatrixXd::Zero(n, b_.size())),
        momentum_(by_q_),
        force_(by_q_),
        by_qz_(by_q_),
        by_vz_(by_q_) {
    if (!scheme.freezes_action) return;
    action_a_.setZero();
    weight_a_ = b_.transpose().replicate(b_.size(), 1);
  }

  Index unknowns() const { return 2 * b_.size(); }
  /// A guess for both.
  void begin(double z, Eigen::Ref<VectorXd> unknowns) const {
    unknowns.head(b_.size()).setConstant(z);
    unknowns.tail(b_.size()).setOnes();
  }
  void take(const Eigen::Ref<const VectorXd>& unknowns) {
    z_ = unknowns.head(b_.size());
    conformal_factors_ = unknowns.tail(b_.size());
  }
  double z(Index stage) const { return z_[stage]; }

  /// L and its slopes by q, v, t and z at a stage.
  void put(Index stage, double value, const double* slopes) {
    const Index n = by_q_.rows();
    value_[stage] = value;
    by_q_.col(stage) = Eigen::Map<const VectorXd>(slopes, n);
    by_z_[stage] = slopes[2 * n + 1];
  }
  /// Takes P and F of all stages, and leaves l P and l F in their place.
  template <class Values>
  void scale_by_factors(Values& momentum, Values& force) {
    momentum_ = momentum;
    force_ = force;
    momentum = momentum_ * conformal_factors_.asDiagonal();
    force = force_ * conformal_factors_.asDiagonal();
  }
  double weight(Index stage) const { return conformal_factors_[stage]; }

  void residual(double z, Eigen::Ref<VectorXd> rest) const {
    rest.head(b_.size()) = z_ - h_ * action_a_ * value_;
    rest.head(b_.size()).array() -= z;
    rest.tail(b_.size()) = conformal_factors_ + h_ * weight_a_ * by_z_.cwiseProduct(conformal_factors_);
    rest.tail(b_.size()).array() -= 1.0;
  }
  /// What its round-off is counted by.
  double size(double z) const {
    return std::abs(z) + h_ * value_.norm() + 1.0 + h_ * by_z_.cwiseProduct(conformal_factors_).norm();
  }

  /// Second derivatives at a stage, by q, v and z.
  void put_curvatures(Index stage, const MatrixXd& curvatures) {
    const Index n = by_q_.rows();
    by_qz_.col(stage) = curvatures.col(2 * n).head(n);
    by_vz_.col(stage) = curvatures.col(2 * n).segment(n, n);
    by_zz_[stage] = curvatures(2 * n, 2 * n);
  }
  /// The derivatives of all equations by z and l, and those of the equations above by the stage velocities.
  void linearise(Eigen::Ref<MatrixXd> jacobian) const;

  /// What a step does to z, and l+, which is 1/sigma.
  double action_increment() const { return h_ * b_.dot(value_); }
  double final_factor() const { return 1.0 - h_ * b_.dot(by_z_.cwiseProduct(conformal_factors_)); }
  /// Without positive weights the step is none of a contact system.
  bool has_positive_factors() const { return conformal_factors_.minCoeff() > 0.0 && final_factor() > 0.0; }
  /// What dL/dz takes at a stage with these velocities: the rate at which v dL/dv - L + gamma z falls.
  double loss(Index stage, const Eigen::Ref<const VectorXd>& v, double gamma) const {
    const double energy = momentum_.col(stage).dot(v) - value_[stage];
    return -by_z_[stage] * energy - gamma * value_[stage];
  }

 private:
  double h_;
  MatrixXd a_, a_hat_;
  VectorXd b_;
  MatrixXd action_a_, weight_a_;  // a and a^ of z and l
  VectorXd z_, conformal_factors_, value_, by_z_, by_zz_;
  MatrixXd by_q_, momentum_, force_, by_qz_, by_vz_;  // a column for each stage
};

inline void ContactStages::linearise(Eigen::Ref<MatrixXd> jacobian) const {
  const Index n = by_q_.rows(), s = b_.size(), z = n * s, l = z + s;
  for (Index j = 0; j < s; ++j) {
    for (Index i = 0; i < s; ++i) {
      jacobian.block(i * n, z + j, n, 1) = -h_ * a_hat_(i, j) * conformal_factors_[j] * by_qz_.col(j);
      jacobian.block(i * n, l + j, n, 1) = -h_ * a_hat_(i, j) * force_.col(j);
      auto action_by_v = jacobian.block(z + i, j * n, 1, n), weight_by_v = jacobian.block(l + i, j * n, 1, n);
      action_by_v = -h_ * action_a_(i, j) * momentum_.col(j).transpose();
      weight_by_v = h_ * weight_a_(i, j) * conformal_factors_[j] * by_vz_.col(j).transpose();
      for (Index k = 0; k < s; ++k) {
        action_by_v -= h_ * h_ * action_a_(i, k) * a_(k, j) * by_q_.col(k).transpose();
        weight_by_v += h_ * h_ * weight_a_(i, k) * conformal_factors_[k] * a_(k, j) * by_qz_.col(k).transpose();
      }
      jacobian(z + i, z + j) = (i == j ? 1.0 : 0.0) - h_ * action_a_(i, j) * by_z_[j];
      jacobian(l + i, z + j) = h_ * weight_a_(i, j) * conformal_factors_[j] * by_zz_[j];
      jacobian(l + i, l + j) = (i == j ? 1.0 : 0.0) + h_ * weight_a_(i, j) * by_z_[j];
    }
    jacobian.block(j * n, z + j, n, 1) += conformal_factors_[j] * by_vz_.col(j);
    jacobian.block(j * n, l + j, n, 1) += momentum_.col(j);
  }
}

}  // namespace bathline
