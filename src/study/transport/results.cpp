// Currents, profiles and conductivities from the means of blocks.
//
// The energy of a chain fluctuates about its mean, by which its uptake in any time is bounded: a chain that is not yet
// steady is found by the sum of the heats of its baths much sooner than by its current. Errors of currents are those of
// the means of blocks; from equilibrium follows (dJ/J)^2 = 2 N kT^2/(kappa_N t dT^2) for a small difference dT.
// Tested by tests/study/transport_test.cpp.
#include "study/transport/results.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "study/theory/averages.hpp"
#include "study/theory/line_fit.hpp"
#include "study/theory/stationarity.hpp"

namespace bathline {

BlockTable::Mean BlockTable::mean_of(std::size_t first,
                                     const std::function<double(std::size_t row)>& combination) const {
  Moments moments(1);
  for (std::size_t row = first; row < rows(); ++row) moments.add(std::vector<double>{combination(row)});
  return {moments.mean(0), std::sqrt(moments.variance(0) / moments.count())};
}

bool BlockTable::has_equal_halves(std::size_t first, std::span<const std::size_t> columns) const {
  constexpr double false_alarms = 1e-3, relative_round_off = 1e-9;
  const std::size_t half = (rows() - first) / 2;
  Moments differences(columns.size());
  std::vector<double> difference(columns.size());
  for (std::size_t row = first; row < first + half; ++row) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      difference[i] = at(rows() - half + row - first, columns[i]) - at(row, columns[i]);
    differences.add(difference);
  }
  std::vector<double> round_off;
  for (const std::size_t column : columns)
    round_off.push_back(relative_round_off * std::abs(mean(first, column).value));
  return !find_half_difference(differences, round_off, false_alarms);
}

