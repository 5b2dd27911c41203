// What the formats of other programs have in common: rows of numbers, units, and mistakes with the file and line.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "model/kernels/bath_import.hpp"
#include "model/memory/prony_memory.hpp"
#include "text/printed_precision.hpp"

namespace bathline {

/// A bath as white friction and a sum of exponentials, or by keys of a `memory`, in units of the recipe.
struct ReadBath {
  double white = 0.0;  ///< kg/s
  std::vector<PronyTerm> terms = {};
  std::vector<std::string> couples = {};  ///< of each term, where not all are on one coordinate
  std::string keys = {};                  ///< TOML; {} is the place of the table's name
  std::string rows = {};                  ///< of the table
  double bare_stiffness = 0.0;            ///< gamma(0) where the other program has no counter term, N/m
  std::vector<std::string> notes = {};
};

struct NumberRow {
  int line;
  std::vector<double> numbers;
};

/// Throws UnsuitableFunction; without a line if that is 0.
[[noreturn]] void fail(const BathSource& source, int line, const std::string& reason);

/// The numbers of a text line by line. Commas and brackets separate, # and ! begin comments. At least one row.
/// `columns` receives how they are printed.
std::vector<NumberRow> number_rows(const BathSource& source, const std::string& text, int first_line = 1,
                                   std::vector<PrintedPrecision>* columns = nullptr);

/// The first number of an option, or `otherwise` if it is not given.
double option(const BathSource& source, const std::string& name, double otherwise);

/// The length of the file's unit of time in that of the recipe; `own` is that in seconds of a unit that the file names.
double time_unit(const BathSource& source, std::optional<double> own = {});

/// The square matrix of all numbers of the rows; of `size` rows, unless that is 0.
Eigen::MatrixXd square_matrix(const BathSource& source, const std::vector<NumberRow>& rows, std::size_t size = 0);
constexpr std::size_t largest_imported_matrix = 200;  ///< rows

/// The bath of the drift matrix of (p, s), p divided by the root of its mass, s auxiliary, 1/s:
/// gamma(t) = m (2 a_pp delta(t) - a_ps exp(-A_ss t) a_sp). Source: ceriotti2010.
ReadBath bath_of_drift_matrix(const BathSource& source, const Eigen::MatrixXd& a);

/// Refuses a sum that is not passive together with its white part.
void require_passive(const BathSource& source, const ReadBath& bath);

/// The formats.
ReadBath read_matrix_file(const BathSource& source);
ReadBath read_ipi(const BathSource& source);
ReadBath read_lammps_gld(const BathSource& source);
ReadBath read_gleqpy(const BathSource& source);
ReadBath read_matrix_modes(const BathSource& source);
ReadBath read_spectrum(const BathSource& source);
ReadBath read_boson_chain(const BathSource& source);
ReadBath read_one_port(const BathSource& source);

}  // namespace bathline
