// Parsing and measuring the quantity of a claim.
// Tested by tests/record/claims_test.cpp.
#include "record/quantity.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bathline {

namespace {

constexpr double window_slack = 1e-9;  // of the coordinate's span
constexpr std::int64_t max_values_at_once = std::int64_t{1} << 22;
constexpr std::size_t max_names_in_a_message = 20;

/// Why a quantity cannot be measured.
struct Unmeasurable : std::runtime_error {
  template <class... Values>
  explicit Unmeasurable(fmt::format_string<Values...> message, Values&&... values)
      : std::runtime_error(fmt::format(message, std::forward<Values>(values)...)) {}
};

/// Running statistics of a set of values, each with the coordinate (time) of its row. Means and slope are updated
/// around the running mean (Welford), so that a small drift of a large energy keeps its significant digits.
struct Statistic {
  std::int64_t count = 0;
  double first = 0.0, last = 0.0;
  double min = std::numeric_limits<double>::infinity(), max = -min;
  double min_at = 0.0, max_at = 0.0;  // coordinates of the first such values
  double mean = 0.0, mean_square = 0.0, mean_coordinate = 0.0;
  double coordinate_variation = 0.0;        // sum (t - mean t)^2
  double covariation = 0.0;                 // sum (t - mean t) (x - mean x)
  std::optional<double> undefined_at = {};  // coordinate of the first NaN

