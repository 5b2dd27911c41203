// A line with the reference stepper: a whole line on one rank, one substep after the other. It is slow, as every kick
// and drift streams all sites through memory; the fast steppers have to agree with it to the bit.
#pragma once

#include <limits>
#include <stdexcept>

#include "model/line/explicit/segment.hpp"
#include "model/line/line.hpp"

namespace bathline {

template <Sites S>
class LineReferenceStepper final : public ExplicitEnvironmentStepper {
 public:
  LineReferenceStepper(LineState& line, const ExplicitScheme& scheme, double h)
      : line_(line),
        scheme_(scheme),
        h_(h),
        segments_(static_cast<std::size_t>(line.axes),
                  LineSegment<S>(line.constants, line.sites(), static_cast<int>(scheme.b.size()))) {}

  int max_block_steps() const override { return std::numeric_limits<int>::max(); }

  void begin_block(const BlockPlan&) override {
    line_.mark_active(line_.sites());
    for (int axis = 0; axis < line_.axes; ++axis) {
      segments_[axis].load({.w = line_.own(line_.w[axis]),
                            .p = line_.own(line_.p[axis]),
                            .count = line_.sites(),
                            .sites = std::get<S>(line_.material()),
                            .at_head = true,
                            .at_far_end = true,
                            .dissipated = line_.dissipated[axis]});
    }
    line_.open_block = first_displacement_;
  }

  void force(const HeadMotion& head, std::span<double> force) const override {
    for (int axis = 0; axis < line_.axes; ++axis) force[axis] = segments_[axis].force(head.x[axis]);
  }

  void substep(const Substep& substep, const HeadMotion& head) override {
    for (int axis = 0; axis < line_.axes; ++axis) segments_[axis].substep(substep, scheme_, h_, head.x[axis]);
  }

  void end_block() override {
    for (int axis = 0; axis < line_.axes; ++axis) {
      segments_[axis].store(0, line_.sites(), line_.own(line_.w[axis]), line_.own(line_.p[axis]));
      line_.dissipated[axis] = segments_[axis].dissipated();
    }
    line_.open_block.reset();
  }

 private:
  LineState& line_;
  std::shared_ptr<const LineState::FirstDisplacement> first_displacement_ =
      std::make_shared<LineState::FirstDisplacement>([this](int axis) { return segments_[axis].first_w(); });
  ExplicitScheme scheme_;
  double h_;
  std::vector<LineSegment<S>> segments_;  // by axis
};

/// On one rank.
class ReferenceLine final : public Line {
 public:
  using Line::Line;
  std::unique_ptr<ExplicitEnvironmentStepper> explicit_stepper(const ExplicitScheme& scheme, double h) override {
    if (communicator().size() > 1) throw std::logic_error("the reference stepper needs a line on one rank");
    const auto make = [&]<Sites S>(const S&) -> std::unique_ptr<ExplicitEnvironmentStepper> {
      return std::make_unique<LineReferenceStepper<S>>(state_, scheme, h);
    };
    return std::visit(make, state_.material());
  }
};

}  // namespace bathline
