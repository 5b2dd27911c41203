// A line of sites, each tied to the next by a spring, its head following the particles.
//
//   M w_j'' = lambda (w_{j+1} - 2 w_j + w_{j-1}),   w_0 = x(t),   force on the head lambda (w_1 - x)
//
// Source: farshi2018, section 6 (Rubin model); limebeer2020, eqs. (15)-(20) for the spring-inerter line, which in the
// displacements relative to its far particle is the same line with M = b, lambda = k, driven by q0 - Q0.
// Damps its head by D = sqrt(lambda M) until the echo at t_r = 2 N sqrt(M / lambda). One displacement per axis; the
// axes meet only in the particles.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/environment.hpp"
#include "model/line/implicit_block.hpp"
#include "model/line/springs.hpp"
#include "model/line/stage_block.hpp"
#include "model/line/sweeps.hpp"
#include "model/line/tile.hpp"
#include "model/line/unequal_stage.hpp"
#include "model/line/window.hpp"
#include "parallel/cache_lines.hpp"
#include "parallel/communicator.hpp"
#include "parallel/halo.hpp"
#include "parallel/layout.hpp"
#include "parallel/ordered_sum.hpp"
#include "solve/line_solver.hpp"
#include "solve/line_stage_solver.hpp"

namespace bathline {

/// What one site is made of.
struct LineSite {
  double mass = 1.0;
  double stiffness = 1.0;  ///< of the spring before it; behind the last site a fixed end has one like the last

  bool operator==(const LineSite&) const = default;
};

struct LineOptions {
  double temperature = 0.0;  ///< kT of the start, J; only where all sites are equal
  /// Where sites differ: what each of them is made of, by its index.
  std::function<LineSite(std::int64_t)> site = {};
  /// Leaves out sites that nothing can have moved yet; no result depends on it.
  bool skip_resting = true;
};

class Line final : public Environment {
 public:
  /// Mass and stiffness of `constants` have no meaning where the options say what the sites are made of.
  /// @note Collective.
  Line(std::string name, Attachment attachment, const LineConstants& constants, std::int64_t sites,
       const Communicator& communicator, LineOptions options = {});

  std::int64_t sites() const override { return layout_.total(); }
  std::int64_t bytes() const override;
  std::int64_t bytes_for(const Scheme& scheme) const override;
  /// On a line of unequal sites the one of a line that goes on as it begins.
  double damping() const override;
  /// The first site that differs from those before it sends an echo back, too.
  double echo_time() const override;
  double highest_frequency() const override;
  double temperature() const override { return options_.temperature; }
  bool is_open_ended() const override { return constants_.far_end == FarEnd::matched; }
  /// Cut after its first `limit` sites, where it is held: vibrations above the band do not get further.
  LinearChain chain(std::int64_t limit) const override;
  /// Of the infinite line: 2 lambda J_1(wm t) / (wm t), wm = 2 sqrt(lambda/M). Source: weiss2012, section 3.1.
  /// None for unequal sites.
  std::vector<double> memory_kernel(std::span<const double> times) const override;
  /// None for unequal sites.
  std::optional<double> front_speed() const override;

  void prepare(const RandomKey& key) override;
  void gather_state(std::vector<double>& w, std::vector<double>& p) const override;
  void scatter_state(std::span<const double> w, std::span<const double> p) override;
  std::span<const double> displacement(int axis) const override;
  std::int64_t first_site() const override { return layout_.first(communicator_.rank()); }
  std::span<const double> momentum(int axis) const override;
  void restore(int axis, std::span<const double> w, std::span<const double> p) override;
  std::vector<double> carried() const override;
  void carry_on(std::span<const double> carried) override;
  EnvironmentEnergy energy(std::span<const double> head) override;

  void foresee_end(std::int64_t steps) override { steps_left_ = steps; }
  int block_limit(const ExplicitScheme& scheme) const override;
  void open_block(const ExplicitScheme& scheme, double h, int steps) override;
  void force(std::span<const double> head, std::span<double> force) const override;
  void substep(const Substep& substep, std::span<const double> head) override;
  void close_block() override;

  void set_up_implicit(const OneStageScheme& scheme, double h) override;
  int implicit_block_limit() const override;
  void open_implicit_block(int steps) override;
  void close_implicit_block() override;
  std::optional<HeadResponse> eliminate(std::span<const double> head) override;
  void complete(std::span<const double> head_velocity) override;
  std::string failure() const override;

  bool allows_stages() const override { return is_uniform(); }
  void set_up_stages(const CollocationScheme& scheme, double h) override;
  std::optional<StageResponse> eliminate_stages(std::span<const double> head) override;
  void complete_stages(const Eigen::MatrixXd& head_velocities) override;

  /// Sites that a rank holds at least, if it holds any. No explicit scheme may reach farther in one step.
  static constexpr std::int64_t minimum_piece = 40;

