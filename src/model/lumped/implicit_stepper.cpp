// Implicit schemes on a lumped environment: the equations of its sites at the stages, factorised once.
//
// With X = x 1 + h a V the head at the stages, k the springs to it, S the stiffness matrix of all others and g its part
// of the springs to the ground, the stretches Z = X - W and the momenta at the stages solve
//
//   Z = (x - w) 1 + h a (V - P/m - mobility F),   P = p 1 + h a^ (F - dashpot P/m),   F = (k + S) Z - g X,
//
// a sparse linear system whose solution is linear in x - w, p, x and V. Stretches and not displacements are the
// unknowns, because displacements would lose those of stiff springs in round-off. With one stage noise adds a velocity
// and a force that are constant over the step. With several stages the exact flow of decay and noise is applied for
// half a step before and after them.
//
// Transposed, Z = X - w - mobility p at the stages, and with r = dashpot/m
//
//   (1 + h a r) (Z + mobility P) = (1 + h a r) X - w 1 - h a P/m,   P = p 1 + h a^ F.
// Tested by tests/model/lumped/lumped_test.cpp.
#include <Eigen/LU>

#include "model/lumped/stepper.hpp"
#include "solve/banded_lu.hpp"

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
        rates_(dashpots_.cwiseProduct(environment.inverse_mass())),
        to_ground_(environment.to_ground()),
        noise_velocity_(Eigen::VectorXd::Zero(sites_)),
        noise_force_(noise_velocity_),
        response_(2 * sites_ * stages_, stages_) {
    if (splits_noise_) mobilities_ = dashpots_ = rates_ = noise_velocity_;
    factorise(matrix());
    Eigen::VectorXd right(response_.rows());
    for (Eigen::Index i = 0; i < stages_; ++i) {
      right.setZero();
      for (Eigen::Index site = 0; site < sites_; ++site) {
        right.segment(index(site, stretch, 0), stages_) = of_head(site, Eigen::VectorXd::Unit(stages_, i));
      }
      if (has_stages_) {
        add_ground(Eigen::VectorXd::Unit(stages_, i), right);
        solve(right);
      }
      response_.col(i) = right;
    }
    Eigen::MatrixXd forces(stages_, stages_);
    for (Eigen::Index i = 0; i < stages_; ++i) forces.col(i) = head_forces(response_.col(i));
    damping_ = -h * forces * scheme.a;
  }

  int max_block_steps() const override { return lumped_max_block_steps; }
  bool condense(std::span<const double> head, StageResponse& response) override {
    x_.assign(head.begin(), head.end());
    if (splits_noise_) apply_exact_flow(0);
    response.damping = damping_;
    response.constant.resize(stages_, static_cast<Eigen::Index>(x_.size()));
    clamped_.resize(environment_.axes().size());
    for (std::size_t axis = 0; axis < environment_.axes().size(); ++axis) {
      clamped_[axis] = solve_clamped(axis);
      response.constant.col(static_cast<Eigen::Index>(axis)) = head_forces(clamped_[axis]);
    }
    return true;
  }
  void back_substitute(const Eigen::MatrixXd& head_velocities) override {
    for (std::size_t axis = 0; axis < environment_.axes().size(); ++axis) {
      const Eigen::VectorXd hv = h_ * head_velocities.col(static_cast<Eigen::Index>(axis));
      if (has_stages_) advance_sites(axis, scheme_.a * hv);
      x_[axis] += scheme_.b.dot(hv);
    }
    if (splits_noise_) apply_exact_flow(1);
    environment_.end_step();
  }

 private:
  /// Advances the sites by a step; `displacement` is that of the head from x_ at the stages.
  void advance_sites(std::size_t axis, const Eigen::VectorXd& displacement) {
    LumpedEnvironment::Axis& row = environment_.axes()[axis];
    set_noise(axis);
    const Eigen::VectorXd solution = clamped_[axis] + response_ * displacement;
    Eigen::VectorXd z(sites_), v(sites_);
    for (Eigen::Index i = 0; i < stages_; ++i) {
      for (Eigen::Index site = 0; site < sites_; ++site) {
        z[site] = solution[index(site, stretch, i)];
        v[site] = environment_.inverse_mass()[site] * solution[index(site, momentum, i)];
      }
      pulls_ = environment_.to_head().cwiseProduct(z) + environment_.stiffness() * z -
               (x_[axis] + displacement[i]) * to_ground_;
      const double step = h_ * scheme_.b[i];
      if (environment_.is_transposed()) {
        for (Eigen::Index site = 0; site < sites_; ++site) {
          const double w =
              x_[axis] + displacement[i] - z[site] - mobilities_[site] * solution[index(site, momentum, i)];
          row.w[site] += step * (v[site] - rates_[site] * w);
        }
        row.p += step * pulls_;
        continue;
      }
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
    const std::span<const double> numbers = environment_.numbers(0, axis, h_, 0.5);
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
      const std::span<const double> numbers = environment_.numbers(draw, axis, h_, 0.25 + 0.5 * draw);
      row.dissipated += environment_.apply_exact_flow(0.5 * h_, x_[axis], numbers, row);
    }
  }

  enum Unknown { stretch, momentum };
  /// The index of an unknown, ordered by site, then stretch or momentum, then stage, which keeps the bandwidth of the
  /// matrix small.
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
    const bool is_transposed = environment_.is_transposed();
    const auto add_spring_terms = [&](Eigen::Index site, Eigen::Index other, double k) {
      if (!is_transposed) add(site, stretch, other, stretch, mobilities_[site] * k * a);
      add(site, momentum, other, stretch, -k * a_hat);
    };
    for (Eigen::Index site = 0; site < sites_; ++site) {
      const double inverse_mass = environment_.inverse_mass()[site];
      const Eigen::MatrixXd decaying = identity + rates_[site] * (is_transposed ? a : a_hat);
      add(site, stretch, site, stretch, is_transposed ? decaying : identity);
      add(site, stretch, site, momentum, inverse_mass * a);
      if (is_transposed) add(site, stretch, site, momentum, mobilities_[site] * decaying);
      add(site, momentum, site, momentum, is_transposed ? identity : decaying);
      add_spring_terms(site, site, environment_.to_head()[site]);
      for (Eigen::SparseMatrix<double>::InnerIterator k(environment_.stiffness(), site); k; ++k) {
        add_spring_terms(k.row(), site, k.value());
      }
    }
    Eigen::SparseMatrix<double> matrix(2 * sites_ * stages_, 2 * sites_ * stages_);
    matrix.setFromTriplets(entries.begin(), entries.end());
    return matrix;
  }

  /// The LU decomposition with row interchange of the 2 x 2 equations of a site that has no springs to other sites,
  /// with one stage.
  struct SingleSite {
    explicit SingleSite(Eigen::Matrix2d equations) {
      is_swapped = std::abs(equations(1, 0)) > std::abs(equations(0, 0));
      if (is_swapped) equations.row(0).swap(equations.row(1));
      lower = equations(1, 0) * (1.0 / equations(0, 0));
      first = equations(0, 0);
      upper = equations(0, 1);
      second = equations(1, 1) - lower * equations(0, 1);
    }
    void solve(double* x) const {
      if (is_swapped) std::swap(x[0], x[1]);
      x[1] = (x[1] - lower * x[0]) / second;
      x[0] = (x[0] - upper * x[1]) / first;
    }
    bool is_swapped;
    double lower, first, upper, second;
  };

  /// Site by site where sites are independent and have one stage, as the terms of a memory under the midpoint rule.
  void factorise(const Eigen::SparseMatrix<double>& matrix) {
    bool is_coupled = stages_ > 1;
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
      for (Eigen::SparseMatrix<double>::InnerIterator entry(matrix, j); entry; ++entry) {
        is_coupled = is_coupled || entry.row() / 2 != j / 2;
      }
    }
    if (is_coupled) {
      equations_ = BandedLu(matrix);
      return;
    }
    for (Eigen::Index site = 0; site < sites_; ++site) {
      single_sites_.emplace_back(Eigen::Matrix2d(matrix.block(2 * site, 2 * site, 2, 2)));
    }
  }

  void solve(Eigen::VectorXd& right) const {
    if (single_sites_.empty()) {
      equations_.solve(right.data());
      return;
    }
    for (Eigen::Index site = 0; site < sites_; ++site) {
      single_sites_[static_cast<std::size_t>(site)].solve(&right[index(site, stretch, 0)]);
    }
  }

  /// Adds the forces of the springs to the ground with the head at `head` at the stages to a right-hand side.
  void add_ground(const Eigen::VectorXd& head, Eigen::VectorXd& right) const {
    const Eigen::VectorXd on_stretch = h_ * scheme_.a * head, on_momentum = h_ * scheme_.a_hat * head;
    for (Eigen::Index site = 0; site < sites_; ++site) {
      if (to_ground_[site] == 0.0) continue;
      if (!environment_.is_transposed())
        right.segment(index(site, stretch, 0), stages_) += mobilities_[site] * to_ground_[site] * on_stretch;
      right.segment(index(site, momentum, 0), stages_) -= to_ground_[site] * on_momentum;
    }
  }

  /// What the head at these places at the stages adds to the right-hand side for the stretches of a site.
  Eigen::VectorXd of_head(Eigen::Index site, const Eigen::VectorXd& head) const {
    if (!environment_.is_transposed() || rates_[site] == 0.0) return head;
    return head + h_ * rates_[site] * scheme_.a * head;
  }

  /// The unknowns with the head clamped at x_.
  Eigen::VectorXd solve_clamped(std::size_t axis) {
    const LumpedEnvironment::Axis& row = environment_.axes()[axis];
    set_noise(axis);
    Eigen::VectorXd right(response_.rows());
    for (Eigen::Index site = 0; site < sites_; ++site) {
      const Eigen::VectorXd head = Eigen::VectorXd::Constant(stages_, x_[axis]);
      right.segment(index(site, stretch, 0), stages_) = of_head(site, head).array() - row.w[site];
      right.segment(index(site, momentum, 0), stages_).setConstant(row.p[site]);
      if (!has_noise_within()) continue;
      right[index(site, stretch, 0)] -= h_ * scheme_.a(0, 0) * noise_velocity_[site];
      right[index(site, momentum, 0)] += h_ * scheme_.a_hat(0, 0) * noise_force_[site];
    }
    if (!has_stages_) return right;
    add_ground(Eigen::VectorXd::Constant(stages_, x_[axis]), right);
    solve(right);
    return right;
  }

  /// The forces on the head at the stages.
  Eigen::VectorXd head_forces(const Eigen::VectorXd& solution) const {
    Eigen::VectorXd forces = Eigen::VectorXd::Zero(stages_);
    for (Eigen::Index site = 0; site < sites_; ++site) {
      forces -= environment_.to_head()[site] * solution.segment(index(site, stretch, 0), stages_);
    }
    return forces;
  }

  LumpedEnvironment& environment_;
  PartitionedRungeKutta scheme_;
  double h_;
  Eigen::Index sites_, stages_;
  bool splits_noise_;                      // whether decay and noise are applied before and after the stages
  bool has_stages_;                        // whether the sites have stages, or the exact flow is all of their motion
  Eigen::VectorXd mobilities_, dashpots_;  // those of the stages, zero if splits_noise_
  Eigen::VectorXd rates_;                  // dashpot/m, likewise
  Eigen::VectorXd to_ground_;              // stiffness of the springs to the ground, by site
  Eigen::VectorXd noise_velocity_, noise_force_;  // the noise of one stage
  BandedLu equations_;                            // unless the sites are solved one by one
  std::vector<SingleSite> single_sites_;
  Eigen::MatrixXd response_;  // of the unknowns to a displacement of the head by 1 at each stage
  Eigen::MatrixXd damping_;
  std::vector<Eigen::VectorXd> clamped_;  // the unknowns of the step with the head clamped, by axis
  std::vector<double> x_;                 // displacement of the head at the start of the step
  Eigen::VectorXd pulls_;
};

}  // namespace

std::unique_ptr<ImplicitEnvironmentStepper> make_implicit_environment_stepper(LumpedEnvironment& environment,
                                                                              const PartitionedRungeKutta& scheme,
                                                                              double h) {
  return std::make_unique<LumpedImplicitStepper>(environment, scheme, h);
}

}  // namespace bathline
