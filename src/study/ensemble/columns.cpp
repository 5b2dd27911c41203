// Computes the values of an ensemble's columns from the records of a realisation.
// Tested by tests/study/ensemble_test.cpp.
#include "study/ensemble/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "driver/output_times.hpp"

namespace bathline {

namespace {

Dimension bins_of(const MeasuredQuantity& quantity) {
  return {quantity.name + "_bin", quantity.bins->centres(), quantity.units, "centre of a bin of " + quantity.name};
}

/// Adds the columns of a quantity, which is the recorded variable `variable`.
void add_quantity(const MeasuredQuantity& quantity, std::size_t variable, EnsembleColumns& all) {
  const std::string &name = quantity.name, &units = quantity.units;
  const std::string when = quantity.at_end ? " at the end" : " averaged over time",
                    over = quantity.at_end ? " at the end, averaged over " : " averaged over time and ";
  const auto add = [&](std::vector<EnsembleColumn>& columns, EnsembleColumn column) {
    column.variable = variable;
    column.at_end = quantity.at_end;
    columns.push_back(std::move(column));
  };
  std::vector<EnsembleColumn>& columns = quantity.at_end ? all.by_realisation : all.by_block;
  add(all.stored, {name + "_of_realisation", units, name + when});
  add(columns, {.name = name + "_mean",
                .units = units,
                .long_name = name + over + "realisations",
                .compared = {fmt::format("`{}`", name)}});
  if (all.lag.length() > 0 && !quantity.at_end) {
    const std::string long_name = "mean product of " + name + " with itself a lag later";
    add(columns, {name + "_autocorrelation", squared(units), long_name, {all.lag}, ColumnKind::autocorrelation});
  }
  if (!quantity.bins) return;
  add(columns, {.name = name + "_density",
                .units = per(units),
                .long_name = "probability density of " + name + (quantity.at_end ? when : ""),
                .dimensions = {bins_of(quantity)},
                .kind = ColumnKind::density,
                .bins = {{variable, *quantity.bins}},
                .scale = 1.0 / quantity.bins->width()});
}

}  // namespace

std::string squared(const std::string& units) { return units == "1" ? units : "(" + units + ")2"; }
std::string per(const std::string& units) { return units == "1" ? units : "1/(" + units + ")"; }

std::size_t EnsembleColumn::size() const {
  std::size_t size = 1;
  for (const Dimension& dimension : dimensions) size *= dimension.length();
  return size;
}

EnsembleColumns::EnsembleColumns(const Experiment& experiment, const EnsembleOptions& options, const Case& this_case)
    : time{"time", {}, "s", "time"},
      blocks(static_cast<std::size_t>(options.blocks)),
      dofs(static_cast<std::size_t>(experiment.system().size())) {
  const ParticleSystem& system = experiment.system();
  const std::int64_t every = experiment.output().every;
  const double spacing = static_cast<double>(every) * this_case.step;
  for (const std::int64_t step : record_steps(this_case, every)) {
    time.values.push_back(static_cast<double>(step) * this_case.step);
  }
  equidistant = static_cast<std::size_t>(this_case.steps / every + 1);
  first = static_cast<std::size_t>(std::ceil(options.burn_in / spacing * (1.0 - 1e-12)));
  std::size_t lags = 0;
  if (options.max_lag) {
    const std::size_t possible = equidistant - std::min(first, equidistant);
    lags = std::clamp<std::size_t>(static_cast<std::size_t>(*options.max_lag / spacing * (1.0 + 1e-12)) + 1, 1,
                                   std::max<std::size_t>(possible, 1));
  }
  const auto particles = static_cast<std::size_t>(system.particles);
  lag = counted_dimension("lag", lags, "lag");
  lag.units = "s";
  for (double& t : lag.values) t *= spacing;
  particle = counted_dimension("particle", particles, "particle, counted from 0");
  axis = counted_dimension("axis", static_cast<std::size_t>(system.axes), "axis, counted from 0");

  const std::size_t kinetic = 2 * dofs;
  const std::vector<Dimension> by_dof{time, particle, axis}, by_particle{time, particle};
  path = {{"path_q", "m", "position", by_dof, ColumnKind::values, 0, dofs},
          {"path_v", "m/s", "velocity", by_dof, ColumnKind::values, dofs, dofs}};
  if (options.series) {
    by_realisation = {
        {"mean_q", "m", "mean position", by_dof, ColumnKind::values, 0, dofs},
        {"mean_v", "m/s", "mean velocity", by_dof, ColumnKind::values, dofs, dofs},
        {"kinetic_energy", "J", "mean kinetic energy", by_particle, ColumnKind::values, kinetic, particles}};
  }
  if (lags > 0) {
    by_block.push_back({"velocity_autocorrelation",
                        "m2/s2",
                        "mean velocity autocorrelation per axis",
                        {lag, particle},
                        ColumnKind::autocorrelation,
                        dofs,
                        dofs});
  }
  by_block.push_back({"kinetic_mean",
                      "J",
                      "kinetic energy averaged over time and realisations",
                      {particle},
                      ColumnKind::mean,
                      kinetic,
                      particles});
  for (std::size_t i = 0; i < particles; ++i) {
    by_block.back().compared.push_back(fmt::format("the kinetic energy of particle {}", i));
  }
  variables = kinetic + particles;
  if (particles > 1) by_block.push_back({.variable = variables++, .compared = {"the kinetic energy of all particles"}});
  const Measurements& measurements = options.measurements;
  const std::size_t quantities = variables;
  for (const MeasuredQuantity& quantity : measurements.quantities) add_quantity(quantity, variables++, *this);
  for (const JointHistogram& histogram : measurements.joint_histograms) {
    const MeasuredQuantity &a = measurements.quantities[histogram.first],
                           &b = measurements.quantities[histogram.second];
    by_block.push_back({.name = histogram.name + "_density",
                        .units = "1/(" + a.units + " " + b.units + ")",
                        .long_name = "joint probability density of " + a.name + " and " + b.name,
                        .dimensions = {bins_of(a), bins_of(b)},
                        .kind = ColumnKind::density,
                        .bins = {{quantities + histogram.first, *a.bins}, {quantities + histogram.second, *b.bins}},
                        .scale = 1.0 / (a.bins->width() * b.bins->width())});
  }
  for (const Observable& profile : measurements.profiles) {
    const auto size = static_cast<std::size_t>(profile.size);
    const Dimension dimension = profile.dimension == particle.name
                                    ? particle
                                    : counted_dimension(profile.dimension, size, profile.dimension, profile.first);
    by_block.push_back({profile.name + "_mean",
                        profile.units,
                        profile.long_name + ", averaged over time and realisations",
                        {dimension},
                        ColumnKind::mean,
                        variables,
                        size});
    variables += size;
  }
}

RecordRange EnsembleColumns::block(std::size_t index) const {
  const std::size_t averaged = records() - first;
  return {first + averaged * index / blocks, first + averaged * (index + 1) / blocks};
}

std::size_t EnsembleColumns::shortest_block() const {
  std::size_t shortest = records();
  for (std::size_t i = 0; i < blocks; ++i) {
    const auto [begin, end] = block(i);
    shortest = std::min(shortest, std::max(begin, std::min(end, equidistant)) - begin);
  }
  return shortest;
}

void EnsembleColumns::evaluate(const EnsembleColumn& column, const Realisation& run, RecordRange range,
                               std::span<double> values) const {
  if (column.at_end) range = {records() - 1, records()};
  const auto part = [&](std::size_t i, std::size_t end) {
    return std::span(run[column.variable + i]).subspan(range.begin, end - range.begin);
  };
  switch (column.kind) {
    case ColumnKind::values:
      for (std::size_t k = range.begin; k < range.end; ++k) {
        for (std::size_t i = 0; i < column.variables; ++i) {
          values[(k - range.begin) * column.variables + i] = run[column.variable + i][k];
        }
      }
      return;
    case ColumnKind::mean:
      for (std::size_t i = 0; i < column.variables; ++i) values[i] = mean_of(part(i, range.end));
      return;
    case ColumnKind::autocorrelation: {
      const std::size_t lags = lag.length(), particles = values.size() / lags, axes = column.variables / particles;
      for (std::size_t i = 0; i < column.variables; ++i) {
        const auto products = (*autocorrelation_)(part(i, std::min(range.end, equidistant)), lags);
        for (std::size_t l = 0; l < lags; ++l) {
          values[l * particles + i / axes] += products[l] / static_cast<double>(axes);
        }
      }
      return;
    }
    case ColumnKind::density:
      for (std::size_t k = range.begin; k < range.end; ++k) {
        std::optional<std::size_t> index = 0;
        for (const auto& [variable, bins] : column.bins) {
          const std::optional<std::size_t> bin = bins.index_of(run[variable][k]);
          if (index) index = bin ? std::optional(*index * bins.count + *bin) : std::nullopt;
        }
        if (index) values[*index] += 1.0 / static_cast<double>(range.end - range.begin);
      }
  }
}

std::vector<double> EnsembleColumns::sample(const std::vector<EnsembleColumn>& columns, const Realisation& run,
                                            const RecordRange& range, bool only_compared) const {
  std::vector<double> values;
  for (const EnsembleColumn& column : columns) {
    if (only_compared && column.compared.empty()) continue;
    values.resize(values.size() + column.size());
    evaluate(column, run, range, std::span(values).last(column.size()));
  }
  return values;
}

std::size_t width_of(const std::vector<EnsembleColumn>& columns) {
  std::size_t width = 0;
  for (const EnsembleColumn& column : columns) width += column.size();
  return width;
}

EnsembleMoments::EnsembleMoments(const EnsembleColumns& columns)
    : by_realisation(width_of(columns.by_realisation)), by_block(width_of(columns.by_block)), differences(0) {
  std::size_t compared = 0;
  for (const EnsembleColumn& column : columns.by_block) compared += column.compared.size();
  differences = Moments(compared);
}

void EnsembleMoments::add(const EnsembleColumns& columns, const Realisation& run) {
  by_realisation.add(columns.sample(columns.by_realisation, run, {0, columns.records()}));
  const std::size_t blocks = columns.blocks, half = blocks / 2;
  for (std::size_t i = 0; i < blocks; ++i) by_block.add(columns.sample(columns.by_block, run, columns.block(i)));
  // Pairs of blocks, half of the blocks apart; a single block is split.
  for (std::size_t pair = 0; pair < std::max<std::size_t>(half, 1); ++pair) {
    RecordRange earlier = columns.block(pair), later = columns.block(pair + blocks - half);
    if (half == 0) {
      later = earlier;
      later.begin = earlier.end = earlier.begin + (earlier.end - earlier.begin) / 2;
    }
    if (earlier.begin == earlier.end) return;
    const std::vector<double> before = columns.sample(columns.by_block, run, earlier, true);
    std::vector<double> change = columns.sample(columns.by_block, run, later, true);
    std::ranges::transform(change, before, change.begin(), std::minus<>());
    differences.add(change);
  }
}

}  // namespace bathline
