// Reading tables of numbers.
#include "model/table_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "formula/parser.hpp"
#include "parallel/text_file.hpp"
#include "text/printable_text.hpp"

namespace bathline {

namespace {

using Rows = std::vector<std::vector<double>>;

/// The number that is the whole word.
std::optional<double> number_of(const std::string& word) {
  std::istringstream text(word);
  double value = 0.0;
  if (!(text >> value) || text.peek() != std::istringstream::traits_type::eof()) return std::nullopt;
  return value;
}

/// What a line that is not two numbers contains instead, and what would be right.
std::string describe_words(const std::vector<std::string>& words, bool is_first, const char* advice) {
  const auto is_number = [](const std::string& word) { return number_of(word).has_value(); };
  const auto numbers = std::count_if(words.begin(), words.end(), is_number);
  if (static_cast<std::size_t>(numbers) == words.size()) {
    return numbers == 1 ? "there is only one" : fmt::format("there are {}; {}", numbers, advice);
  }
  const auto wrong = std::find_if_not(words.begin(), words.end(), is_number);
  const auto is_separator = [](char c) { return c == ',' || c == ';'; };
  const std::string all = fmt::format("{}", fmt::join(words, " "));
  std::string spaced = all;
  std::replace_if(spaced.begin(), spaced.end(), is_separator, ' ');
  std::istringstream parts(spaced);
  const bool has_numbers = std::all_of(std::istream_iterator<std::string>(parts), {}, is_number);
  if (has_numbers && spaced != all) {
    return fmt::format("`{}` has commas or semicolons; separate the columns by spaces or tabs, with decimal points",
                       printable(all));
  }
  if (all.find('\0') != std::string::npos || !is_utf8(all)) {
    return fmt::format("`{}` is not text in UTF-8; save the table as UTF-8", printable(all));
  }
  if (numbers == 0 && is_first) {
    return fmt::format("`{}` has none; begin a header or comment with #", printable(all));
  }
  return fmt::format("`{}` is not a finite number", printable(*wrong));
}

/// Returns "", or a message with the number of the wrong line.
std::string read_rows(const std::string& text, const TableForm& form, Rows& rows, PrintedPrecision* first) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    line.resize(std::min(line.size(), line.find('#')));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::istringstream split(line);
    const std::vector<std::string> words(std::istream_iterator<std::string>(split), {});
    std::vector<double> row(form.columns);
    bool is_row = words.size() == row.size();
    for (std::size_t i = 0; is_row && i < row.size(); ++i) {
      const std::optional<double> value = number_of(words[i]);
      is_row = value.has_value();
      row[i] = value.value_or(0.0);
    }
    if (!is_row) {
      const std::size_t more = form.columns - 1;
      return fmt::format("line {}: must be {} numbers, a {} ({}) and {} {}{} ({}), but {}", number,
                         more == 1 ? "two" : std::to_string(form.columns), form.first.name, form.first.units,
                         more == 1 ? "a" : std::to_string(more), form.second.name, more == 1 ? "" : "s",
                         form.second.units, describe_words(words, rows.empty(), form.advice));
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_error = form.error && i > 0 && i % 2 == 0;
      const TableForm::Column& column = i == 0 ? form.first : is_error ? *form.error : form.second;
      const bool may_be_zero = column.bound != Bound::positive, may_be_below = column.bound == Bound::any;
      if (std::isfinite(row[i]) && (row[i] > 0.0 || (may_be_zero && row[i] == 0.0) || may_be_below)) continue;
      return fmt::format("line {}: {} {} must {}", number, column.name, row[i],
                         may_be_below  ? "be finite"
                         : may_be_zero ? "not be negative"
                                       : "be positive");
    }
    const double least = rows.empty() || !form.rising ? -std::numeric_limits<double>::infinity() : rows.back()[0];
    if (row[0] < least || (row[0] == least && !form.may_be_equal)) {
      return fmt::format("line {}: {} {} must {} that of the row before, {}", number, form.first.name, row[0],
                         form.may_be_equal ? "not be less than" : "be greater than", least);
    }
    if (first != nullptr) first->add(words[0]);
    rows.push_back(row);
  }
  if (rows.size() < form.least && !rows.empty()) {
    return fmt::format("the file contains {} {}, but needs at least {}", rows.size(), form.row, form.least);
  }
  return rows.empty() ? fmt::format("the file contains no {}", form.row) : "";
}

