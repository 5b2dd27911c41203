// The formats with their conventions, and what is written of the bath that one of them describes.
// Tested by tests/command_line/import_test.py.
#include "model/kernels/bath_import.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "model/kernels/conversion.hpp"
#include "model/kernels/imports/bath_reader.hpp"
#include "model/memory/passivity.hpp"
#include "recipe/toml_writer.hpp"

namespace bathline {

namespace {

constexpr const char *matrix_note =
                         "A acts on momenta divided by the root of their masses: gamma(t) = m (2 a_pp "
                         "delta(t) - a_ps exp(-A_ss t) a_sp).",
                     *bare_note = "hbar = 1, and the bath couples by the coordinate itself.";

struct Format {
  const char *name, *doc, *note;
  const char* options;  // their names
  bool has_file;
  ReadBath (*read)(const BathSource&);
};

constexpr Format formats[] = {
    {"gle4md", "drift matrix of gle4md.org: the number of auxiliary momenta, then the matrix", matrix_note,
     "time-unit mass", true, read_matrix_file},
    {"i-pi", "input of i-PI with <A shape='(n,n)'>, and <C>", matrix_note, "time-unit mass", true, read_ipi},
    {"lammps-gle", "matrix file of LAMMPS' `fix gle`", matrix_note, "time-unit mass", true, read_matrix_file},
    {"lammps-gld", "input of LAMMPS with a line `fix ID group gld ...`", "", "time-unit mass", true, read_lammps_gld},
    {"gleqpy", "matrix of gleqpy, or a table of times and its kernel", "Kernels are per mass: gamma = m K.",
     "time-unit mass", true, read_gleqpy},
    {"qutip", "--drude, --underdamped or --ohmic, with J = pi sum g^2 delta", bare_note, "drude underdamped ohmic",
     false, read_spectrum},
    {"hierarchicaleom", "--drude or --underdamped; its J = 2 pi sum g^2 delta is twice that of qutip", bare_note,
     "drude underdamped", false, read_spectrum},
    {"oqupy", "--power-law, with J = sum g^2 delta, and --cutoff-type", bare_note, "power-law cutoff-type", false,
     read_spectrum},
    {"mpsdynamics", "chain [e, t, c] as written by writedlm: three lines", bare_note, "", true, read_boson_chain},
    {"matrix-modes", "blocks of `rate frequency`, n rows of P, and n of B where the frequency is not 0", "",
     "time-unit mass", true, read_matrix_modes},
    {"touchstone", "reflection of one port, .s1p of version 1, in SI units", "", "omega-max clip", true,
     read_one_port}};

void check_options(const BathSource& source, const Format& format) {
  if (format.has_file == source.file.empty()) {
    fail(source, 0, format.has_file ? "give the FILE to read" : "is typed by its numbers, without a file");
  }
  std::istringstream words(format.options);
  std::vector<std::string> names;
  for (std::string word; words >> word;) names.push_back(word);
  const auto check = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return;
    fail(source, 0,
         fmt::format("--{} is not for --from {}, which has {}", name, format.name,
                     names.empty() ? "no options" : fmt::format("--{}", fmt::join(names, ", --"))));
  };
  for (const auto& [name, word] : source.words) check(name);
  for (const auto& [name, numbers] : source.numbers) {
    check(name);
    for (const double number : numbers) {
      if (!(number > 0.0) || !std::isfinite(number)) {
        fail(source, 0, fmt::format("--{}: {} is not positive and finite", name, number));
      }
    }
  }
}

/// A sum of numbers that is finite if all are.
double sum_of_sizes(const ReadBath& bath) {
  double sum = bath.white + bath.bare_stiffness;
  for (const PronyTerm& term : bath.terms) {
    sum += std::abs(term.k) + std::abs(term.b) + term.r + term.w + term.k / std::hypot(term.r, term.w);
  }
  return sum;
}

}  // namespace

const std::vector<BathOption>& bath_options() {
  static const std::vector<BathOption> options = {
      {"drude", "LAM GAMMA: 2 lam gamma w/(gamma^2 + w^2)", 2},
      {"underdamped", "LAM GAMMA W0: lam^2 gamma w/((w^2 - w0^2)^2 + gamma^2 w^2)", 3},
      {"ohmic", "ALPHA WC S: alpha w^s wc^(1-s) exp(-w/wc)", 3},
      {"power-law", "ALPHA ZETA CUTOFF: 2 alpha w^zeta cutoff^(1-zeta) with --cutoff-type", 3},
      {"mass", "mass of the particle, default 1; of lammps-gld the file's unit of mass in that of the recipe", 1},
      {"omega-max", "of touchstone: frequency (rad/s) above which J is 0", 1},
      {"clip", "of touchstone: |S| from 1 to this, as measurements have it, counts as 1; default 1", 1}};
  return options;
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
  const Format& format = *std::find_if(std::begin(formats), std::end(formats),
                                       [&](const Format& one) { return source.format == one.name; });
  check_options(source, format);
  const ReadBath bath = format.read(source);
  if (!std::isfinite(sum_of_sizes(bath))) fail(source, 0, "its numbers are too large or small for doubles");
  if (!bath.rows.empty() && table.empty()) {
    fail(source, 0, "this bath has a table: name the file to write by --output");
  }
  ImportedBath result{.notes = bath.notes, .environments = {}, .rows = bath.rows};
  if (*format.note != '\0') result.notes.insert(result.notes.begin(), format.note);
  if (bath.bare_stiffness > 0.0) {
    result.notes.push_back(
        fmt::format("{} has no counter term: subtract {}/2 x^2 from V, x being the coordinate that the bath follows.",
                    format.name, toml_number(bath.bare_stiffness)));
    result.notes.emplace_back(
        "The bath starts around the initial x; there it starts around x = 0, which is `couple = \"x\"` with `around = "
        "0` in place of `attach`, in closed runs.");
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
    result.environments += bath.rows.empty() ? bath.keys : fmt::format(fmt::runtime(bath.keys), toml_text(table));
    if (bath.white > 0.0 && !is_apart) {
      result.environments += fmt::format("damping = {}\n", toml_number(bath.white));
      result.notes.emplace_back("The exponentials are passive only together with the white friction, `damping`.");
    }
  }
  if (result.environments.empty()) fail(source, 0, "the bath is empty: it has no friction");
  return result;
}

}  // namespace bathline