  void add(double coordinate, std::span<const double> row) {
    for (const double x : row) {
      if (std::isnan(x) && !undefined_at) undefined_at = coordinate;
      if (count == 0) first = x;
      last = x;
      if (x < min) std::tie(min, min_at) = std::pair(x, coordinate);
      if (x > max) std::tie(max, max_at) = std::pair(x, coordinate);
      const auto n = static_cast<double>(++count);
      mean_square += (x * x - mean_square) / n;
      const double dt = coordinate - mean_coordinate;
      mean_coordinate += dt / n;
      coordinate_variation += dt * (coordinate - mean_coordinate);
      mean += (x - mean) / n;
      covariation += dt * (x - mean);
    }
  }
};

constexpr struct {
  const char *name, *doc;
  double (*value)(const Statistic&);
} all_statistics[] = {
    {"first", "first value", [](const Statistic& s) { return s.first; }},
    {"last", "last value", [](const Statistic& s) { return s.last; }},
    {"min", "smallest value", [](const Statistic& s) { return s.min; }},
    {"max", "largest value", [](const Statistic& s) { return s.max; }},
    {"min_at", "time of the first smallest value, or its coordinate on another first dimension",
     [](const Statistic& s) { return s.min_at; }},
    {"max_at", "time of the first largest value", [](const Statistic& s) { return s.max_at; }},
    {"mean", "mean of the values, each with the same weight", [](const Statistic& s) { return s.mean; }},
    {"rms", "square root of the mean square", [](const Statistic& s) { return std::sqrt(s.mean_square); }},
    {"max_abs", "largest magnitude", [](const Statistic& s) { return std::max(std::abs(s.min), std::abs(s.max)); }},
    {"peak_to_peak", "largest value minus smallest value", [](const Statistic& s) { return s.max - s.min; }},
    {"slope", "slope of the least-squares line over time, or over another first dimension",
     [](const Statistic& s) { return s.covariation / s.coordinate_variation; }},
    {"count", "number of values", [](const Statistic& s) { return static_cast<double>(s.count); }},
};

double value_of(const Statistic& statistic, const std::string& name) {
  return std::ranges::find(all_statistics, name, [](const auto& entry) { return std::string(entry.name); })
      ->value(statistic);
}

bool is_statistic(const std::string& name) {
  const auto& names = statistics();
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Splits "q[0][1]" into "q" and the indices; if that fails, returns false and sets `reason`.
bool parse_part(const std::string& text, std::string& name, std::vector<std::int64_t>& indices, std::string& reason) {
  const auto bracket = std::min(text.find('['), text.size());
  name = text.substr(0, bracket);
  if (name.empty()) {
    reason = "a name is missing";
    return false;
  }
  if (name.find_first_of("]/") != std::string::npos) {
    reason = fmt::format("`{}` is not a name; names are separated by dots", name);
    return false;
  }
  for (std::size_t position = bracket; position < text.size();) {
    const auto end = text.find(']', position);
    if (text[position] != '[' || end == std::string::npos) {
      reason = fmt::format("`{}` is not an index in brackets, like `[0]`", text.substr(position));
      return false;
    }
    std::int64_t index = -1;
    const char* stop = text.data() + end;
    const auto [rest, error] = std::from_chars(text.data() + position + 1, stop, index);
    if (error != std::errc() || rest != stop || index < 0) {
      reason =
          fmt::format("`{}` is not an index; indices are integers from 0", text.substr(position, end - position + 1));
      return false;
    }
    indices.push_back(index);
    position = end + 1;
  }
  return true;
}

std::string join(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

std::string dotted(std::span<const std::string> parts) { return fmt::format("{}", fmt::join(parts, ".")); }

/// The path of the variable `parts` in `group`. Names that contain dots span several parts.
std::optional<std::string> find_variable(const ResultReader& file, const std::string& group,
                                         std::span<const std::string> parts) {
  for (std::size_t used = 1; used <= parts.size(); ++used) {
    const std::string path = join(group, dotted(parts.first(used)));
    if (used == parts.size()) {
      if (file.is_variable(path)) return path;
    } else if (file.is_group(path)) {
      if (auto variable = find_variable(file, path, parts.subspan(used))) return variable;
    }
  }
  return std::nullopt;
}

std::string contents(const ResultReader& file, const std::string& group) {
  auto names = file.names(group.empty() ? "/" : group);
  if (names.empty()) return "nothing";
  const bool cut = names.size() > max_names_in_a_message;
  if (cut) names.resize(max_names_in_a_message);
  return fmt::format("{}{}", fmt::join(names, ", "), cut ? ", ..." : "");
}

/// Why `parts` is not a variable: follows them through existing groups and names what is missing there.
std::string why_not_found(const ResultReader& file, std::span<const std::string> parts) {
  std::string group;
  while (!parts.empty()) {
    std::size_t used = 1;
    while (used <= parts.size() && !file.is_group(join(group, dotted(parts.first(used))))) ++used;
    if (used > parts.size()) break;
    group = join(group, dotted(parts.first(used)));
    parts = parts.subspan(used);
  }
  const std::string where = group.empty() ? "the file" : fmt::format("group `{}`", group);
  if (parts.empty()) return fmt::format("`{}` is a group, not a variable; it has {}", group, contents(file, group));
  if (parts.size() > 1 && file.is_variable(join(group, parts.front()))) {
    return fmt::format("`{}` is a variable, and `{}` is neither in it nor a statistic ({})", join(group, parts.front()),
                       dotted(parts.subspan(1)), fmt::join(statistics(), ", "));
  }
  return fmt::format("no {} `{}` in {}; it has {}", parts.size() > 1 ? "group" : "variable",
                     parts.size() > 1 ? parts.front() : dotted(parts), where, contents(file, group));
}

/// The path of the variable to be measured, and the statistic.
struct Target {
  std::string path;
  std::string statistic;
};

Target find_target(const ResultReader& file, const ParsedQuantity& quantity) {
  if (auto path = find_variable(file, "", quantity.parts)) return {*path, quantity.statistic};
  // A variable may have the name of a statistic.
  if (!quantity.statistic.empty() && quantity.indices.empty()) {
    auto parts = quantity.parts;
    parts.push_back(quantity.statistic);
    if (auto path = find_variable(file, "", parts)) return {*path, ""};
  }
  throw Unmeasurable("{}", why_not_found(file, quantity.parts));
}

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_scale(const ResultReader& file, const std::string& path) {
  return file.has_attribute("CLASS", path) && file.attribute("CLASS", path) == "DIMENSION_SCALE";
}

/// Path of the coordinate of the first dimension: its scale, or the variable itself if that is one.
std::string coordinate_path(const ResultReader& file, const std::string& path) {
  const std::string scale = file.scale(path, 0);
  return scale.empty() && is_scale(file, path) ? path : scale;
}

/// The values of a scale; none if there is no scale or if it has labels instead of numbers.
std::vector<double> coordinate_of(const ResultReader& file, const std::string& scale) {
  if (scale.empty() || !file.holds_numbers(scale)) return {};
  return file.read(scale).values;
}

bool is_over_time(const ResultReader& file, const std::string& path) {
  const std::string name = last_name(coordinate_path(file, path));
  return file.grows(path) || name == "time" || name.ends_with("_time");
}

/// The values of a row that indices select: contiguous, because indices fix the leading dimensions.
struct Component {
  std::int64_t offset = 0;
  std::int64_t length = 1;
};

Component component_of(const ResultReader& file, const std::string& path, std::span<const std::int64_t> shape,
                       std::span<const std::int64_t> indices, std::size_t first_dimension) {
  Component component;
  for (const auto length : shape) component.length *= length;
  if (indices.size() > shape.size()) {
    throw Unmeasurable("`{}` takes at most {} indices", path, shape.size());
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= shape[i]) {
      const std::string dimension = last_name(file.scale(path, first_dimension + i));
      throw Unmeasurable("index {} of `{}` is out of range: dimension `{}` has {}", indices[i], path, dimension,
                         shape[i]);
    }
    component.length /= shape[i];
    component.offset += indices[i] * component.length;
  }
  return component;
}

/// The rows inside the window; all rows if there is none.
std::vector<bool> rows_inside(const std::optional<Window>& window, const std::vector<double>& coordinate,
                              std::int64_t rows, const std::string& path) {
  std::vector<bool> inside(static_cast<std::size_t>(rows), true);
  if (!window || rows == 0) return inside;
  if (coordinate.empty()) throw Unmeasurable("`{}` has no coordinate by which rows could be selected", path);
  const auto [min, max] = std::minmax_element(coordinate.begin(), coordinate.end());
  const double slack = window_slack * (*max - *min);
  for (std::size_t row = 0; row < inside.size(); ++row) {
    inside[row] = coordinate[row] >= window->from - slack && coordinate[row] <= window->until + slack;
  }
  if (std::find(inside.begin(), inside.end(), true) == inside.end()) {
    throw Unmeasurable("no entry of `{}` lies between {} and {}; its coordinate is from {} to {}", path, window->from,
                       window->until, *min, *max);
  }
  return inside;
}

/// The selected values of each row of a variable.
struct Column {
  std::string path;
  std::int64_t width = 1;  // values in a row
  Component component;     // the selected values of a row
};

Column column_of(const ResultReader& file, const std::string& path, std::span<const std::int64_t> row_shape,
                 std::span<const std::int64_t> indices) {
  Column column{.path = path, .component = component_of(file, path, row_shape, indices, 1)};
  for (const auto length : row_shape) column.width *= length;
  return column;
}

/// The column that is subtracted from `column` row by row.
Column subtrahend_of(const ResultReader& file, const ParsedQuantity& quantity, const Column& column,
                     const std::vector<double>& coordinate) {
  const std::string path = find_target(file, quantity).path;
  const auto shape = file.shape(path);
  Column subtrahend = column_of(file, path, std::span(shape).subspan(1), quantity.indices);
  if (shape.front() != file.shape(column.path).front() || subtrahend.component.length != column.component.length) {
    throw Unmeasurable("`{}` and `{}` have different numbers of values", column.path, path);
  }
  const std::string scale = coordinate_path(file, path);
  const std::vector<double> other = coordinate_of(file, scale);
  const double slack = coordinate.empty() ? 0.0 : window_slack * std::abs(coordinate.back() - coordinate.front());
  const auto is_close = [&](double a, double b) { return std::abs(a - b) <= slack; };
  if (!std::equal(coordinate.begin(), coordinate.end(), other.begin(), other.end(), is_close)) {
    throw Unmeasurable("the rows of `{}` and `{}` have different coordinates", column.path, path);
  }
  return subtrahend;
}

Statistic collect(const ResultReader& file, const Column& column, const std::optional<Column>& minus,
                  const std::vector<bool>& inside, const std::vector<double>& coordinate) {
  Statistic statistic;
  const auto rows = static_cast<std::int64_t>(inside.size());
  const std::int64_t width = std::max<std::int64_t>({1, column.width, minus ? minus->width : 1});
  const std::int64_t block = std::max<std::int64_t>(1, max_values_at_once / width);
  for (std::int64_t first = 0; first < rows; first += block) {
    const std::int64_t count = std::min(block, rows - first);
    auto values = file.read_rows(column.path, first, count).values;
    auto subtracted = minus ? file.read_rows(minus->path, first, count).values : std::vector<double>{};
    for (std::int64_t row = 0; row < count; ++row) {
      const auto entry = static_cast<std::size_t>(first + row);
      if (!inside[entry]) continue;
      const auto part = [row](std::span<double> all, const Column& selected) {
        return all.subspan(static_cast<std::size_t>(row * selected.width + selected.component.offset),
                           static_cast<std::size_t>(selected.component.length));
      };
      const auto numbers = part(values, column);
      if (minus) std::ranges::transform(numbers, part(subtracted, *minus), numbers.begin(), std::minus<>());
      statistic.add(coordinate.empty() ? static_cast<double>(entry) : coordinate[entry], numbers);
    }
  }
  return statistic;
}

double only_value(const std::string& path, const Statistic& statistic) {
  if (statistic.count == 1) return statistic.first;
  throw Unmeasurable("`{}` has {} values here; select one by indices or by a statistic ({})", path, statistic.count,
                     fmt::join(statistics(), ", "));
}

/// Whether `minus` is subtracted from every row before the statistic of `quantity` is computed.
bool is_subtracted_by_row(const ResultReader& file, const ParsedQuantity& quantity, const ParsedQuantity& minus) {
  if (quantity.statistic.empty() || !minus.statistic.empty()) return false;
  const auto has_rows = [&](const ParsedQuantity& operand) {
    return !file.shape(find_target(file, operand).path).empty();
  };
  return has_rows(quantity) && has_rows(minus);
}

double value_of(const ResultReader& file, const ParsedQuantity& quantity, const std::optional<Window>& window,
                const ParsedQuantity* minus) {
  if (minus != nullptr && !is_subtracted_by_row(file, quantity, *minus)) {
    return value_of(file, quantity, window, nullptr) - value_of(file, *minus, window, nullptr);
  }
  const auto [path, name] = find_target(file, quantity);
  const auto shape = file.shape(path);
  std::span<const std::int64_t> indices = quantity.indices;
  if (shape.empty()) {
    if (!indices.empty() || window) throw Unmeasurable("`{}` is a single number", path);
    Statistic statistic;
    statistic.add(0.0, file.read(path).values);
    return name.empty() ? statistic.first : value_of(statistic, name);
  }

  const std::string scale = coordinate_path(file, path);
  const std::vector<double> coordinate = coordinate_of(file, scale);
  const std::int64_t rows = shape.front();
  if (!coordinate.empty() && static_cast<std::int64_t>(coordinate.size()) != rows) {
    throw Unmeasurable("`{}` and its coordinate `{}` have different lengths", path, scale);
  }
  auto inside = rows_inside(window, coordinate, rows, path);
  if (name.empty() && !window && !is_over_time(file, path) && !indices.empty()) {
    component_of(file, path, shape, indices, 0);  // only for its checks, including that of the first dimension
    std::fill(inside.begin(), inside.end(), false);
    inside[static_cast<std::size_t>(indices.front())] = true;
    indices = indices.subspan(1);
  }
  const bool needs_coordinate = name == "slope" || name == "min_at" || name == "max_at";
  if (needs_coordinate && coordinate.empty() && rows > 0) {
    throw Unmeasurable("`{}` has no coordinate, which `{}` needs", path, name);
  }
  const Column column = column_of(file, path, std::span(shape).subspan(1), indices);
  std::optional<Column> subtrahend;
  if (minus != nullptr) subtrahend = subtrahend_of(file, *minus, column, coordinate);
  const Statistic statistic = collect(file, column, subtrahend, inside, coordinate);

  if (statistic.count == 0 && name != "count") throw Unmeasurable("`{}` is empty", path);
  if (statistic.undefined_at) {
    throw Unmeasurable("`{}` is NaN at {} {}", path, scale.empty() ? "entry" : last_name(scale),
                       *statistic.undefined_at);
  }
  if (name.empty()) return only_value(path, statistic);
  if ((name == "first" || name == "last") && column.component.length > 1) {
    throw Unmeasurable("`{}` of `{}` needs indices: it has {} components", name, path, column.component.length);
  }
  if (name == "slope" && !(statistic.coordinate_variation > 0.0)) {
    throw Unmeasurable("a slope of `{}` needs two different values of `{}`", path, last_name(scale));
  }
  return value_of(statistic, name);
}

}  // namespace

const std::vector<std::string>& statistics() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& statistic : all_statistics) all.emplace_back(statistic.name);
    return all;
  }();
  return names;
}

