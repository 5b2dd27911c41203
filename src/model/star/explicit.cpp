// Explicit schemes on a heat bath: several steps a pass.
//
// What the head feels in step n of a pass is the pull of the bath as it would move without the head, which one pass
// forecasts, plus the reply to the head's own motion since the pass, whose coefficients are the same for all passes:
// exact algebra, one reduction a pass.
//
// A pass always spans the same steps, counted from the start of the run or the last change from outside, and the head's
// force within it always comes from the forecast at its beginning. So neither the number of ranks nor where a run stops
// to be recorded changes a bit.
// Tested by tests/model/star/star_test.cpp.
#include <algorithm>
#include <stdexcept>

#include "model/star/state.hpp"

namespace bathline {

namespace {

class StarExplicitMarch final : public ExplicitMarch {
 public:
  StarExplicitMarch(StarState& star, const ExplicitScheme& scheme, double h, int steps_per_pass)
      : star_(star),
        steps_per_pass_(steps_per_pass),
        kernel_(scheme, h),
        length_(static_cast<std::size_t>(steps_per_pass * kernel_.substeps())),
        free_(star.axes * length_),
        history_(free_.size()) {
    for (int i = 0; i < kernel_.substeps(); ++i) {
      if (scheme.substeps[static_cast<std::size_t>(i)].kind != Substep::Kind::drift) felt_.push_back(i);
    }
  }

  int limit() const override { return steps_per_pass_ - (is_forecast() ? done_ : 0); }
  void open(const BlockPlan& plan) override;
  void force(const HeadMotion& head, std::span<double> force) const override;
  void substep(const Substep& substep, const HeadMotion& head) override;
  void close() override;
  std::vector<double> memory() const override;
  void remember(std::span<const double> memory) override;

 private:
  /// Whether the pass under way is one of the present state.
  bool is_forecast() const { return forecast_of_ == star_.changes; }
  void measure_reply();
  /// Adds to the pulls of the rest of the pass what the bath replies to the head in that substep.
  void reply_to(int substep);
  /// What is known after a pass: the pulls of all of the next one without the head, or the pull at its end alone.
  enum class After { forecast, pull };
  /// Advances the oscillators by the block whose heads are known, if any are.
  void pass(After after);

  StarState& star_;
  int steps_per_pass_;
  StarKernel kernel_;
  std::size_t length_;             // substeps of a pass
  std::int64_t forecast_of_ = -1;  // the change of the state that the pass under way goes on from
  int steps_ = 0;                  // of the block that is open
  int done_ = 0;                   // steps of the pass before this block
  int substep_ = 0;                // substeps of the pass that the head has taken
  std::vector<double> free_;   // pull without the head, by axis, then substep of the pass, where one is felt; on rank 0
  std::vector<double> pull_;   // the same with the replies to what the head has done so far; empty where unknown
  std::vector<double> reply_;  // pull at substep i of the pass to a unit head in substep l of its first step
  std::vector<int> felt_;      // substeps of a step in which the oscillators feel where the head is
  std::vector<double> history_;  // the head, by axis, then substep of the pass; on rank 0
  std::vector<double> heads_;    // the part of it that belongs to the open block, everywhere
};

void StarExplicitMarch::open(const BlockPlan& plan) {
  // The constructor would be too early: a march may be made before there are any oscillators.
  if (reply_.empty()) measure_reply();
  if (!is_forecast()) {
    done_ = substep_ = 0;
    heads_.clear();
    pass(After::forecast);
  } else if (pull_.empty()) {
    pull_ = free_;
    for (int substep = 0; substep < substep_; ++substep) reply_to(substep);
  }
  steps_ = plan.steps;
}

void StarExplicitMarch::substep(const Substep&, const HeadMotion& head) {
  for (std::size_t axis = 0; axis < star_.axes; ++axis) {
    history_[axis * length_ + static_cast<std::size_t>(substep_)] = head.x[axis];
  }
  reply_to(substep_++);
}

void StarExplicitMarch::reply_to(int substep) {
  const int in_step = substep % kernel_.substeps(), begin = substep - in_step;
  if (std::find(felt_.begin(), felt_.end(), in_step) == felt_.end()) return;
  const double* const reply = reply_.data() + static_cast<std::size_t>(in_step) * length_;
  for (std::size_t axis = 0; axis < star_.axes; ++axis) {
    double* const pull = pull_.data() + axis * length_ + begin;
    const double x = history_[axis * length_ + static_cast<std::size_t>(substep)];
    for (int later = in_step + 1; later < static_cast<int>(length_) - begin; ++later) pull[later] += reply[later] * x;
  }
}

void StarExplicitMarch::close() {
  const auto begin = static_cast<std::size_t>(done_ * kernel_.substeps());
  const auto count = static_cast<std::size_t>(steps_ * kernel_.substeps());
  heads_.resize(star_.axes * count);
  for (std::size_t axis = 0; axis < star_.axes && star_.communicator.is_root(); ++axis) {
    std::copy_n(history_.begin() + static_cast<std::ptrdiff_t>(axis * length_ + begin), count,
                heads_.begin() + static_cast<std::ptrdiff_t>(axis * count));
  }
  star_.communicator.broadcast(std::span<double>(heads_));
  done_ += steps_;
  const bool complete = done_ == steps_per_pass_;
  pass(complete ? After::forecast : After::pull);
  if (complete) done_ = substep_ = 0;
}

void StarExplicitMarch::force(const HeadMotion& head, std::span<double> force) const {
  for (std::size_t axis = 0; axis < star_.axes; ++axis) {
    force[axis] = pull_[axis * length_ + static_cast<std::size_t>(substep_)] - star_.total_stiffness * head.x[axis];
  }
}

void StarExplicitMarch::measure_reply() {
  const int substeps = kernel_.substeps();
  reply_.assign(length_ * static_cast<std::size_t>(substeps), 0.0);
  // One substep at a time: schemes of high order have so many that all at once would be a long message.
  for (int l = 0; l < substeps; ++l) {
    std::vector<double> heads(length_);
    heads[static_cast<std::size_t>(l)] = 1.0;
    star_.sum.open(static_cast<int>(length_));
    star_.for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int count) {
      kernel_.reply(heads, count, star_.stiffness.data() + begin, star_.inverse_mass.data() + begin,
                    star_.sum.leaf(leaf));
    });
    star_.sum.reduce(std::span(reply_).subspan(static_cast<std::size_t>(l) * length_, length_));
  }
}

