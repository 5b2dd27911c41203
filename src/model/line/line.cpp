// A line of sites: properties, energy, lumped network and analytic kernel.
#include "model/line/line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "solve/nonuniform_tridiagonal.hpp"

namespace bathline {

Line::Line(std::string name, Attachment attachment, const LineConstants& constants, std::int64_t sites,
           const Communicator& communicator, LineOptions options)
    : Environment(std::move(name), std::move(attachment), communicator),
      state_(constants, std::move(options), sites, communicator, Environment::attachment().axes()) {}

EnvironmentProperties Line::describe() const {
  const LineSite first = state_.site(0);
  EnvironmentProperties properties;
  properties.sites = state_.sites();
  properties.damping = std::sqrt(first.stiffness * first.mass);
  properties.loses_energy = state_.constants.far_end == FarEnd::matched;
  properties.echo.time = echo_time();
  properties.highest_frequency = highest_frequency();
  properties.temperature = state_.options.temperature;
  properties.matched_gamma = state_.options.matched_gamma;
  if (const auto& represented = state_.options.represented) {
    properties.damping = represented->damping;
    properties.echo.time = represented->horizon;
  }
  if (state_.has_uniform_sites()) properties.front_speed = std::sqrt(first.stiffness / first.mass);
  return properties;
}

double Line::echo_time() const {
  const LineSite first = state_.site(0);
  const std::int64_t sites = state_.sites(), period = std::min(sites, state_.period());
  std::int64_t uniform = 1;
  while (uniform < period && state_.site(uniform) == first) ++uniform;
  if (uniform == period) uniform = sites;
  const bool is_matched = state_.constants.far_end == FarEnd::matched;
  if (uniform == sites && is_matched) return std::numeric_limits<double>::infinity();
  return 2.0 * static_cast<double>(uniform) * std::sqrt(first.mass / first.stiffness);
}

double Line::highest_frequency() const {
  if (state_.has_uniform_sites()) return 2.0 * std::sqrt(state_.constants.stiffness / state_.constants.mass);
  // Gershgorin: twice the largest diagonal entry bounds every eigenvalue.
  const std::int64_t end = state_.sites() - 1;
  const LineSite last = state_.site(end);
  double highest =
      2.0 * (last.stiffness + (state_.constants.far_end == FarEnd::fixed ? last.stiffness : 0.0)) / last.mass;
  for (std::int64_t j = 0; j < std::min(end, state_.period()); ++j) {
    const LineSite here = state_.site(j);
    highest = std::max(highest, 2.0 * (here.stiffness + state_.site(j + 1).stiffness) / here.mass);
  }
  return std::sqrt(highest);
}

std::int64_t Line::bytes(const Scheme& scheme) const {
  constexpr auto size = static_cast<std::int64_t>(sizeof(double));
  std::int64_t per_site = 0;
  if (const auto* implicit = std::get_if<PartitionedRungeKutta>(&scheme)) {
    if (implicit->stages() > 1) per_site = state_.axes * implicit->stages() * size;
    if (!state_.has_uniform_sites()) per_site += bytes_of_nonuniform_tridiagonal(implicit->stages());
  }
  const int rows = std::visit([](const auto& sites) { return int{sites.rows}; }, state_.material());
  const std::int64_t values = 2 * state_.axes + (state_.is_folded() ? 2 : 1) * rows;
  return values * state_.storage() * size + per_site * state_.count;
}

LumpedNetwork Line::assemble(std::int64_t limit) const {
  const auto count = static_cast<int>(std::min(state_.sites(), limit));
  const bool is_whole = count == state_.sites();
  const LineConstants& constants = state_.constants;
  LumpedNetwork network;
  for (int j = 0; j < count; ++j) network.mass.push_back(state_.site(j).mass);
  network.to_head = {{0, state_.head_stiffness}};
  for (int j = 0; j + 1 < count; ++j) network.springs.push_back({j, j + 1, state_.site(j + 1).stiffness});
  if (!is_whole) {
    network.to_ground = {{count - 1, state_.site(count).stiffness}};
  } else if (constants.far_end == FarEnd::fixed) {
    network.to_ground = {{count - 1, constants.stiffness}};
  } else if (constants.far_end == FarEnd::matched) {
    network.dashpots = {{count - 1, constants.dashpot}};
  }
  return network;
}

std::optional<AnalyticKernel> Line::analytic_kernel(std::span<const double> times) const {
  if (!state_.has_uniform_sites()) return std::nullopt;
  AnalyticKernel analytic;
  const double stiffness = state_.constants.stiffness;
  for (double t : times) {
    const double phase = properties().highest_frequency * t;
    analytic.kernel.push_back(phase == 0.0 ? stiffness : 2.0 * stiffness * std::cyl_bessel_j(1.0, phase) / phase);
  }
  return analytic;
}

void Line::prepare(const RngKey& key) {
  state_.allocate();
  if (state_.options.temperature > 0.0) {
    state_.mark_active(state_.sites());
    for (int axis = 0; axis < state_.axes; ++axis) draw_thermal_start(key, axis);
  }
  add_start();
}

void Line::add_start() {
  const LineOptions& options = state_.options;
  if (options.w0.empty() && options.v0.empty()) return;
  for (int axis = 0; axis < state_.axes; ++axis) {
    double* const w = state_.own(state_.w[axis]);
    double* const p = state_.own(state_.p[axis]);
    for (std::int64_t j = 0; j < state_.count; ++j) {
      const std::int64_t site = state_.first_site() + j;
      const int strand = state_.strand(axis), of_chain = state_.is_folded() ? axis / 2 : axis;
      const auto index = static_cast<double>(strand == 1 ? state_.chain_sites() - 1 - site : site);
      if (!options.w0.empty()) w[j] += options.w0[of_chain](index);
      if (!options.v0.empty()) p[j] += state_.site(site, strand).mass * options.v0[of_chain](index);
    }
  }
  state_.find_active_end();
}

std::vector<StateField> Line::fields() {
  std::vector<StateField> fields;
  const auto count = static_cast<std::size_t>(state_.count);
  for (int axis = 0; axis < state_.axes; ++axis) {
    const std::int64_t first = state_.first_site(), total = state_.sites();
    fields.push_back({"w", axis, first, total, {state_.own(state_.w[axis]), count}});
    fields.push_back({"p", axis, first, total, {state_.own(state_.p[axis]), count}});
    // Only the rank with the far end has the energy dissipated by its dashpot.
    const std::size_t here = state_.at_far_end ? 1 : 0;
    fields.push_back({"dissipated", axis, 0, 1, std::span(&state_.dissipated[axis], here)});
  }
  return fields;
}

EnvironmentEnergy Line::energy(std::span<const double> head) {
  state_.exchange_next_neighbours();
  EnvironmentEnergy energy;
  double totals[2] = {0.0, 0.0};  // interaction, known to rank 0, and dissipated energy, known to the last active rank
  for (int axis = 0; axis < state_.axes; ++axis) {
    energy.environment += state_.end_energies(axis);
    if (state_.at_head()) {
      const double stretch = state_.own(state_.w[axis])[0] - head[axis];
      totals[0] += std::visit([=](const auto& sites) { return sites.energy(0, stretch); }, state_.material(axis));
    }
  }
  if (state_.at_far_end) totals[1] = std::accumulate(state_.dissipated.begin(), state_.dissipated.end(), 0.0);
  communicator().broadcast(std::span<double>(&totals[0], 1));
  communicator().broadcast(std::span<double>(&totals[1], 1), state_.layout.active_ranks() - 1);
  energy.interaction = totals[0];
  energy.dissipated = totals[1];
  return energy;
}

void Line::force(std::span<const double> head, std::span<double> force) const {
  for (int axis = 0; axis < state_.axes; ++axis) {
    const double stretch = state_.first_displacement(axis) - head[axis];
    force[axis] =
        std::visit([=](const auto& sites) { return force_of_spring(sites, 0, stretch); }, state_.material(axis));
  }
}

std::unique_ptr<ExplicitEnvironmentStepper> Line::explicit_stepper(const ExplicitScheme& scheme, double h) {
  return make_explicit_environment_stepper(state_, scheme, h);
}

std::unique_ptr<ImplicitEnvironmentStepper> Line::implicit_stepper(const PartitionedRungeKutta& scheme, double h) {
  return make_implicit_environment_stepper(state_, scheme, h);
}

}  // namespace bathline
