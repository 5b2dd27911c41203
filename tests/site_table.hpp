// The table of sites of a nonuniform line, for tests.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "model/line/sites.hpp"

namespace bathline {

/// The sites of a line of any test; none for a uniform line.
inline std::shared_ptr<const std::vector<LineSite>> site_table(const std::function<LineSite(std::int64_t)>& site) {
  if (!site) return nullptr;
  constexpr std::int64_t longest_line = 32768;
  std::vector<LineSite> sites;
  for (std::int64_t j = 0; j < longest_line; ++j) sites.push_back(site(j));
  return std::make_shared<const std::vector<LineSite>>(std::move(sites));
}

}  // namespace bathline
