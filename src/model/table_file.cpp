// Reading tables of two columns.
#include "model/table_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "model/environment_catalogue.hpp"
#include "parallel/text_file.hpp"
#include "text/printable_text.hpp"

namespace bathline {

namespace {

using Rows = std::vector<std::array<double, 2>>;

/// The number that is the whole word.
std::optional<double> number_of(const std::string& word) {
  std::istringstream text(word);
  double value = 0.0;
  if (!(text >> value) || text.peek() != std::istringstream::traits_type::eof()) return std::nullopt;
  return value;
}

/// What a line that is not two numbers contains instead, and what would be right.
std::string describe_words(const std::vector<std::string>& words, bool is_first) {
  const auto is_number = [](const std::string& word) { return number_of(word).has_value(); };
  const auto numbers = std::count_if(words.begin(), words.end(), is_number);
  if (static_cast<std::size_t>(numbers) == words.size()) {
    return numbers == 1 ? "there is only one" : fmt::format("there are {}; leave out the other columns", numbers);
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
std::string read_rows(const std::string& text, const TableForm& form, Rows& rows) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  std::istringstream lines(text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    line.resize(std::min(line.size(), line.find('#')));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::istringstream split(line);
    const std::vector<std::string> words(std::istream_iterator<std::string>(split), {});
    std::array<double, 2> row{};
    bool is_row = words.size() == row.size();
    for (std::size_t i = 0; is_row && i < row.size(); ++i) {
      const std::optional<double> value = number_of(words[i]);
      is_row = value.has_value();
      row[i] = value.value_or(0.0);
    }
    if (!is_row) {
      return fmt::format("line {}: must be two numbers, a {} ({}) and a {} ({}), but {}", number, form.first.name,
                         form.first.units, form.second.name, form.second.units, describe_words(words, rows.empty()));
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
