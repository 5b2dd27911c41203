// Keeping, sorting and printing the mistakes of a user.
#include "recipe/mistakes.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace bathline {

namespace {

// Nobody reads more, and a file of rubbish can hold millions.
constexpr std::size_t kept = 1000;
constexpr std::size_t shown = 20;

}  // namespace

void Mistakes::add(Location where, std::string message) {
  // The same value can be found wrong twice in a row, where two integrators use it.
  const auto is_same = [&](const Mistake& last) {
    return last.message == message && last.where.file == where.file && last.where.line == where.line;
  };
  if (!found_.empty() && is_same(found_.back())) return;
  ++count_;
  if (found_.size() < kept) found_.push_back({std::move(where), std::move(message)});
}

std::string Mistakes::report() const {
  std::vector<const Mistake*> sorted;
  for (const Mistake& mistake : found_) sorted.push_back(&mistake);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Mistake* a, const Mistake* b) {
    return std::tie(a->where.line, a->where.column) < std::tie(b->where.line, b->where.column);
  });

  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), shown); ++i) {
    text += fmt::format("{}{}: {}", i == 0 ? "" : "\n", to_string(sorted[i]->where), sorted[i]->message);
  }
  if (count_ > shown) text += fmt::format("\n... and {} more", count_ - shown);
  return text;
}

}  // namespace bathline
