// The two halves of an implicit step of consecutive sites of a line, before and after the solution of the linear system
// for their stage momenta P.
//
//   P_i = p + h sum_j a^_ij (F(W_j) - C V_j),   W_i = w + h sum_j a_ij V_j,   V = P/M,
//   w+ = w + h b.V,   p+ = p + h b.(F(W) - C V),   F(w)_j = k_{j+1} (w_{j+1} - w_j) - k_j (w_j - w_{j-1})
//
// C is the dashpot of the far end. F is linear and b.1 = 1, so that p+ needs only the mean stage displacements b.W = w
// + h (a^T b).V of the neighbours. The momenta are the unknowns, as they change little in a short step, without
// cancellation.
//
// The stage momenta of a site are contiguous. With one stage P overwrites p, as p+ = P + (1 - a^) h (F(W) - C V).
// Source: hairer2006, section II.2; farshi2018, eq. (45) with one stage.
// Tested by tests/model/line/implicit/stepper_test.cpp.
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstdint>

#include "methods/scheme.hpp"
#include "model/line/sites.hpp"
#include "solve/tridiagonal.hpp"
#include "solve/nonuniform_tridiagonal.hpp"

namespace bathline {

/// A step with S stages. The unknowns of the linear system are velocities times `sites.mass`: momenta on a uniform
/// line, velocities on a nonuniform one, where that is 1.
template <Sites Kind, int S>
class LineStep {
 public:
  /// Whether the stage momenta overwrite the momenta.
  static constexpr bool in_place = S == 1;
  using Block = Eigen::Matrix<double, S, S>;
  using Value = Eigen::Matrix<double, S, 1>;

  /// `first_spring` is the stiffness of the spring to the head; `line` describes the far end.
  LineStep(const Kind& sites, double first_spring, const LineConstants& line, const PartitionedRungeKutta& scheme,
           double h)
      : sites_(sites),
        first_spring_(first_spring),
        line_(line),
        h_(h),
        a_(scheme.a),
        a_hat_(scheme.a_hat),
        b_(scheme.b),
        stage_weights_(h * sites.stiffness * a_hat_.rowwise().sum()),
        mean_weights_(h * a_.transpose() * b_),
        end_weights_(h * b_ - mean_weights_) {}

  /// The matrix for the whole line, or for a piece that is cut behind its last site, without a spring there.
  LineMatrix matrix(bool is_cut = false) const requires std::same_as<Kind, UniformSites> {
    const Block coupling = h_ * h_ * line_.stiffness / line_.mass * a_hat_ * a_;
    Block last = Block::Identity() + coupling;
    if (!is_cut && line_.far_end == FarEnd::fixed) last += coupling;
    if (!is_cut) last += h_ * line_.dashpot / line_.mass * a_hat_;
    return {coupling, last};
  }
  /// The matrix for this rank's `n` sites.
  NonuniformLineMatrix matrix(std::int64_t n) const requires std::same_as<Kind, NonuniformSites<>> {
    const Block strength = h_ * h_ * a_hat_ * a_;
    const Block dashpot = h_ * line_.dashpot * a_hat_;
    const Block behind = line_.far_end == FarEnd::fixed ? Block(strength * sites_.spring[n]) : dashpot;
    return {sites_.spring, sites_.inverse_mass, strength, behind};
  }

  /// Stage momenta of `site`.
  static Eigen::Map<const Value> momenta(const double* stage, std::int64_t site) {
    return Eigen::Map<const Value>(stage + S * site);
  }
  /// Computes the right-hand sides of the `n` >= 1 sites; `left` and `right` are the displacements beside them, m. With
  /// `in_place`, `stage` is `p`.
  void begin(const double* w, const double* p, double* stage, std::int64_t n, double left, double right) const;
  /// Completes the step from the stage momenta; `left` and `right` are the mean stage displacements beside the sites.
  /// Returns the energy dissipated by a dashpot on the last site, J.
  double end(double* w, double* p, const double* stage, std::int64_t n, double left, double right,
             bool at_far_end) const;
  /// Mean stage displacement of a site with displacement `w`.
  double mean(std::int64_t site, double w, const Value& momenta) const {
    return drifted(w, inverse_mass(sites_, site), mean_weights_.dot(momenta));
  }
  /// Displacement, or mean stage displacement, behind the last site, whose own is `here`.
  double behind(double here) const { return line_.far_end == FarEnd::fixed ? 0.0 : here; }

