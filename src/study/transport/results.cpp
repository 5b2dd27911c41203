// Currents, profiles and conductivities from the means of blocks.
//
// The energy of a chain fluctuates about its mean, by which its uptake in any time is bounded: a chain that is not yet
// steady is found by the sum of the heats of its baths much sooner than by its current. Errors of currents are those of
// the means of blocks; from equilibrium follows (dJ/J)^2 = 2 N kT^2/(kappa_N t dT^2) for a small difference dT.
// Tested by tests/study/transport_test.cpp.
#include "study/transport/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "study/theory/averages.hpp"
#include "study/theory/line_fit.hpp"
#include "study/theory/multiple_tau.hpp"

namespace bathline {

namespace {

using Mean = BlockTable::Mean;

/// The energies of a chain at the ends of the blocks from `first` on, measured from the beginning of that block.
std::vector<double> energies(const TransportBlocks& blocks, const Chain& chain, std::size_t first) {
  std::vector<double> sums{0.0};
  for (std::size_t row = first; row < blocks.table.rows(); ++row) {
    const double inflow = blocks.table.at(row, chain.heat(0)) - blocks.table.at(row, chain.heat(1));
    sums.push_back(sums.back() + blocks.seconds * inflow);
  }
  return sums;
}

/// Whether a chain has taken up no more energy than it fluctuates and the step explains.
bool has_balanced_heats(const TransportBlocks& blocks, const Chain& chain, std::size_t first) {
  const Mean heat = net_heat(blocks, chain, first);
  const double h = blocks.this_case.step,
               of_step = 0.1 * h * h * std::abs(blocks.table.mean(first, chain.current()).value);
  return std::abs(heat.value) <= 3.0 * heat.error + of_step;
}

bool is_steady_from(const TransportBlocks& blocks, std::size_t first) {
  std::vector<std::size_t> columns;
  for (const Chain& chain : blocks.chains) {
    columns.insert(columns.end(), {chain.current(), chain.mean_temperature()});
    if (!chain.is_ring && !has_balanced_heats(blocks, chain, first)) return false;
  }
  return blocks.table.has_equal_halves(first, columns);
}

}  // namespace

Mean net_heat(const TransportBlocks& blocks, const Chain& chain, std::size_t first) {
  const std::vector<double> energy = energies(blocks, chain, first);
  // The fluctuation is that of the second half of the run, whatever came before.
  const std::size_t settled = energy.size() - std::min(energy.size(), (blocks.table.rows() + 1) / 2);
  Moments moments(1);
  for (std::size_t i = settled; i < energy.size(); ++i) moments.add({&energy[i], 1});
  const double seconds = blocks.seconds * static_cast<double>(energy.size() - 1);
  return {energy.back() / seconds, std::sqrt(2.0 * moments.variance(0)) / seconds};
}

Steadiness find_steady_blocks(const TransportBlocks& blocks) {
  const std::size_t rows = blocks.table.rows(), parts = min_steady_blocks;
  if (rows < min_steady_blocks) return {};
  for (std::size_t part = 0; part <= parts / 2; ++part) {
    const std::size_t first = rows * part / parts;
    if (is_steady_from(blocks, first)) return {first, true};
  }
  return {rows / 2, false};
}

namespace {

/// kappa(t) = int_0^t <J(0) J(s)> ds/(N kT^2) of a ring, J the sum of its currents, at one of its lags, by trapezia.
Mean green_kubo(const TransportBlocks& blocks, const Chain& chain, std::span<const double> lags, std::size_t last,
                std::size_t first) {
  const double kT = blocks.table.mean(first, chain.mean_temperature()).value,
               unit = blocks.interval / (static_cast<double>(chain.places) * kT * kT);
  return blocks.table.mean_of(first, [&](std::size_t row) {
    double sum = 0.0;
    for (std::size_t lag = 0; lag < last; ++lag) {
      const double here = blocks.table.at(row, chain.correlation() + lag);
      sum += 0.5 * (lags[lag + 1] - lags[lag]) * (here + blocks.table.at(row, chain.correlation() + lag + 1));
    }
    return unit * sum;
  });
}

}  // namespace

double WorstResult::relative_error() const { return std::abs(mean.error / mean.value); }

std::optional<WorstResult> find_worst_result(const TransportBlocks& blocks) {
  std::optional<WorstResult> worst;
  const std::size_t first = find_steady_blocks(blocks).first;
  const auto compare = [&](const WorstResult& next) {
    if (!worst || next.relative_error() > worst->relative_error()) worst = next;
  };
  for (const Chain& chain : blocks.chains) {
    if (blocks.table.rows() < first + 2) continue;
    if (chain.is_driven()) compare({"current of " + chain.name, blocks.table.mean(first, chain.current())});
    if (chain.lags == 0) continue;
    const std::vector<double> lags = MultipleTau(chain.longest_lag).lags();
    compare({"kappa of " + chain.name, green_kubo(blocks, chain, lags, lags.size() - 1, first)});
  }
  return worst;
}

namespace {

/// Writes the results of one group.
class Writer {
 public:
  Writer(const TransportBlocks& blocks, std::size_t first, const std::string& name, ResultFile& file)
      : blocks_(blocks), first_(first), out_(file, fmt::format("transport/{}/{}", blocks.this_case.name, name)) {}

