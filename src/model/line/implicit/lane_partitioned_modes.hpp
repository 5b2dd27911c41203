// A whole uniform line in cache, for one axis, taken through implicit steps exactly: every lane of some registers owns
// a contiguous part of it.
//
// For each eigenvalue of the stage matrix a step is two recursions, first towards the head, then away from it,
//
//   q_j = r q_{j+1} + y_j - y_{j+1},   z_j = r z_{j-1} + q_j,   y_j = v_j - v_{j-1},   v = w + lead p
//
// (recursion.hpp). A part begins either of them with nothing. What it should have begun with adds a power of r to every
// site, which has faded within the part, so that it need not be known before the part's far side has been reached.
//
// The head has v = x, and z as its stage velocities tell. Behind the far end there is the q that what closes the line
// there makes of the last z,
//
//   q_{N+1} = -d/c z_N   where the last row of 1 + c K has a diagonal that is larger by d than c/r,
//
// d/c = r at a fixed end, r - 1 at a free one, and more by C/(h lambda a) where a dashpot C takes part.
// Source: the spectral factorisation in recursion.hpp, applied to a line with ends.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "model/line/implicit/mode_factors.hpp"
#include "model/line/lane_field.hpp"

namespace bathline {

/// Of a scheme with so many pairs of eigenvalues and real ones; `streams` registers go side by side.
template <int pairs, int singles, int streams>
class LanePartitionedModes {
 public:
  static constexpr int stages = 2 * pairs + singles;
  /// z or q of all modes at one site, as in ModeFactors.
  using Numbers = Eigen::Matrix<double, stages, 1>;
  using Map = Eigen::Matrix<double, stages, stages>;

  /// Whether parts of a line of `count` sites are longer than what they inherit is felt. Only schemes with one stage
  /// take a matched far end.
  static bool takes(const LineRecursion& recursion, const LineConstants& line, std::int64_t count) {
    return recursion.pairs.size() == pairs && recursion.singles.size() == singles &&
           (stages == 1 || line.far_end != FarEnd::matched) && last_part_of(count) > recursion.decay_length();
  }
  /// Of such a line.
  LanePartitionedModes(const LineRecursion& recursion, const LineConstants& line, std::int64_t count);

  /// `dissipated` is what the dashpot of a matched end has taken until now, in J.
  void load(const double* w, const double* p, double dissipated);
  void store(double* w, double* p) const;
  double first_w() const { return w_.front().at[0][0]; }
  double first_p() const { return p_.front().at[0][0]; }

  /// First half of a step with the head at `head`: changes of the first site's stage momenta were the head to rest.
  Numbers eliminate(double head);
  /// Second half.
  void substitute(const Numbers& head_velocities);
  /// How much of the head's stage momenta the first site's get.
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
  static void carry_over(Modes (&of_streams)[streams]);
  /// Before the last site takes its turn in the first recursion.
  void close_far_end(Modes& state, Modes& behind) const;
  void find_carry_corrections(const Modes (&first)[streams], Modes (&last)[streams]);

  Parts parts_;
  FarEnd far_end_;
  std::int64_t decay_length_;
  std::int64_t end_;  // of the last part
  double drift_;
  Factors factors_;
  Map to_stages_, from_velocities_, slope_;
  Modes by_last_;      // q behind the far end by the last z that a part has without it; zero but in the last lane
  Modes to_entering_;  // z at the end of a part by r q behind it
  double pull_ = 0.0;  // q behind the last site by its momentum, where a dashpot is
  double loss_ = 0.0;  // h C / M^2
  double last_change_ = 0.0;  // of the stage momentum by z, with one stage

  Field w_, p_;
  std::vector<Field> q_;              // of all modes
  std::vector<Modes> powers_;         // of the last sites of the parts, beginning at the end, by register, then stream
  Modes carry_corrections_[streams];  // r q behind every part
  Modes entering_[streams];           // z before every part
  double dissipated_ = 0.0;
};

}  // namespace bathline
