// Stages of many particles of which each interacts with few others, in time and memory proportional to their number.
//
//   dR_i/dV_j = delta_ij M + h a^_ij C - h (a_ij + a^_ij)/2 B J + h^2 sum_k a^_ik a_kj H_k,  H the Hessian of V
//
// Every block has the entries of C, of a Hessian and of the diagonal, so that the fill-in is that of a single block.
// Tested by tests/steppers/particle_stages_test.cpp.
#include "steppers/sparse_stages.hpp"

#include "solve/sparse_lu.hpp"
#include "steppers/stage_equations.hpp"

namespace bathline {

namespace {

using Eigen::Dynamic;
using Eigen::Index;
using SparseMatrix = Eigen::SparseMatrix<double>;

class SparseStages final : public StageEquations<Dynamic, Dynamic> {
 public:
  SparseStages(const PartitionedRungeKutta& scheme, Problem& problem, double h)
      : StageEquations(scheme, problem, h), newton_(x_.size()), hessians_(static_cast<std::size_t>(scheme.stages())) {}

  // The further equations that Newton's method needs.
  void linearise(const Unknowns& x, SparseMatrix& jacobian);
  /// One more evaluation is negligible beside the elimination of so many unknowns.
  static bool is_mass_dominated(const SparseMatrix&) { return false; }
  double residual_tolerance() const {
    const Vector force_change = hessians_.front().cwiseAbs() * problem_.q.cwiseAbs();
    return StageEquations::residual_tolerance(force_change, Vector::Zero(n()));
  }

 private:
  /// A factorisation costs as much as dozens of force evaluations here.
  static constexpr double max_contraction_ = 0.4;

  SnesSolver::Report solve_equations() override {
    if (!is_linear_) {
      if (const auto report = newton_.iterate_fixed_point(*this, x_, max_contraction_)) return *report;
    }
    return newton_.solve(*this, x_, is_linear_);
  }

  NewtonSolver<SparseLu> newton_;
  std::vector<SparseMatrix> hessians_;  // of the stages
};

void SparseStages::linearise(const Unknowns&, SparseMatrix& jacobian) {
  std::vector<Eigen::Triplet<double>> entries;
  const auto add = [&](const SparseMatrix& matrix, Index i, Index j, double factor) {
    for (Index column = 0; column < n(); ++column) {
      for (SparseMatrix::InnerIterator entry(matrix, column); entry; ++entry) {
        entries.emplace_back(i * n() + entry.row(), j * n() + column, factor * entry.value());
      }
    }
  };
  for (Index k = 0; k < stages(); ++k) {
    position_ = q_.col(k);
    potential_.sparse_hessian(position_, hessians_[static_cast<std::size_t>(k)]);
  }
  for (Index i = 0; i < stages(); ++i) {
    for (Index j = 0; j < stages(); ++j) {
      add(damping_, i, j, h_ * a_hat_(i, j));
      for (Index k = 0; k < stages(); ++k) {
        add(hessians_[static_cast<std::size_t>(k)], i, j, (h_ * a_hat_(i, k)) * (h_ * a_(k, j)));
      }
    }
    for (Index j = 0; j < stages() && field_ != 0.0; ++j) {
      for (Index x = 0; x < n(); x += 2) {
        entries.emplace_back(i * n() + x, j * n() + x + 1, -h_ * mean_(i, j) * field_);
        entries.emplace_back(i * n() + x + 1, j * n() + x, h_ * mean_(i, j) * field_);
      }
    }
    for (Index a = 0; a < n(); ++a) entries.emplace_back(i * n() + a, i * n() + a, mass_[a]);
  }
  jacobian.setFromTriplets(entries.begin(), entries.end());
}

}  // namespace

bool has_sparse_stages(const Problem& problem) {
  const ParticleSystem& system = problem.system();
  if (!problem.stepped_environments().empty() || system.lagrangian || system.applied ||
      problem.drag_force() != nullptr || !problem.coupled_friction().dampers().empty()) {
    return false;
  }
  SparseMatrix hessian;
  system.potential->sparse_hessian(problem.q, hessian);
  constexpr Index max_neighbours = 16;
  return hessian.nonZeros() <= max_neighbours * system.size();
}

std::unique_ptr<ParticleStages> make_sparse_stages(const PartitionedRungeKutta& scheme, Problem& problem, double h) {
  return std::make_unique<SparseStages>(scheme, problem, h);
}

}  // namespace bathline
