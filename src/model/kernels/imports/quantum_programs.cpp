// Spectral densities and chains of programs for open quantum systems, hbar = 1. J = (pi/2) sum k w delta here is
// pi sum g^2 delta of the bosons' couplings g.
// Tested by tests/command_line/import_test.py.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "model/kernels/imports/bath_reader.hpp"
#include "recipe/toml_writer.hpp"
#include "solve/dense.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

/// J = alpha wc (w/wc)^s times the cutoff.
ReadBath power_law(double alpha, double wc, double s, const std::string& cutoff) {
  struct Cutoff {
    const char* factor;
    double integral;  // of x^(s - 1) times the factor at w = wc x
  };
  const std::map<std::string, Cutoff> cutoffs = {{"exponential", {"*exp(-w/wc)", std::tgamma(s)}},
                                                 {"gaussian", {"*exp(-(w/wc)^2)", std::tgamma(s / 2.0) / 2.0}},
                                                 {"hard", {"", 1.0 / s}}};
  const auto& [factor, integral] = cutoffs.at(cutoff);
  ReadBath bath;
  bath.keys =
      fmt::format("spectral_density = \"alpha*wc*(w/wc)^s{}\"\nparameters = {{ alpha = {}, wc = {}, s = {} }}\n",
                  factor, toml_number(alpha), toml_number(wc), toml_number(s));
  if (cutoff == "hard") bath.keys += fmt::format("omega_max = {}\n", toml_number(wc));
  bath.bare_stiffness = 2.0 / std::numbers::pi * alpha * wc * integral;
  return bath;
}

}  // namespace

ReadBath read_spectrum(const BathSource& source) {
  if (source.numbers.size() != 1) fail(source, 0, "give one spectrum, such as --drude 0.3 1.0");
  const auto& [name, numbers] = *source.numbers.begin();
  const auto cutoff = source.words.find("cutoff-type");
  if (name == "power-law") {
    return power_law(2.0 * std::numbers::pi * numbers[0], numbers[2], numbers[1],
                     cutoff == source.words.end() ? "exponential" : cutoff->second);
  }
  if (name == "ohmic") return power_law(numbers[0], numbers[1], numbers[2], "exponential");
  ReadBath bath;
  if (name == "drude") {
    bath.terms = {{2.0 * numbers[0], numbers[1], 0.0, 0.0}};
    bath.bare_stiffness = 2.0 * numbers[0];
  } else {
    // The position of an oscillator: any damping, critical too, is a drift matrix.
    const double w0 = numbers[2], strength = numbers[0] / w0;
    MatrixXd drift(3, 3);
    drift << 0.0, -strength, 0.0, strength, 0.0, -w0, 0.0, w0, numbers[1];
    bath = bath_of_drift_matrix(source, drift);
    bath.bare_stiffness = strength * strength;
  }
  return bath;
}

ReadBath read_boson_chain(const BathSource& source) {
  const std::vector<NumberRow> rows = number_rows(source, source.text);
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
  ReadBath bath;
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
  bath.notes.emplace_back(
      "The hopping of bosons is no line of springs: the terms are the chain's normal modes. They have "
      "the chain's discretisation error; a density itself is better typed.");
  return bath;
}

}  // namespace bathline
