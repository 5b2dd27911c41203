// Implicit schemes on a lumped environment: the equations of its sites at the stages, factorised once.
//
// With X = x 1 + h a V the head at the stages, k the springs to it and S the stiffness matrix of all springs,
//
//   W = w 1 + h a (P/m + mobility F),   P = p 1 + h a^ (F - dashpot P/m),   F = k X - S W at the stages
//
// is a sparse linear system for W and P, whose solution is linear in w, p and X. With one stage noise adds a velocity
// and a force that are constant over the step. With several stages the exact flow of decay and noise is applied for
// half a step before and after them.
// Tested by tests/model/lumped/lumped_test.cpp.
#include <Eigen/LU>
#include <Eigen/SparseLU>

#include "model/lumped/stepper.hpp"

namespace bathline {

namespace {

class LumpedImplicitStepper final : public ImplicitEnvironmentStepper {
 public:
  LumpedImplicitStepper(LumpedEnvironment& environment, const PartitionedRungeKutta& scheme, double h)
      : environment_(environment),
        scheme_(scheme),
        h_(h),
        sites_(environment.inverse_mass().size()),
        stages_(scheme.stages()),
        splits_noise_(environment.is_noisy() && stages_ > 1),
        has_stages_(!splits_noise_ || !environment.exact_flow_is_complete()),
        mobilities_(environment.mobilities()),
        dashpots_(environment.dashpots()),
        noise_velocity_(Eigen::VectorXd::Zero(sites_)),
        noise_force_(noise_velocity_) {
    if (splits_noise_) mobilities_ = dashpots_ = noise_velocity_;
    equations_.compute(matrix());
    const Eigen::VectorXd rest = Eigen::VectorXd::Zero(sites_);
    Eigen::MatrixXd response(stages_, stages_);
    for (Eigen::Index i = 0; i < stages_; ++i) {
      const Eigen::VectorXd head = Eigen::VectorXd::Unit(stages_, i);
      response.col(i) = head_forces(head, solve(rest, rest, head));
    }
    damping_ = -h * response * scheme.a;
  }

  int max_block_steps() const override { return lumped_max_block_steps; }
  bool condense(std::span<const double> head, StageResponse& response) override {
    x_.assign(head.begin(), head.end());
    if (splits_noise_) apply_exact_flow(0);
    response.damping = damping_;
    response.constant.resize(stages_, static_cast<Eigen::Index>(x_.size()));
    for (std::size_t axis = 0; axis < environment_.axes().size(); ++axis) {
      const LumpedEnvironment::Axis& row = environment_.axes()[axis];
      const Eigen::VectorXd stage_heads = Eigen::VectorXd::Constant(stages_, x_[axis]);
      set_noise(axis);
      response.constant.col(static_cast<Eigen::Index>(axis)) =
          head_forces(stage_heads, solve(row.w, row.p, stage_heads));
    }
    return true;
  }
  void back_substitute(const Eigen::MatrixXd& head_velocities) override {
    for (std::size_t axis = 0; axis < environment_.axes().size(); ++axis) {
      const Eigen::VectorXd hv = h_ * head_velocities.col(static_cast<Eigen::Index>(axis));
      if (has_stages_) advance_sites(axis, scheme_.a * hv + Eigen::VectorXd::Constant(stages_, x_[axis]));
      x_[axis] += scheme_.b.dot(hv);
    }
    if (splits_noise_) apply_exact_flow(1);
    environment_.end_step();
  }

 private:
  /// Displacements and momenta at the stages, sites x stages.
  struct Stages {
    Eigen::MatrixXd w, p;
  };

  /// Advances the sites by a step; `head` is the displacement of the head at the stages.
  void advance_sites(std::size_t axis, const Eigen::VectorXd& head) {
    LumpedEnvironment::Axis& row = environment_.axes()[axis];
    set_noise(axis);
    const Stages stages = solve(row.w, row.p, head);
    for (Eigen::Index i = 0; i < stages_; ++i) {
      environment_.pull(head[i], stages.w.col(i), pulls_);
      const Eigen::VectorXd v = environment_.inverse_mass().cwiseProduct(stages.p.col(i));
      const double step = h_ * scheme_.b[i];
      row.w += step * (v + mobilities_.cwiseProduct(pulls_));
      row.p += step * (pulls_ - dashpots_.cwiseProduct(v));
      row.dissipated += step * (dashpots_.dot(v.cwiseAbs2()) + mobilities_.dot(pulls_.cwiseAbs2()));
      if (!has_noise_within()) continue;
      row.w += step * noise_velocity_;
      row.p += step * noise_force_;
      row.dissipated += step * (pulls_.dot(noise_velocity_) - v.dot(noise_force_));
    }
  }