std::string describe_statistics() {
  std::string text =
      "statistics\n"
      "  The last part of a quantity, as in open.q[0].max_abs: one number of all values in the window of time from\n"
      "  `from` to `until`. Without a statistic a quantity must be a single number.\n\n";
  for (const auto& [name, doc, value] : all_statistics) text += fmt::format("  {:<12}  {}\n", name, doc);
  return text;
}

bool parse_quantity(const std::string& text, ParsedQuantity& quantity, std::string& reason) {
  quantity = {};
  for (std::size_t start = 0; start <= text.size();) {
    const auto end = std::min(text.find('.', start), text.size());
    const std::string part = text.substr(start, end - start);
    start = end + 1;
    const bool is_last = end == text.size();
    if (is_last && !quantity.parts.empty() && is_statistic(part)) {
      quantity.statistic = part;
      return true;
    }
    if (!quantity.indices.empty()) {
      reason = fmt::format("only a statistic ({}) may follow indices, not `{}`", fmt::join(statistics(), ", "), part);
      return false;
    }
    std::string name;
    if (!parse_part(part, name, quantity.indices, reason)) return false;
    quantity.parts.push_back(name);
  }
  return true;
}

Measurement measure(const ResultReader& file, const ParsedQuantity& quantity, const std::optional<Window>& window,
                    const ParsedQuantity* minus) {
  Measurement measurement;
  try {
    measurement.value = value_of(file, quantity, window, minus);
    if (std::isnan(measurement.value)) measurement.problem = "the result is not a number";
  } catch (const Unmeasurable& failure) {
    measurement.problem = failure.what();
  } catch (const FileError& failure) {
    measurement.problem = failure.what();
  }
  return measurement;
}

}  // namespace bathline
