// Modes: state, thermal start and energy.
#include "model/modes/environment.hpp"

#include <cmath>

#include "model/modes/stepper.hpp"

namespace bathline {

std::int64_t ModesEnvironment::bytes(const Scheme& scheme) const {
  const auto* pair = std::get_if<PartitionedRungeKutta>(&scheme);
  const auto* splitting = std::get_if<ExplicitScheme>(&scheme);
  std::size_t stages = pair != nullptr ? static_cast<std::size_t>(pair->stages()) : 0;
  if (splitting != nullptr) stages = splitting->b.size();
  const bool is_splitting = stages == 0 || (pair != nullptr && is_kick_between_drifts(*pair));
  const std::size_t rows = is_splitting ? stages : 4 + 4 * stages;  // those of a splitting are its softer springs
  return static_cast<std::int64_t>((2 + 2 * state_.axes + rows) * sizeof(double)) * state_.sum.count();
}

void ModesEnvironment::prepare(const RngKey& key) {
  ModesState& s = state_;
  const std::size_t padded = s.padded();
  for (AlignedVector* row : {&s.stiffness, &s.inverse_mass}) row->assign(padded, 0.0);
  for (std::vector<AlignedVector>* fields : {&s.w, &s.p}) {
    fields->resize(s.axes);
    for (AlignedVector& field : *fields) field.assign(padded, 0.0);  // in place: a copy may not fit
  }
  s.pull.assign(s.axes, 0.0);
  for (std::size_t j = 0; j < static_cast<std::size_t>(s.sum.count()); ++j) {
    const std::int64_t site = s.sum.first() + static_cast<std::int64_t>(j);
    const Mode mode = s.table.mode(site);
    s.stiffness[j] = mode.k;
    s.inverse_mass[j] = mode.inverse_mass();
    if (temperature_ == 0.0) continue;
    // Gibbs distribution: k w^2 and p^2/m have the mean kT.
    for (std::size_t axis = 0; axis < s.axes; ++axis) {
      const auto [first, second] = normal_pair(key, static_cast<std::uint64_t>(site) * s.axes + axis);
      s.w[axis][j] = std::sqrt(temperature_ / mode.k) * first;
      s.p[axis][j] = std::sqrt(temperature_ / s.inverse_mass[j]) * second;
    }
  }
  s.refresh_pull();
}

std::vector<StateField> ModesEnvironment::fields() {
  std::vector<StateField> fields;
  const auto count = static_cast<std::size_t>(state_.sum.count());
  for (std::size_t axis = 0; axis < state_.axes; ++axis) {
    const std::int64_t first = state_.sum.first(), total = state_.table.size;
    fields.push_back({"w", static_cast<int>(axis), first, total, std::span(state_.w[axis]).first(count)});
    fields.push_back({"p", static_cast<int>(axis), first, total, std::span(state_.p[axis]).first(count)});
  }
  return fields;
}

EnvironmentEnergy ModesEnvironment::energy(std::span<const double> head) {
  std::vector<double> x(head.begin(), head.end());
  communicator().broadcast(std::span<double>(x));
  ModesState& s = state_;
  s.sum.allocate(2);
  s.for_each_leaf([&](std::int64_t leaf, std::size_t begin, std::size_t end) {
    const std::span<double> sums = s.sum.leaf(leaf);
    for (std::size_t axis = 0; axis < s.axes; ++axis) {
      for (std::size_t j = begin; j < end; ++j) {
        const double strain = s.w[axis][j] - x[axis];
        sums[0] += 0.5 * s.inverse_mass[j] * (s.p[axis][j] * s.p[axis][j]);
        sums[1] += 0.5 * s.stiffness[j] * (strain * strain);
      }
    }
  });
  double sums[2] = {};
  s.sum.reduce(sums);
  communicator().broadcast(std::span<double>(sums));
  return {.environment = sums[0], .interaction = sums[1], .dissipated = 0.0};
}

void ModesEnvironment::force(std::span<const double> head, std::span<double> force) const {
  for (std::size_t axis = 0; axis < state_.axes; ++axis)
    force[axis] = state_.pull[axis] - state_.total_stiffness * head[axis];
}

std::unique_ptr<ExplicitEnvironmentStepper> ModesEnvironment::explicit_stepper(const ExplicitScheme& scheme, double h) {
  return make_explicit_stepper(state_, scheme, h, steps_per_pass_);
}

std::unique_ptr<ImplicitEnvironmentStepper> ModesEnvironment::implicit_stepper(const PartitionedRungeKutta& scheme,
                                                                               double h) {
  return make_implicit_stepper(state_, scheme, h);
}

}  // namespace bathline
