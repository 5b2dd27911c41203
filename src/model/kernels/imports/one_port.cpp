// The impedance of a port, Z = R (1 + S)/(1 - S), from its measured reflection S.
// Tested by tests/command_line/import_test.py.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
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

}  // namespace

ReadBath read_one_port(const BathSource& source) {
  const double highest = option(source, "omega-max", 0.0);
  if (highest == 0.0) {
    fail(source, 0,
         "the impedance outside the measured band is unknown: give --omega-max, the frequency (rad/s) above "
         "which there is no dissipation");
  }
  const PortOptions options = read_options(source);
  ReadBath bath{.keys = "spectral_density_file = {}\n", .rows = "# w (rad/s), w Re Z\n"};
  double last = -1.0;
  bool is_lossless = true;
  for (const auto& [line, numbers] : number_rows(source, source.text)) {
    if (numbers.size() != 3) {
      fail(source, line,
           fmt::format("must be a frequency and two numbers, those of one port, not {} numbers", numbers.size()));
    }
    const auto [x, y] = std::pair(numbers[1], numbers[2]);
    const double w = 2.0 * std::numbers::pi * options.hertz * numbers[0];
    if (!(w >= 0.0 && w > last)) fail(source, line, "frequencies must not be negative and must increase");
    if (w > highest) break;
    last = w;
    const double size = options.form == "RI" ? std::hypot(x, y) : options.form == "DB" ? std::pow(10.0, x / 20.0) : x;
    const double angle = options.form == "RI" ? std::atan2(y, x) : y * std::numbers::pi / 180.0;
    const double distance = std::norm(1.0 - std::polar(size, angle));
    if (!(std::abs(size) <= 1.0 + 1e-9))
      fail(source, line, fmt::format("|S| = {:.6g} is above 1: this port is not passive", size));
    if (distance == 0.0) fail(source, line, "S = 1 is an open port, of infinite impedance");
    const double resistance = std::max(0.0, options.reference * (1.0 - size * size) / distance);
    is_lossless = is_lossless && resistance == 0.0;
    if (w > 0.0) bath.rows += fmt::format("{} {}\n", toml_number(w), toml_number(w * resistance));
  }
  if (last < 0.9 * highest) {
    fail(source, 0, fmt::format("the measured band ends at {:.4g} rad/s, but --omega-max is {:.4g}", last, highest));
  }
  if (is_lossless) fail(source, 0, "|S| is 1 at all frequencies: this port is lossless and damps nothing");
  bath.rows += fmt::format("{} 0.0\n", toml_number(highest * (1.0 + 1e-9)));
  bath.notes.emplace_back(
      "J(w) = w Re Z(w), Z = R (1 + S)/(1 - S): the coordinate is a charge, m an inductance. Below the "
      "measured band J is linear, and it is 0 above --omega-max.");
  return bath;
}

}  // namespace bathline
