// The impedance of a port, Z = R (1 + S)/(1 - S), from its measured reflection S.
// Tested by tests/command_line/import_test.py.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <complex>
#include <numbers>
#include <sstream>

#include "model/kernels/imports/bath_reader.hpp"
#include "recipe/toml_writer.hpp"
#include "text/printable_text.hpp"

namespace bathline {

namespace {

/// The line of options, `# GHz S MA R 50` by default.
struct PortOptions {
  double hertz = 1e9;
  std::string form = "MA";
  double reference = 50.0;  // Ohm
};

PortOptions read_options(const BathSource& source) {
  static const std::map<std::string, double> units = {{"HZ", 1.0}, {"KHZ", 1e3}, {"MHZ", 1e6}, {"GHZ", 1e9}};
  PortOptions options;
  std::istringstream lines(source.text);
  int number = 1;
  for (std::string line; std::getline(lines, line); ++number) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string::npos && line[begin] == '[') {
      fail(source, number, "a keyword in brackets is that of Touchstone 2: save the port as version 1, .s1p");
    }
    if (begin == std::string::npos || line[begin] != '#') continue;
    std::transform(line.begin(), line.end(), line.begin(), [](unsigned char c) { return std::toupper(c); });
    std::istringstream words(line.substr(begin + 1, line.find('!') - begin - 1));
    for (std::string word; words >> word;) {
      if (const auto unit = units.find(word); unit != units.end()) {
        options.hertz = unit->second;
      } else if (word == "MA" || word == "DB" || word == "RI") {
        options.form = word;
      } else if (word == "R") {
        words >> options.reference;
        if (words.fail() || !(options.reference > 0.0)) fail(source, number, "R must be followed by a positive number");
      } else if (word != "S") {
        fail(source, number,
             fmt::format("`{}` is none of Hz, kHz, MHz, GHz, S, MA, DB, RI and R: only S parameters with a real R are "
                         "read",
                         printable(word)));
      }
    }
    break;
  }
  return options;
}

/// S of a row and how far it may be off: by a unit of the last digit of both numbers, or by round-off.
struct Reflection {
  std::complex<double> value;
  double size, size_error, error;
};

Reflection reflection_of(const PortOptions& options, double x, double y, const std::vector<PrintedPrecision>& columns) {
  constexpr double degree = std::numbers::pi / 180.0, round_off = 1e-9, fewest_digits = 1e-3;
  const auto unit = [&](std::size_t column, double number) {
    return std::min(columns[column].unit(number), fewest_digits);
  };
  const double dx = unit(1, x), dy = unit(2, y);
  if (options.form == "RI") {
    const double size = std::hypot(x, y), error = std::max(std::hypot(dx, dy), round_off);
    return {{x, y}, size, error, error};
  }
  const bool is_in_decibels = options.form == "DB";
  const double size = is_in_decibels ? std::pow(10.0, x / 20.0) : x;
  const double size_error = std::max(is_in_decibels ? size * std::numbers::ln10 / 20.0 * dx : dx, round_off);
  return {std::polar(size, y * degree), std::abs(size), size_error, size_error + std::abs(size) * dy * degree};
}

}  // namespace

ReadBath read_one_port(const BathSource& source) {
  const double highest = option(source, "omega-max", 0.0), clip = option(source, "clip", 1.0);
  if (highest == 0.0) {
    fail(source, 0,
         "the impedance outside the measured band is unknown: give --omega-max, the frequency (rad/s) above "
         "which there is no dissipation");
  }
  if (clip < 1.0) fail(source, 0, fmt::format("--clip {} is below 1, the size of S of a port without losses", clip));
  const PortOptions options = read_options(source);
  ReadBath bath{.keys = "spectral_density_file = {}\n", .rows = "# w (rad/s), w Re Z\n"};
  double last = -1.0, largest = 0.0;
  bool is_lossless = true;
  int clipped = 0;
  std::vector<PrintedPrecision> columns;
  for (const auto& [line, numbers] : number_rows(source, source.text, 1, &columns)) {
    if (numbers.size() != 3) {
      fail(source, line,
           fmt::format("must be a frequency and two numbers, those of one port, not {} numbers", numbers.size()));
    }
    const double w = 2.0 * std::numbers::pi * options.hertz * numbers[0];
    if (!(w >= 0.0 && w > last)) fail(source, line, "frequencies must not be negative and must increase");
    if (w > highest) break;
    last = w;
    const Reflection s = reflection_of(options, numbers[1], numbers[2], columns);
    if (s.size > clip + s.size_error) {
      const bool may_be_noise = s.size < 1.1;
      fail(source, line,
           fmt::format("|S| = {:.6g} is above {}: this port is not passive{}", s.size, clip,
                       may_be_noise ? fmt::format("; if that is noise, `--clip {:.3f}` counts |S| up to there as 1",
                                                  std::ceil(1e3 * s.size) / 1e3)
                                    : ""));
    }
    if (s.size > 1.0 + s.size_error) ++clipped;
    largest = std::max(largest, s.size);
    const double distance = std::abs(1.0 - s.value);
    if (distance <= s.error) fail(source, line, "S = 1 is an open port, of infinite impedance");
    const double resistance = std::max(0.0, options.reference * (1.0 - s.size * s.size) / (distance * distance));
    is_lossless = is_lossless && s.size >= 1.0 - std::max(s.size_error, clip - 1.0);
    if (w > 0.0) bath.rows += fmt::format("{} {}\n", toml_number(w), toml_number(w * resistance));
  }
  if (last < 0.9 * highest) {
    fail(source, 0, fmt::format("the measured band ends at {:.4g} rad/s, but --omega-max is {:.4g}", last, highest));
  }
  if (is_lossless) {
    fail(source, 0, "|S| is 1 at all frequencies, as far as its digits tell: this port is lossless and damps nothing");
  }
  bath.rows += fmt::format("{} 0.0\n", toml_number(highest * (1.0 + 1e-9)));
  bath.notes.emplace_back(
      "J(w) = w Re Z(w), Z = R (1 + S)/(1 - S): the coordinate is a charge, m an inductance. Below the "
      "measured band J is linear, and it is 0 above --omega-max.");
  if (clipped > 0) {
    bath.notes.push_back(fmt::format("|S| is above 1 in {} rows, {:.6g} at most, where it counts as 1: --clip {}.",
                                     clipped, largest, clip));
  }
  return bath;
}

}  // namespace bathline
