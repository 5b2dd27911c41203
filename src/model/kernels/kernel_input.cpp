// Reads formulas and tables of kernels and densities.
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
#include "text/printable_text.hpp"

namespace bathline {

namespace {

/// The parameters of the formula as a text that identifies them.
std::string parameters_key(const Section& section) {
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
                       .cache_key = section.text(key) + "|" + parameters_key(section)};
  } catch (const FormulaTooLarge& error) {
    mistakes.add(section.where(key), fmt::format("{}: {}", key, error.what()));
  }
  return std::nullopt;
}

std::optional<KernelInput> read_table(const Section& section, const std::string& key, const Communicator& communicator,
                                      Mistakes& mistakes) {
  const bool is_kernel = key == "kernel_file";
  const TableForm kernel_form{.row = "value",
                              .first = {"time", "s", Bound::nonnegative},
                              .second = {"kernel", "N/m", Bound::any},
                              .rising = true};
  const TableForm density_form{.row = "value",
                               .first = {"frequency", "rad/s", Bound::nonnegative},
                               .second = {"density", "N/m", Bound::nonnegative},
                               .rising = true};
  const auto rows = read_table_file(section, is_kernel ? kernel_form : density_form, communicator, mistakes);
  if (!rows) return std::nullopt;
  const auto refuse = [&](const std::string& reason) {
    mistakes.add(section.where(key), fmt::format("{} = \"{}\": {}", key, section.text(key), reason));
    return std::nullopt;
  };
  double largest = 0.0;
  for (const auto& row : *rows) largest = std::max(largest, std::abs(row[1]));
  if (is_kernel && (*rows)[0][0] != 0.0) {
    return refuse(fmt::format("it begins at t = {}, but the table of a kernel must begin at t = 0", (*rows)[0][0]));
  }
  if (!is_kernel && (*rows)[0][0] == 0.0 && (*rows)[0][1] > 0.0) {
    return refuse("its density at w = 0 must be 0; otherwise J(w)/w is not integrable");
  }
  if (!is_kernel && rows->back()[1] != 0.0) {
    return refuse(fmt::format("it ends with {} at w = {}; continue the table until the value is 0", rows->back()[1],
                              rows->back()[0]));
  }
  KernelInput input{.key = key, .value = {}};
  if (largest > 0.0) input.last_fraction = std::abs(rows->back()[1]) / largest;
  for (const auto& row : *rows) {
    input.kinks.push_back(row[0]);
    input.cache_key += fmt::format("{} {};", row[0], row[1]);
  }
  const auto shared = std::make_shared<const KernelTable>(*rows);
  input.value = [shared](double x) { return interpolated(*shared, x); };
  return input;
}

}  // namespace

double interpolated(const KernelTable& rows, double x) {
  const auto next =
      std::upper_bound(rows.begin(), rows.end(), x, [](double position, const auto& row) { return position < row[0]; });
  if (next == rows.end()) return x == rows.back()[0] ? rows.back()[1] : 0.0;
  if (next == rows.begin()) return rows.front()[1] * x / rows.front()[0];
  const auto& [x0, y0] = *(next - 1);
  const auto& [x1, y1] = *next;
  return y0 + (y1 - y0) * ((x - x0) / (x1 - x0));
}

std::optional<KernelInput> read_kernel_input(const Section& section, const Communicator& communicator,
                                             Mistakes& mistakes) {
  std::vector<std::string> given;
  for (const char* key : kernel_input_keys) {
    if (section.has(key)) given.emplace_back(key);
  }
  if (given.size() > 1) {
    mistakes.add(section.where(given[1]),
                 fmt::format("the memory is given by both `{}` and `{}`; leave one out", given[0], given[1]));
    return std::nullopt;
  }
  const std::string& key = given.front();
  if (key.ends_with("_file")) return read_table(section, key, communicator, mistakes);
  return read_typed(section, key, mistakes);
}

}  // namespace bathline
