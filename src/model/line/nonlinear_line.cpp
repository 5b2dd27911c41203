// A chain of sites with nonlinear springs: properties, network and results.
// Tested by tests/model/line/nonlinear_line_test.cpp.
#include "model/line/nonlinear_line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "model/line/heat_observer.hpp"
#include "model/line/implicit/nonlinear_stages.hpp"
#include "model/thermal/boltzmann_table.hpp"

namespace bathline {

NonlinearLine::NonlinearLine(std::string name, Attachment attachment, int coordinates, const LineConstants& constants,
                             std::int64_t sites, const Communicator& communicator, LineOptions options)
    : Line(std::move(name), std::move(attachment), constants,
           // Both strands have as many sites; an odd number of them shares the one in the middle.
           constants.far_end == FarEnd::joined ? (sites + 1) / 2 : sites, communicator, std::move(options)),
      coordinates_(coordinates) {
  if (state_.is_folded()) state_.constants.shared = static_cast<int>(sites % 2);
  // Sites that a force moves at rest cannot be left out.
  const PairPotential* const held = state_.options.law->sites.get();
  if (held != nullptr && held->derivative(0.0) != 0.0) state_.options.skip_resting = false;
}

void NonlinearLine::prepare(const RngKey& key) {
  // x = c.(q - q0) at q = 0, and from here on c.q.
  const Eigen::VectorXd origin = Eigen::VectorXd::Zero(coordinates_);
  start_.resize(static_cast<std::size_t>(attachment().axes()));
  attachment().position(origin, 0.0, start_);
  for (double& place : start_) place = 0.0 - place;
  begin_at(origin);
  Line::prepare(key);
}

bool NonlinearLine::is_ring() const {
  const std::vector<Attachment::Term>& terms = attachment().terms();
  return state_.is_folded() && terms[0].coordinate == terms[1].coordinate;
}

std::unique_ptr<HeatObserver> NonlinearLine::observe_heat(const HeatObservation& what) {
  return make_heat_observer(state_, is_ring(), what);
}

double NonlinearLine::lightest_mass() const {
  double lightest = state_.constants.mass;
  for (std::int64_t j = 0; j < (state_.has_uniform_sites() ? 0 : state_.period()); ++j)
    lightest = std::min(lightest, state_.site(j).mass);
  return lightest;
}

double NonlinearLine::highest_frequency_at(double temperature, double steps) const {
  const LineLaw& law = *state_.options.law;
  const double events = std::max(2.0, steps * static_cast<double>(state_.chain_sites()));
  const double rare = temperature * std::log(events);
  const auto curvature = [](const PairPotential* potential, double energy) {
    return potential != nullptr ? largest_curvature(*potential, energy) : 0.0;
  };
  const double springs = curvature(law.springs.get(), rare), sites = curvature(law.sites.get(), rare);
  const double stiffness = std::max(2.0 * springs + curvature(law.sites.get(), temperature),
                                    2.0 * curvature(law.springs.get(), temperature) + sites);
  return std::max(std::sqrt(stiffness / lightest_mass()), properties().highest_frequency);
}

EnvironmentProperties NonlinearLine::describe() const {
  const double stiffness = std::max(0.0, state_.options.law->springs->second_derivative(0.0));
  EnvironmentProperties properties;
  properties.sites = state_.chain_sites();
  // No damper stands for it in an open run.
  properties.damping = std::numeric_limits<double>::infinity();
  properties.loses_energy = state_.constants.dashpot > 0.0;
  properties.highest_frequency = std::sqrt(std::max(0.0, 4.0 * stiffness + site_stiffness()) / lightest_mass());
  properties.temperature = state_.options.temperature;
  properties.is_linear = false;
  return properties;
}

std::optional<std::string> NonlinearLine::own_unsupported_reason(const Scheme& scheme) const {
  if (const auto* splitting = std::get_if<ExplicitScheme>(&scheme); splitting != nullptr && splitting->b.empty())
    return std::nullopt;
  if (const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme)) {
    if (stages->stages() <= max_nonlinear_stages) return std::nullopt;
    return "it has " + std::to_string(stages->stages()) + " stages, and `" + name() +
           "` is a nonlinear line, whose equations are solved for up to " + std::to_string(max_nonlinear_stages);
  }
  return "`" + name() +
         "` is a nonlinear line, which splittings (kicks and drifts) and implicit methods of up to three stages "
         "advance";
}

