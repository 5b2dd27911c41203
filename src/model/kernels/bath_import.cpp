// Reads drift matrices, sums of exponentials, chains, impedances and spectral densities of other programs.
// A drift matrix A acts on mass-scaled momenta (p, s): gamma(t) = m (2 a_pp delta(t) - a_ps exp(-A_ss t) a_sp).
// Source: ceriotti2010 for matrices.
// Tested by tests/command_line/import_test.py.
#include "model/kernels/bath_import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <numbers>
#include <optional>
#include <sstream>

#include "model/kernels/adaptive_quadrature.hpp"
#include "model/kernels/conversion.hpp"
#include "model/memory/passivity.hpp"
#include "recipe/toml_writer.hpp"
#include "solve/dense.hpp"
#include "text/printable_text.hpp"

namespace bathline {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using std::numbers::pi;

constexpr double atomic_time = 2.4188843265864e-17;  // s
constexpr std::size_t largest_matrix = 200;

[[noreturn]] void fail(const BathSource& source, int line, const std::string& reason) {
  const std::string where = source.file.empty() ? "--from " + source.format : source.file;
  throw UnsuitableFunction(line > 0 ? fmt::format("{}:{}: {}", where, line, reason)
                                    : fmt::format("{}: {}", where, reason));
}

/// A bath as white friction and a sum of exponentials, or by keys of a `memory`.
struct Bath {
  double white = 0.0;  // kg/s
  std::vector<PronyTerm> terms = {};
  std::vector<std::string> couples = {};  // of each term, where not all are on one coordinate
  std::string keys = {};
  std::string rows = {};
  double bare_stiffness = 0.0;  // gamma(0) where the other program has no counter term, N/m
  std::vector<std::string> notes = {};
};

struct Row {
  int line;
  std::vector<double> numbers;
};

/// The numbers of a text line by line; each character of `comments` begins a comment, commas and brackets separate.
std::vector<Row> number_rows(const BathSource& source, const std::string& text, const char* comments, int line = 1) {
  std::vector<Row> rows;
  std::istringstream lines(text);
  for (std::string one; std::getline(lines, one); ++line) {
    one.resize(std::min(one.size(), one.find_first_of(comments)));
    std::replace_if(
        one.begin(), one.end(), [](char c) { return c == ',' || c == '[' || c == ']'; }, ' ');
    Row row{line, {}};
    std::istringstream words(one);
    for (std::string word; words >> word;) {
      char* end = nullptr;
      const double value = std::strtod(word.c_str(), &end);
      if (*end != '\0' || !std::isfinite(value)) {
        fail(source, line, fmt::format("`{}` is not a finite number", printable(word)));
      }
      row.numbers.push_back(value);
    }
    if (!row.numbers.empty()) rows.push_back(std::move(row));
  }
  if (rows.empty()) fail(source, 0, "contains no numbers");
  return rows;
}

/// The length of the file's unit of time in that of the recipe. `own` is the length in seconds where it is known.
double time_unit(const BathSource& source, std::optional<double> own = {}) {
  static const std::map<std::string, double> names = {
      {"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}, {"fs", 1e-15}, {"atomic", atomic_time}};
  if (source.time_unit.empty()) {
    if (own) return *own;
    fail(source, 0,
         "the file does not say its unit of time: give --time-unit, a name (s, ms, us, ns, ps, fs, atomic: the recipe "
         "is in seconds) or a number (the unit in that of the recipe, 1 if they are the same)");
  }
  if (const auto found = names.find(source.time_unit); found != names.end()) return found->second;
  char* end = nullptr;
  const double value = std::strtod(source.time_unit.c_str(), &end);
  if (*end != '\0' || !(value > 0.0) || !std::isfinite(value)) {
    fail(source, 0,
         fmt::format("--time-unit {} is neither a positive number nor one of s, ms, us, ns, ps, fs, atomic",
                     printable(source.time_unit)));
  }
  return value;
}

/// The answer 1 of p and -a_ps (A_ss + iw)^-1 of s to noise of frequency w, real part and imaginary part.
std::pair<Eigen::RowVectorXd, Eigen::RowVectorXd> noise_filter(const MatrixXd& a, double w) {
  const Index n = a.rows() - 1;
  Eigen::RowVectorXd real = Eigen::RowVectorXd::Ones(n + 1), imaginary = Eigen::RowVectorXd::Zero(n + 1);
  const MatrixXd inner = a.bottomRightCorner(n, n);
  const Eigen::RowVectorXd scaled =
      a.topRightCorner(1, n) * (inner * inner + w * w * MatrixXd::Identity(n, n)).inverse();
  real.tail(n) = -scaled * inner;
  imaginary.tail(n) = w * scaled;
  return {real, imaginary};
}

/// Refuses a sum that is not passive together with its white part.
void require_passive(const BathSource& source, const Bath& bath) {
  const Passivity passivity = passivity_of(bath.terms);
  if (passivity.lowest + bath.white < -1e-9 * std::max(std::abs(passivity.lowest), bath.white)) {
    fail(source, 0,
         fmt::format("no bath at one temperature has this kernel: the real part of its transform is {:.4g} "
                     "kg/s at w = {:.4g} rad/s, but must not be negative",
                     passivity.lowest + bath.white, passivity.frequency));
  }
}

Bath bath_of_matrix(const BathSource& source, const MatrixXd& a) {
  const Index n = a.rows() - 1;
  Bath bath{.white = source.mass * a(0, 0)};
  if (bath.white < 0.0) fail(source, 0, fmt::format("a_pp = {} is negative, which is no friction", a(0, 0)));
  if (n == 0) return bath;
  const Eigen::RowVectorXd row = -source.mass * a.topRightCorner(1, n);
  const Eigen::VectorXd column = a.bottomLeftCorner(n, 1);
  const MatrixXd inner = a.bottomRightCorner(n, n);
  const std::vector<EigenvalueTerm> terms = eigenvalue_terms(row, inner, column);
  const double size = row.norm() * column.norm();
  for (const auto& [rate, weight] : terms) {
    const double factor = rate.imag() > 0.0 ? 2.0 : 1.0;
    if (std::abs(weight) <= 1e-15 * size) continue;
    if (!(rate.real() > 1e-12 * std::abs(rate))) {
      fail(source, 0,
           fmt::format("the auxiliary momenta do not decay: A_ss has the eigenvalue {} + {}i", rate.real(),
                       rate.imag()));
    }
    const double sine = std::abs(weight.imag()) <= 1e-14 * std::abs(weight) ? 0.0 : factor * weight.imag();
    bath.terms.push_back({factor * weight.real(), rate.real(), rate.imag(), sine});
  }
  double error = 0.0;
  for (double t = 1e-2 / inner.norm(); t < 1e4 / inner.norm(); t *= 2.0) {
    error = std::max(error, std::abs(kernel_at(bath.terms, t) - row.dot(matrix_exponential(-t * inner) * column)));
  }
  if (!(error <= 1e-9 * size)) {
    fail(source, 0,
         fmt::format("A_ss is too close to a matrix with one eigenvector for three or more eigenvalues: its "
                     "exponentials would be wrong by {:.1g} of the kernel",
                     error / size));
  }
  bath.notes.push_back(fmt::format("Exponentials instead of the matrix change the kernel by {:.1g} of its size.",
                                   size > 0.0 ? error / size : 0.0));
  require_passive(source, bath);
  return bath;
}

MatrixXd square_matrix(const BathSource& source, const std::vector<Row>& rows, std::size_t size) {
  std::vector<double> all;
  for (const Row& row : rows) all.insert(all.end(), row.numbers.begin(), row.numbers.end());
  if (size == 0) size = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(all.size()))));
  if (size * size != all.size() || size > largest_matrix) {
    fail(source, rows.front().line,
         fmt::format("{} numbers follow, but a square matrix of at most {} rows is wanted{}", all.size(),
                     largest_matrix, size * size == all.size() ? "" : fmt::format(", here of {}", size)));
  }
  const auto n = static_cast<Index>(size);
  return Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(all.data(), n, n);
}

