// Explicit schemes on a heat bath: several steps a pass.
//
// What the head feels in step n of a pass is the pull of the bath as it would move without the head, which one pass
// forecasts, plus the reply to the head's own motion since the pass, whose coefficients are the same for all passes:
// exact algebra, one reduction a pass.
//
// A pass always spans the same steps, counted from the start of the run or the last change from outside, and the head's
// force within it always comes from the forecast at its beginning. So neither the number of ranks nor where a run stops
// to be recorded changes a bit.
// Tested by tests/model/oscillator_bath/oscillator_bath_test.cpp.
#include <algorithm>
#include <stdexcept>

#include "model/oscillator_bath/state.hpp"

namespace bathline {

namespace {

class OscillatorBathExplicitStepper final : public ExplicitEnvironmentStepper {
 public:
  OscillatorBathExplicitStepper(OscillatorBathState& bath, const ExplicitScheme& scheme, double h, int steps_per_pass)
      : bath_(bath),
        steps_per_pass_(steps_per_pass),
        kernel_(scheme, h),
        length_(static_cast<std::size_t>(steps_per_pass * kernel_.substeps())),
        free_response_(bath.axes * length_),
        history_(free_response_.size()) {
    for (int i = 0; i < kernel_.substeps(); ++i) {
      if (scheme.substeps[static_cast<std::size_t>(i)].kind != Substep::Kind::drift) force_substeps_.push_back(i);
    }
  }

  int max_block_steps() const override { return steps_per_pass_ - (has_free_response() ? done_ : 0); }
  void begin_block(const BlockPlan& plan) override;
  void force(const HeadMotion& head, std::span<double> force) const override;
  void substep(const Substep& substep, const HeadMotion& head) override;
  void end_block() override;
  std::vector<double> internal_state() const override;
  void set_internal_state(std::span<const double> memory) override;

 private:
  /// Whether the pass under way is one of the present state.
  bool has_free_response() const { return free_response_of_ == bath_.changes; }
  void compute_impulse_response();
  /// Adds to the pulls of the rest of the pass what the bath replies to the head in that substep.
  void add_impulse_response(int substep);
  /// What is known after a pass: the pulls of all of the next one without the head, or the pull at its end alone.
  enum class After { free_response, pull };
  /// Advances the oscillators by the block whose heads are known, if any are.
  void advance_block(After after);

  OscillatorBathState& bath_;
  int steps_per_pass_;
  OscillatorChunkStepper kernel_;
  std::size_t length_;                  // substeps of a pass
  std::int64_t free_response_of_ = -1;  // the change of the state that the pass under way goes on from
  int steps_ = 0;                       // of the block that is open
  int done_ = 0;                        // steps of the pass before this block
  int substep_ = 0;                     // substeps of the pass that the head has taken
  std::vector<double>
      free_response_;         // pull without the head, by axis, then substep of the pass, where one is felt; on rank 0
  std::vector<double> pull_;  // the same with the replies to what the head has done so far; empty where unknown
  std::vector<double> impulse_response_;  // pull at substep i of the pass to a unit head in substep l of its first step
  std::vector<int> force_substeps_;       // substeps of a step in which the oscillators feel where the head is
  std::vector<double> history_;           // the head, by axis, then substep of the pass; on rank 0
  std::vector<double> heads_;             // the part of it that belongs to the open block, everywhere
};

void OscillatorBathExplicitStepper::begin_block(const BlockPlan& plan) {
  // The constructor would be too early: a march may be made before there are any oscillators.
  if (impulse_response_.empty()) compute_impulse_response();
  if (!has_free_response()) {
    done_ = substep_ = 0;
    heads_.clear();
    advance_block(After::free_response);
  } else if (pull_.empty()) {
    pull_ = free_response_;
    for (int substep = 0; substep < substep_; ++substep) add_impulse_response(substep);
  }
  steps_ = plan.steps;
}

void OscillatorBathExplicitStepper::substep(const Substep&, const HeadMotion& head) {
  for (std::size_t axis = 0; axis < bath_.axes; ++axis) {
    history_[axis * length_ + static_cast<std::size_t>(substep_)] = head.x[axis];
  }
  add_impulse_response(substep_++);
}

void OscillatorBathExplicitStepper::add_impulse_response(int substep) {
  const int in_step = substep % kernel_.substeps(), begin = substep - in_step;
  if (std::find(force_substeps_.begin(), force_substeps_.end(), in_step) == force_substeps_.end()) return;
  const double* const impulse_response = impulse_response_.data() + static_cast<std::size_t>(in_step) * length_;
  for (std::size_t axis = 0; axis < bath_.axes; ++axis) {
    double* const pull = pull_.data() + axis * length_ + begin;
    const double x = history_[axis * length_ + static_cast<std::size_t>(substep)];
    for (int later = in_step + 1; later < static_cast<int>(length_) - begin; ++later)
      pull[later] += impulse_response[later] * x;
  }
}

void OscillatorBathExplicitStepper::end_block() {
  const auto begin = static_cast<std::size_t>(done_ * kernel_.substeps());
  const auto count = static_cast<std::size_t>(steps_ * kernel_.substeps());
  heads_.resize(bath_.axes * count);
  for (std::size_t axis = 0; axis < bath_.axes && bath_.communicator.is_root(); ++axis) {
    std::copy_n(history_.begin() + static_cast<std::ptrdiff_t>(axis * length_ + begin), count,
                heads_.begin() + static_cast<std::ptrdiff_t>(axis * count));
  }
  bath_.communicator.broadcast(std::span<double>(heads_));
  done_ += steps_;
  const bool complete = done_ == steps_per_pass_;
  advance_block(complete ? After::free_response : After::pull);
  if (complete) done_ = substep_ = 0;
}

void OscillatorBathExplicitStepper::force(const HeadMotion& head, std::span<double> force) const {
  for (std::size_t axis = 0; axis < bath_.axes; ++axis) {
    force[axis] = pull_[axis * length_ + static_cast<std::size_t>(substep_)] - bath_.total_stiffness * head.x[axis];
  }
}

void OscillatorBathExplicitStepper::compute_impulse_response() {
  const int substeps = kernel_.substeps();
  impulse_response_.assign(length_ * static_cast<std::size_t>(substeps), 0.0);
  // One substep at a time: schemes of high order have so many that all at once would be a long message.
  for (int l = 0; l < substeps; ++l) {
    std::vector<double> heads(length_);
    heads[static_cast<std::size_t>(l)] = 1.0;
    bath_.sum.allocate(static_cast<int>(length_));
    bath_.for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int count) {
      kernel_.impulse_response(heads, count, bath_.stiffness.data() + begin, bath_.inverse_mass.data() + begin,
                               bath_.sum.leaf(leaf));
    });
    bath_.sum.reduce(std::span(impulse_response_).subspan(static_cast<std::size_t>(l) * length_, length_));
  }
}

