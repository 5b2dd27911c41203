// Independent oscillators around one head: the heat bath of Caldeira and Leggett.
//
//   m_j w_j'' = k_j (x - w_j),   force on the head sum_j k_j (w_j - x)
//
// Source: farshi2018, section 4.3; limebeer2020, section II-A. Equivalent to the memory kernel
// gamma(t) = sum_j k_j cos(omega_j t), farshi2018, eq. (36).
//
// Explicit schemes pass over the oscillators once in several steps. What the head feels in step n of a pass is the pull
// of the bath as it would move without the head, which one pass forecasts, plus the reply to the head's own motion
// since the pass, whose coefficients are the same for all passes: exact algebra, one reduction a pass.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/environment.hpp"
#include "model/spectrum.hpp"
#include "model/star/kernel.hpp"
#include "parallel/communicator.hpp"
#include "parallel/leaf_sum.hpp"

namespace bathline {

class Star final : public Environment {
 public:
  /// `steps_per_pass` steps of an explicit scheme are taken in one pass; `temperature` is kT of the start, J.
  /// @note Collective.
  Star(std::string name, Attachment attachment, Spectrum spectrum, double temperature, int steps_per_pass,
       const Communicator& communicator);

  std::int64_t sites() const override { return spectrum_.size; }
  std::string site_name() const override { return "oscillator"; }
  std::int64_t bytes() const override;
  double damping() const override { return spectrum_.damping; }
  double echo_time() const override { return spectrum_.recurrence; }
  std::string echo_name() const override { return "recurrence"; }
  double temperature() const override { return temperature_; }
  double highest_frequency() const override { return spectrum_.oscillator(spectrum_.size - 1).frequency; }
  bool is_open_ended() const override { return false; }
  LinearChain chain(std::int64_t limit) const override;
  std::vector<double> memory_kernel(std::span<const double> times) const override;
  std::vector<double> memory_kernel_limit(std::span<const double> times) const override;
  std::vector<double> random_force(std::span<const double> times) const override;

  void prepare(const RandomKey& key) override;
  void gather_state(std::vector<double>& w, std::vector<double>& p) const override;
  void scatter_state(std::span<const double> w, std::span<const double> p) override;
  std::span<const double> displacement(int axis) const override { return w_[static_cast<std::size_t>(axis)]; }
  std::int64_t first_site() const override { return sum_.first(); }
  std::span<const double> momentum(int axis) const override { return p_[static_cast<std::size_t>(axis)]; }
  void restore(int axis, std::span<const double> w, std::span<const double> p) override;
  std::vector<double> carried() const override;
  void carry_on(std::span<const double> carried) override;
  EnvironmentEnergy energy(std::span<const double> head) override;

  int block_limit(const ExplicitScheme& scheme) const override;
  void open_block(const ExplicitScheme& scheme, double h, int steps) override;
  void force(std::span<const double> head, std::span<double> force) const override;
  void substep(const Substep& substep, std::span<const double> head) override;
  void close_block() override;

  void set_up_implicit(const OneStageScheme& scheme, double h) override;
  std::optional<HeadResponse> eliminate(std::span<const double> head) override;
  void complete(std::span<const double> head_velocity) override;
  std::string failure() const override { return ""; }

  void set_up_stages(const CollocationScheme& scheme, double h) override;
  std::optional<StageResponse> eliminate_stages(std::span<const double> head) override;
  void complete_stages(const Eigen::MatrixXd& head_velocities) override;

 private:
  /// Calls work(leaf, begin, count) for every chunk of this rank's oscillators, leaf by leaf.
  template <class Work>
  void for_each_chunk(Work&& work) const;
  void refresh_pull();

  // Explicit schemes, in star_explicit.cpp.
  void measure_reply(const ExplicitScheme& scheme, double h);
  /// Advances the oscillators by the block whose heads are known, where it `advances`, and forecasts the next pass.
  void pass(bool advances, bool then_forecast);
  double pull(std::size_t axis, int substep) const;

  // Implicit schemes, in star_implicit.cpp.
  void refresh_elimination();
  // With several stages, in star_stages.cpp; S is their number.
  template <int S>
  void measure_stage_damping();
  template <int S>
  void eliminate_with(Eigen::MatrixXd& constant);
  template <int S>
  void complete_with(const Eigen::MatrixXd& head_velocities);

  Spectrum spectrum_;
  double temperature_;
  int steps_per_pass_;
  Communicator communicator_;
  std::size_t axes_;
  mutable LeafSum sum_;
  std::vector<double> stiffness_, inverse_mass_;  // per oscillator of this rank
  std::vector<std::vector<double>> w_, p_;        // one array per axis
  double total_stiffness_ = 0.0;                  // on rank 0, as the next
  std::vector<double> pull_;                      // sum of k w now, one per axis

  /// A pass and where its steps have got to.
  struct Pass {
    std::unique_ptr<StarKernel> kernel;  // of the scheme that the pass is for
    bool forecast = false;               // whether `free` is there
    bool open = false;
    int steps = 0;             // of the block that is open
    int done = 0;              // steps of the pass before this block
    int substep = 0;           // substeps of the pass that the head has taken
    std::vector<double> free;  // pull without the head, by axis, then substep of the pass, where one is felt; on rank 0
    std::vector<double> reply;    // pull at substep i of the pass to a unit head in substep l of its first step
    std::vector<double> history;  // the head, by axis, then substep of the pass; on rank 0
    std::vector<double> heads;    // the part of it that belongs to the open block, everywhere
  };
  Pass pass_;
  std::vector<double> unfinished_;  // `free` and `history` of a pass from before a restart, until it goes on

  OneStageScheme scheme_;
  double h_ = 0.0;
  bool eliminated_ = false;           // whether `elimination_` is that of the present state
  double condensed_stiffness_ = 0.0;  // sum of k / (1 + a b h^2 k/m)
  std::vector<double> elimination_;   // sum of k (w + b h p/m) / (1 + a b h^2 k/m), one per axis; on rank 0
  std::vector<double> head_;          // at the start of the step

  CollocationScheme stages_;
  Eigen::MatrixXd stage_damping_;
};

template <class Work>
void Star::for_each_chunk(Work&& work) const {
  for (std::int64_t leaf = 0; leaf < sum_.leaves(); ++leaf) {
    const std::int64_t end = std::min(sum_.count(), (leaf + 1) * sum_.leaf_size());
    for (std::int64_t begin = leaf * sum_.leaf_size(); begin < end; begin += StarKernel::chunk) {
      work(leaf, begin, static_cast<int>(std::min<std::int64_t>(StarKernel::chunk, end - begin)));
    }
  }
}

}  // namespace bathline