constexpr const char* matrix_note =
    "A acts on momenta divided by the root of their masses: gamma(t) = m (2 a_pp delta(t) - a_ps exp(-A_ss t) a_sp).";

Bath read_gle4md(const BathSource& source) {
  std::vector<Row> rows = number_rows(source, source.text, "#!");
  const double count = rows.front().numbers.front();
  if (rows.front().numbers.size() != 1 || count != std::floor(count) || count < 0.0 || count >= largest_matrix) {
    fail(source, rows.front().line, "the first line must be the number of auxiliary momenta, then the matrix follows");
  }
  rows.erase(rows.begin());
  if (rows.empty()) fail(source, 1, "the matrix is missing");
  return bath_of_matrix(source, square_matrix(source, rows, static_cast<std::size_t>(count) + 1) / time_unit(source));
}

Bath read_square(const BathSource& source) {
  return bath_of_matrix(source, square_matrix(source, number_rows(source, source.text, "#"), 0) / time_unit(source));
}

Bath read_gleqpy(const BathSource& source) {
  const std::vector<Row> rows = number_rows(source, source.text, "#");
  if (rows.size() <= 2 || rows.front().numbers.size() != 2) return read_square(source);
  const double unit = time_unit(source);
  Bath bath{.keys = "kernel_file = {}\nfit = \"passive\"\n", .rows = "# time (s), kernel (N/m)\n"};
  for (const Row& row : rows) {
    if (row.numbers.size() != 2) fail(source, row.line, "must be two numbers, a time and a kernel");
    bath.rows += fmt::format("{} {}\n", toml_number(row.numbers[0] * unit),
                             toml_number(row.numbers[1] * source.mass / (unit * unit)));
  }
  bath.notes.push_back(
      "The table is replaced by the nearest passive sum of exponentials when it is read; `tolerance` "
      "of the memory says how near.");
  return bath;
}

