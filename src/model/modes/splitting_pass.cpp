// Splittings on modes that do not decay. Groups of modes stay in registers for all steps of a pass.
// Tested by tests/model/modes/modes_test.cpp.
#include <algorithm>
#include <numeric>
#include <set>

#include "model/modes/mode_pass.hpp"

namespace bathline {

void ModesState::refresh_pull() {
  ++changes;
  std::vector<double> totals(axes + 1);
  sum.allocate(static_cast<int>(totals.size()));
  for_each_leaf([&](std::int64_t leaf, std::size_t begin, std::size_t end) {
    for (std::size_t axis = 0; axis < axes; ++axis)
      sum.leaf(leaf)[axis] = sum_of_products(stiffness.data(), w[axis].data(), begin, end);
    sum.leaf(leaf)[axes] = std::accumulate(&stiffness[begin], &stiffness[begin] + (end - begin), 0.0);
  });
  sum.reduce(totals);
  total_stiffness = totals.back();
  std::copy_n(totals.begin(), axes, pull.begin());
}

void ModePass::run(int steps, std::span<const double> inputs, std::span<double> totals) {
  modes_.sum.allocate(static_cast<int>(totals.size()));
  modes_.for_each_leaf([&](std::int64_t leaf, std::size_t begin, std::size_t end) {
    run(begin, end, steps, inputs, modes_.sum.leaf(leaf));
  });
  if (steps > 0) ++modes_.changes;
  modes_.sum.reduce(totals);
}

namespace {

constexpr int registers = 8;  // of a group
constexpr std::size_t group_size = registers * simd_width;
static_assert(ModesState::padding % group_size == 0 && registers % ModesState::registers == 0);

/// Values of the modes of a group.
struct Group {
  SimdDouble value[registers] = {};

  Group() = default;
  explicit Group(const double* from) {
    for (int r = 0; r < registers; ++r) value[r] = load(from + r * simd_width);
  }
  void store_to(double* to) const {
    for (int r = 0; r < registers; ++r) store(value[r], to + r * simd_width);
  }
};

class SplittingPass final : public ModePass {
 public:
  SplittingPass(ModesState& modes, const ExplicitScheme& splitting, double h, double implicitness);
  std::vector<double> prepare(int steps) override;

 private:
  void run(std::size_t begin, std::size_t end, int steps, std::span<const double> inputs,
           std::span<double> sums) override;
  const double* kick_stiffness() const {
    return own_stiffness_.empty() ? modes_.stiffness.data() : own_stiffness_.data();
  }
  void set_group(std::size_t first);
  /// Steps of a group; without `head` it is at 0. With `reads`, adds to the sums before each kick.
  template <bool reads, bool has_head>
  void step(int steps, const double* head, Group& w, Group& p, double* parts);
  /// The sums of a scheme with one place. With u = k w there and r its increment until the next step, u += r and
  /// r -= h^2 k/m u: one multiplication a step instead of three.
  void read_one_place(std::size_t length, const Group& w, const Group& p, double* parts);
  static void add(const double* k, const Group& w, double* sum);

