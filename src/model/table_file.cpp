// Reading tables of two columns.
#include "model/table_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "model/environment_catalogue.hpp"
#include "parallel/shared_file.hpp"

namespace bathline {

namespace {

using Rows = std::vector<std::array<double, 2>>;

/// "" or what is wrong, with the number of the line.
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
      if (std::isfinite(row[i]) && row[i] > 0.0) continue;
      return fmt::format("line {}: {} {} must be positive", number, i == 0 ? form.first.name : form.second.name,
                         row[i]);
    }
    if (form.rising && !rows.empty() && row[0] <= rows.back()[0]) {
      return fmt::format("line {}: {} {} must be above that of the line before, {}", number, form.first.name, row[0],
                         rows.back()[0]);
    }
    rows.push_back(row);
  }
  return rows.empty() ? fmt::format("it holds no {}", form.row) : "";
}

}  // namespace

void keep_text_of_file(Section& section, const Communicator& communicator) {
  if (!section.has("file")) return;
  std::optional<std::string> text = read_shared_file(path_beside_recipe(section, "file"), communicator);
  if (text) section.set(text_of_file, std::move(*text), section.where("file"));
}

std::optional<Rows> read_table_file(const Section& section, const TableForm& form, const Communicator& communicator,
                                    Mistakes& mistakes) {
  const std::filesystem::path path = path_beside_recipe(section, "file");
  const std::optional<std::string> text =
      section.has(text_of_file) ? std::optional(section.text(text_of_file)) : read_shared_file(path, communicator);
  Rows rows;
  const std::string why = text
                              ? read_rows(*text, form, rows)
                              : fmt::format("cannot be read; it is looked for beside the recipe, as {}", path.string());
  if (why.empty()) return rows;
  mistakes.add(section.where("file"), fmt::format("file = \"{}\": {}", section.text("file"), why));
  return std::nullopt;
}

}  // namespace bathline
