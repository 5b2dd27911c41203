// Kernels that are sums of exponentials, or become such sums: LAMMPS' `fix gld`, tables of gleqpy, matrix modes.
// Tested by tests/command_line/import_test.py.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "model/kernels/imports/bath_reader.hpp"
#include "model/kernels/kernel_input.hpp"
#include "model/kernels/passive_fit.hpp"
#include "recipe/toml_writer.hpp"
#include "solve/dense.hpp"
#include "text/printable_text.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;

ReadBath read_lammps_gld(const BathSource& source) {
  std::istringstream lines(source.text);
  ReadBath bath;
  int number = 0, found = 0;
  for (std::string line, next; std::getline(lines, line);) {
    const int first = ++number;
    for (std::size_t last;
         (last = line.find_last_not_of(" \t\r")) != std::string::npos && line[last] == '&' && std::getline(lines, next);
         ++number) {
      line = line.substr(0, last) + next;
    }
    std::istringstream split(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; split >> word;) words.push_back(word);
    if (words.size() < 4 || words[0] != "fix" || words[3] != "gld") continue;
    if (found > 0) {
      fail(source, first, fmt::format("a second `fix ... gld` follows that of line {}; keep one in the file", found));
    }
    found = first;
    if (words.size() < 9 || words[8] != "pprony") {
      fail(source, first, "must be `fix ID group gld Tstart Tstop N seed pprony c_1 tau_1 ...`");
    }
    if (words[4] != words[5] && std::atof(words[4].c_str()) != std::atof(words[5].c_str())) {
      fail(source, first,
           fmt::format("the temperature goes from {} to {}: make both equal here, and give the environment that is "
                       "written a kT in t, such as \"1 + t/10\"",
                       printable(words[4]), printable(words[5])));
    }
    std::string rest;
    for (std::size_t i = 9; i < words.size() && words[i] != "frozen" && words[i] != "zero"; ++i) rest += words[i] + " ";
    const std::vector<double> numbers = number_rows(source, rest + words[6], first).front().numbers;
    const std::size_t count = numbers.size() / 2;
    if (numbers.size() != 2 * count + 1 || numbers.back() != static_cast<double>(count) || count == 0) {
      fail(source, first,
           fmt::format("N = {} pairs c, tau are wanted, but {} numbers follow", printable(words[6]),
                       numbers.size() - 1));
    }
    const double unit = time_unit(source), mass = option(source, "mass", 1.0);
    for (std::size_t j = 0; j < 2 * count; j += 2) {
      if (!(numbers[j + 1] > 0.0)) fail(source, first, fmt::format("tau = {} must be positive", numbers[j + 1]));
      const double tau = numbers[j + 1] * unit;
      if (numbers[j] != 0.0) bath.terms.push_back({numbers[j] * mass / unit / tau, 1.0 / tau, 0.0, 0.0});
    }
  }
  if (found == 0) fail(source, 0, "there is no line `fix ID group gld ...`");
  bath.notes.emplace_back("gamma(t) = sum c/tau exp(-t/tau); --mass is the file's unit of mass in that of the recipe.");
  require_passive(source, bath);
  return bath;
}

ReadBath read_gleqpy(const BathSource& source) {
  const std::vector<NumberRow> rows = number_rows(source, source.text);
  if (rows.size() <= 2 || rows.front().numbers.size() != 2) return read_matrix_file(source);
  const double unit = time_unit(source), stiffness = option(source, "mass", 1.0) / (unit * unit);
  KernelTable table;
  std::vector<double> times;
  for (const auto& [line, numbers] : rows) {
    if (numbers.size() != 2) fail(source, line, "must be two numbers, a time and a kernel");
    const double t = numbers[0] * unit;
    if (table.empty() && t != 0.0) fail(source, line, "the table of a kernel must begin at the time 0");
    if (!table.empty() && !(t > times.back())) {
      fail(source, line,
           fmt::format("the time {} does not follow that of the line before: times must increase", numbers[0]));
    }
    table.push_back({t, numbers[1] * stiffness});
    times.push_back(t);
    if (!std::isfinite(t + table.back()[1])) fail(source, line, "is too large for doubles in these units");
  }
  const auto kernel = [&](double t) { return interpolated(table, t); };
  ReadBath bath;
  BathAccuracy accuracy{1e-8, times.back()};
  const auto fit = [&] { return fit_passive(kernel, times, accuracy); };
  ExponentialSum sum;
  try {
    try {
      sum = fit();
    } catch (const TooFarFromPassive& error) {
      accuracy.tolerance = error.sufficient_tolerance;
      sum = fit();
    }
  } catch (const UnsuitableFunction& error) {
    fail(source, 0, error.what());
  }
  bath.terms = sum.modes;
  bath.notes.push_back(
      fmt::format("The table is replaced by {} decaying cosine{}, a passive kernel: until its end, {:.6g} s, the "
                  "integral of the absolute difference is {:.2g} of that of the table.",
                  sum.exponentials, sum.exponentials == 1 ? "" : "s", times.back(), sum.error()));
  return bath;
}