  void number(const std::string& name, const char* units, const std::string& what, Mean mean) const {
    out_.number(name, units, what, mean.value);
    out_.number(name + "_error", units, "standard error of " + name, mean.error);
  }
  void profile(const std::string& name, const char* units, const std::string& what, const Dimension& dimension,
               std::size_t column) const {
    std::vector<Mean> means;
    for (std::size_t i = 0; i < dimension.length(); ++i) means.push_back(blocks_.table.mean(first_, column + i));
    array(name, units, what, dimension, means);
  }
  void array(const std::string& name, const char* units, const std::string& what, const Dimension& dimension,
             const std::vector<Mean>& means) const {
    std::vector<double> values, errors;
    for (const Mean& mean : means) {
      values.push_back(mean.value);
      errors.push_back(mean.error);
    }
    out_.array(name, units, what, {dimension}, values);
    out_.array(name + "_error", units, "standard error of " + name, {dimension}, errors);
  }
  const GroupWriter& out() const { return out_; }

 private:
  const TransportBlocks& blocks_;
  std::size_t first_;
  GroupWriter out_;
};

/// kappa_N = J (N - 1)/dT of N places.
Mean conductivity(const TransportBlocks& blocks, const Chain& chain, std::size_t first) {
  const Mean current = blocks.table.mean(first, chain.current());
  const double factor = static_cast<double>(chain.springs) / chain.temperature_difference();
  return {factor * current.value, std::abs(factor) * current.error};
}

Mean bulk_conductivity(const TransportBlocks& blocks, const Chain& chain, std::size_t first) {
  const Mean ratio = blocks.table.ratio(first, chain.current(), chain.slope());
  return {-ratio.value, ratio.error};
}

double expected_error(const TransportBlocks& blocks, const Chain& chain, std::size_t first, Mean kappa) {
  const double kT = 0.5 * (chain.kT[0] + chain.kT[1]), difference = chain.temperature_difference(),
               seconds = blocks.seconds * static_cast<double>(blocks.table.rows() - first) *
                         static_cast<double>(blocks.realisations);
  return std::abs(kappa.value) * std::sqrt(2.0 * static_cast<double>(chain.places) * kT * kT /
                                           (std::abs(kappa.value) * seconds * difference * difference));
}

void write_ring(const TransportBlocks& blocks, const Chain& chain, std::size_t first, const Writer& out) {
  const auto scaled = [](Mean mean, double unit) { return Mean{unit * mean.value, unit * mean.error}; };
  const double per_place = 1.0 / static_cast<double>(chain.places);
  if (chain.lags > 0) {
    const std::vector<double> lags = MultipleTau(chain.longest_lag).lags();
    Dimension lag{"lag", lags, "s", "lag"};
    for (double& value : lag.values) value *= blocks.interval;
    std::vector<Mean> correlation, kappa;
    for (std::size_t i = 0; i < lags.size(); ++i) {
      correlation.push_back(scaled(blocks.table.mean(first, chain.correlation() + i), per_place));
      kappa.push_back(green_kubo(blocks, chain, lags, i, first));
    }
    out.array("current_correlation", "W^2", "correlation of the sum of all currents, over N", lag, correlation);
    out.array("green_kubo", "1/s", "conductivity by the integral of the correlation up to the lag", lag, kappa);
  }
  Dimension frequency{"frequency", {}, "rad/s", "angular frequency"};
  const double interval = static_cast<double>(chain.window) * blocks.interval;
  for (std::size_t m = 0; m < chain.frequencies; ++m)
    frequency.values.push_back(2.0 * std::numbers::pi * static_cast<double>(m) / interval);
  for (std::size_t n = 0; n < chain.waves.size(); ++n) {
    std::vector<Mean> spectrum;
    for (std::size_t m = 0; m < chain.frequencies; ++m)
      spectrum.push_back(scaled(blocks.table.mean(first, chain.spectrum(n) + m), blocks.interval * per_place));
    out.array(fmt::format("structure_factor_{}", chain.waves[n]), "m^2/s",
              fmt::format("spectrum of the velocities at the wave number 2 pi {}/N, over N", chain.waves[n]), frequency,
              spectrum);
  }
}

void write_chain(const TransportBlocks& blocks, const Chain& chain, std::size_t first, ResultFile& file) {
  const Writer out(blocks, first, chain.name, file);
  const Dimension place{"place", chain.middles(chain.places), "1", "place along the chain, from the first end"};
  const Dimension spring{"spring", chain.middles(chain.springs), "1", "spring along the chain, from the first end"};
  out.out().number("places", "1", "number N of places, particles included", static_cast<double>(chain.places));
  out.profile("temperature", "J", "kT of the sites", place, chain.temperature());
  out.profile("local_current", "W", "current through the springs", spring, chain.local_current());
  out.number("mean_temperature", "J", "mean kT of the chain", blocks.table.mean(first, chain.mean_temperature()));
  if (chain.is_ring) return write_ring(blocks, chain, first, out);
  out.number("current", "W", "mean current through all springs", blocks.table.mean(first, chain.current()));
  out.number("heat_from_first", "W", "heat a second out of the bath at the first end",
             blocks.table.mean(first, chain.heat(0)));
  out.number("heat_into_second", "W", "heat a second into the bath at the second end",
             blocks.table.mean(first, chain.heat(1)));
  out.number("net_heat", "W", "heat a second that stays in the chain", net_heat(blocks, chain, first));
  if (!chain.is_driven()) return;
  const Mean kappa = conductivity(blocks, chain, first);
  out.number("kappa", "1/s", "conductivity J (N - 1)/dT, with the contacts", kappa);
  out.out().number("kappa_error_expected", "1/s", "standard error near equilibrium",
                   expected_error(blocks, chain, first, kappa));
  const Mean bulk = bulk_conductivity(blocks, chain, first);
  if (std::isfinite(bulk.value))
    out.number("kappa_bulk", "1/s", "conductivity of the middle half, -J over the slope of kT", bulk);
}

void write_series(const TransportBlocks& blocks, const TransportSeries& series, std::size_t first, ResultFile& file) {
  std::vector<const Chain*> chains;
  for (const Chain& chain : blocks.chains) {
    if (std::ranges::find(series.chains, chain.name) != series.chains.end()) chains.push_back(&chain);
  }
  if (chains.size() < series.chains.size()) return;  // of another case
  std::ranges::sort(chains, {}, &Chain::places);
  Dimension places{"places", {}, "1", "number N of places"}, between{"places_between", {}, "1", "geometric mean of N"};
  std::vector<Mean> kappa, bulk, exponent;
  std::vector<double> springs, resistance, error;  // (N - 1)/kappa_N
  for (const Chain* chain : chains) {
    const auto count = static_cast<double>(chain->places), gaps = static_cast<double>(chain->springs);
    places.values.push_back(count);
    kappa.push_back(conductivity(blocks, *chain, first));
    bulk.push_back(bulk_conductivity(blocks, *chain, first));
    springs.push_back(gaps);
    resistance.push_back(gaps / kappa.back().value);
    error.push_back(resistance.back() * kappa.back().error / kappa.back().value);
    if (kappa.size() < 2) continue;
    const Mean &now = kappa.back(), &last = kappa[kappa.size() - 2];
    const double before = places.values[kappa.size() - 2], decade = std::log(count / before);
    between.values.push_back(std::sqrt(count * before));
    exponent.push_back({std::log(now.value / last.value) / decade,
                        std::hypot(now.error / now.value, last.error / last.value) / decade});
  }
  const Writer out(blocks, first, series.name, file);
  out.array("kappa", "1/s", "conductivity J (N - 1)/dT, with the contacts", places, kappa);
  out.array("kappa_bulk", "1/s", "conductivity of the middle half", places, bulk);
  out.array("exponent", "1", "d ln kappa / d ln N between two lengths", between, exponent);
  // (N - 1)/kappa_N = (N - 1)/kappa + R.
  const LineFit fit = fit_weighted_line(springs, resistance, error);
  out.number("kappa_limit", "1/s", "conductivity without contacts, by the slope of (N - 1)/kappa over N - 1",
             {1.0 / fit.slope, fit.error / (fit.slope * fit.slope)});
}

}  // namespace

void write_transport(const TransportBlocks& blocks, const TransportOptions& options, ResultFile& file) {
  const auto [first, is_steady] = find_steady_blocks(blocks);
  const GroupWriter out(file, "transport/" + blocks.this_case.name);
  out.number("burn_in", "s", "time from which the motion is steady", blocks.seconds * static_cast<double>(first));
  out.number("steady", "1", "whether it is: 1 or 0", is_steady ? 1.0 : 0.0);
  out.number("blocks", "1", "number of blocks since then", static_cast<double>(blocks.table.rows() - first));
  out.number("duration", "s", "time of the run", blocks.seconds * static_cast<double>(blocks.table.rows()));
  for (const Chain& chain : blocks.chains) write_chain(blocks, chain, first, file);
  for (const TransportSeries& series : options.series) write_series(blocks, series, first, file);
}

}  // namespace bathline