  struct Move {
    bool is_kick;
    double weight;  // times h
    int sum;        // of a kick: the number of drifts before it
    bool is_read;   // whether the sum belongs to no kick before it
  };
  std::vector<Move> moves_;
  double implicitness_;
  AlignedVector own_stiffness_;  // of kicks, where it is not k
  // Where all kicks of a step are at one place: the drifts before it, the kicks at it in this step, and all of a step.
  bool has_one_place_, ends_with_kick_;
  double drift_before_ = 0.0, kick_there_ = 0.0, drift_ = 0.0, kick_ = 0.0;
  int place_ = 0;
  const double *k_ = nullptr, *inverse_mass_ = nullptr;  // of the current group, with the stiffness of kicks
  std::vector<Group> strengths_;                         // by substep: weight h k, or weight h/m
  std::vector<double> parts_;                            // of the sums of a leaf
};

SplittingPass::SplittingPass(ModesState& modes, const ExplicitScheme& splitting, double h, double implicitness)
    : ModePass(modes),
      implicitness_(implicitness),
      ends_with_kick_(splitting.substeps.back().kind == Substep::Kind::kick),
      strengths_(splitting.substeps.size()) {
  std::set<int> places;
  for (const Substep& substep : splitting.substeps) {
    const bool is_kick = substep.kind == Substep::Kind::kick;
    const bool is_new = is_kick && places.insert(sums_per_step_).second;
    // A kick that opens a step is at the place of the one that ended the step before.
    moves_.push_back(
        {is_kick, substep.weight * h, sums_per_step_, is_new && !(sums_per_step_ == 0 && ends_with_kick_)});
    plan_.push_back(is_kick ? Place{inputs_++, sums_per_step_} : Place{});
    sums_per_step_ += is_kick ? 0 : 1;
  }
  place_ = places.empty() ? 0 : *places.begin();
  has_one_place_ = sums_per_step_ > 0 && (places.size() == 1 || (places.size() == 2 && place_ == 0 && ends_with_kick_));
  for (const Move& move : moves_) {
    (move.is_kick ? kick_ : drift_) += move.weight;
    if (move.is_kick && move.sum == place_) kick_there_ += move.weight;
    if (!move.is_kick && move.sum < place_) drift_before_ += move.weight;
  }
}

void SplittingPass::run(std::size_t begin, std::size_t end, int steps, std::span<const double> inputs,
                        std::span<double> sums) {
  const std::size_t axes = modes_.axes, of_axis = inputs.size() / axes, length = sums.size() / axes;
  parts_.assign(sums.size() * ModesState::parts, 0.0);
  for (std::size_t j = begin; j < end; j += group_size) {
    set_group(j);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      Group w(&modes_.w[axis][j]), p(&modes_.p[axis][j]);
      if (steps > 0) {
        step<false, true>(steps, inputs.data() + axis * of_axis, w, p, nullptr);
        w.store_to(&modes_.w[axis][j]);
        p.store_to(&modes_.p[axis][j]);
      }
      double* const parts = parts_.data() + axis * length * ModesState::parts;
      add(&modes_.stiffness[j], w, parts);
      if (length == 1) continue;
      if (has_one_place_) {
        read_one_place(length, w, p, parts);
      } else {
        step<true, false>(static_cast<int>(length - 1) / sums_per_step_, nullptr, w, p, parts);
      }
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = ModesState::sum_of(parts_.data() + i * ModesState::parts);
}

std::vector<double> SplittingPass::prepare(int steps) {
  for (std::size_t j = 0; j < modes_.padded() && implicitness_ != 0.0; ++j) {
    const double k = modes_.stiffness[j];
    own_stiffness_.push_back(k / (1.0 + implicitness_ * k * modes_.inverse_mass[j]));
  }
  const AlignedVector ones(modes_.padded(), 1.0);
  modes_.sum.allocate(1);
  modes_.for_each_leaf([&](std::int64_t leaf, std::size_t begin, std::size_t end) {
    modes_.sum.leaf(leaf)[0] = sum_of_products(kick_stiffness(), ones.data(), begin, end);
  });
  modes_.sum.reduce({&direct_, 1});
  direct_ = -direct_;
  const auto length = static_cast<std::size_t>(sums(steps));
  std::vector<double> all(static_cast<std::size_t>(inputs_) * length);
  for (std::size_t input = 0; input < static_cast<std::size_t>(inputs_); ++input) {
    std::vector<double> heads(static_cast<std::size_t>(steps * inputs_));
    heads[input] = 1.0;
    modes_.sum.allocate(static_cast<int>(length));
    modes_.for_each_leaf([&](std::int64_t leaf, std::size_t begin, std::size_t end) {
      parts_.assign(length * ModesState::parts, 0.0);
      for (std::size_t j = begin; j < end; j += group_size) {
        set_group(j);
        Group w, p;
        step<true, true>(steps, heads.data(), w, p, parts_.data());
      }
      for (std::size_t i = 0; i < length; ++i)
        modes_.sum.leaf(leaf)[i] = ModesState::sum_of(parts_.data() + i * ModesState::parts);
    });
    modes_.sum.reduce(std::span(all).subspan(input * length, length));
  }
  return all;
}

void SplittingPass::set_group(std::size_t first) {
  k_ = kick_stiffness() + first;
  inverse_mass_ = &modes_.inverse_mass[first];
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    const SimdDouble weight = splat(moves_[i].weight);
    const double* const factor = moves_[i].is_kick ? k_ : inverse_mass_;
    SimdDouble* const strength = strengths_[i].value;
    for (int r = 0; r < registers; ++r) strength[r] = weight * load(factor + r * simd_width);
  }
}

void SplittingPass::add(const double* k, const Group& w, double* sum) {
  constexpr int count = ModesState::registers;
  SimdDouble part[count];
  for (int i = 0; i < count; ++i) part[i] = load(sum + i * simd_width);
  for (int r = 0; r < registers; ++r)
    part[r % count] = multiply_add(load(k + r * simd_width), w.value[r], part[r % count]);
  for (int i = 0; i < count; ++i) store(part[i], sum + i * simd_width);
}

template <bool reads, bool has_head>
[[gnu::always_inline]] inline void SplittingPass::step(int steps, const double* head, Group& w, Group& p,
                                                       double* parts) {
  for (int n = 0; n < steps; ++n) {
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      const Move& move = moves_[i];
      const SimdDouble* strength = strengths_[i].value;
      if (!move.is_kick) {
        for (int r = 0; r < registers; ++r) w.value[r] = multiply_add(strength[r], p.value[r], w.value[r]);
        continue;
      }
      // Sum 0 is read before the steps.
      const int sum = n * sums_per_step_ + move.sum;
      if (reads && move.is_read && sum > 0) add(k_, w, parts + sum * ModesState::parts);
      const SimdDouble x = has_head ? splat(*head++) : SimdDouble{};
      for (int r = 0; r < registers; ++r) p.value[r] = multiply_add(strength[r], x - w.value[r], p.value[r]);
    }
  }
}

void SplittingPass::read_one_place(std::size_t length, const Group& w, const Group& p, double* parts) {
  const auto per_step = static_cast<std::size_t>(sums_per_step_);
  const std::size_t end = ends_with_kick_ ? length : length - 1;
  std::size_t sum = static_cast<std::size_t>(place_);
  if (sum == 0 && per_step >= end) return;  // read before the steps
  Group u, rise, factor;
  for (int r = 0; r < registers; ++r) {
    const SimdDouble k = load(k_ + r * simd_width), inverse_mass = load(inverse_mass_ + r * simd_width);
    const SimdDouble there = multiply_add(drift_before_ * inverse_mass, p.value[r], w.value[r]);
    const SimdDouble speed = drift_ * inverse_mass, after = multiply_add(-kick_there_ * k, there, p.value[r]);
    factor.value[r] = -kick_ * k * speed;
    rise.value[r] = k * (speed * after);
    u.value[r] = k * there;
    if (sum > 0) continue;
    u.value[r] += rise.value[r];
    rise.value[r] = multiply_add(factor.value[r], u.value[r], rise.value[r]);
  }
  if (sum == 0) sum = per_step;
  for (; sum < end; sum += per_step) {
    constexpr int count = ModesState::registers;
    double* const to = parts + sum * ModesState::parts;
    SimdDouble part[count];
    for (int i = 0; i < count; ++i) part[i] = load(to + i * simd_width);
    for (int r = 0; r < registers; ++r) {
      part[r % count] += u.value[r];
      u.value[r] += rise.value[r];
      rise.value[r] = multiply_add(factor.value[r], u.value[r], rise.value[r]);
    }
    for (int i = 0; i < count; ++i) store(part[i], to + i * simd_width);
  }
}

}  // namespace

std::unique_ptr<ModePass> make_splitting_pass(ModesState& modes, const ExplicitScheme& splitting, double h,
                                              double implicitness) {
  return std::make_unique<SplittingPass>(modes, splitting, h, implicitness);
}

}  // namespace bathline
