// The sum of a potential of all particles and potentials of single particles.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "model/potential.hpp"

namespace bathline {

/// V(q) = V_all(q) + sum over parts of V_part(q_a), q_a the coordinates of the particle a.
class PotentialSum final : public Potential {
 public:
  struct Part {
    int particle;
    std::shared_ptr<const Potential> potential;
  };
  PotentialSum(std::shared_ptr<const Potential> all, std::vector<Part> parts, int axes)
      : all_(std::move(all)), parts_(std::move(parts)), axes_(axes) {}

  double value(const Eigen::VectorXd& q) const override;
  void gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const override;
  void hessian(const Eigen::VectorXd& q, Eigen::MatrixXd& hessian) const override;
  void sparse_hessian(const Eigen::VectorXd& q, Eigen::SparseMatrix<double>& hessian) const override;
  bool is_quadratic() const override;

 private:
  std::shared_ptr<const Potential> all_;
  std::vector<Part> parts_;
  int axes_;
  mutable Eigen::VectorXd position_, gradient_;
  mutable Eigen::MatrixXd block_;
};

}  // namespace bathline
