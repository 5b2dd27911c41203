// A uniform line of sites, each tied to the next by a spring, its head following the particles.
//
//   M w_j'' = lambda (w_{j+1} - 2 w_j + w_{j-1}),   w_0 = x(t),   force on the head lambda (w_1 - x)
//
// Source: farshi2018, section 6 (Rubin model); limebeer2020, eqs. (15)-(20) for the spring-inerter line, which in the
// displacements relative to its far particle is the same line with M = b, lambda = k, driven by q0 - Q0.
// Damps its head by D = sqrt(lambda M) until the echo at t_r = 2 N sqrt(M / lambda). One displacement per axis; the
// axes meet only in the particles.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/environment.hpp"
#include "model/line_window.hpp"
#include "parallel/communicator.hpp"
#include "parallel/halo.hpp"
#include "parallel/layout.hpp"
#include "parallel/ordered_sum.hpp"
#include "solve/line_solver.hpp"
#include "solve/stage_tridiagonal.hpp"

namespace bathline {

class Line final : public Environment {
 public:
  /// @note Collective.
  Line(std::string name, Attachment attachment, const LineConstants& constants, std::int64_t sites,
       const Communicator& communicator);

  std::int64_t sites() const override { return layout_.total(); }
  std::int64_t bytes() const override;
  double damping() const override;
  double echo_time() const override;
  double highest_frequency() const override;
  bool is_open_ended() const override { return constants_.far_end == FarEnd::matched; }
  /// Cut after its first `limit` sites, where it is held: vibrations above the band do not get further.
  LinearChain chain(std::int64_t limit) const override;
  /// Of the infinite line: 2 lambda J_1(wm t) / (wm t), wm = 2 sqrt(lambda/M). Source: weiss2012, section 3.1.
  std::vector<double> memory_kernel(std::span<const double> times) const override;

  void prepare(const RandomKey& key) override;
  void gather_state(std::vector<double>& w, std::vector<double>& p) const override;
  void scatter_state(std::span<const double> w, std::span<const double> p) override;
  std::span<const double> displacement(int axis) const override;
  std::int64_t first_site() const override { return layout_.first(communicator_.rank()); }
  EnvironmentEnergy energy(std::span<const double> head) override;

  int block_limit(const ExplicitScheme& scheme) const override;
  void open_block(const ExplicitScheme& scheme, double h, int steps) override;
  void force(std::span<const double> head, std::span<double> force) const override;
  void substep(const Substep& substep, std::span<const double> head) override;
  void close_block() override;

  void set_up_implicit(const OneStageScheme& scheme, double h) override;
  std::optional<HeadResponse> eliminate(std::span<const double> head) override;
  void complete(std::span<const double> head_velocity) override;
  std::string failure() const override { return solver_ ? solver_->failure() : ""; }

  void set_up_stages(const CollocationScheme& scheme, double h) override;
  StageResponse eliminate_stages(std::span<const double> head) override;
  void complete_stages(const Eigen::MatrixXd& head_velocities) override;

  /// Sites that a rank holds at least, if it holds any. No explicit scheme may reach farther in one step.
  static constexpr std::int64_t minimum_piece = 40;

 private:
  /// Sites copied from the neighbours on each side.
  static constexpr int halo_depth = 64;
  /// Sites that a tile owns; with its overlap it fits the first-level cache.
  static constexpr std::int64_t tile = 1536;

  /// An explicit block between `open_block` and `close_block`.
  struct Block {
    const ExplicitScheme* scheme = nullptr;
    int stages = -1;  // that the windows have room for
    double h = 0.0;
    int steps = 0;
    std::int64_t overlap = 0;  // sites that the block's steps reach
    std::int64_t near = 0;     // sites that advance in lockstep with the particles
    bool open = false;
  };

  bool at_head() const { return communicator_.is_root(); }
  /// This rank's own sites; copied ones lie before and behind.
  double* own(std::vector<double>& field) { return field.data() + halo_.left(); }
  const double* own(const std::vector<double>& field) const { return field.data() + halo_.left(); }
  void exchange_next_neighbours();
  void advance_tiles(int axis);

  LineConstants constants_;
  Layout layout_;
  Communicator communicator_;
  int axes_;
  Halo halo_;
  Halo thin_halo_;
  OrderedSum sum_;
  std::int64_t count_;
  bool at_far_end_;
  std::vector<std::vector<double>> w_, p_;  // one array per axis
  std::vector<double*> arrays_, thin_arrays_;
  std::vector<double> dissipated_;  // by axis, on the rank of the last site

  Block block_;
  std::vector<LineWindow> near_;   // one per axis, on rank 0
  std::vector<LineWindow> tiles_;  // two, used in turn

  OneStageScheme scheme_;
  double h_ = 0.0;
  std::unique_ptr<LineSolver> solver_;
  std::vector<double> head_;           // at the start of the step
  std::vector<double> head_momentum_;  // what a site would have at the head's stage velocity
  std::vector<double*> own_momenta_;

  CollocationScheme stages_;
  std::unique_ptr<StageSolver> stage_solver_;
  std::vector<std::vector<double>> stage_momenta_;  // by axis, then site, then stage
  std::vector<double*> stage_fields_;
};

}  // namespace bathline