/// An element of an XML text: its attributes and what stands in it.
struct Element {
  std::string attributes, content;
  int line;
};

std::optional<Element> xml_element(const std::string& text, const std::string& name) {
  for (std::size_t begin = text.find("<" + name); begin != std::string::npos;
       begin = text.find("<" + name, begin + 1)) {
    const std::size_t open = text.find('>', begin), close = text.find("</" + name, begin);
    const char after = begin + 1 + name.size() < text.size() ? text[begin + 1 + name.size()] : ' ';
    if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
    if (after != ' ' && after != '>' && after != '\t' && after != '\n') continue;
    const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(open), '\n');
    return Element{text.substr(begin, open - begin), text.substr(open + 1, close - open - 1),
                   static_cast<int>(lines) + 1};
  }
  return std::nullopt;
}

std::string attribute(const Element& element, const std::string& name) {
  const std::size_t at = element.attributes.find(name + "=");
  if (at == std::string::npos || at + name.size() + 2 > element.attributes.size()) return "";
  const std::size_t begin = at + name.size() + 2;
  return element.attributes.substr(begin, element.attributes.find(element.attributes[begin - 1], begin) - begin);
}

MatrixXd ipi_matrix(const BathSource& source, const Element& element) {
  const std::string shape = attribute(element, "shape");
  if (std::count(shape.begin(), shape.end(), ',') > 1) {
    fail(source, element.line,
         fmt::format("a matrix of shape {} is for the normal modes of ring polymers; one matrix "
                     "of shape (n,n) can be imported",
                     printable(shape)));
  }
  return square_matrix(source, number_rows(source, element.content, "#", element.line), 0);
}