/// Symmetric matrices in x0, x1, ...: exp(-r t) (P cos(w t) + B sin(w t)) is the sum over both signs and the
/// eigenvectors e of P r +- B w, with the values l, of l/(2 r) exp(-r t) (cos(w t) +- r/w sin(w t)) on e.x.
ReadBath read_matrix_modes(const BathSource& source) {
  const std::vector<NumberRow> rows = number_rows(source, source.text);
  const double unit = time_unit(source), stiffness = option(source, "mass", 1.0) / (unit * unit);
  ReadBath bath;
  std::size_t coordinates = 0;
  for (std::size_t next = 0; next < rows.size();) {
    const NumberRow& head = rows[next];
    if (head.numbers.size() != 2) fail(source, head.line, "must be the rate and the frequency of a mode");
    const double r = head.numbers[0] / unit, w = head.numbers[1] / unit;
    if (!(r > 0.0) || w < 0.0) fail(source, head.line, "the rate must be positive and the frequency not negative");
    const std::size_t n = ++next < rows.size() ? rows[next].numbers.size() : 0, count = w > 0.0 ? 2 * n : n;
    if (n == 0 || n > largest_imported_matrix || next + count > rows.size()) {
      fail(source, head.line, "n rows of P must follow, and n of B where the frequency is positive");
    }
    if (coordinates == 0) coordinates = n;
    if (n != coordinates) {
      fail(source, rows[next].line,
           fmt::format("the matrices of this mode have {} columns, those of the first mode {}: all are of the same "
                       "coordinates, fill the others with 0",
                       n, coordinates));
    }
    MatrixXd p = MatrixXd::Zero(static_cast<Index>(n), static_cast<Index>(n)), b = p;
    for (std::size_t i = 0; i < count; ++i, ++next) {
      if (rows[next].numbers.size() != n) fail(source, rows[next].line, fmt::format("must be {} numbers", n));
      (i < n ? p : b).row(static_cast<Index>(i % n)) =
          stiffness * Eigen::Map<const Eigen::RowVectorXd>(rows[next].numbers.data(), static_cast<Index>(n));
    }
    const double size = p.norm() + b.norm();
    if (!std::isfinite(size * (r + w))) fail(source, head.line, "is too large for doubles in these units");
    if ((p - p.transpose()).norm() + (b - b.transpose()).norm() > 1e-12 * size) {
      fail(source, head.line,
           "P and B must be symmetric: this kernel is not that of a system at rest without magnetic fields");
    }
    for (const double sign : {1.0, -1.0}) {
      if (b.norm() == 0.0 && sign < 0.0) continue;  // the same as the other
      const auto [values, vectors] = symmetric_eigen(p * r + sign * w * b);
      for (Index j = 0; j < values.size(); ++j) {
        if (values[j] < -1e-9 * size * (r + w)) {
          fail(source, head.line,
               fmt::format("P r {} B w has the negative eigenvalue {:.4g}: the mode is not passive by itself",
                           sign > 0.0 ? "+" : "-", values[j]));
        }
        if (values[j] <= 1e-14 * size * (r + w)) continue;
        const double k = values[j] / (b.norm() == 0.0 ? r : 2.0 * r);
        bath.terms.push_back({k, r, w, b.norm() == 0.0 ? 0.0 : sign * k * r / w});
        if (n == 1) continue;
        std::string couple;
        for (std::size_t i = 0; i < n; ++i) {
          const double e = vectors(static_cast<Index>(i), j);
          if (e == 0.0) continue;
          couple += fmt::format("{}{}*x{}", couple.empty() ? (e < 0.0 ? "-" : "") : (e < 0.0 ? " - " : " + "),
                                toml_number(std::abs(e)), i);
        }
        bath.couples.push_back(couple);
      }
    }
  }
  bath.notes.emplace_back("Every eigenvector of P r + B w and P r - B w is an environment of its own.");
  return bath;
}

}  // namespace bathline