/// Gives the tables in a section its `files`.
void give_files_to_tables(Section& section) {
  for (const std::string& key : section.keys()) {
    if (!section.holds<std::vector<Section>>(key)) continue;
    std::vector<Section> tables = section.tables(key);
    for (Section& table : tables) {
      table.files = section.files;
      give_files_to_tables(table);
    }
    section.set(key, std::move(tables), section.where(key));
  }
}

}  // namespace

std::optional<std::string> key_of_file(const Section& section) {
  for (const char* key : {"file", "kernel_file", "spectral_density_file", "drive_file", "data_file"}) {
    if (section.has(key)) return key;
  }
  return std::nullopt;
}

std::set<std::string> files_of(const Section& section) {
  std::set<std::string> files;
  const std::optional<std::string> file = key_of_file(section);
  for (const std::string& key : section.keys()) {
    if (key == file) {
      files.insert(section.text(key));
    } else if (section.holds<std::string>(key)) {
      for (TableCall& call : table_calls_of(section.text(key))) files.insert(std::move(call.file));
    } else if (section.holds<std::vector<std::string>>(key)) {
      for (const std::string& text : section.texts(key)) {
        for (TableCall& call : table_calls_of(text)) files.insert(std::move(call.file));
      }
    } else if (section.holds<std::vector<Section>>(key)) {
      for (const Section& table : section.tables(key)) files.merge(files_of(table));
    }
  }
  return files;
}

std::set<std::string> files_of(const Recipe& recipe) {
  std::set<std::string> files = files_of(recipe.system);
  for (const Section& environment : recipe.environments) files.merge(files_of(environment));
  files.merge(files_of(recipe.study));
  return files;
}

std::filesystem::path path_of_file(const Section& section, const std::string& name) {
  return std::filesystem::path(section.where().file).parent_path() / name;
}

void keep_texts_of_files(Section& section, const Communicator& communicator) {
  if (section.files) return;
  section.files.emplace();
  for (const std::string& name : files_of(section)) {
    std::optional<std::string> text = read_text_file_on_root(path_of_file(section, name), communicator);
    if (text) section.files->emplace(name, std::move(*text));
  }
  give_files_to_tables(section);
}

std::vector<std::vector<double>> read_columns(const Section& section, const std::string& name, const TableForm& form,
                                              PrintedPrecision* first) {
  const auto file = section.files->find(name);
  Rows rows;
  const std::string reason =
      file != section.files->end()
          ? read_rows(file->second, form, rows, first)
          : fmt::format("cannot be read; relative paths start at the recipe's folder, so this is {}",
                        path_of_file(section, name).string());
  if (!reason.empty()) throw std::runtime_error(reason);
  std::vector<std::vector<double>> columns(form.columns);
  for (const std::vector<double>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) columns[i].push_back(row[i]);
  }
  return columns;
}

std::optional<std::vector<std::array<double, 2>>> read_table_file(const Section& section, const TableForm& form,
                                                                  const Communicator& communicator,
                                                                  Mistakes& mistakes) {
  const std::string key = key_of_file(section).value();
  Section kept = section;
  if (!kept.files) keep_texts_of_files(kept, communicator);
  try {
    const std::vector<std::vector<double>> columns = read_columns(kept, section.text(key), form);
    std::vector<std::array<double, 2>> rows;
    for (std::size_t i = 0; i < columns[0].size(); ++i) rows.push_back({columns[0][i], columns[1][i]});
    return rows;
  } catch (const std::runtime_error& error) {
    mistakes.add(section.where(key), fmt::format("{} = \"{}\": {}", key, section.text(key), error.what()));
  }
  return std::nullopt;
}

}  // namespace bathline
