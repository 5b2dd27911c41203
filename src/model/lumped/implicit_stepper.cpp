// Implicit schemes on a lumped environment: the equations of its sites at the stages, factorised once.
//
// With X = x 1 + h a V the head at the stages, k the springs to it and S those and all others,
//
//   W = w 1 + h a (P/m + slip F),   P = p 1 + h a^ (F - dashpot P/m),   F = k X - S W at the stages
//
// is a sparse system of equations for W and P, whose solution is linear in w, p and X. The noise of one stage is a
// velocity and a force more, constant over the step. With several stages what relaxes does so before and after them.
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
        moves_(!splits_noise_ || !environment.exact_flow_is_complete()),
        mobilities_(environment.mobilities()),
        dashpots_(environment.dashpots()),
        drift_(Eigen::VectorXd::Zero(sites_)),
        push_(drift_) {
    if (splits_noise_) mobilities_ = dashpots_ = drift_;
    equations_.compute(matrix());
    const Eigen::VectorXd rest = Eigen::VectorXd::Zero(sites_);
    Eigen::MatrixXd response(stages_, stages_);
    for (Eigen::Index i = 0; i < stages_; ++i) {
      const Eigen::VectorXd at = Eigen::VectorXd::Unit(stages_, i);
      response.col(i) = on_head(at, solve(rest, rest, at));
    }
    damping_ = -h * response * scheme.a;
  }

  int max_block_steps() const override { return lumped_block; }
  bool condense(std::span<const double> head, StageResponse& response) override {
    x_.assign(head.begin(), head.end());
    if (splits_noise_) apply_exact_flow(0);
    response.damping = damping_;
    response.constant.resize(stages_, static_cast<Eigen::Index>(x_.size()));
    for (std::size_t axis = 0; axis < environment_.axes().size(); ++axis) {
      const LumpedEnvironment::Axis& row = environment_.axes()[axis];
      const Eigen::VectorXd at = Eigen::VectorXd::Constant(stages_, x_[axis]);
      take_noise(axis);
      response.constant.col(static_cast<Eigen::Index>(axis)) = on_head(at, solve(row.w, row.p, at));
    }
    return true;
  }
  void back_substitute(const Eigen::MatrixXd& head_velocities) override {
    for (std::size_t axis = 0; axis < environment_.axes().size(); ++axis) {
      const Eigen::VectorXd moved = h_ * head_velocities.col(static_cast<Eigen::Index>(axis));
      if (moves_) move(axis, scheme_.a * moved + Eigen::VectorXd::Constant(stages_, x_[axis]));
      x_[axis] += scheme_.b.dot(moved);
    }
    if (splits_noise_) apply_exact_flow(1);
    environment_.end_step();
  }

 private:
  /// At the stages: sites x stages.
  struct Stages {
    Eigen::MatrixXd w, p;
  };

  /// The sites, with the head at these places at the stages.
  void move(std::size_t axis, const Eigen::VectorXd& at) {
    LumpedEnvironment::Axis& row = environment_.axes()[axis];
    take_noise(axis);
    const Stages found = solve(row.w, row.p, at);
    for (Eigen::Index i = 0; i < stages_; ++i) {
      environment_.pull(at[i], found.w.col(i), pulls_);
      const Eigen::VectorXd v = environment_.inverse_mass().cwiseProduct(found.p.col(i));
      const double step = h_ * scheme_.b[i];
      row.w += step * (v + mobilities_.cwiseProduct(pulls_));
      row.p += step * (pulls_ - dashpots_.cwiseProduct(v));
      row.dissipated += step * (dashpots_.dot(v.cwiseAbs2()) + mobilities_.dot(pulls_.cwiseAbs2()));
      if (!has_noise_within()) continue;
      row.w += step * drift_;
      row.p += step * push_;
      row.dissipated += step * (pulls_.dot(drift_) - v.dot(push_));
    }
  }

  bool has_noise_within() const { return environment_.is_noisy() && !splits_noise_; }
  /// The noise of the step in drift_ and push_, as velocities and forces.
  void take_noise(std::size_t axis) {
    if (!has_noise_within()) return;
    const std::span<const double> numbers = environment_.numbers(0, axis);
    drift_.setZero();
    push_.setZero();
    std::size_t place = 0;
    const double strength = 2.0 * environment_.temperature() / h_;
    for (const auto& [site, mobility] : environment_.sites().mobilities) {
      drift_[site] += std::sqrt(strength * mobility) * numbers[place++];
    }
    for (const auto& [site, dashpot] : environment_.sites().dashpots) {
      push_[site] += std::sqrt(strength * dashpot) * numbers[place++];
    }
  }
  /// Half a step of what the sites do by themselves.
  void apply_exact_flow(int draw) {
    for (std::size_t axis = 0; axis < environment_.axes().size(); ++axis) {
      LumpedEnvironment::Axis& row = environment_.axes()[axis];
      row.dissipated += environment_.apply_exact_flow(0.5 * h_, x_[axis], environment_.numbers(draw, axis), row);
    }
  }

  enum Unknown { displacement, momentum };
  /// Unknowns in the order site, w or p, stage: what is close in the equations is close in the matrix.
  Eigen::Index place(Eigen::Index site, Unknown unknown, Eigen::Index stage) const {
    return (2 * site + unknown) * stages_ + stage;
  }

  Eigen::SparseMatrix<double> matrix() const {
    std::vector<Eigen::Triplet<double>> entries;
    const auto add = [&](Eigen::Index site, Unknown row, Eigen::Index other, Unknown column,
                         const Eigen::MatrixXd& weights) {
      for (Eigen::Index i = 0; i < stages_; ++i) {
        for (Eigen::Index j = 0; j < stages_; ++j) {
          entries.emplace_back(place(site, row, i), place(other, column, j), weights(i, j));
        }
      }
    };
    const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(stages_, stages_);
    const Eigen::MatrixXd a = h_ * scheme_.a, a_hat = h_ * scheme_.a_hat;
    const auto add_spring = [&](Eigen::Index site, Eigen::Index other, double k) {
      add(site, displacement, other, displacement, mobilities_[site] * k * a);
      add(site, momentum, other, displacement, k * a_hat);
    };
    for (Eigen::Index site = 0; site < sites_; ++site) {
      const double inverse_mass = environment_.inverse_mass()[site];
      add(site, displacement, site, displacement, one);
      add(site, displacement, site, momentum, -inverse_mass * a);
      add(site, momentum, site, momentum, one + dashpots_[site] * inverse_mass * a_hat);
      add_spring(site, site, environment_.to_head()[site]);
      for (Eigen::SparseMatrix<double>::InnerIterator k(environment_.stiffness(), site); k; ++k) {
        add_spring(k.row(), site, k.value());
      }
    }
    Eigen::SparseMatrix<double> matrix(2 * sites_ * stages_, 2 * sites_ * stages_);
    matrix.setFromTriplets(entries.begin(), entries.end());
    return matrix;
  }

  Stages solve(const Eigen::VectorXd& w, const Eigen::VectorXd& p, const Eigen::VectorXd& head) const {
    if (!moves_) return {w.replicate(1, stages_), p.replicate(1, stages_)};
    const Eigen::VectorXd to_w = h_ * scheme_.a * head, to_p = h_ * scheme_.a_hat * head;
    Eigen::VectorXd right(2 * sites_ * stages_);
    for (Eigen::Index site = 0; site < sites_; ++site) {
      const double k = environment_.to_head()[site];
      right.segment(place(site, displacement, 0), stages_) = (mobilities_[site] * k * to_w).array() + w[site];
      right.segment(place(site, momentum, 0), stages_) = (k * to_p).array() + p[site];
      if (!has_noise_within()) continue;
      right[place(site, displacement, 0)] += h_ * scheme_.a(0, 0) * drift_[site];
      right[place(site, momentum, 0)] += h_ * scheme_.a_hat(0, 0) * push_[site];
    }
    right = equations_.solve(right);
    Stages found{Eigen::MatrixXd(sites_, stages_), Eigen::MatrixXd(sites_, stages_)};
    for (Eigen::Index site = 0; site < sites_; ++site) {
      found.w.row(site) = right.segment(place(site, displacement, 0), stages_);
      found.p.row(site) = right.segment(place(site, momentum, 0), stages_);
    }
    return found;
  }

  Eigen::VectorXd on_head(const Eigen::VectorXd& head, const Stages& stages) const {
    return stages.w.transpose() * environment_.to_head() - environment_.to_head().sum() * head;
  }

  LumpedEnvironment& environment_;
  PartitionedRungeKutta scheme_;
  double h_;
  Eigen::Index sites_, stages_;
  bool splits_noise_;                      // whether what relaxes is apart from the stages
  bool moves_;                             // whether the sites do anything within them
  Eigen::VectorXd mobilities_, dashpots_;  // within the stages
  Eigen::VectorXd drift_, push_;           // of the noise, within one stage
  Eigen::SparseLU<Eigen::SparseMatrix<double>> equations_;
  Eigen::MatrixXd damping_;
  std::vector<double> x_;  // of the head at the start of the step
  Eigen::VectorXd pulls_;
};

}  // namespace

std::unique_ptr<ImplicitEnvironmentStepper> make_implicit_environment_stepper(LumpedEnvironment& environment,
                                                                              const PartitionedRungeKutta& scheme,
                                                                              double h) {
  return std::make_unique<LumpedImplicitStepper>(environment, scheme, h);
}

}  // namespace bathline
