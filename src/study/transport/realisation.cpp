// One realisation of a study of transport: what is observed while it advances.
//
// Under kick-drift-kick the momenta between two kicks have the temperature of the bath, those at whole steps are lower
// by the order h^2: kT of a site is (p + h f/2)^2/m. The heat of a bath is the energy that it has absorbed, which needs
// no observations within a block.
// Tested by tests/study/transport_test.cpp.
#include "study/transport/realisation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "study/theory/line_fit.hpp"

namespace bathline {

bool begins_and_ends_with_half_kicks(const Scheme& scheme) {
  const auto* const splitting = std::get_if<ExplicitScheme>(&scheme);
  if (splitting == nullptr || !splitting->b.empty() || splitting->substeps.empty()) return false;
  const auto is_half_kick = [](const Substep& substep) {
    return substep.kind == Substep::Kind::kick && substep.weight == 0.5;
  };
  return std::ranges::count_if(splitting->substeps, is_half_kick) == 2 && is_half_kick(splitting->substeps.front()) &&
         is_half_kick(splitting->substeps.back());
}

TransportRealisation::TransportRealisation(const Experiment& experiment, const Case& this_case, std::uint32_t number,
                                           const Communicator& team, std::span<const Chain> chains)
    : case_(this_case),
      chains_(chains),
      problem_(experiment.make_problem(this_case, this_case.step, this_case.closed, team)) {
  problem_.prepare(experiment.seed(), number);
  stepper_ = make_stepper(this_case.scheme, problem_, this_case.step);
  const double kick = 0.5 * this_case.step;
  for (const Chain& chain : chains) {
    const HeatObservation what{kick, chain.bins, chain.lags > 0 || !chain.waves.empty(), chain.waves};
    observers_.push_back(conductor_of(*problem_.environments()[chain.environment])->observe_heat(what));
    currents_.emplace_back(chain.longest_lag);
    spectra_.emplace_back();
    for (std::size_t n = 0; n < chain.waves.size(); ++n) spectra_.back().emplace_back(chain.window);
  }
}

void TransportRealisation::observe() {
  const double kick = 0.5 * case_.step;
  const bool is_root = problem_.communicator().is_root();
  if (is_root) {
    velocity_ = problem_.velocity();
    problem_.forces(problem_.q, velocity_, forces_);
  }
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    std::array<double, 2> x{}, v{}, kT{}, mass{};
    if (is_root) {
      problem_.head(*problem_.environments()[chains_[c].environment], problem_.q, x);
      for (std::size_t end = 0; end < 2; ++end) {
        const int i = chains_[c].ends[end];
        v[end] = velocity_[i];
        const double impulse = problem_.p[i] + kick * forces_[i];
        mass[end] = problem_.system().mass[i];
        kT[end] = impulse * impulse / mass[end];
      }
    }
    observers_[c]->observe({x, v, kT, mass});
    const std::span<const double> totals = observers_[c]->totals();
    if (!is_root || totals.empty()) continue;
    currents_[c].add(totals[0]);
    for (std::size_t n = 0; n < spectra_[c].size(); ++n) spectra_[c][n].add({totals[1 + 2 * n], totals[2 + 2 * n]});
  }
}

std::vector<double> TransportRealisation::absorbed() {
  std::vector<double> energies;
  for (const EnvironmentEnergy& energy : problem_.energies().environment_energies)
    energies.push_back(energy.environment + energy.interaction + energy.dissipated);
  return energies;
}

std::optional<Failure> TransportRealisation::advance(std::int64_t observations, std::int64_t every,
                                                     std::vector<double>& row) {
  const std::vector<double> before = absorbed();
  for (std::int64_t i = 0; i < observations; ++i) {
    if (std::optional<Failure> failure = stepper_->advance(every)) return failure;
    observe();
  }
  const std::vector<double> after = absorbed();
  if (!std::ranges::all_of(after, [](double energy) { return std::isfinite(energy); }))
    return Failure{problem_.clock.steps, 0.0, "the state is no longer finite"};
  const double seconds = static_cast<double>(observations * every) * case_.step;
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    const Chain& chain = chains_[c];
    const HeatProfile profile = observers_[c]->take();
    if (!problem_.communicator().is_root()) continue;
    const auto heat = [&](std::size_t end) {
      double sum = 0.0;
      for (const std::size_t bath : chain.baths[end]) sum += after[bath] - before[bath];
      return sum / seconds;
    };
    const std::vector<double> places = chain.middles(chain.places);
    std::vector<double> x, y;
    const auto count = static_cast<double>(chain.places);
    for (std::size_t bin = 0; bin < chain.bins; ++bin) {
      if (places[bin] < 0.25 * count || places[bin] > 0.75 * count) continue;
      x.push_back(places[bin]);
      y.push_back(profile.temperature[bin]);
    }
    row.insert(row.end(), {chain.mean_over(profile.current, chain.springs), -heat(0), heat(1), fit_line(x, y).slope,
                           chain.mean_over(profile.temperature, chain.places)});
    row.insert(row.end(), profile.temperature.begin(), profile.temperature.end());
    row.insert(row.end(), profile.current.begin(), profile.current.end());
    const auto append = [&](const std::vector<double>& values) { row.insert(row.end(), values.begin(), values.end()); };
    if (chain.lags > 0) append(currents_[c].take());
    for (PowerSpectrum& spectrum : spectra_[c]) append(spectrum.take());
  }
  return std::nullopt;
}

void TransportRealisation::serialise(Archive archive, std::int64_t step, bool is_own, const Communicator& world) {
  const auto particles = [&] {
    std::vector<std::span<double>> parts;
    for (Eigen::VectorXd* part : {&problem_.q, &problem_.p, &problem_.heat})
      parts.emplace_back(part->data(), static_cast<std::size_t>(part->size()));
    for (double* number : {&problem_.dissipated, &problem_.work}) parts.emplace_back(number, 1);
    return parts;
  };
  const bool is_writer = is_own && problem_.communicator().is_root() && !archive.is_reading();
  std::vector<double> numbers, internal;
  if (is_writer) {
    for (const std::span<double> part : particles()) numbers.insert(numbers.end(), part.begin(), part.end());
    internal = stepper_->internal_state();
  }
  // Rank 0 writes what one rank has.
  numbers = world.gather(numbers);
  internal = world.gather(internal);
  archive.numbers("particles", numbers);
  archive.numbers("stepper", internal);
  for (std::size_t e = 0; e < problem_.environments().size(); ++e) {
    for (const StateField& field : problem_.environments()[e]->fields()) {
      archive.distributed(fmt::format("environment-{}/{}_axis{}", e, field.name, field.axis),
                          is_own ? field.values : std::span<double>(), is_own ? field.first : 0, field.total);
    }
  }
  if (!archive.is_reading() || !is_own) return;
  for (const auto& environment : problem_.environments()) environment->fields_changed();
  auto next = numbers.begin();
  for (const std::span<double> part : particles()) {
    if (numbers.end() - next < static_cast<std::ptrdiff_t>(part.size())) throw std::out_of_range("particles");
    std::copy_n(next, part.size(), part.begin());
    next += static_cast<std::ptrdiff_t>(part.size());
  }
  problem_.clock.steps = step;
  stepper_->set_internal_state(internal);
}

}  // namespace bathline