namespace {

using Mean = BlockTable::Mean;

/// The energy that a chain has taken up since block `first`, a second, and its standard error.
Mean net_heat(const TransportBlocks& blocks, const Chain& chain, std::size_t first) {
  // At the ends of the blocks, measured from the beginning of the first one.
  std::vector<double> energy{0.0};
  for (std::size_t row = first; row < blocks.table.rows(); ++row) {
    const double inflow = blocks.table.at(row, chain.heat(0)) - blocks.table.at(row, chain.heat(1));
    energy.push_back(energy.back() + blocks.seconds * inflow);
  }
  // The fluctuation is that of the second half of the run, whatever came before.
  const std::size_t settled = energy.size() - std::min(energy.size(), (blocks.table.rows() + 1) / 2);
  Moments moments(1);
  for (std::size_t i = settled; i < energy.size(); ++i) moments.add({&energy[i], 1});
  const double seconds = blocks.seconds * static_cast<double>(energy.size() - 1);
  return {energy.back() / seconds, std::sqrt(2.0 * moments.variance(0)) / seconds};
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
Mean green_kubo(const TransportBlocks& blocks, const Chain& chain, std::size_t last, std::size_t first) {
  const std::vector<double>& lags = chain.lag().values;
  const double kT = blocks.table.mean(first, chain.mean_temperature()).value;
  const auto integral = [&](std::size_t row) {
    double sum = 0.0;
    for (std::size_t lag = 0; lag < last; ++lag) {
      const double here = blocks.table.at(row, chain.correlation() + lag);
      sum += 0.5 * (lags[lag + 1] - lags[lag]) * (here + blocks.table.at(row, chain.correlation() + lag + 1));
    }
    return sum;
  };
  return blocks.table.mean_of(first, integral).times(1.0 / (static_cast<double>(chain.places) * kT * kT));
}

}  // namespace

double WorstResult::relative_error() const {
  const double error = std::abs(mean.error / mean.value);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

std::optional<WorstResult> find_worst_result(const TransportBlocks& blocks) {
  std::optional<WorstResult> worst;
  const std::size_t first = find_steady_blocks(blocks).first;
  const auto compare = [&](const WorstResult& next) {
    if (!worst || next.relative_error() > worst->relative_error()) worst = next;
  };
  for (const Chain& chain : blocks.chains) {
    if (blocks.table.rows() < first + 2) continue;
    if (chain.is_driven()) compare({"current of " + chain.name, blocks.table.mean(first, chain.current())});
    if (chain.longest_lag)
      compare({"kappa of " + chain.name, green_kubo(blocks, chain, chain.lag().length() - 1, first)});
  }
  return worst;
}

namespace {

/// Writes means and their standard errors.
void write(const GroupWriter& out, const TransportColumn& column, const std::vector<Mean>& means) {
  std::vector<double> values, errors;
  for (const Mean& mean : means) {
    values.push_back(column.scale * mean.value);
    errors.push_back(column.scale * mean.error);
  }
  std::vector<Dimension> dimensions;
  if (!column.dimension.name.empty()) dimensions.push_back(column.dimension);
  out.array(column.name, column.units, column.doc, dimensions, values);
  out.array(column.name + "_error", column.units, "standard error of " + column.name, dimensions, errors);
}

/// kappa_N = J (N - 1)/dT of N places.
Mean conductivity(const TransportBlocks& blocks, const Chain& chain, std::size_t first) {
  return blocks.table.mean(first, chain.current())
      .times(static_cast<double>(chain.springs) / chain.temperature_difference());
}

/// The error by the deviations of both together.
Mean bulk_conductivity(const TransportBlocks& blocks, const Chain& chain, std::size_t first) {
  const BlockTable& table = blocks.table;
  const double current = table.mean(first, chain.current()).value, slope = table.mean(first, chain.slope()).value;
  const Mean relative = table.mean_of(first, [&](std::size_t row) {
    return table.at(row, chain.current()) / current - table.at(row, chain.slope()) / slope;
  });
  return {-current / slope, std::abs(current / slope) * relative.error};
}

double expected_error(const TransportBlocks& blocks, const Chain& chain, std::size_t first, Mean kappa) {
  const double kT = 0.5 * (chain.kT[0] + chain.kT[1]), seconds = blocks.seconds *
                                                                 static_cast<double>(blocks.table.rows() - first) *
                                                                 static_cast<double>(blocks.realisations);
  return std::sqrt(2.0 * static_cast<double>(chain.places) * std::abs(kappa.value) / seconds) * kT /
         std::abs(chain.temperature_difference());
}

void write_chain(const TransportBlocks& blocks, const Chain& chain, std::size_t first, const GroupWriter& out) {
  out.number("places", "1", "number N of places, particles included", static_cast<double>(chain.places));
  std::size_t next = chain.first_column;
  for (const TransportColumn& column : chain.columns) {
    std::vector<Mean> means;
    for (std::size_t i = 0; i < column.size(); ++i) means.push_back(blocks.table.mean(first, next++));
    if (!column.name.empty()) write(out, column, means);
  }
  if (chain.longest_lag) {
    std::vector<Mean> kappa;
    for (std::size_t i = 0; i < chain.lag().length(); ++i) kappa.push_back(green_kubo(blocks, chain, i, first));
    write(out, {"green_kubo", "1/s", "conductivity by the integral of the correlation up to the lag", chain.lag()},
          kappa);
  }
  if (chain.is_ring) return;
  write(out, {"net_heat", "W", "heat a second that stays in the chain"}, {net_heat(blocks, chain, first)});
  if (!chain.is_driven()) return;
  const Mean kappa = conductivity(blocks, chain, first), bulk = bulk_conductivity(blocks, chain, first);
  write(out, {"kappa", "1/s", "conductivity J (N - 1)/dT, with the contacts"}, {kappa});
  out.number("kappa_error_expected", "1/s", "standard error near equilibrium",
             expected_error(blocks, chain, first, kappa), true);
  if (std::isfinite(bulk.value))
    write(out, {"kappa_bulk", "1/s", "conductivity of the middle half, -J over the slope of kT"}, {bulk});
}

void write_series(const TransportBlocks& blocks, const TransportSeries& series, std::size_t first,
                  const GroupWriter& out) {
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
  write(out, {"kappa", "1/s", "conductivity J (N - 1)/dT, with the contacts", places}, kappa);
  write(out, {"kappa_bulk", "1/s", "conductivity of the middle half", places}, bulk);
  write(out, {"exponent", "1", "d ln kappa / d ln N between two lengths", between}, exponent);
  // (N - 1)/kappa_N = (N - 1)/kappa + R.
  const LineFit fit = fit_weighted_line(springs, resistance, error);
  write(out, {"kappa_limit", "1/s", "conductivity without contacts, by the slope of (N - 1)/kappa over N - 1"},
        {{1.0 / fit.slope, fit.error / (fit.slope * fit.slope)}});
}

}  // namespace

void write_transport(const TransportBlocks& blocks, const TransportOptions& options, ResultFile& file) {
  const auto [first, is_steady] = find_steady_blocks(blocks);
  const auto group = [&](const std::string& name) {
    return GroupWriter(file, "transport/" + blocks.this_case.name + name);
  };
  const GroupWriter out = group("");
  out.number("burn_in", "s", "time from which the motion is steady", blocks.seconds * static_cast<double>(first));
  out.number("steady", "1", "whether it is: 1 or 0", is_steady ? 1.0 : 0.0);
  out.number("blocks", "1", "number of blocks since then", static_cast<double>(blocks.table.rows() - first));
  out.number("duration", "s", "time of the run", blocks.seconds * static_cast<double>(blocks.table.rows()));
  for (const Chain& chain : blocks.chains) write_chain(blocks, chain, first, group("/" + chain.name));
  for (const TransportSeries& series : options.series) write_series(blocks, series, first, group("/" + series.name));
}

}  // namespace bathline