Bath read_ipi(const BathSource& source) {
  const std::optional<Element> drift = xml_element(source.text, "A");
  if (!drift) fail(source, 1, "there is no element <A shape='(n,n)'> with a drift matrix");
  MatrixXd a = ipi_matrix(source, *drift);
  static const std::map<std::string, double> units = {{"", atomic_time},
                                                      {"automatic", atomic_time},
                                                      {"atomic_unit", atomic_time},
                                                      {"hertz*rad", 1.0},
                                                      {"hertz", 1.0 / (2.0 * pi)},
                                                      {"terahertz", 1e-12 / (2.0 * pi)},
                                                      {"inversecm", 1.0 / (2.0 * pi * 2.99792458e10)}};
  const std::string unit = attribute(*drift, "units");
  const auto own = units.find(unit);
  a /= time_unit(source, own == units.end() ? std::nullopt : std::optional(own->second));
  Bath bath = bath_of_matrix(source, a);
  if (const std::optional<Element> covariance = xml_element(source.text, "C")) {
    const MatrixXd c = ipi_matrix(source, *covariance);
    if (c.rows() != a.rows()) fail(source, covariance->line, "C must have the shape of A");
    const MatrixXd rest = c - c(0, 0) * MatrixXd::Identity(c.rows(), c.cols());
    if (rest.norm() > 1e-6 * std::abs(c(0, 0))) {
      // The spectrum of the noise of p over 2 Re gammahat is the temperature that a slow oscillator would have.
      const MatrixXd noise = a * c + c * a.transpose();
      std::string temperatures;
      for (const double part : {0.1, 1.0, 10.0}) {
        const double w = part * std::pow(std::abs(a.determinant()), 1.0 / static_cast<double>(a.rows()));
        const auto [real, imaginary] = noise_filter(a, w);
        const double power = real.dot(real * noise) + imaginary.dot(imaginary * noise);
        const double friction = real.dot(a.col(0).transpose());
        temperatures +=
            fmt::format("{}{:.4g} at w = {:.4g}", temperatures.empty() ? "" : ", ", power / (2.0 * friction), w);
      }
      fail(source, covariance->line,
           fmt::format("C is not a temperature times the identity, so no bath at one temperature has this noise; its "
                       "temperatures, in the unit of C, are {}",
                       temperatures));
    }
    bath.notes.push_back(fmt::format("C is {} {} times the identity; kT is what --kT says.", c(0, 0),
                                     printable(attribute(*covariance, "units"))));
  }
  bath.notes.push_back(unit.empty() ? "Without `units` i-PI's matrix is in inverse atomic units of time."
                                    : fmt::format("The matrix is in {}.", printable(unit)));
  return bath;
}

Bath read_gld(const BathSource& source) {
  std::istringstream lines(source.text);
  int number = 1;
  for (std::string line; std::getline(lines, line); ++number) {
    line.resize(std::min(line.size(), line.find('#')));
    std::istringstream split(line);
    std::vector<std::string> words;
    for (std::string word; split >> word;) words.push_back(word);
    if (words.size() < 4 || words[0] != "fix" || words[3] != "gld") continue;
    if (words.size() < 9 || words[8] != "pprony") {
      fail(source, number, "must be `fix ID group gld Tstart Tstop N seed pprony c_1 tau_1 ...`");
    }
    std::string rest;
    for (std::size_t i = 9; i < words.size() && words[i] != "frozen" && words[i] != "zero"; ++i) rest += words[i] + " ";
    const std::vector<double> numbers = number_rows(source, rest + words[6], "#", number).front().numbers;
    const std::size_t count = numbers.size() / 2;
    if (numbers.size() != 2 * count + 1 || numbers.back() != static_cast<double>(count) || count == 0) {
      fail(source, number,
           fmt::format("N = {} pairs c, tau are wanted, but {} numbers follow", words[6], numbers.size() - 1));
    }
    const double unit = time_unit(source);
    Bath bath;
    for (std::size_t j = 0; j < 2 * count; j += 2) {
      if (!(numbers[j + 1] > 0.0)) fail(source, number, fmt::format("tau = {} must be positive", numbers[j + 1]));
      const double tau = numbers[j + 1] * unit;
      if (numbers[j] != 0.0) bath.terms.push_back({numbers[j] * source.mass / unit / tau, 1.0 / tau, 0.0, 0.0});
    }
    bath.notes.push_back("gamma(t) = sum c/tau exp(-t/tau); --mass is the file's unit of mass in that of the recipe.");
    require_passive(source, bath);
    return bath;
  }
  fail(source, 0, "there is no line `fix ID group gld ...`");
}