std::unique_ptr<ImplicitEnvironmentStepper> NonlinearLine::implicit_stepper(const PartitionedRungeKutta& scheme,
                                                                            double h) {
  return make_nonlinear_stages(state_, scheme, h);
}

std::int64_t NonlinearLine::bytes(const Scheme& scheme) const {
  std::int64_t bytes = Line::bytes(scheme);
  const auto* implicit = std::get_if<PartitionedRungeKutta>(&scheme);
  if (implicit == nullptr) return bytes;
  // Numbers of a site: unknowns and their copies, springs, and the blocks of the matrix and of its elimination.
  const std::int64_t block = implicit->stages() * (state_.is_folded() ? 2 : 1);
  const std::int64_t numbers = 20 * implicit->stages() + 8 * block * implicit->stages();
  return bytes + state_.count * state_.axes * numbers * static_cast<std::int64_t>(sizeof(double));
}

LumpedNetwork NonlinearLine::assemble(std::int64_t limit) const {
  LumpedNetwork network = Line::assemble(limit);
  const auto count = static_cast<int>(network.mass.size());
  if (state_.is_folded() && count == state_.sites())
    network.to_ground.emplace_back(count - 1, state_.constants.stiffness);
  for (int j = 0; j < count && site_stiffness() != 0.0; ++j) network.to_ground.emplace_back(j, site_stiffness());
  return network;
}

ThermalChain NonlinearLine::thermal_chain(int axis, std::span<const double> heads) const {
  ThermalChain chain{.law = state_.options.law.get(),
                     .temperature = state_.options.temperature,
                     .sites = state_.chain_sites(),
                     .first = heads[axis],
                     .last = std::nullopt};
  if (state_.is_folded()) chain.last = heads[axis + 1];
  if (state_.constants.far_end == FarEnd::fixed) chain.last = 0.0;
  return chain;
}

void NonlinearLine::draw_thermal_start(const RngKey& key, int axis) {
  if (state_.strand(axis) == 1) return;  // drawn with the other
  const std::int64_t all = state_.chain_sites(), numbers = 2 * (all + 1);
  const auto index = [=, axes = state_.axes](std::int64_t draw, std::int64_t number) {
    return static_cast<std::uint64_t>((draw * numbers + number) * axes + axis);
  };
  draw_thermal_places(
      thermal_chain(axis, start_),
      [&](std::int64_t draw, std::int64_t number) { return uniform_pair(key, index(draw, number)).first; },
      [&](std::int64_t site, double place) {
        for (int strand = 0; strand < (state_.is_folded() ? 2 : 1); ++strand) {
          const std::int64_t j = (strand == 1 ? all - 1 - site : site) - state_.first_site();
          if (j < 0 || j >= state_.count) continue;
          const double thermal = std::sqrt(state_.options.temperature * state_.site(site).mass);
          state_.own(state_.w[axis + strand])[j] = place;
          state_.own(state_.p[axis + strand])[j] = thermal * normal_pair(key, index(0, site)).first;
        }
      });
}

std::vector<double> NonlinearLine::displacements(int axis, std::int64_t stride) {
  const std::int64_t all = state_.chain_sites();
  std::vector<double> chain;
  const int strands = state_.is_folded() ? 2 : 1;
  for (int strand = 0; strand < strands; ++strand) {
    const double* const w = state_.own(state_.w[strands * axis + strand]);
    std::vector<double> own;
    for (std::int64_t j = 0; j < state_.count; ++j) {
      const std::int64_t along = state_.first_site() + j, site = strand == 1 ? all - 1 - along : along;
      const bool is_shared = strand == 1 && state_.constants.shared == 1 && along == state_.sites() - 1;
      if (site % stride == 0 && !is_shared) own.push_back(w[j]);
    }
    std::vector<double> both = communicator().gather(own);
    if (strand == 1) std::reverse(both.begin(), both.end());
    chain.insert(chain.end(), both.begin(), both.end());
  }
  return chain;
}

}  // namespace bathline
