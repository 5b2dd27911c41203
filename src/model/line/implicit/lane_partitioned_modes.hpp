// Implicit steps of a whole uniform line in cache, for one axis, without truncation: every lane of the registers holds
// a contiguous part of it.
//
// For each eigenvalue of the stage matrix a step is two recursions, first towards the head, then away from it,
//
//   q_j = r q_{j+1} + y_j - y_{j+1},   z_j = r z_{j-1} + q_j,   y_j = v_j - v_{j-1},   v = w + l p
//
// (recursion.hpp). A part begins either of them with a zero carry. The missing carry contributes itself times a power
// of r to every site, which decays within the part, so that it is needed only for the last sites.
//
// The head has v = x, and z follows from its stage velocities. The boundary condition of the far end sets q behind it
// from the last z,
//
//   q_{N+1} = -d/c z_N   where the last row of 1 + c K has a diagonal that is larger by d than c/r,
//
// d/c = r for a fixed end, r - 1 for a free one, and r - 1 + C/(h lambda a) for a free end with a dashpot C.
// Source: the spectral factorisation in recursion.hpp, applied to a line with ends.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "model/line/implicit/mode_factors.hpp"
#include "model/line/lane_field.hpp"

namespace bathline {

/// For a scheme with these numbers of conjugate pairs and real eigenvalues; `streams` independent registers.
template <int pairs, int singles, int streams>
class LanePartitionedModes {
 public:
  static constexpr int stages = 2 * pairs + singles;
  /// z or q of all modes at one site, as in ModeFactors.
  using Numbers = Eigen::Matrix<double, stages, 1>;
  using Map = Eigen::Matrix<double, stages, stages>;

  /// Whether the parts of a line of `count` sites are longer than the decay length. A matched far end needs a scheme
  /// with one stage.
  static bool supports(const LineRecursion& recursion, const LineConstants& line, std::int64_t count) {
    return recursion.pairs.size() == pairs && recursion.singles.size() == singles &&
           (stages == 1 || line.far_end != FarEnd::matched) && last_part_of(count) > recursion.decay_length();
  }
  /// `supports` must hold.
  LanePartitionedModes(const LineRecursion& recursion, const LineConstants& line, std::int64_t count);

  /// `dissipated` is the energy dissipated by the dashpot of a matched end before, J.
  void load(const double* w, const double* p, double dissipated);
  void store(double* w, double* p) const;
  double first_w() const { return w_.front().value[0][0]; }
  double first_p() const { return p_.front().value[0][0]; }

  /// First half of a step with the head at `head`: returns the changes of the first site's stage momenta for a head
  /// with velocity 0.
  Numbers eliminate(double head);
  /// Second half.
  void substitute(const Numbers& head_velocities);
  /// Derivative of the first site's stage momenta with respect to the head's.
  const Map& slope() const { return slope_; }
  double dissipated() const { return dissipated_; }

 private:
  using Parts = LaneParts<streams>;
  using Register = LaneRegister<streams>;
  using Field = LaneField<streams>;
  using Factors = ModeFactors<pairs, singles>;
  using Modes = typename Factors::Modes;
  static constexpr int last_stream = streams - 1, last_lane = simd_width - 1;

  static std::int64_t last_part_of(std::int64_t count) {
    return count - (Parts::parts - 1) * ((count + Parts::parts - 1) / Parts::parts);
  }
  template <bool forward>
  static void carry_over(Modes (&modes)[streams]);
  /// Applies the boundary condition before the last site in the first recursion.
  void close_far_end(Modes& state, Modes& behind) const;
  void find_carry_corrections(const Modes (&first)[streams], Modes (&last)[streams]);

  Parts parts_;
  FarEnd far_end_;
  std::int64_t decay_length_;
  std::int64_t end_;  // length of the last part
  double drift_;
  Factors factors_;
  Map stage_weights_, velocity_weights_, slope_;
  Modes far_end_weights_;           // q behind the far end per last z without it; zero except in the last lane
  Modes entering_weights_;          // z at the end of a part per r q behind it
  double dashpot_input_ = 0.0;      // q behind the last site per its momentum, with a dashpot
  double loss_factor_ = 0.0;        // h C / M^2
  double last_stage_weight_ = 0.0;  // change of the stage momentum per z, with one stage

  Field w_, p_;
  std::vector<Field> q_;       // by mode
  std::vector<Modes> powers_;  // r^k for the last sites of the parts, beginning at their ends, by register, then stream
  Modes carry_corrections_[streams];  // r q behind every part
  Modes entering_[streams];           // z before every part
  double dissipated_ = 0.0;
};

}  // namespace bathline