  bool has_noise_within() const { return environment_.is_noisy() && !splits_noise_; }
  /// Sets the velocities and forces that are the noise of the step.
  void set_noise(std::size_t axis) {
    if (!has_noise_within()) return;
    const std::span<const double> numbers = environment_.numbers(0, axis);
    noise_velocity_.setZero();
    noise_force_.setZero();
    std::size_t index = 0;
    const double strength = 2.0 * environment_.temperature() / h_;
    for (const auto& [site, mobility] : environment_.sites().mobilities) {
      noise_velocity_[site] += std::sqrt(strength * mobility) * numbers[index++];
    }
    for (const auto& [site, dashpot] : environment_.sites().dashpots) {
      noise_force_[site] += std::sqrt(strength * dashpot) * numbers[index++];
    }
  }
  /// Half a step of the exact flow of decay and noise.
  void apply_exact_flow(int draw) {
    for (std::size_t axis = 0; axis < environment_.axes().size(); ++axis) {
      LumpedEnvironment::Axis& row = environment_.axes()[axis];
      row.dissipated += environment_.apply_exact_flow(0.5 * h_, x_[axis], environment_.numbers(draw, axis), row);
    }
  }

  enum Unknown { displacement, momentum };
  /// The index of an unknown, ordered by site, then w or p, then stage, which keeps the bandwidth of the matrix small.
  Eigen::Index index(Eigen::Index site, Unknown unknown, Eigen::Index stage) const {
    return (2 * site + unknown) * stages_ + stage;
  }

  Eigen::SparseMatrix<double> matrix() const {
    std::vector<Eigen::Triplet<double>> entries;
    const auto add = [&](Eigen::Index site, Unknown row, Eigen::Index other, Unknown column,
                         const Eigen::MatrixXd& weights) {
      for (Eigen::Index i = 0; i < stages_; ++i) {
        for (Eigen::Index j = 0; j < stages_; ++j) {
          entries.emplace_back(index(site, row, i), index(other, column, j), weights(i, j));
        }
      }
    };
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(stages_, stages_);
    const Eigen::MatrixXd a = h_ * scheme_.a, a_hat = h_ * scheme_.a_hat;
    const auto add_spring_terms = [&](Eigen::Index site, Eigen::Index other, double k) {
      add(site, displacement, other, displacement, mobilities_[site] * k * a);
      add(site, momentum, other, displacement, k * a_hat);
    };
    for (Eigen::Index site = 0; site < sites_; ++site) {
      const double inverse_mass = environment_.inverse_mass()[site];
      add(site, displacement, site, displacement, identity);
      add(site, displacement, site, momentum, -inverse_mass * a);
      add(site, momentum, site, momentum, identity + dashpots_[site] * inverse_mass * a_hat);
      add_spring_terms(site, site, environment_.to_head()[site]);
      for (Eigen::SparseMatrix<double>::InnerIterator k(environment_.stiffness(), site); k; ++k) {
        add_spring_terms(k.row(), site, k.value());
      }
    }
    Eigen::SparseMatrix<double> matrix(2 * sites_ * stages_, 2 * sites_ * stages_);
    matrix.setFromTriplets(entries.begin(), entries.end());
    return matrix;
  }

  Stages solve(const Eigen::VectorXd& w, const Eigen::VectorXd& p, const Eigen::VectorXd& head) const {
    if (!has_stages_) return {w.replicate(1, stages_), p.replicate(1, stages_)};
    const Eigen::VectorXd to_w = h_ * scheme_.a * head, to_p = h_ * scheme_.a_hat * head;
    Eigen::VectorXd right(2 * sites_ * stages_);
    for (Eigen::Index site = 0; site < sites_; ++site) {
      const double k = environment_.to_head()[site];
      right.segment(index(site, displacement, 0), stages_) = (mobilities_[site] * k * to_w).array() + w[site];
      right.segment(index(site, momentum, 0), stages_) = (k * to_p).array() + p[site];
      if (!has_noise_within()) continue;
      right[index(site, displacement, 0)] += h_ * scheme_.a(0, 0) * noise_velocity_[site];
      right[index(site, momentum, 0)] += h_ * scheme_.a_hat(0, 0) * noise_force_[site];
    }
    right = equations_.solve(right);
    Stages stages{Eigen::MatrixXd(sites_, stages_), Eigen::MatrixXd(sites_, stages_)};
    for (Eigen::Index site = 0; site < sites_; ++site) {
      stages.w.row(site) = right.segment(index(site, displacement, 0), stages_);
      stages.p.row(site) = right.segment(index(site, momentum, 0), stages_);
    }
    return stages;
  }

  Eigen::VectorXd head_forces(const Eigen::VectorXd& head, const Stages& stages) const {
    return stages.w.transpose() * environment_.to_head() - environment_.to_head().sum() * head;
  }

  LumpedEnvironment& environment_;
  PartitionedRungeKutta scheme_;
  double h_;
  Eigen::Index sites_, stages_;
  bool splits_noise_;                      // whether decay and noise are applied before and after the stages
  bool has_stages_;                        // whether the sites have stages, or the exact flow is all of their motion
  Eigen::VectorXd mobilities_, dashpots_;  // those of the stages, zero if splits_noise_
  Eigen::VectorXd noise_velocity_, noise_force_;  // the noise of one stage
  Eigen::SparseLU<Eigen::SparseMatrix<double>> equations_;
  Eigen::MatrixXd damping_;
  std::vector<double> x_;  // displacement of the head at the start of the step
  Eigen::VectorXd pulls_;
};

}  // namespace

std::unique_ptr<ImplicitEnvironmentStepper> make_implicit_environment_stepper(LumpedEnvironment& environment,
                                                                              const PartitionedRungeKutta& scheme,
                                                                              double h) {
  return std::make_unique<LumpedImplicitStepper>(environment, scheme, h);
}

}  // namespace bathline
