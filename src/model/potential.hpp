// The interface of potentials of the particles.
#pragma once  // Public: programs of others may include this header.

#include <Eigen/Dense>
#include <Eigen/SparseCore>

namespace bathline {

/// A smooth potential of all degrees of freedom q (particle by particle, axis by axis). Values in the energy unit of
/// the recipe. Implementations are pure functions of q.
class Potential {
 public:
  virtual ~Potential() = default;
  virtual double value(const Eigen::VectorXd& q) const = 0;
  /// Sets `gradient` to a vector of the size of q.
  virtual void gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const = 0;
  /// Sets `hessian` to a symmetric square matrix of the size of q, whatever size it had.
  virtual void hessian(const Eigen::VectorXd& q, Eigen::MatrixXd& hessian) const = 0;
  /// The same as a sparse matrix, which stores all entries that differ from zero for some q; by default all of them.
  virtual void sparse_hessian(const Eigen::VectorXd& q, Eigen::SparseMatrix<double>& hessian) const {
    Eigen::MatrixXd dense;
    this->hessian(q, dense);
    hessian = dense.sparseView(1.0, -1.0);
  }
  /// Whether V = q^T K q / 2 up to a constant, so that the force is linear.
  virtual bool is_quadratic() const { return false; }
};

/// V(q) = q^T K q / 2 with a symmetric matrix K.
class QuadraticPotential final : public Potential {
 public:
  explicit QuadraticPotential(Eigen::MatrixXd stiffness) : stiffness_(std::move(stiffness)) {}
  double value(const Eigen::VectorXd& q) const override { return 0.5 * q.dot(stiffness_ * q); }
  void gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const override {
    gradient.noalias() = stiffness_.lazyProduct(q);  // a general product costs more than a step of two coordinates
  }
  void hessian(const Eigen::VectorXd&, Eigen::MatrixXd& hessian) const override { hessian = stiffness_; }
  bool is_quadratic() const override { return true; }

 private:
  Eigen::MatrixXd stiffness_;
};

}  // namespace bathline
