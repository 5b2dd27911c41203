// Drift matrices of generalised Langevin equations become sums of exponentials; of i-PI's input, the covariance matrix
// as well. With a bath at one temperature the noise of p has at every frequency the spectrum 2 kT Re gammahat.
// Source: ceriotti2010.
// Tested by tests/command_line/import_test.py.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>

#include "model/kernels/imports/bath_reader.hpp"
#include "solve/dense.hpp"
#include "solve/exponential_terms.hpp"
#include "text/printable_text.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;

ReadBath bath_of_drift_matrix(const BathSource& source, const MatrixXd& a) {
  const Index n = a.rows() - 1;
  const double mass = option(source, "mass", 1.0);
  if (!std::isfinite(mass * a.squaredNorm())) fail(source, 0, "the squares of the matrix are too large for doubles");
  ReadBath bath{.white = mass * a(0, 0)};
  if (bath.white < 0.0) fail(source, 0, fmt::format("a_pp = {} is negative, which is no friction", a(0, 0)));
  if (n == 0) return bath;
  const MatrixXd inner = a.bottomRightCorner(n, n);
  const ExponentialTerms sum = exponential_terms(-mass * a.topRightCorner(1, n), inner, a.bottomLeftCorner(n, 1));
  for (const auto& [rate, weight] : sum.terms) {
    const double factor = rate.imag() > 0.0 ? 2.0 : 1.0, size = std::abs(weight);
    if (size <= 1e-15 * sum.size) continue;
    if (!(rate.real() > 1e-12 * std::abs(rate))) {
      fail(source, 0,
           fmt::format("the auxiliary momenta do not decay: A_ss has the eigenvalue {} + {}i", rate.real(),
                       rate.imag()));
    }
    const double sine = std::abs(weight.imag()) <= 1e-14 * size ? 0.0 : factor * weight.imag();
    bath.terms.push_back({factor * weight.real(), rate.real(), rate.imag(), sine});
  }
  if (!(sum.error <= 1e-9)) {
    fail(source, 0,
         fmt::format("A_ss is too close to a matrix with one eigenvector for several eigenvalues: its exponentials "
                     "would be wrong by {:.1g} of the kernel",
                     sum.error));
  }
  bath.notes.push_back(
      fmt::format("Exponentials instead of the matrix change the kernel by {:.1g} of its size.", sum.error));
  require_passive(source, bath);
  return bath;
}

ReadBath read_matrix_file(const BathSource& source) {
  std::vector<NumberRow> rows = number_rows(source, source.text);
  std::size_t size = 0;
  if (source.format == "gle4md") {
    const auto [line, first] = rows.front();
    if (first.size() != 1 || first[0] != std::floor(first[0]) || first[0] < 0.0 ||
        first[0] >= largest_imported_matrix) {
      fail(source, line, "the first line must be the number of auxiliary momenta, then the matrix follows");
    }
    size = static_cast<std::size_t>(first[0]) + 1;
    rows.erase(rows.begin());
    if (rows.empty()) fail(source, line, "the matrix is missing");
  }
  return bath_of_drift_matrix(source, square_matrix(source, rows, size) / time_unit(source));
}

namespace {

/// A matrix of an XML text with its unit.
struct Element {
  MatrixXd matrix;
  std::string unit;
  int line;
};

int line_at(const std::string& text, std::size_t place) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
}

std::map<std::string, std::string> attributes(const BathSource& source, int line, std::string text) {
  std::map<std::string, std::string> values;
  for (std::size_t equals; (equals = text.find('=')) != std::string::npos;) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n"), end = text.find_first_of(" \t\r\n=", begin);
    const std::size_t quote = text.find_first_of("'\"", equals);
    const std::size_t close = quote == std::string::npos ? quote : text.find(text[quote], quote + 1);
    if (close == std::string::npos) fail(source, line, "the value of an attribute must stand in quotes");
    const std::string name = text.substr(begin, end - begin);
    if (!values.emplace(name, text.substr(quote + 1, close - quote - 1)).second) {
      fail(source, line, fmt::format("`{}` is given twice", printable(name)));
    }
    text.erase(0, close + 1);
  }
  return values;
}

/// The one element <name> of a text without comments.
std::optional<Element> matrix_element(const BathSource& source, const std::string& text, const std::string& name) {
  std::optional<Element> found;
  for (std::size_t begin = 0; (begin = text.find("<" + name, begin)) != std::string::npos; ++begin) {
    const std::size_t after = begin + 1 + name.size(), open = text.find('>', begin);
    if (std::string_view(" \t\r\n>/").find(text[after]) == std::string_view::npos) continue;  // another name
    const int line = line_at(text, begin);
    if (found) fail(source, line, fmt::format("a second <{}> follows that of line {}; keep one", name, found->line));
    const std::size_t close = text.find('<', after);
    if (open == std::string::npos || close == std::string::npos || close < open ||
        text.compare(close, name.size() + 2, "</" + name) != 0) {
      fail(source, line, fmt::format("<{}> must contain numbers and be closed by </{}>", name, name));
    }
    const auto values = attributes(source, line, text.substr(after, open - after));
    const auto value = [&](const char* key) { return values.contains(key) ? values.at(key) : std::string(); };
    std::vector<double> shape;
    if (!value("shape").empty()) shape = number_rows(source, value("shape"), line).front().numbers;
    if (shape.size() > 2) {
      fail(source, line,
           fmt::format("a matrix of shape {} is for the normal modes of ring polymers; one matrix of shape (n,n) can "
                       "be imported",
                       printable(value("shape"))));
    }
    found = {square_matrix(source, number_rows(source, text.substr(open + 1, close - open - 1), line_at(text, open))),
             value("units"), line};
    const auto n = static_cast<double>(found->matrix.rows());
    if (!shape.empty() && shape != std::vector{n, n}) {
      fail(source, line,
           fmt::format("the shape is {}, but {} numbers follow, a matrix of shape ({},{})", printable(value("shape")),
                       n * n, n, n));
    }
  }
  return found;
}