void OscillatorBathExplicitStepper::advance_block(After after) {
  const bool then_forecast = after == After::free_response;
  const std::size_t axes = bath_.axes, taken = heads_.size() / axes;
  ReproducibleBlockSum& sum = bath_.sum;
  // Without a forecast the pull after the block has to be summed up by itself.
  sum.allocate(static_cast<int>(then_forecast ? axes * length_ : axes));
  bath_.for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int count) {
    for (std::size_t axis = 0; axis < axes; ++axis) {
      kernel_.advance_block(std::span(heads_).subspan(axis * taken, taken), count, bath_.w[axis].data() + begin,
                            bath_.p[axis].data() + begin, bath_.stiffness.data() + begin,
                            bath_.inverse_mass.data() + begin,
                            then_forecast ? sum.leaf(leaf).subspan(axis * length_, length_) : std::span<double>());
      if (!then_forecast) {
        sum.leaf(leaf)[axis] +=
            OscillatorChunkStepper::pull(count, bath_.stiffness.data() + begin, bath_.w[axis].data() + begin);
      }
    }
  });
  if (taken > 0) ++bath_.changes;
  free_response_of_ = bath_.changes;
  if (!then_forecast) {
    sum.reduce(bath_.pull);
    return;
  }
  sum.reduce(free_response_);
  pull_ = free_response_;
  for (std::size_t axis = 0; axis < axes; ++axis) bath_.pull[axis] = free_response_[axis * length_];
}

// The pull is part of it: summed up anew it would differ in the last bits.
std::vector<double> OscillatorBathExplicitStepper::internal_state() const {
  std::vector<double> all = bath_.pull;
  all.insert(all.end(), {has_free_response() ? 1.0 : 0.0, static_cast<double>(done_), static_cast<double>(substep_)});
  all.insert(all.end(), free_response_.begin(), free_response_.end());
  all.insert(all.end(), history_.begin(), history_.end());
  return all;
}

void OscillatorBathExplicitStepper::set_internal_state(std::span<const double> memory) {
  const std::size_t axes = bath_.axes;
  const auto require = [](bool fits) {
    if (!fits) throw std::out_of_range("this is not what a heat bath goes on from");
  };
  require(memory.size() == axes + 3 + 2 * free_response_.size());
  const double done = memory[axes + 1], substep = memory[axes + 2];
  require(done >= 0.0 && done < steps_per_pass_ && substep == done * kernel_.substeps());
  std::copy_n(memory.begin(), axes, bath_.pull.begin());
  if (memory[axes] == 0.0) return;
  free_response_of_ = bath_.changes;
  done_ = static_cast<int>(done);
  substep_ = static_cast<int>(substep);
  std::copy_n(memory.begin() + static_cast<std::ptrdiff_t>(axes + 3), free_response_.size(), free_response_.begin());
  std::copy_n(memory.end() - static_cast<std::ptrdiff_t>(history_.size()), history_.size(), history_.begin());
}

}  // namespace

std::unique_ptr<ExplicitEnvironmentStepper> make_explicit_environment_stepper(OscillatorBathState& bath,
                                                                              const ExplicitScheme& scheme, double h,
                                                                              int steps_per_pass) {
  return std::make_unique<OscillatorBathExplicitStepper>(bath, scheme, h, steps_per_pass);
}

}  // namespace bathline