constexpr const char* bare_note = "hbar = 1, and the bath couples by the coordinate itself.";

Bath read_spectrum(const BathSource& source) {
  if (source.spectra.size() != 1) fail(source, 0, "give one spectrum, such as --drude 0.3 1.0");
  const auto& [name, numbers] = *source.spectra.begin();
  for (const double number : numbers) {
    if (!(number > 0.0) || !std::isfinite(number))
      fail(source, 0, fmt::format("--{}: {} is not positive", name, number));
  }
  const bool is_oqupy = source.format == "oqupy", is_heom = source.format == "hierarchicaleom";
  if (is_oqupy != (name == "power-law") || (is_heom && name == "ohmic")) {
    fail(source, 0,
         fmt::format("--{} is not a spectrum of {}, which has {}", name, source.format,
                     is_oqupy  ? "--power-law ALPHA ZETA CUTOFF"
                     : is_heom ? "--drude and --underdamped"
                               : "--drude, --underdamped and --ohmic"));
  }
  Bath bath;
  const double a = numbers[0], b = numbers[1];
  if (name == "drude") {
    bath.terms = {{2.0 * a, b, 0.0, 0.0}};
    bath.bare_stiffness = 2.0 * a;
  } else if (name == "underdamped") {
    // The position of an oscillator: any damping, critical too, is a drift matrix.
    const double w0 = numbers[2], strength = a / w0;
    MatrixXd drift(3, 3);
    drift << 0.0, -strength, 0.0, strength, 0.0, -w0, 0.0, w0, b;
    bath = bath_of_matrix(source, drift);
    bath.bare_stiffness = strength * strength;
  } else {
    const double power = is_oqupy ? b : numbers[2], cutoff = is_oqupy ? numbers[2] : b;
    const double alpha = is_oqupy ? 2.0 * pi * a : a;
    const double stiffness = 2.0 / pi * alpha * cutoff;
    const bool is_gaussian = is_oqupy && source.cutoff_type == "gaussian";
    const bool is_hard = is_oqupy && source.cutoff_type == "hard";
    bath.keys =
        fmt::format("spectral_density = \"alpha*wc*(w/wc)^s{}\"\nparameters = {{ alpha = {}, wc = {}, s = {} }}\n",
                    is_hard       ? ""
                    : is_gaussian ? "*exp(-(w/wc)^2)"
                                  : "*exp(-w/wc)",
                    toml_number(alpha), toml_number(cutoff), toml_number(power));
    if (is_hard) bath.keys += fmt::format("omega_max = {}\n", toml_number(cutoff));
    bath.bare_stiffness = stiffness * (is_hard       ? 1.0 / power
                                       : is_gaussian ? std::tgamma(power / 2.0) / 2.0
                                                     : std::tgamma(power));
  }
  return bath;
}

