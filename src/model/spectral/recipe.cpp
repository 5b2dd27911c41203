// What a recipe says of a kernel or a density, and what it must not say.
// Tested by tests/command_line/kernels_test.py.
#include "model/spectral/recipe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

#include "formula/program.hpp"
#include "model/formula/scope.hpp"
#include "model/spectral/bath_environment.hpp"
#include "model/spectral/panels.hpp"
#include "model/table_file.hpp"
#include "recipe/excerpt.hpp"

namespace bathline {

namespace {

using Rows = std::vector<std::array<double, 2>>;

constexpr const char* sources[] = {"kernel", "kernel_file", "spectral_density", "spectral_density_file"};

/// What is to be represented: a function by its formula or by lines between the rows of a table.
struct Source {
  std::string key;
  std::function<double(double)> value;
  std::vector<double> kinks = {};  ///< rows of a table
  std::string identity = {};       ///< all that the function depends on

  bool is_kernel() const { return key.starts_with("kernel"); }
};

/// Numbers in formulas are always finite texts, so that these tell functions apart.
std::string identity_of_numbers(const Section& section) {
  std::string text;
  if (!section.has("parameters")) return text;
  const Section& table = section.table("parameters");
  for (const std::string& key : table.keys()) text += fmt::format("{}={};", key, table.number(key));
  return text;
}

std::optional<Source> read_typed(const Section& section, const std::string& key, Mistakes& mistakes) {
  FormulaScope scope;
  scope.add_variable(key == "kernel" ? "t" : "w");
  const std::size_t before = mistakes.count();
  if (section.has("parameters")) add_numbers(section.table("parameters"), {}, scope, mistakes);
  const std::optional<Expression> value = read_formula(section, key, scope, mistakes);
  if (!value || mistakes.count() > before) return std::nullopt;
  try {
    const auto program = std::make_shared<const Program>(scope.graph, std::span(&*value, 1), 1);
    return Source{.key = key,
                  .value = [program](double x) { return program->run(&x); },
                  .identity = section.text(key) + "|" + identity_of_numbers(section)};
  } catch (const FormulaTooLarge& error) {
    mistakes.add(section.where(key), fmt::format("{}: {}", key, error.what()));
  }
  return std::nullopt;
}

/// Straight lines between rows, and 0 behind the last. A density begins with 0 at w = 0, whatever its first row.
double between_rows(const Rows& rows, double x) {
  const auto behind =
      std::upper_bound(rows.begin(), rows.end(), x, [](double at, const auto& row) { return at < row[0]; });
  if (behind == rows.end()) return x == rows.back()[0] ? rows.back()[1] : 0.0;
  if (behind == rows.begin()) return rows.front()[1] * x / rows.front()[0];
  const auto& [x0, y0] = *(behind - 1);
  const auto& [x1, y1] = *behind;
  return y0 + (y1 - y0) * ((x - x0) / (x1 - x0));
}

std::optional<Source> read_table(const Section& section, const std::string& key, const Communicator& communicator,
                                 double tolerance, Mistakes& mistakes) {
  const bool is_kernel = key == "kernel_file";
  const TableForm of_kernel{.row = "value",
                            .first = {"time", "s", Bound::nonnegative},
                            .second = {"kernel", "N/m", Bound::any},
                            .rising = true};
  const TableForm of_density{.row = "value",
                             .first = {"frequency", "rad/s", Bound::nonnegative},
                             .second = {"density", "N/m", Bound::nonnegative},
                             .rising = true};
  const auto rows = read_table_file(section, is_kernel ? of_kernel : of_density, communicator, mistakes);
  if (!rows) return std::nullopt;
  const auto refuse = [&](const std::string& why) {
    mistakes.add(section.where(key), fmt::format("{} = \"{}\": {}", key, section.text(key), why));
    return std::nullopt;
  };
  double largest = 0.0;
  for (const auto& row : *rows) largest = std::max(largest, std::abs(row[1]));
  if (is_kernel && (*rows)[0][0] != 0.0) {
    return refuse(fmt::format("it begins at t = {}: a kernel has to be known from t = 0 on", (*rows)[0][0]));
  }
  if (!is_kernel && (*rows)[0][0] == 0.0 && (*rows)[0][1] > 0.0) {
    return refuse("its density at w = 0 has to be 0, or J(w)/w would have no integral there");
  }
  if (std::abs(rows->back()[1]) > (is_kernel ? tolerance * largest : 0.0)) {
    return refuse(fmt::format("it ends with {} at {} = {}, and what comes then is not known; go on until it is 0",
                              rows->back()[1], is_kernel ? "t" : "w", rows->back()[0]));
  }
  Source source{.key = key, .value = {}};
  for (const auto& row : *rows) {
    source.kinks.push_back(row[0]);
    source.identity += fmt::format("{} {};", row[0], row[1]);
  }
  const auto shared = std::make_shared<const Rows>(*rows);
  source.value = [shared](double x) { return between_rows(*shared, x); };
  return source;
}

std::optional<Source> read_source(const Section& section, const Communicator& communicator, Mistakes& mistakes) {
  std::vector<std::string> given;
  for (const char* key : sources) {
    if (section.has(key)) given.emplace_back(key);
  }
  if (given.size() > 1) {
    mistakes.add(
        section.where(given[1]),
        fmt::format("the memory is described in two ways, by `{}` and `{}`; leave one out", given[0], given[1]));
    return std::nullopt;
  }
  const std::string& key = given.front();
  if (key.ends_with("_file")) {
    if (section.has("parameters")) {
      mistakes.add(section.where("parameters"), "`parameters` are numbers of a formula, and a table has none");
      return std::nullopt;
    }
    return read_table(section, key, communicator, section.number("tolerance"), mistakes);
  }
  return read_typed(section, key, mistakes);
}

/// Nothing where the numbers make no sense.
std::optional<BathDemand> read_demand(const Section& section, const RunTimes& run, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  // Sums of so many terms are known no better than that.
  constexpr double least = 1e-13, most = 1e-2;
  const BathDemand demand{section.number("tolerance"), section.has("until") ? section.number("until") : run.end};
  if (demand.tolerance < least || demand.tolerance > most) {
    mistakes.add(section.where("tolerance"),
                 fmt::format("tolerance = {}: double precision can certify {} and more, and more than {} would be "
                             "another environment; take a number between these",
                             demand.tolerance, least, most));
  }
  if (demand.until < run.end * (1.0 - 1e-12)) {
    mistakes.add(section.where("until"),
                 fmt::format("until = {}: the run ends at {}, and what the environment does later than `until` is not "
                             "known; take {} or more, or leave it out",
                             demand.until, run.end, run.end));
  }
  if (!(demand.until > 0.0)) throw UnreadableValue();
  return mistakes.count() > before ? std::nullopt : std::optional(demand);
}

/// A run builds its environments many times, and checks before it does: the last baths that were made are kept.
std::shared_ptr<const Bath> bath_of(const Source& source, const BathDemand& demand, double highest) {
  constexpr std::size_t most = 16;
  static std::map<std::string, std::shared_ptr<const Bath>> made;
  const std::string identity =
      fmt::format("{}|{}|{}|{}|{}", source.key, demand.tolerance, demand.until, highest, source.identity);
  if (const auto known = made.find(identity); known != made.end()) return known->second;
  SpectralDensity density{.value = source.value, .kinks = source.kinks};
  if (source.is_kernel()) {
    density = density_of_kernel(source.value, source.kinks, demand);
  } else {
    density.highest = source.kinks.empty() ? highest : std::min(highest, source.kinks.back());
  }
  if (made.size() >= most) made.clear();
  return made[identity] = std::make_shared<const Bath>(make_bath(density, demand));
}

}  // namespace

std::vector<Parameter> kernel_parameters() {
  return {
      {.name = "kernel",
       .type = ValueType::text,
       .units = "N/m",
       .doc = "gamma(t), a formula in `t` such as \"k*exp(-t^2/s^2)\"; it has to die down"},
      {.name = "kernel_file",
       .type = ValueType::text,
       .doc = "table of gamma(t): a time (s) from 0 on and a value (N/m) per line, with straight lines between them, "
              "down to 0; seen from the recipe's folder"},
      {.name = "spectral_density",
       .type = ValueType::text,
       .units = "N/m",
       .doc = "J(w), a formula in `w` such as \"D*w*exp(-w/c)\": gamma(t) = (2/pi) integral J(w)/w cos(w t) dw"},
      {.name = "spectral_density_file",
       .type = ValueType::text,
       .doc = "table of J(w): a frequency (rad/s) and a value (N/m) per line, with straight lines between them and "
              "from the origin, down to 0; seen from the recipe's folder"},
      formula_parameters(),
      {.name = "omega_max",
       .units = "rad/s",
       .doc = "the density is 0 beyond; left out, it goes on to where what is left is within `tolerance`",
       .bound = Bound::positive},
      {.name = "representation",
       .type = ValueType::text,
       .doc = "what stands for the kernel: a \"star\" of oscillators, as a `heat-bath`, or a \"chain\" of unequal "
              "sites, as a line; left out, a star",
       .choices = {"star", "chain"}},
      {.name = "tolerance",
       .doc = "error of the kernel, integrated until `until`, relative to the integral of its absolute values",
       .fallback = "1e-8",
       .bound = Bound::positive},
      {.name = "until",
       .units = "s",
       .doc = "until when that has to hold; left out, the run's end",
       .bound = Bound::positive}};
}

std::vector<std::string> kernel_keys(const Section& section) {
  std::vector<std::string> keys;
  for (const char* key : sources) {
    if (section.has(key)) keys.emplace_back(key);
  }
  for (const char* key : {"parameters", "omega_max", "representation", "until"}) {
    if (section.has(key)) keys.emplace_back(key);
  }
  return keys;
}

std::unique_ptr<Environment> build_from_kernel(const Section& section, const OpenSystem& system, const RunTimes& run,
                                               const Communicator& communicator, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  const std::optional<Source> source = read_source(section, communicator, mistakes);
  const std::optional<BathDemand> demand = read_demand(section, run, mistakes);
  const double infinite = std::numeric_limits<double>::infinity();
  const double highest = section.has("omega_max") ? section.number("omega_max") : infinite;
  if (source && source->is_kernel() && highest < infinite) {
    mistakes.add(section.where("omega_max"), "`omega_max` ends a density; a kernel has no such end: leave it out");
  }
  const bool is_chain = section.has("representation") && section.text("representation") == "chain";
  const double temperature = section.number("temperature");
  if (is_chain && temperature > 0.0) {
    mistakes.add(section.where("temperature"),
                 "a chain of unequal sites cannot start warm yet; take representation = \"star\", which can");
  }
  std::shared_ptr<const Bath> bath;
  if (source && demand && mistakes.count() == before) {
    try {
      bath = bath_of(*source, *demand, highest);
    } catch (const UnsuitableFunction& error) {
      mistakes.add(section.where(source->key), fmt::format("{}: {}", source->key, error.what()));
    }
  }
  std::optional<Attachment> attachment = attachment_to_particle(section, system, mistakes);
  if (!attachment || !bath || mistakes.count() > before) return nullptr;
  BathOptions options{.until = demand->until, .temperature = temperature};
  if (!section.has("representation")) {
    options.choice = "as nothing else was asked for: a chain has as many sites, which move no faster and start cold";
  }
  return (is_chain ? make_chain : make_star)(section.text("name"), std::move(*attachment), std::move(bath), options,
                                             communicator);
}

}  // namespace bathline