/// The temperatures that the noise of p has at different frequencies: its spectrum over 2 Re gammahat.
struct NoiseTemperature {
  double value, frequency;
};

std::vector<NoiseTemperature> noise_temperatures(const MatrixXd& a, const MatrixXd& c) {
  const Index n = a.rows();
  const MatrixXd square = a * a, noise = a * c + c * a.transpose();
  const double largest = spectral_radius(a);
  std::vector<NoiseTemperature> result;
  for (double w = 1e-6 * largest; w < 1e3 * largest; w *= 1.25) {
    // Row p of (A + iw)^-1, by which both are multiplied: its real part and its imaginary part.
    const Eigen::RowVectorXd inverse = bathline::inverse(square + w * w * MatrixXd::Identity(n, n)).row(0);
    const Eigen::RowVectorXd real = inverse * a, imaginary = -w * inverse;
    if (std::abs(real[0]) < 1e-9 * std::abs(imaginary[0])) continue;
    result.push_back(
        {(real * noise * real.transpose() + imaginary * noise * imaginary.transpose()).value() / (2.0 * real[0]), w});
  }
  return result;
}

void check_covariance(const BathSource& source, const MatrixXd& a, const Element& covariance, ReadBath& bath) {
  const MatrixXd& c = covariance.matrix;
  if (c.rows() != a.rows()) fail(source, covariance.line, "C must have the shape of A");
  if ((c - c.transpose()).norm() > 1e-6 * c.norm()) fail(source, covariance.line, "C must be symmetric");
  const std::vector<NoiseTemperature> temperatures = noise_temperatures(a, c);
  if (temperatures.empty()) return;
  const auto [lowest, highest] =
      std::minmax_element(temperatures.begin(), temperatures.end(),
                          [](const NoiseTemperature& x, const NoiseTemperature& y) { return x.value < y.value; });
  const std::string in_unit = covariance.unit.empty() ? "in the unit of C" : "in " + printable(covariance.unit);
  if (highest->value - lowest->value > 1e-6 * std::max(std::abs(highest->value), std::abs(lowest->value))) {
    fail(source, covariance.line,
         fmt::format("no bath at one temperature has the noise of this C: its temperature, {}, is {:.4g} at w = {:.4g} "
                     "rad/s and {:.4g} at w = {:.4g} rad/s",
                     in_unit, lowest->value, lowest->frequency, highest->value, highest->frequency));
  }
  if (lowest->value < 0.0) {
    fail(source, covariance.line,
         fmt::format("C is that of a negative temperature, {:.6g} {}", lowest->value, in_unit));
  }
  bath.notes.push_back(
      fmt::format("The noise of C has the temperature {:.6g} {}; kT is what --kT says.", lowest->value, in_unit));
}

}  // namespace

ReadBath read_ipi(const BathSource& source) {
  std::string text = source.text;
  for (std::size_t begin = 0; (begin = text.find("<!--", begin)) != std::string::npos;) {
    const std::size_t end = text.find("-->", begin);
    if (end == std::string::npos) fail(source, line_at(text, begin), "a comment <!-- must be closed by -->");
    std::replace_if(
        text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end) + 3,
        [](char c) { return c != '\n'; }, ' ');
  }
  const std::optional<Element> drift = matrix_element(source, text, "A"), c = matrix_element(source, text, "C");
  if (!drift) fail(source, 1, "there is no element <A shape='(n,n)'> with a drift matrix");
  constexpr double atomic_time = 2.4188843265864e-17, cycle = 1.0 / (2.0 * std::numbers::pi);
  static const std::map<std::string, double> units = {
      {"", atomic_time}, {"automatic", atomic_time},   {"atomic_unit", atomic_time},        {"hertz*rad", 1.0},
      {"hertz", cycle},  {"terahertz", 1e-12 * cycle}, {"inversecm", cycle / 2.99792458e10}};
  const bool is_given = source.words.contains("time-unit");
  std::optional<double> own;
  if (const auto known = units.find(drift->unit); known != units.end() && !(drift->unit.empty() && is_given)) {
    own = known->second;
  } else if (!is_given) {
    fail(source, drift->line,
         fmt::format("the unit `{}` of A is none of automatic, atomic_unit, hertz*rad, hertz, terahertz, inversecm: "
                     "give its inverse, a time, by --time-unit",
                     printable(drift->unit)));
  }
  const MatrixXd a = drift->matrix / time_unit(source, own);
  ReadBath bath = bath_of_drift_matrix(source, a);
  if (c) check_covariance(source, a, *c, bath);
  if (drift->unit.empty() && !is_given)
    bath.notes.emplace_back("Without `units` i-PI's matrix is in inverse atomic units of time.");
  if (!drift->unit.empty()) bath.notes.push_back(fmt::format("The matrix is in {}.", printable(drift->unit)));
  return bath;
}

}  // namespace bathline