  // The head; its unknown in the linear system is `solved_mass` times its velocity.
  double solved_mass() const { return sites_.mass; }
  double mean_of_head(double x, const Value& velocities) const { return x + mean_weights_.dot(velocities); }
  /// Force on it at every stage without the part proportional to its stage velocities, N. `constant` is the solution at
  /// the first site for a head with velocity 0, `stretch` that of the first spring.
  Value force(const Value& constant, double stretch) const {
    return first_spring_ * (Value::Constant(stretch) + h_ / solved_mass() * a_ * constant);
  }
  /// Damping matrix of its stage velocities, kg/s.
  Block damping(const Block& slope) const { return first_spring_ * h_ * a_ * (Block::Identity() - slope); }

 private:
  /// Fraction of h b.(F(W) - C V) that the overwritten p does not contain yet.
  double remaining_fraction() const { return in_place ? 1.0 - a_hat_(0, 0) : 1.0; }

  Kind sites_;
  double first_spring_;
  LineConstants line_;
  double h_;
  Block a_, a_hat_;
  Value b_;
  Value stage_weights_, mean_weights_, end_weights_;
};

template <Sites Kind, int S>
void LineStep<Kind, S>::begin(const double* w, const double* p, double* stage, std::int64_t n, double left,
                              double right) const {
  const Kind sites = sites_;
  const Value strength = stage_weights_;
  const double* const momentum = in_place ? stage : p;
  const auto kick = [&](std::int64_t j, double before, double behind) {
    const double start = momentum[j];
    const double pull_before = sites.pull(j, w[j] - before), pull_behind = sites.pull(j + 1, behind - w[j]);
    for (int i = 0; i < S; ++i) stage[j * S + i] = kicked(start, strength[i], pull_before, pull_behind);
  };
  const std::int64_t last = n - 1;
  kick(0, left, n > 1 ? w[1] : right);
  for (std::int64_t j = 1; j < last; ++j) kick(j, w[j - 1], w[j + 1]);
  if (n > 1) kick(last, w[last - 1], right);
}

template <Sites Kind, int S>
double LineStep<Kind, S>::end(double* w, double* p, const double* stage, std::int64_t n, double left, double right,
                              bool at_far_end) const {
  const Kind sites = sites_;
  const Value mean_weights = mean_weights_, end_weights = end_weights_;
  const double strength = remaining_fraction() * h_ * sites.stiffness;
  Value own = momenta(stage, 0), next_own = own;
  double here = mean(0, w[0], own), before = sites.pull(0, here - left);
  for (std::int64_t j = 0; j < n; ++j) {
    double next = right;
    if (j + 1 < n) {
      next_own = momenta(stage, j + 1);
      next = drifted(w[j + 1], inverse_mass(sites, j + 1), mean_weights.dot(next_own));
    }
    const double behind = sites.pull(j + 1, next - here);
    p[j] = kicked(in_place ? own[0] : p[j], strength, before, behind);
    w[j] = drifted(here, inverse_mass(sites, j), end_weights.dot(own));
    own = next_own;
    here = next;
    before = behind;
  }
  if (!at_far_end || line_.far_end != FarEnd::matched) return 0.0;
  const Value velocities = inverse_mass(sites, n - 1) * own;
  const double loss = h_ * line_.dashpot;
  p[n - 1] -= remaining_fraction() * loss * b_.dot(velocities);
  return loss * b_.dot(velocities.cwiseAbs2());
}

}  // namespace bathline
