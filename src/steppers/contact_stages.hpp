// The further equations of the stages of a step if the Lagrangian L(q, v, t, z) depends on the action z' = L.
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

/// The unknowns Z and l of all stages, which follow those of the positions, and their equations.
class ContactStages {
  using Index = Eigen::Index;
  using VectorXd = Eigen::VectorXd;
  using MatrixXd = Eigen::MatrixXd;
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

 public:
  /// For `n` coordinates.
  ContactStages(const PartitionedRungeKutta& scheme, Index n, double h)
      : h_(h),
        a_(scheme.a),
        a_hat_(scheme.a_hat),
        b_(scheme.b),
        action_a_(scheme.a),
        factor_a_(scheme.a_hat),
        z_(b_),
        conformal_factors_(b_),
        lagrangian_(b_),
        dl_dz_(b_),
        d2l_dz2_(b_),
        dl_dq_(MatrixXd::Zero(n, b_.size())),
        momentum_(dl_dq_),
        force_(dl_dq_),
        d2l_dqdz_(dl_dq_),
        d2l_dvdz_(dl_dq_) {
    if (!scheme.freezes_action) return;
    action_a_.setZero();
    factor_a_ = b_.transpose().replicate(b_.size(), 1);
  }

  Index unknowns() const { return 2 * b_.size(); }
  /// The first guess for both.
  void guess(double z, Eigen::Ref<VectorXd> unknowns) const {
    unknowns.head(b_.size()).setConstant(z);
    unknowns.tail(b_.size()).setOnes();
  }
  void set_unknowns(const Eigen::Ref<const VectorXd>& unknowns) {
    z_ = unknowns.head(b_.size());
    conformal_factors_ = unknowns.tail(b_.size());
  }
  double z(Index stage) const { return z_[stage]; }

  /// Sets L and its gradient by q, v, t and z at a stage.
  void set_gradient(Index stage, double value, const double* gradient) {
    const Index n = dl_dq_.rows();
    lagrangian_[stage] = value;
    dl_dq_.col(stage) = Eigen::Map<const VectorXd>(gradient, n);
    dl_dz_[stage] = gradient[2 * n + 1];
  }
  /// Replaces P and F of all stages by l P and l F.
  template <class Values>
  void scale_by_factors(Values& momentum, Values& force) {
    momentum_ = momentum;
    force_ = force;
    momentum = momentum_ * conformal_factors_.asDiagonal();
    force = force_ * conformal_factors_.asDiagonal();
  }
  double factor(Index stage) const { return conformal_factors_[stage]; }

  void residual(double z, Eigen::Ref<VectorXd> result) const {
    result.head(b_.size()) = z_ - h_ * action_a_ * lagrangian_;
    result.head(b_.size()).array() -= z;
    result.tail(b_.size()) = conformal_factors_ + h_ * factor_a_ * dl_dz_.cwiseProduct(conformal_factors_);
    result.tail(b_.size()).array() -= 1.0;
  }
  /// The magnitude of the terms of the residual, to which its round-off is relative.
  double residual_scale(double z) const {
    return std::abs(z) + h_ * lagrangian_.norm() + 1.0 + h_ * dl_dz_.cwiseProduct(conformal_factors_).norm();
  }

  /// Sets the second derivatives of L at a stage by q, v and z.
  void set_hessian(Index stage, const MatrixXd& hessian) {
    const Index n = dl_dq_.rows();
    d2l_dqdz_.col(stage) = hessian.col(2 * n).head(n);
    d2l_dvdz_.col(stage) = hessian.col(2 * n).segment(n, n);
    d2l_dz2_[stage] = hessian(2 * n, 2 * n);
  }
  /// The derivatives of all equations by z and l, and those of the equations above by the stage velocities.
  void linearise(Eigen::Ref<RowMajor> jacobian) const;

  /// The change of z in a step, and l+ = 1/sigma.
  double action_increment() const { return h_ * b_.dot(lagrangian_); }
  double final_factor() const { return 1.0 - h_ * b_.dot(dl_dz_.cwiseProduct(conformal_factors_)); }
  /// Without positive factors a step changes the sign of the contact form.
  bool has_positive_factors() const { return conformal_factors_.minCoeff() > 0.0 && final_factor() > 0.0; }
  /// The power that dL/dz dissipates at a stage with these velocities: the rate at which v dL/dv - L + gamma z
  /// decreases.
  double loss(Index stage, const Eigen::Ref<const VectorXd>& v, double gamma) const {
    const double energy = momentum_.col(stage).dot(v) - lagrangian_[stage];
    return -dl_dz_[stage] * energy - gamma * lagrangian_[stage];
  }

 private:
  double h_;
  MatrixXd a_, a_hat_;
  VectorXd b_;
  MatrixXd action_a_, factor_a_;  // a and a^ of z and l
  VectorXd z_, conformal_factors_, lagrangian_, dl_dz_, d2l_dz2_;
  MatrixXd dl_dq_, momentum_, force_, d2l_dqdz_, d2l_dvdz_;  // a column for each stage
};

inline void ContactStages::linearise(Eigen::Ref<RowMajor> jacobian) const {
  const Index n = dl_dq_.rows(), s = b_.size(), z = n * s, l = z + s;
  for (Index j = 0; j < s; ++j) {
    for (Index i = 0; i < s; ++i) {
      jacobian.block(i * n, z + j, n, 1) = -h_ * a_hat_(i, j) * conformal_factors_[j] * d2l_dqdz_.col(j);
      jacobian.block(i * n, l + j, n, 1) = -h_ * a_hat_(i, j) * force_.col(j);
      auto action_by_v = jacobian.block(z + i, j * n, 1, n), factor_by_v = jacobian.block(l + i, j * n, 1, n);
      action_by_v = -h_ * action_a_(i, j) * momentum_.col(j).transpose();
      factor_by_v = h_ * factor_a_(i, j) * conformal_factors_[j] * d2l_dvdz_.col(j).transpose();
      for (Index k = 0; k < s; ++k) {
        action_by_v -= h_ * h_ * action_a_(i, k) * a_(k, j) * dl_dq_.col(k).transpose();
        factor_by_v += h_ * h_ * factor_a_(i, k) * conformal_factors_[k] * a_(k, j) * d2l_dqdz_.col(k).transpose();
      }
      jacobian(z + i, z + j) = (i == j ? 1.0 : 0.0) - h_ * action_a_(i, j) * dl_dz_[j];
      jacobian(l + i, z + j) = h_ * factor_a_(i, j) * conformal_factors_[j] * d2l_dz2_[j];
      jacobian(l + i, l + j) = (i == j ? 1.0 : 0.0) + h_ * factor_a_(i, j) * dl_dz_[j];
    }
    jacobian.block(j * n, z + j, n, 1) += conformal_factors_[j] * d2l_dvdz_.col(j);
    jacobian.block(j * n, l + j, n, 1) += momentum_.col(j);
  }
}

}  // namespace bathline
