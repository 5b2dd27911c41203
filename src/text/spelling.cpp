// Suggestions for misspelt names.
#include "text/spelling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cctype>
#include <utility>
#include <vector>

namespace bathline {

namespace {

// Damerau-Levenshtein distance (optimal string alignment): insertions, deletions, replacements and swaps of neighbours,
// each counted as one.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

using Characters = std::bitset<256>;

Characters characters_of(const std::string& text) {
  Characters characters;
  for (const char c : text) characters.set(static_cast<unsigned char>(c));
  return characters;
}

bool equal_ignoring_case(const std::string& a, const std::string& b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::string closest_name(const std::string& name, std::span<const std::string> candidates) {
  std::size_t nearest = std::max<std::size_t>(1, name.size() / 3) + 1;
  std::string closest;
  const Characters characters = characters_of(name);
  for (const std::string& candidate : candidates) {
    if (equal_ignoring_case(name, candidate)) return candidate;
    // The distance is at least the difference in length; this also bounds the cost of very long names.
    const std::size_t longer = std::max(name.size(), candidate.size());
    if (longer - std::min(name.size(), candidate.size()) >= nearest) continue;
    // Each character that the candidate lacks adds at least one to the distance, which excludes most candidates.
    if ((characters & ~characters_of(candidate)).count() >= nearest) continue;
    const std::size_t d = distance(name, candidate);
    // Names with nothing in common, such as `x` and `k`, are not close.
    if (d < nearest && d < longer) {
      nearest = d;
      closest = candidate;
    }
  }
  return closest;
}

std::string spelling_advice(const std::string& name, std::span<const std::string> known, char quote) {
  const std::string closest = closest_name(name, known);
  if (closest.empty()) return "; known are " + quoted_names(known, quote);
  return fmt::format("; did you mean {}{}{}?", quote, closest, quote);
}

std::string quoted_names(std::span<const std::string> names, char quote) {
  std::string text;
  for (const std::string& name : names) text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", quote, name, quote);
  return text.empty() ? "none" : text;
}

}  // namespace bathline
