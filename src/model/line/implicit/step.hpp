// The two halves of an implicit step of consecutive sites of a line, before and after the linear system of their stage
// momenta P is solved.
//
//   P_i = p + h sum_j a^_ij (F(W_j) - C V_j),   W_i = w + h sum_j a_ij V_j,   V = P/M,
//   w+ = w + h b.V,   p+ = p + h b.(F(W) - C V),   F(w)_j = k_{j+1} (w_{j+1} - w_j) - k_j (w_j - w_{j-1})
//
// C is the dashpot of the far end. F is linear and b.1 = 1, so that p+ needs no more of the neighbours than the mean of
// the stage displacements, W = w + h (a^T b).V. The momenta are the unknowns: they change little in a short step, and
// nothing is lost.
//
// The stage momenta of a site lie side by side. A single one takes the place of p, which it tells as well:
// p+ = P + (1 - a^) h (F(W) - C V).
// Source: hairer2006, section II.2; farshi2018, eq. (45) with one stage. Conserves what the scheme conserves.
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

/// With S stages. The linear system holds momenta where all masses are equal, velocities elsewhere: `mass` of the sites
/// times those.
template <Sites Kind, int S>
class LineStep {
 public:
  /// Whether the stage momenta take the place of the momenta.
  static constexpr bool in_place = S == 1;
  using Block = Eigen::Matrix<double, S, S>;
  using Value = Eigen::Matrix<double, S, 1>;

  /// `first_spring` is the stiffness of the one to the head; `line` tells what is at the far end.
  LineStep(const Kind& sites, double first_spring, const LineConstants& line, const PartitionedRungeKutta& scheme,
           double h)
      : sites_(sites),
        first_spring_(first_spring),
        line_(line),
        h_(h),
        a_(scheme.a),
        a_hat_(scheme.a_hat),
        b_(scheme.b),
        to_stages_(h * sites.stiffness * a_hat_.rowwise().sum()),
        to_mean_(h * a_.transpose() * b_),
        from_mean_(h * b_ - to_mean_) {}

  /// Of the stage momenta of the whole line, or of a piece that is cut behind its last site, with no spring there.
  LineMatrix matrix(bool is_cut = false) const requires std::same_as<Kind, UniformSites> {
    const Block coupling = h_ * h_ * line_.stiffness / line_.mass * a_hat_ * a_;
    Block last = Block::Identity() + coupling;
    if (!is_cut && line_.far_end == FarEnd::fixed) last += coupling;
    if (!is_cut) last += h_ * line_.dashpot / line_.mass * a_hat_;
    return {coupling, last};
  }
  /// Of this rank's `n` sites.
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
  /// Right-hand sides of the `n` >= 1 sites; `left` and `right` are the displacements beside them, in m. Where it works
  /// in place `stage` is `p`.
  void begin(const double* w, const double* p, double* stage, std::int64_t n, double left, double right) const;
  /// The rest of the step; `left` and `right` are the mean stage displacements beside the sites. Returns the energy
  /// that a dashpot on the last of them takes, in J.
  double end(double* w, double* p, const double* stage, std::int64_t n, double left, double right,
             bool at_far_end) const;
  /// Mean stage displacement of a site at `w`.
  double mean(std::int64_t site, double w, const Value& momenta) const {
    return drifted(w, inverse_mass(sites_, site), to_mean_.dot(momenta));
  }
  /// The same behind a far end whose last site has it at `here`.
  double behind(double here) const { return line_.far_end == FarEnd::fixed ? 0.0 : here; }

  // The head, for which the linear system holds `solved_mass` times its velocity.
  double solved_mass() const { return sites_.mass; }
  double mean_of_head(double x, const Value& velocities) const { return x + to_mean_.dot(velocities); }
  /// Force on it at every stage that does not depend on its velocity, in N. `constant` is what the system knows of the
  /// first site, `stretch` that of its spring.
  Value force(const Value& constant, double stretch) const {
    return first_spring_ * (Value::Constant(stretch) + h_ / solved_mass() * a_ * constant);
  }
  /// Of its stage velocities, kg/s.
  Block damping(const Block& slope) const { return first_spring_ * h_ * a_ * (Block::Identity() - slope); }

 private:
  /// How much of b.(F(W) - C V) is not in what stands in the place of p yet.
  double share() const { return in_place ? 1.0 - a_hat_(0, 0) : 1.0; }

  Kind sites_;
  double first_spring_;
  LineConstants line_;
  double h_;
  Block a_, a_hat_;
  Value b_;
  Value to_stages_, to_mean_, from_mean_;
};

template <Sites Kind, int S>
void LineStep<Kind, S>::begin(const double* w, const double* p, double* stage, std::int64_t n, double left,
                              double right) const {
  const Kind sites = sites_;
  const Value strength = to_stages_;
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
  const Value to_mean = to_mean_, from_mean = from_mean_;
  const double strength = share() * h_ * sites.stiffness;
  Value own = momenta(stage, 0), next_own = own;
  double here = mean(0, w[0], own), before = sites.pull(0, here - left);
  for (std::int64_t j = 0; j < n; ++j) {
    double next = right;
    if (j + 1 < n) {
      next_own = momenta(stage, j + 1);
      next = drifted(w[j + 1], inverse_mass(sites, j + 1), to_mean.dot(next_own));
    }
    const double behind = sites.pull(j + 1, next - here);
    p[j] = kicked(in_place ? own[0] : p[j], strength, before, behind);
    w[j] = drifted(here, inverse_mass(sites, j), from_mean.dot(own));
    own = next_own;
    here = next;
    before = behind;
  }
  if (!at_far_end || line_.far_end != FarEnd::matched) return 0.0;
  const Value velocities = inverse_mass(sites, n - 1) * own;
  const double loss = h_ * line_.dashpot;
  p[n - 1] -= share() * loss * b_.dot(velocities);
  return loss * b_.dot(velocities.cwiseAbs2());
}

}  // namespace bathline