Bath read_chain(const BathSource& source) {
  const std::vector<Row> rows = number_rows(source, source.text, "#");
  const std::size_t n = rows.front().numbers.size();
  if (rows.size() != 3 || rows[1].numbers.size() + 1 != n || rows[2].numbers.size() != 1) {
    fail(source, rows.back().line,
         "must be three lines: N energies, N - 1 hoppings and the coupling, as writedlm writes [e, t, c]");
  }
  constexpr std::size_t longest = 2000;
  if (n > longest) fail(source, rows[0].line, fmt::format("has {} sites, at most {} are read", n, longest));
  MatrixXd chain = MatrixXd::Zero(static_cast<Index>(n), static_cast<Index>(n));
  for (std::size_t j = 0; j < n; ++j) {
    const auto i = static_cast<Index>(j);
    chain(i, i) = rows[0].numbers[j];
    if (j + 1 < n) chain(i, i + 1) = chain(i + 1, i) = rows[1].numbers[j];
  }
  const auto [values, vectors] = symmetric_eigen(chain);
  Bath bath;
  for (Index j = 0; j < values.size(); ++j) {
    if (!(values[j] > 0.0)) {
      fail(source, rows[0].line,
           fmt::format("the chain has the frequency {:.4g}: chains of finite temperature are not "
                       "oscillators; make it for T = 0 and give kT to the bath",
                       values[j]));
    }
    const double g = rows[2].numbers[0] * vectors(0, j), stiffness = 2.0 * g * g / values[j];
    if (stiffness > 0.0) bath.terms.push_back({stiffness, 0.0, values[j], 0.0});
    bath.bare_stiffness += stiffness;
  }
  bath.notes.push_back(
      "The hopping of bosons is no line of springs: the terms are the chain's normal modes. They have "
      "the chain's discretisation error; a density itself is better typed.");
  return bath;
}

Bath read_touchstone(const BathSource& source) {
  if (!(source.omega_max > 0.0)) {
    fail(source, 0,
         "the impedance outside the measured band is unknown: give --omega-max, the frequency (rad/s) above "
         "which there is no dissipation");
  }
  std::string unit = "GHZ", parameter = "S", form = "MA", body;
  double reference = 50.0;
  std::istringstream lines(source.text);
  int number = 1;
  for (std::string line; std::getline(lines, line); ++number, body += line + "\n") {
    if (line.find_first_not_of(" \t") == std::string::npos || line[line.find_first_not_of(" \t")] != '#') continue;
    std::transform(line.begin(), line.end(), line.begin(), [](unsigned char c) { return std::toupper(c); });
    std::istringstream words(line.substr(line.find('#') + 1));
    for (std::string word; words >> word && word[0] != '!';) {
      if (word.ends_with("HZ"))
        unit = word;
      else if (word == "MA" || word == "DB" || word == "RI")
        form = word;
      else if (word == "R")
        words >> reference;
      else
        parameter = word;
    }
    if (parameter != "S" || !(reference > 0.0)) fail(source, number, "only S parameters with a real R > 0 are read");
    line.clear();
  }
  static const std::map<std::string, double> units = {{"HZ", 1.0}, {"KHZ", 1e3}, {"MHZ", 1e6}, {"GHZ", 1e9}};
  const auto hertz = units.find(unit);
  if (hertz == units.end()) fail(source, 1, fmt::format("the unit {} is not Hz, kHz, MHz or GHz", printable(unit)));
  Bath bath{.keys = "spectral_density_file = {}\n", .rows = "# w (rad/s), w Re Z\n"};
  double last = 0.0;
  for (const Row& row : number_rows(source, body, "!")) {
    if (row.numbers.size() != 3) fail(source, row.line, "must be a frequency and two numbers, of one port");
    const auto [x, y] = std::pair(row.numbers[1], row.numbers[2]);
    const double size = form == "DB" ? std::pow(10.0, x / 20.0) : x;
    const std::complex<double> s =
        form == "RI" ? std::complex(x, y) : size * std::exp(std::complex(0.0, y * pi / 180.0));
    const double w = 2.0 * pi * hertz->second * row.numbers[0] * time_unit(source, 1.0);
    if (w > source.omega_max) break;
    if (std::abs(s) > 1.0 + 1e-9 || s == 1.0) fail(source, row.line, "|S| must be below 1: this port is not passive");
    if (w > 0.0) {
      bath.rows += fmt::format("{} {}\n", toml_number(w),
                               toml_number(std::max(0.0, w * (reference * (1.0 + s) / (1.0 - s)).real())));
    }
    last = w;
  }
  if (last < 0.9 * source.omega_max) {
    fail(source, 0,
         fmt::format("the measured band ends at {:.4g} rad/s, but --omega-max is {:.4g}", last, source.omega_max));
  }
  bath.rows += fmt::format("{} 0.0\n", toml_number(source.omega_max * (1.0 + 1e-9)));
  bath.notes.push_back(
      "J(w) = w Re Z(w), Z = R (1 + S)/(1 - S): the coordinate is a charge, m an inductance. Below the "
      "measured band J is linear, and it is 0 above --omega-max.");
  return bath;
}

