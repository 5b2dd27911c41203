// Evaluating claims and printing the results.
#include "record/claims.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace bathline {

namespace {

std::string text_or_empty(const Section& claim, const std::string& key) {
  return claim.has(key) ? claim.text(key) : "";
}

double number_or(const Section& claim, const std::string& key, double default_value) {
  return claim.has(key) ? claim.number(key) : default_value;
}

/// Sets the bounds that the claim allows, or `problem` if it gives none.
void set_bounds(const Section& claim, ClaimResult& result) {
  if (claim.has("expect")) {
    result.expected = claim.number("expect");
    const double tolerance = std::max(number_or(claim, "tolerance", 0.0),
                                      number_or(claim, "relative_tolerance", 0.0) * std::abs(result.expected));
    result.lower = result.expected - tolerance;
    result.upper = result.expected + tolerance;
  } else if (claim.has("bounds") && claim.numbers("bounds").size() == 2) {
    result.lower = claim.numbers("bounds")[0];
    result.upper = claim.numbers("bounds")[1];
  } else {
    result.problem = "the claim gives neither `expect` nor two `bounds`";
    return;
  }
  if (!(result.lower <= result.upper)) result.problem = "the claim's lower bound exceeds its upper bound";
}

ClaimResult evaluate(const ResultReader& file, const Section& claim) {
  ClaimResult result;
  result.name = text_or_empty(claim, "name");
  result.quantity = text_or_empty(claim, "quantity");
  result.source = text_or_empty(claim, "source");
  if (text_or_empty(claim, "kind") == "regression") result.source = "regression: " + result.source;
  result.note = text_or_empty(claim, "note");
  result.uncertainty = number_or(claim, "uncertainty", result.uncertainty);
  result.supported = !claim.has("supported") || claim.boolean("supported");
  set_bounds(claim, result);

  std::optional<Window> window;
  if (claim.has("from") || claim.has("until")) {
    window.emplace();
    window->from = number_or(claim, "from", window->from);
    window->until = number_or(claim, "until", window->until);
  }
  const auto parsed = [&](const std::string& text) -> std::optional<ParsedQuantity> {
    ParsedQuantity quantity;
    std::string reason;
    if (parse_quantity(text, quantity, reason)) return quantity;
    result.problem = fmt::format("`{}` is not a quantity: {}", text, reason);
    return std::nullopt;
  };
  const auto measured = [&](const std::optional<ParsedQuantity>& quantity, const ParsedQuantity* minus) {
    if (!quantity) return std::numeric_limits<double>::quiet_NaN();
    const Measurement measurement = measure(file, *quantity, window, minus);
    if (!measurement.problem.empty()) result.problem = measurement.problem;
    return measurement.value;
  };
  const std::optional<ParsedQuantity> quantity = parsed(text_or_empty(claim, "quantity"));
  if (claim.has("minus")) {
    const std::optional<ParsedQuantity> minus = parsed(claim.text("minus"));
    if (minus) result.measured = measured(quantity, &*minus);
    result.quantity += " - " + claim.text("minus");
  } else {
    result.measured = measured(quantity, nullptr);
  }
  if (claim.has("divided_by")) {
    result.measured /= measured(parsed(claim.text("divided_by")), nullptr);
    result.quantity =
        (claim.has("minus") ? "(" + result.quantity + ")" : result.quantity) + " / " + claim.text("divided_by");
    if (result.problem.empty() && !std::isfinite(result.measured)) result.problem = "the quotient is not finite";
  }

  result.holds = result.lower <= result.measured && result.measured <= result.upper;
  result.passed = result.problem.empty() && result.holds == result.supported;
  if (result.holds && !result.supported) {
    result.problem = "the recipe marks this statement as not supported (supported = false), but it holds";
  }
  return result;
}

std::string mark_of(const ClaimResult& claim) {
  if (!claim.passed) return "FAIL";
  return claim.supported ? "PASS" : "not supported";
}

std::string expectation_of(const ClaimResult& claim) {
  if (std::isnan(claim.lower) || std::isnan(claim.upper)) return "nothing";
  if (std::isnan(claim.expected)) return fmt::format("{:.6g} to {:.6g}", claim.lower, claim.upper);
  if (claim.lower == claim.upper) return fmt::format("{:.6g}", claim.expected);
  return fmt::format("{:.6g} +- {:.3g}", claim.expected, (claim.upper - claim.lower) / 2);
}

}  // namespace

std::vector<ClaimResult> evaluate_claims(const ResultReader& file, std::span<const Section> claims) {
  std::vector<ClaimResult> results;
  for (const auto& claim : claims) results.push_back(evaluate(file, claim));
  return results;
}

std::string claims_table(std::span<const ClaimResult> claims) {
  using Row = std::array<std::string, 6>;
  std::vector<Row> rows{{"", "claim", "measured", "expected", "uncertainty", "source"}};
  for (const auto& claim : claims) {
    const std::string measured = std::isnan(claim.measured) ? "-" : fmt::format("{:.10g}", claim.measured);
    const std::string uncertainty = std::isnan(claim.uncertainty) ? "-" : fmt::format("{:.2g}", claim.uncertainty);
    rows.push_back({mark_of(claim), claim.name, measured, expectation_of(claim), uncertainty, claim.source});
  }
  // fmt pads by displayed width, so that widths are counted in code points, not bytes.
  const auto columns = [](const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  };
  std::array<std::size_t, 6> widths{};
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], columns(row[c]));
  }
  std::string table;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      const std::string& cell = rows[r][c];
      line += c == 2 ? fmt::format("{:>{}}  ", cell, widths[c]) : fmt::format("{:<{}}  ", cell, widths[c]);
    }
    table += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    if (r > 0 && !claims[r - 1].problem.empty()) table += "      " + claims[r - 1].problem + "\n";
  }
  return table;
}

}  // namespace bathline
