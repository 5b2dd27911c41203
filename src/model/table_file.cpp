// Reading tables of two columns.
#include "model/table_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "model/environment_catalogue.hpp"
#include "parallel/text_file.hpp"

namespace bathline {

namespace {

using Rows = std::vector<std::array<double, 2>>;

/// Returns "", or a message with the number of the wrong line.
std::string read_rows(const std::string& text, const TableForm& form, Rows& rows) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    line.resize(std::min(line.size(), line.find('#')));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::istringstream words(line);
    std::array<double, 2> row{};
    std::string more;
    if (!(words >> row[0] >> row[1]) || (words >> more)) {
      return fmt::format("line {}: must be two numbers, a {} ({}) and a {} ({})", number, form.first.name,
                         form.first.units, form.second.name, form.second.units);
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      const TableForm::Column& column = i == 0 ? form.first : form.second;
      const bool may_be_zero = column.bound != Bound::positive, may_be_below = column.bound == Bound::any;
      if (std::isfinite(row[i]) && (row[i] > 0.0 || (may_be_zero && row[i] == 0.0) || may_be_below)) continue;
      return fmt::format("line {}: {} {} must {}", number, column.name, row[i],
                         may_be_below  ? "be finite"
                         : may_be_zero ? "not be negative"
                                       : "be positive");
    }
    if (form.rising && !rows.empty() && row[0] <= rows.back()[0]) {
      return fmt::format("line {}: {} {} must be greater than that of the row before, {}", number, form.first.name,
                         row[0], rows.back()[0]);
    }
    rows.push_back(row);
  }
  return rows.empty() ? fmt::format("the file contains no {}", form.row) : "";
}

}  // namespace

std::optional<std::string> key_of_file(const Section& section) {
  for (const char* key : {"file", "kernel_file", "spectral_density_file"}) {
    if (section.has(key)) return key;
  }
  return std::nullopt;
}

void keep_text_of_file(Section& section, const Communicator& communicator) {
  const std::optional<std::string> key = key_of_file(section);
  if (!key) return;
  std::optional<std::string> text = read_text_file_on_root(path_beside_recipe(section, *key), communicator);
  if (text) section.set(text_of_file, std::move(*text), section.where(*key));
}

std::optional<Rows> read_table_file(const Section& section, const TableForm& form, const Communicator& communicator,
                                    Mistakes& mistakes) {
  const std::string key = key_of_file(section).value();
  const std::filesystem::path path = path_beside_recipe(section, key);
  const std::optional<std::string> text = section.has(text_of_file) ? std::optional(section.text(text_of_file))
                                                                    : read_text_file_on_root(path, communicator);
  Rows rows;
  const std::string reason =
      text ? read_rows(*text, form, rows)
           : fmt::format("cannot be read; relative paths start at the recipe's folder, so this is {}", path.string());
  if (reason.empty()) return rows;
  mistakes.add(section.where(key), fmt::format("{} = \"{}\": {}", key, section.text(key), reason));
  return std::nullopt;
}

}  // namespace bathline
