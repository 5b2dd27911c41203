// Implicit one-stage steps of a uniform line in blocks of steps, without any message within a block.
//
// One exchange supplies as many sites beyond each cut as the block's steps reach to within round-off. The sites near
// the head advance in lockstep with the particles; all others in tiles that overlap by the same reach and stay in cache
// for all steps of the block, or, at the far end, in a window with what closes the line there. A line that lies within
// few sites of its head on one rank is all one window, and exact.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/line_implicit_recursion.hpp"
#include "model/line_implicit_tile.hpp"
#include "model/line_implicit_window.hpp"
#include "parallel/communicator.hpp"
#include "parallel/halo.hpp"
#include "parallel/layout.hpp"

namespace bathline {

class LineImplicitBlock {
 public:
  /// This rank's own sites along an axis, with copied ones before and behind, and what a dashpot on the last of all
  /// sites has taken, in J.
  struct Axis {
    double* w;
    double* p;
    double* dissipated;
  };

  /// No block reaches further than this.
  static constexpr int widest = 512;

  /// Nothing where the steps reach further than that, or than the sites of a rank. The same on every rank.
  /// @note Collective.
  static std::unique_ptr<LineImplicitBlock> make(const ImplicitStage& stage, const Layout& layout,
                                                 const Communicator& communicator, int axes);

  /// Steps that a block may have.
  int limit() const { return reach_.steps; }
  bool is_open() const { return steps_ > 0; }
  /// `axes`, as many as it was made for, must outlive the block, with room for `widest` sites, as far as there are any,
  /// on both sides. @note Collective.
  void open(int steps, std::vector<Axis> axes);
  /// On rank 0, inside a block.
  void eliminate(std::span<const double> head, std::span<double> constant);
  double damping() const { return near_.front().damping(); }
  void complete(std::span<const double> head_velocity);
  /// What has not advanced yet catches up.
  void close();

 private:
  LineImplicitBlock(const ImplicitStage& stage, const ImplicitReach& reach, const Layout& layout,
                    const Communicator& communicator, int axes);
  void advance_rest(std::size_t axis);

  ImplicitReach reach_;  // no sites where the whole line is one window
  std::vector<Axis> axes_;
  bool at_head_;
  bool at_far_end_;
  std::int64_t count_;
  std::int64_t near_count_;  // sites that advance in lockstep with the particles
  std::unique_ptr<Halo> halo_;
  std::vector<double*> halo_fields_;
  std::vector<LineImplicitWindow> near_;  // one per axis, on rank 0
  std::vector<LineImplicitWindow> far_;   // one, on the rank of the far end
  std::int64_t tile_ = 0;                 // sites that a tile may own
  std::vector<LineImplicitTile> tiles_;   // two, used in turn
  int steps_ = 0;                         // of the open block
};

}  // namespace bathline
