// Typed functions and tables as one: a function, the places where it is not smooth, and what tells it from others.
// Tested by tests/command_line/kernels_test.py.
#include "model/kernels/kernel_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "formula/program.hpp"
#include "model/formula/scope.hpp"
#include "model/table_file.hpp"
#include "recipe/printable_text.hpp"

namespace bathline {

namespace {

using Rows = std::vector<std::array<double, 2>>;

/// Numbers in formulas are always finite texts, so that these tell functions apart.
std::string identity_of_numbers(const Section& section) {
  std::string text;
  if (!section.has("parameters")) return text;
  const Section& table = section.table("parameters");
  for (const std::string& key : table.keys()) text += fmt::format("{}={};", key, table.number(key));
  return text;
}

std::optional<KernelInput> read_typed(const Section& section, const std::string& key, Mistakes& mistakes) {
  FormulaScope scope;
  scope.add_variable(key == "kernel" ? "t" : "w");
  const std::size_t before = mistakes.count();
  if (section.has("parameters")) add_numbers(section.table("parameters"), {}, scope, mistakes);
  const std::optional<Expression> value = read_formula(section, key, scope, mistakes);
  if (!value || mistakes.count() > before) return std::nullopt;
  try {
    const auto program = std::make_shared<const FormulaProgram>(scope.graph, std::span(&*value, 1), 1);
    return KernelInput{.key = key,
                       .value = [program](double x) { return program->run(&x); },
                       .cache_key = section.text(key) + "|" + identity_of_numbers(section)};
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

std::optional<KernelInput> read_table(const Section& section, const std::string& key, const Communicator& communicator,
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
  KernelInput source{.key = key, .value = {}};
  for (const auto& row : *rows) {
    source.kinks.push_back(row[0]);
    source.cache_key += fmt::format("{} {};", row[0], row[1]);
  }
  const auto shared = std::make_shared<const Rows>(*rows);
  source.value = [shared](double x) { return between_rows(*shared, x); };
  return source;
}

}  // namespace

std::optional<KernelInput> read_kernel_input(const Section& section, const Communicator& communicator,
                                             Mistakes& mistakes) {
  std::vector<std::string> given;
  for (const char* key : kernel_input_keys) {
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

}  // namespace bathline
