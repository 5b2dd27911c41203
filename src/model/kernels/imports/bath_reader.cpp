// Every number of a file passes through number_rows.
// Tested by tests/command_line/import_test.py.
#include "model/kernels/imports/bath_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "model/kernels/adaptive_quadrature.hpp"
#include "model/memory/passivity.hpp"
#include "text/printable_text.hpp"

namespace bathline {

void fail(const BathSource& source, int line, const std::string& reason) {
  const std::string where = source.file.empty() ? "--from " + source.format : source.file;
  throw UnsuitableFunction(line > 0 ? fmt::format("{}:{}: {}", where, line, reason)
                                    : fmt::format("{}: {}", where, reason));
}

std::vector<NumberRow> number_rows(const BathSource& source, const std::string& text, int first_line,
                                   std::vector<PrintedPrecision>* columns) {
  std::vector<NumberRow> rows;
  std::istringstream lines(text);
  int number = first_line;
  for (std::string line; std::getline(lines, line); ++number) {
    line.resize(std::min(line.size(), line.find_first_of("#!")));
    for (std::size_t at = 0; (at = line.find_first_of(",[]()", at)) != std::string::npos;) line[at] = ' ';
    NumberRow row{number, {}};
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      char* end = nullptr;
      row.numbers.push_back(std::strtod(word.c_str(), &end));
      if (*end != '\0' || !std::isfinite(row.numbers.back())) {
        fail(source, number, fmt::format("`{}` is not a finite number", printable(word)));
      }
      if (columns == nullptr) continue;
      columns->resize(std::max(columns->size(), row.numbers.size()));
      (*columns)[row.numbers.size() - 1].add(word);
    }
    if (!row.numbers.empty()) rows.push_back(std::move(row));
  }
  if (rows.empty()) fail(source, first_line > 1 ? first_line : 0, "contains no numbers");
  return rows;
}

double option(const BathSource& source, const std::string& name, double otherwise) {
  const auto found = source.numbers.find(name);
  return found == source.numbers.end() ? otherwise : found->second.front();
}

double time_unit(const BathSource& source, std::optional<double> own) {
  static const std::map<std::string, double> names = {{"s", 1.0},
                                                      {"ms", 1e-3},
                                                      {"us", 1e-6},
                                                      {"ns", 1e-9},
                                                      {"ps", 1e-12},
                                                      {"fs", 1e-15},
                                                      {"atomic", 2.4188843265864e-17}};
  const auto given = source.words.find("time-unit");
  if (given == source.words.end()) {
    if (own) return *own;
    fail(source, 0,
         "the file does not say its unit of time: give --time-unit, a name (s, ms, us, ns, ps, fs, atomic: the recipe "
         "is in seconds) or a number (the unit in that of the recipe, 1 if they are the same)");
  }
  if (const auto found = names.find(given->second); found != names.end()) {
    if (own && std::abs(found->second / *own - 1.0) > 1e-6) {
      fail(source, 0,
           fmt::format("--time-unit {} is not the unit that the file names, {:.6g} s: leave it out for a recipe in "
                       "seconds, or give that unit in the unit of the recipe as a number",
                       given->second, *own));
    }
    return found->second;
  }
  char* end = nullptr;
  const double value = std::strtod(given->second.c_str(), &end);
  if (*end != '\0' || !(value > 0.0) || !std::isfinite(value)) {
    fail(source, 0,
         fmt::format("--time-unit {} is neither a positive number nor one of s, ms, us, ns, ps, fs, atomic",
                     printable(given->second)));
  }
  return value;
}

Eigen::MatrixXd square_matrix(const BathSource& source, const std::vector<NumberRow>& rows, std::size_t size) {
  std::vector<double> all;
  for (const NumberRow& row : rows) all.insert(all.end(), row.numbers.begin(), row.numbers.end());
  const std::size_t wanted = size;
  if (size == 0) size = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(all.size()))));
  if (size * size != all.size() || size > largest_imported_matrix) {
    fail(source, rows.front().line,
         fmt::format("{} numbers follow, but a square matrix of at most {} rows is wanted{}", all.size(),
                     largest_imported_matrix, wanted == 0 ? "" : fmt::format(", here of {}", wanted)));
  }
  const auto n = static_cast<Eigen::Index>(size);
  return Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(all.data(), n, n);
}

void require_passive(const BathSource& source, const ReadBath& bath) {
  const Passivity passivity = passivity_of(bath.terms, bath.white);
  if (passivity.lowest < -1e-9 * std::max(std::abs(passivity.lowest - bath.white), bath.white)) {
    fail(source, 0,
         fmt::format("no bath at one temperature has this kernel: the real part of its transform is {:.4g} "
                     "kg/s at w = {:.4g} rad/s, but must not be negative",
                     passivity.lowest, passivity.frequency));
  }
}

}  // namespace bathline