void StarExplicitMarch::pass(After after) {
  const bool then_forecast = after == After::forecast;
  const std::size_t axes = star_.axes, taken = heads_.size() / axes;
  LeafSum& sum = star_.sum;
  // Without a forecast the pull after the block has to be summed up by itself.
  sum.open(static_cast<int>(then_forecast ? axes * length_ : axes));
  star_.for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int count) {
    for (std::size_t axis = 0; axis < axes; ++axis) {
      kernel_.pass(std::span(heads_).subspan(axis * taken, taken), count, star_.w[axis].data() + begin,
                   star_.p[axis].data() + begin, star_.stiffness.data() + begin, star_.inverse_mass.data() + begin,
                   then_forecast ? sum.leaf(leaf).subspan(axis * length_, length_) : std::span<double>());
      if (!then_forecast) {
        sum.leaf(leaf)[axis] += StarKernel::pull(count, star_.stiffness.data() + begin, star_.w[axis].data() + begin);
      }
    }
  });
  if (taken > 0) ++star_.changes;
  forecast_of_ = star_.changes;
  if (!then_forecast) {
    sum.reduce(star_.pull);
    return;
  }
  sum.reduce(free_);
  pull_ = free_;
  for (std::size_t axis = 0; axis < axes; ++axis) star_.pull[axis] = free_[axis * length_];
}

// The pull is part of it: summed up anew it would differ in the last bits.
std::vector<double> StarExplicitMarch::memory() const {
  std::vector<double> all = star_.pull;
  all.insert(all.end(), {is_forecast() ? 1.0 : 0.0, static_cast<double>(done_), static_cast<double>(substep_)});
  all.insert(all.end(), free_.begin(), free_.end());
  all.insert(all.end(), history_.begin(), history_.end());
  return all;
}

void StarExplicitMarch::remember(std::span<const double> memory) {
  const std::size_t axes = star_.axes;
  const auto require = [](bool fits) {
    if (!fits) throw std::out_of_range("this is not what a heat bath goes on from");
  };
  require(memory.size() == axes + 3 + 2 * free_.size());
  const double done = memory[axes + 1], substep = memory[axes + 2];
  require(done >= 0.0 && done < steps_per_pass_ && substep == done * kernel_.substeps());
  std::copy_n(memory.begin(), axes, star_.pull.begin());
  if (memory[axes] == 0.0) return;
  forecast_of_ = star_.changes;
  done_ = static_cast<int>(done);
  substep_ = static_cast<int>(substep);
  std::copy_n(memory.begin() + static_cast<std::ptrdiff_t>(axes + 3), free_.size(), free_.begin());
  std::copy_n(memory.end() - static_cast<std::ptrdiff_t>(history_.size()), history_.size(), history_.begin());
}

}  // namespace

std::unique_ptr<ExplicitMarch> make_explicit_march(StarState& star, const ExplicitScheme& scheme, double h,
                                                   int steps_per_pass) {
  return std::make_unique<StarExplicitMarch>(star, scheme, h, steps_per_pass);
}

}  // namespace bathline