/// Symmetric matrices in x0, x1, ...: exp(-r t) (P cos(w t) + B sin(w t)) is the sum over both signs and the
/// eigenvectors e of P r +- B w, with the values l, of l/(2 r) exp(-r t) (cos(w t) +- r/w sin(w t)) on e.x.
Bath read_matrix_modes(const BathSource& source) {
  const std::vector<Row> rows = number_rows(source, source.text, "#");
  const double unit = time_unit(source), stiffness = source.mass / (unit * unit);
  Bath bath;
  for (std::size_t next = 0; next < rows.size();) {
    const Row& head = rows[next];
    if (head.numbers.size() != 2) fail(source, head.line, "must be the rate and the frequency of a mode");
    const double r = head.numbers[0] / unit, w = head.numbers[1] / unit;
    if (!(r > 0.0) || w < 0.0) fail(source, head.line, "the rate must be positive and the frequency not negative");
    const std::size_t n = ++next < rows.size() ? rows[next].numbers.size() : 0, count = w > 0.0 ? 2 * n : n;
    if (n == 0 || n > largest_matrix || next + count > rows.size()) {
      fail(source, head.line, "n rows of P must follow, and n of B where the frequency is positive");
    }
    MatrixXd p = MatrixXd::Zero(static_cast<Index>(n), static_cast<Index>(n)), b = p;
    for (std::size_t i = 0; i < count; ++i, ++next) {
      if (rows[next].numbers.size() != n) fail(source, rows[next].line, fmt::format("must be {} numbers", n));
      (i < n ? p : b).row(static_cast<Index>(i % n)) =
          stiffness * Eigen::Map<const Eigen::RowVectorXd>(rows[next].numbers.data(), static_cast<Index>(n));
    }
    const double size = p.norm() + b.norm();
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
  bath.notes.push_back("Every eigenvector of P r + B w and P r - B w is an environment of its own.");
  return bath;
}

struct Format {
  const char *name, *doc, *note;
  bool has_file;
  Bath (*read)(const BathSource&);
};

constexpr Format formats[] = {
    {"gle4md", "drift matrix of gle4md.org: the number of auxiliary momenta, then the matrix", matrix_note, true,
     read_gle4md},
    {"i-pi", "input of i-PI with <A shape='(n,n)'>, and <C>", matrix_note, true, read_ipi},
    {"lammps-gle", "matrix file of LAMMPS' `fix gle`", matrix_note, true, read_square},
    {"lammps-gld", "input of LAMMPS with a line `fix ID group gld ...`", "", true, read_gld},
    {"gleqpy", "matrix of gleqpy, or a table of times and its kernel", "Kernels are per mass: gamma = m K.", true,
     read_gleqpy},
    {"qutip", "--drude, --underdamped or --ohmic, with J = pi sum g^2 delta", bare_note, false, read_spectrum},
    {"hierarchicaleom", "--drude or --underdamped; its J = 2 pi sum g^2 delta is twice that of qutip", bare_note, false,
     read_spectrum},
    {"oqupy", "--power-law, with J = sum g^2 delta, and --cutoff-type", bare_note, false, read_spectrum},
    {"mpsdynamics", "chain [e, t, c] as written by writedlm: three lines", bare_note, true, read_chain},
    {"matrix-modes", "blocks of `rate frequency`, n rows of P, and n of B where the frequency is not 0", "", true,
     read_matrix_modes},
    {"touchstone", "reflection of one port, .s1p", "", true, read_touchstone}};

}  // namespace