 private:
  /// Sites copied from the neighbours on each side for explicit schemes.
  static constexpr int halo_depth = static_cast<int>(LineTile::furthest);
  /// Sites that a window owns; with its overlap it fits the first-level cache.
  static constexpr std::int64_t window = 1536;

  /// An explicit block between `open_block` and `close_block`.
  struct Block {
    const ExplicitScheme* scheme = nullptr;
    int stages = -1;  // that the windows have room for
    double h = 0.0;
    int steps = 0;
    std::int64_t overlap = 0;  // sites that the block's steps reach
    std::int64_t moved = 0;    // sites before this one have moved before
    std::int64_t needed = 0;   // sites from this one on will not be felt any more
    std::int64_t near = 0;     // sites that advance in lockstep with the particles
    bool open = false;
  };

  bool at_head() const { return communicator_.is_root(); }
  /// This rank's own sites; copied ones lie before and behind.
  double* own(AlignedVector& field) { return field.data() + room_before_; }
  const double* own(const AlignedVector& field) const { return field.data() + room_before_; }
  /// Own and copied sites by their number in the whole line. A pointer moved back by as much would leave its array.
  struct Numbered {
    const double* own;
    std::int64_t first;
    template <class Number>
    Number at(std::int64_t site) const {
      return read<Number>(own + (site - first));
    }
  };
  Numbered numbered(const AlignedVector& field) const { return {own(field), first_site()}; }
  void exchange_next_neighbours();
  /// A thermal start of one axis. @note Collective.
  void warm_up(const RandomKey& key, int axis);
  bool is_uniform() const { return !options_.site; }
  LineSite site(std::int64_t index) const;
  LineSprings springs() const;
  /// Once: what the sites are made of does not change.
  void prepare_springs();
  /// What turns a velocity of the head into what the implicit solver takes for it, which is a momentum where all sites
  /// are equal.
  double solved_mass() const { return is_uniform() ? constants_.mass : 1.0; }
  /// Sites before `end` may have moved from now on, and sums over the sites are out of date.
  void touch(std::int64_t end);
  double energy_unit() const { return is_uniform() ? 0.5 / constants_.mass : 0.5; }
  /// Energy of a site and of the spring behind it, by its global index, in units of `energy_unit`.
  template <class Use>
  void use_site_energy(int axis, Use use) const;
  void add_energies(int axis, std::int64_t end);
  void advance_in_windows(int axis);
  void advance_in_tiles(int axis, std::int64_t end);
  void advance_in_place(int axis, std::int64_t end);
  /// Whether the block's steps can change the sites from `begin` on, and whoever asks for something can see it.
  bool matters(std::int64_t begin) const;
  void store_near(int axis);
  /// Loads what the sites from `begin` to before `end` depend on.
  void load(LineWindow& window, int axis, std::int64_t begin, std::int64_t end);
  void advance(LineWindow& window, int axis, bool holds_last);

  LineConstants constants_;
  LineOptions options_;
  Layout layout_;
  Communicator communicator_;
  int axes_;
  Halo halo_;
  Halo thin_halo_;
  std::vector<OrderedSum> sums_;  // of the energy, by axis
  std::int64_t count_;
  bool at_far_end_;
  std::int64_t room_before_, room_behind_;  // for copied sites, as many as any scheme wants
  std::vector<AlignedVector> w_, p_;        // one array per axis
  std::vector<double*> arrays_, thin_arrays_;
  AlignedVector spring_, inverse_mass_;  // of unequal sites, with those copied
  double head_stiffness_ = 0.0;
  std::optional<std::int64_t> steps_left_;  // that matter, and only to the head; all sites matter where there is none
  std::int64_t moved_ = 0;                  // no site from here on has ever moved
  bool energy_is_wanted_ = false;           // so that the next block adds it up while its sites are in cache
  bool energy_is_under_way_ = false;
  std::vector<double> dissipated_;  // by axis, on the rank of the last site

  Block block_;
  LineSweeps sweeps_;
  std::vector<LineWindow> near_;     // one per axis, on rank 0
  std::optional<LineTile> tile_;     // for splittings
  std::vector<LineWindow> windows_;  // two, used in turn where there are no tiles

  ImplicitStage stage_;
  UnequalStage unequal_stage_;  // instead, where sites differ
  std::unique_ptr<LineSolver> solver_;
  std::unique_ptr<LineImplicitBlock> implicit_block_;  // where there can be any
  std::vector<double> head_;                           // at the start of the step
  std::vector<double> head_momentum_;                  // the head's stage velocity as the solver takes it
  std::vector<double*> own_momenta_;

  LineStageStep stages_;
  std::unique_ptr<LineStageSolver> stage_solver_;
  std::unique_ptr<LineStageBlock> stage_block_;     // where there can be any
  std::vector<std::vector<double>> stage_momenta_;  // by axis, then site, then stage
  std::vector<double*> stage_fields_;
};

}  // namespace bathline
