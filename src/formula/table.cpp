// Tables of a function, interpolated by cubic or straight pieces.
// Tested by tests/formula/derivative_test.cpp.
#include "formula/table.hpp"

#include <fmt/format.h>

#include <Eigen/SparseLU>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "formula/outside_tables.hpp"

namespace bathline {

namespace {

constexpr std::size_t derivatives = 4;  // the interpolant and three derivatives

struct Table {
  std::string name;
  std::vector<double> knots, values;
  bool is_linear;
  std::vector<std::array<double, 4>> pieces = {};  ///< coefficients of 1, u, u^2, u^3 with u = x - knot
  double number = 0.0;
  std::weak_ptr<const Table> owners = {};

  bool has_same_values(const Table& other) const {
    return name == other.name && knots == other.knots && values == other.values && is_linear == other.is_linear;
  }
};

/// The tables by their numbers, null where one has been removed; the first stands for the function that vanishes.
std::vector<const Table*>& tables() {
  static std::vector<const Table*> all(1);
  return all;
}

/// Slopes of the not-a-knot spline at the knots; of fewer than four values, of the polynomial through them.
Eigen::VectorXd slopes_of(const std::vector<double>& h, const std::vector<double>& d) {
  const auto n = static_cast<Eigen::Index>(h.size()) + 1;
  if (n == 2) return Eigen::VectorXd::Constant(2, d[0]);
  std::vector<Eigen::Triplet<double>> entries;
  Eigen::VectorXd right(n);
  for (Eigen::Index i = 1; i + 1 < n; ++i) {
    const double left = h[static_cast<std::size_t>(i) - 1], next = h[static_cast<std::size_t>(i)];
    entries.emplace_back(i, i - 1, next);
    entries.emplace_back(i, i, 2.0 * (left + next));
    entries.emplace_back(i, i + 1, left);
    right[i] = 3.0 * (next * d[static_cast<std::size_t>(i) - 1] + left * d[static_cast<std::size_t>(i)]);
  }
  // Of three values the two outer pieces are the same pair: there the third derivative itself vanishes.
  const auto set_end = [&](Eigen::Index row, Eigen::Index inner, double h0, double h1, double d0, double d1) {
    entries.emplace_back(row, row, n == 3 ? h0 : h1);
    entries.emplace_back(row, inner, n == 3 ? h0 : h0 + h1);
    right[row] = n == 3 ? 2.0 * h0 * d0 : ((h0 + 2.0 * (h0 + h1)) * h1 * d0 + h0 * h0 * d1) / (h0 + h1);
  };
  const std::size_t last = h.size() - 1;
  set_end(0, 1, h[0], h[1], d[0], d[1]);
  set_end(n - 1, n - 2, h[last], h[last - 1], d[last], d[last - 1]);
  Eigen::SparseMatrix<double> matrix(n, n);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return Eigen::SparseLU<Eigen::SparseMatrix<double>>(matrix).solve(right);
}

std::vector<std::array<double, 4>> pieces_of(const Table& table) {
  std::vector<double> h, d;
  for (std::size_t i = 0; i + 1 < table.knots.size(); ++i) {
    h.push_back(table.knots[i + 1] - table.knots[i]);
    d.push_back((table.values[i + 1] - table.values[i]) / h[i]);
  }
  const Eigen::VectorXd s = table.is_linear ? Eigen::VectorXd() : slopes_of(h, d);
  std::vector<std::array<double, 4>> pieces;
  for (std::size_t i = 0; i < h.size(); ++i) {
    if (table.is_linear) {
      pieces.push_back({table.values[i], d[i], 0.0, 0.0});
      continue;
    }
    const double a = s[static_cast<Eigen::Index>(i)], b = s[static_cast<Eigen::Index>(i) + 1];
    pieces.push_back({table.values[i], a, (3.0 * d[i] - 2.0 * a - b) / h[i], (a + b - 2.0 * d[i]) / (h[i] * h[i])});
  }
  return pieces;
}

/// The last finite place outside of a table.
struct Place {
  double number = 0.0, x = 0.0;
};
Place& place_outside() {
  static Place place;
  return place;
}

/// Not locked: the table exists as long as what contains its number.
const Table*& table_of(double number) { return tables()[static_cast<std::size_t>(number) / derivatives]; }

}  // namespace

TableNumber table_number(const std::string& name, std::span<const double> knots, std::span<const double> values,
                         bool is_linear) {
  Table table{name, {knots.begin(), knots.end()}, {values.begin(), values.end()}, is_linear};
  auto place = tables().begin() + 1;
  for (auto other = place; other != tables().end(); ++other) {
    if (*other != nullptr && (*other)->has_same_values(table)) {
      const std::shared_ptr<const Table> same = (*other)->owners.lock();
      return {same, &same->number};
    }
  }
  place = std::find(place, tables().end(), nullptr);
  if (place == tables().end()) place = tables().insert(place, nullptr);
  table.number = static_cast<double>(derivatives * static_cast<std::size_t>(place - tables().begin()));
  table.pieces = pieces_of(table);
  const std::shared_ptr<Table> owned(new Table(std::move(table)), [](const Table* removed) {
    table_of(removed->number) = nullptr;
    delete removed;
  });
  owned->owners = owned;
  *place = owned.get();
  return {owned, &owned->number};
}

double table_value(double number, double x) {
  if (number == 0.0) return 0.0;
  const Table& table = *table_of(number);
  const std::size_t last = table.knots.size() - 1;
  const double first_interval = table.knots[1] - table.knots[0],
               last_interval = table.knots[last] - table.knots[last - 1];
  if (!(x >= table.knots[0] - first_interval && x <= table.knots[last] + last_interval)) {
    if (std::isfinite(x)) place_outside() = {number, x};
    return std::numeric_limits<double>::quiet_NaN();
  }
  const auto next = std::upper_bound(table.knots.begin() + 1, table.knots.end() - 1, x);
  const auto piece = static_cast<std::size_t>(next - table.knots.begin()) - 1;
  const auto [a, b, c, d] = table.pieces[piece];
  const double u = x - table.knots[piece];
  switch (static_cast<std::size_t>(number) % derivatives) {
    case 0:
      return std::fma(u, std::fma(u, std::fma(u, d, c), b), a);
    case 1:
      return std::fma(u, std::fma(u, 3.0 * d, 2.0 * c), b);
    case 2:
      return std::fma(u, 6.0 * d, 2.0 * c);
    default:
      return 6.0 * d;
  }
}

double table_derivative(double number) {
  const bool is_last = number == 0.0 || static_cast<std::size_t>(number) % derivatives == derivatives - 1;
  return is_last ? 0.0 : number + 1.0;
}

std::string table_text(double number, double x) {
  const Table& table = *table_of(number);
  return fmt::format("table(\"{}\", {}), a table from {} to {}", table.name, x, table.knots.front(),
                     table.knots.back());
}

std::string take_place_outside_tables() {
  const auto [number, x] = std::exchange(place_outside(), {});
  const bool is_there = number != 0.0 && table_of(number) != nullptr;
  return is_there ? table_text(number, x) : "";
}

}  // namespace bathline
