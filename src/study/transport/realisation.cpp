// One realisation of a study of transport: what is observed while it advances.
//
// Under kick-drift-kick the momenta between two kicks have the temperature of the bath, those at whole steps are lower
// by the order h^2: kT of a site is (p + h f/2)^2/m. The heat of a bath is the energy that it has absorbed, which needs
// no observations within a block.
// Tested by tests/study/transport_test.cpp.
#include "study/transport/realisation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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
    const HeatObservation what{kick, chain.bins, chain.longest_lag || !chain.waves.empty(), chain.waves};
    observed_.push_back({conductor_of(*problem_.environments()[chain.environment])->observe_heat(what),
                         MultipleTau(chain.longest_lag.value_or(1)),
                         {}});
    for (std::size_t n = 0; n < chain.waves.size(); ++n) observed_.back().spectra.emplace_back(chain.window);
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
    auto& [heat, current, spectra] = observed_[c];
    heat->observe({x, v, kT, mass});
    const std::span<const double> totals = heat->totals();
    if (!is_root || totals.empty()) continue;
    current.add(totals[0]);
    for (std::size_t n = 0; n < spectra.size(); ++n) spectra[n].add({totals[1 + 2 * n], totals[2 + 2 * n]});
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
    auto& [heat, current, spectra] = observed_[c];
    const HeatProfile profile = heat->take();
    if (!problem_.communicator().is_root()) continue;
    const auto absorbed_at = [&](std::size_t end) {
      double sum = 0.0;
      for (const std::size_t bath : chain.baths[end]) sum += after[bath] - before[bath];
      return sum / seconds;
    };
    std::vector<double> x, y;
    const auto count = static_cast<double>(chain.places);
    for (std::size_t bin = 0; bin < chain.bins; ++bin) {
      const double place = chain.place().values[bin];
      if (place < 0.25 * count || place > 0.75 * count) continue;
      x.push_back(place);
      y.push_back(profile.temperature[bin]);
    }
    const auto append = [&](const std::vector<double>& values) { row.insert(row.end(), values.begin(), values.end()); };
    append({profile.mean_current, -absorbed_at(0), absorbed_at(1), fit_line(x, y).slope, profile.mean_temperature});
    append(profile.temperature);
    append(profile.current);
    if (chain.longest_lag) append(current.take());
    for (PowerSpectrum& spectrum : spectra) append(spectrum.take());
  }
  return std::nullopt;
}

}  // namespace bathline
