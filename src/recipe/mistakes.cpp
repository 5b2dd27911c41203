// Collection, sorting and printing of the user's mistakes.
#include "recipe/mistakes.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace bathline {

namespace {

// Bounds memory and output, because an invalid file can have millions.
constexpr std::size_t max_kept = 1000;
constexpr std::size_t max_shown = 20;

}  // namespace

void Mistakes::add(Location where, std::string message) {
  // Two integrators that use the same value would report it twice.
  const auto is_same = [&](const Mistake& last) {
    return last.message == message && last.where.file == where.file && last.where.line == where.line;
  };
  if (!kept_.empty() && is_same(kept_.back())) return;
  ++count_;
  if (kept_.size() < max_kept) kept_.push_back({std::move(where), std::move(message)});
}

std::string Mistakes::report() const {
  std::vector<const Mistake*> sorted;
  for (const Mistake& mistake : kept_) sorted.push_back(&mistake);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Mistake* a, const Mistake* b) {
    return std::tie(a->where.line, a->where.column) < std::tie(b->where.line, b->where.column);
  });

  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), max_shown); ++i) {
    text += fmt::format("{}{}: {}", i == 0 ? "" : "\n", to_string(sorted[i]->where), sorted[i]->message);
  }
  if (count_ > max_shown) text += fmt::format("\n... and {} more", count_ - max_shown);
  return text;
}

void Mistakes::throw_if_any() const {
  if (!empty()) throw UsageError(report());
}

}  // namespace bathline
