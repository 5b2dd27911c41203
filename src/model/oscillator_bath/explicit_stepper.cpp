// Explicit schemes on an oscillator bath: several steps a pass over the oscillators.
//
// The force on the head in step n of a pass has two parts: the free response, which is the pull of the bath with the
// head at 0 and is computed for the whole pass at its start, and the impulse response to the head's positions since
// then, whose coefficients are the same for all passes. This is exact algebra with one reduction a pass.
//
// A pass always spans the same steps, counted from the start of the run or the last change from outside, and the force
// within it always comes from the free response at its start. So neither the number of ranks nor where a run stops to
// be recorded changes a bit.
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
        chunk_stepper_(scheme, h),
        length_(static_cast<std::size_t>(steps_per_pass * chunk_stepper_.substeps())),
        free_response_(bath.axes * length_),
        history_(free_response_.size()) {
    for (int i = 0; i < chunk_stepper_.substeps(); ++i) {
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
  /// Whether the free response belongs to the present state.
  bool has_free_response() const { return free_response_valid_for_ == bath_.changes; }
  void compute_impulse_response();
  /// Adds the response to the head's position in that substep to the pulls of the rest of the pass.
  void add_impulse_response(int substep);
  /// What is computed after a block: the free response of the next pass, or the pull at the end of the block alone.
  enum class After { free_response, pull };
  /// Advances the oscillators with the head at `heads_`, if it has entries.
  void advance_block(After after);

  OscillatorBathState& bath_;
  int steps_per_pass_;
  OscillatorChunkStepper chunk_stepper_;
  std::size_t length_;                         // substeps of a pass
  std::int64_t free_response_valid_for_ = -1;  // value of `changes` that the present pass belongs to
  int steps_ = 0;                              // of the open block
  int done_ = 0;                               // steps of the pass before this block
  int substep_ = 0;                            // substeps of the pass that the head has taken
  std::vector<double>
      free_response_;         // pull with the head at 0, by axis, then substep of the pass with a force; on rank 0
  std::vector<double> pull_;  // the same with the response to the head so far; empty until computed
  std::vector<double>
      impulse_response_;             // pull at substep i of the pass for a head at 1 in substep l of its first step
  std::vector<int> force_substeps_;  // substeps of a step whose result depends on the head's position
  std::vector<double> history_;      // head positions by axis, then substep of the pass; on rank 0
  std::vector<double> heads_;        // those of the open block, on every rank
};

void OscillatorBathExplicitStepper::begin_block(const BlockPlan& plan) {
  // Not in the constructor: a stepper may be made before the environment is prepared.
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
  const int in_step = substep % chunk_stepper_.substeps(), begin = substep - in_step;
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
  const auto begin = static_cast<std::size_t>(done_ * chunk_stepper_.substeps());
  const auto count = static_cast<std::size_t>(steps_ * chunk_stepper_.substeps());
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
  const int substeps = chunk_stepper_.substeps();
  impulse_response_.assign(length_ * static_cast<std::size_t>(substeps), 0.0);
  // One reduction a substep: a single one would be a long message for schemes of high order.
  for (int l = 0; l < substeps; ++l) {
    std::vector<double> heads(length_);
    heads[static_cast<std::size_t>(l)] = 1.0;
    bath_.sum.allocate(static_cast<int>(length_));
    bath_.for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int count) {
      chunk_stepper_.impulse_response(heads, count, bath_.stiffness.data() + begin, bath_.inverse_mass.data() + begin,
                                      bath_.sum.leaf(leaf));
    });
    bath_.sum.reduce(std::span(impulse_response_).subspan(static_cast<std::size_t>(l) * length_, length_));
  }
}

void OscillatorBathExplicitStepper::advance_block(After after) {
  const bool with_free_response = after == After::free_response;
  const std::size_t axes = bath_.axes, substeps = heads_.size() / axes;
  ReproducibleSum& sum = bath_.sum;
  // Without a free response the pull after the block needs a sum of its own.
  sum.allocate(static_cast<int>(with_free_response ? axes * length_ : axes));
  bath_.for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int oscillators) {
    for (std::size_t axis = 0; axis < axes; ++axis) {
      chunk_stepper_.advance_block(
          std::span(heads_).subspan(axis * substeps, substeps), oscillators, bath_.w[axis].data() + begin,
          bath_.p[axis].data() + begin, bath_.stiffness.data() + begin, bath_.inverse_mass.data() + begin,
          with_free_response ? sum.leaf(leaf).subspan(axis * length_, length_) : std::span<double>());
      if (!with_free_response) {
        sum.leaf(leaf)[axis] +=
            OscillatorChunkStepper::pull(oscillators, bath_.stiffness.data() + begin, bath_.w[axis].data() + begin);
      }
    }
  });
  if (substeps > 0) ++bath_.changes;
  free_response_valid_for_ = bath_.changes;
  if (!with_free_response) {
    sum.reduce(bath_.pull);
    return;
  }
  sum.reduce(free_response_);
  pull_ = free_response_;
  for (std::size_t axis = 0; axis < axes; ++axis) bath_.pull[axis] = free_response_[axis * length_];
}

// The pull is part of it, as its recomputed sum would differ in the last bits.
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
    if (!fits) throw std::out_of_range("the saved numbers do not fit the stepper of this heat bath");
  };
  require(memory.size() == axes + 3 + 2 * free_response_.size());
  const double done = memory[axes + 1], substep = memory[axes + 2];
  require(done >= 0.0 && done < steps_per_pass_ && substep == done * chunk_stepper_.substeps());
  std::copy_n(memory.begin(), axes, bath_.pull.begin());
  if (memory[axes] == 0.0) return;
  free_response_valid_for_ = bath_.changes;
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
