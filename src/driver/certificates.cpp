// Certificates, environment by environment.
// Tested by tests/command_line/infinite_test.py.
#include "driver/certificates.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "model/certified.hpp"
#include "model/path_bound.hpp"

namespace bathline {

void write_certificates(ResultFile& file, const std::string& label, const Problem& problem, double duration) {
  const std::size_t count = problem.environments().size();
  Dimension rows{"environment", {}, "1", "environment, counted from 0 in the order of the recipe"};
  std::vector<Certificate::Entry> entries;  // of all, by name
  std::map<std::string, std::vector<double>> values;
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const bool is_cold = std::all_of(problem.environments().begin(), problem.environments().end(),
                                   [](const auto& one) { return one->facts().temperature == 0.0; });
  for (std::size_t e = 0; e < count; ++e) {
    rows.values.push_back(static_cast<double>(e));
    const auto* certified = dynamic_cast<const Certified*>(problem.environments()[e].get());
    const std::optional<Certificate> certificate = certified == nullptr ? std::nullopt : certified->certificate();
    if (!certificate) continue;
    spdlog::info("{}: {}", label, certificate->sentence);
    for (const Certificate::Parts& parts : certificate->parts) {
      Dimension numbers{certificate->part, {}, "1", fmt::format("{}, counted from 0", certificate->part)};
      for (std::size_t i = 0; i < parts.values.size(); ++i) numbers.values.push_back(static_cast<double>(i));
      file.array(label + "/parts/" + problem.environments()[e]->name(), {parts.name, parts.units, parts.long_name, {}},
                 std::span(&numbers, 1), parts.values);
    }
    const auto put = [&](const Certificate::Entry& entry) {
      const auto [row, is_new] = values.try_emplace(entry.name, count, none);
      row->second[e] = entry.value;
      if (is_new) entries.push_back(entry);
    };
    for (const Certificate::Entry& entry : certificate->entries) put(entry);
    const auto number = [&](const char* name) { return values.contains(name) ? values.at(name)[e] : none; };
    const double error = number("kernel_error") * number("kernel_norm");
    const auto bound =
        is_cold ? path_bound(problem.system(), problem.environments()[e]->attachment(), error, duration) : std::nullopt;
    if (bound && std::isfinite(*bound)) {
      spdlog::info("{}: no coordinate is wrong by more than {:.1e} m for that until the end", label, *bound);
    }
    put({"path_bound", "m", "bound on what the kernel's error does to a coordinate until the end, of linear systems",
         bound.value_or(none)});
  }
  for (const Certificate::Entry& entry : entries) {
    file.array(label + "/certificate", {entry.name, entry.units, entry.long_name, {}}, std::span(&rows, 1),
               values[entry.name]);
  }
}

}  // namespace bathline