const std::vector<BathSpectrum>& bath_spectra() {
  static const std::vector<BathSpectrum> spectra = {
      {"drude", "LAM GAMMA: 2 lam gamma w/(gamma^2 + w^2)", 2},
      {"underdamped", "LAM GAMMA W0: lam^2 gamma w/((w^2 - w0^2)^2 + gamma^2 w^2)", 3},
      {"ohmic", "ALPHA WC S: alpha w^s wc^(1-s) exp(-w/wc)", 3},
      {"power-law", "ALPHA ZETA CUTOFF: 2 alpha w^zeta cutoff^(1-zeta) with --cutoff-type", 3}};
  return spectra;
}

std::vector<std::string> bath_format_names() {
  std::vector<std::string> names;
  for (const Format& format : formats) names.emplace_back(format.name);
  return names;
}

std::string bath_format_table() {
  std::string text;
  for (const Format& format : formats) text += fmt::format("  {:<16} {}\n", format.name, format.doc);
  return text;
}

ImportedBath import_bath(const BathSource& source, const std::string& table) {
  const auto* format = std::find_if(std::begin(formats), std::end(formats),
                                    [&](const Format& one) { return source.format == one.name; });
  if (format->has_file == source.file.empty()) {
    fail(source, 0, format->has_file ? "give the FILE to read" : "is typed by its numbers, without a file");
  }
  if (format->has_file && !source.spectra.empty()) {
    fail(source, 0, fmt::format("--{} is not for --from {}", source.spectra.begin()->first, format->name));
  }
  const Bath bath = format->read(source);
  if (!bath.rows.empty() && table.empty()) {
    fail(source, 0, "this bath has a table: name the file to write by --output");
  }
  ImportedBath result{.notes = bath.notes, .environments = {}, .rows = bath.rows};
  if (*format->note != '\0') result.notes.insert(result.notes.begin(), format->note);
  if (bath.bare_stiffness > 0.0) {
    const std::string stiffness = toml_number(bath.bare_stiffness);
    result.notes.push_back(
        fmt::format("{} has no counter term: subtract {}/2 x^2 from V, x being the coordinate that "
                    "the bath follows.",
                    format->name, stiffness));
    result.notes.push_back(
        "The bath starts around the initial x; there it starts around x = 0, which is `couple = \"x\"` with `around = "
        "0` "
        "in place of `attach`, in closed runs.");
  }
  const auto begin = [&](const std::string& name, const char* kind, const std::string& place = "attach = 0") {
    result.environments +=
        fmt::format("{}[[environments]]\nname = \"{}\"\nkind = \"{}\"\n{}\nkT = {}\n",
                    result.environments.empty() ? "" : "\n", name, kind, place, toml_number(source.kT));
  };
  for (std::size_t i = 0; i < bath.couples.size(); ++i) {
    begin(fmt::format("bath{}", i), "memory", fmt::format("couple = \"{}\"", bath.couples[i]));
    result.environments += prony_keys({bath.terms[i]});
  }
  if (!bath.couples.empty()) return result;
  const bool is_apart = bath.terms.empty() || passivity_of(bath.terms).lowest >= -1e-12 * bath.white;
  if (bath.white > 0.0 && is_apart) {
    begin("white", "damper");
    result.environments += fmt::format("damping = {}\n", toml_number(bath.white));
  }
  if (!bath.terms.empty() || !bath.keys.empty()) {
    begin("bath", "memory");
    if (!bath.terms.empty()) result.environments += prony_keys(bath.terms);
    const std::size_t place = bath.rows.empty() ? std::string::npos : bath.keys.find("{}");
    std::string keys = bath.keys;
    if (place != std::string::npos) keys.replace(place, 2, toml_text(table));
    result.environments += keys;
    if (bath.white > 0.0 && !is_apart) {
      result.environments += fmt::format("damping = {}\n", toml_number(bath.white));
      result.notes.push_back("The exponentials are passive only together with the white friction, `damping`.");
    }
  }
  if (result.environments.empty()) fail(source, 0, "the bath is empty: it has no friction");
  return result;
}

}  // namespace bathline
