// Requests to `bathline serve`.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bathline {

struct CommandRequest {
  std::string folder;  ///< working directory; empty: unchanged
  std::vector<std::string> arguments;
  std::optional<std::string> recipe;  ///< text of the recipe
};

/// Parses a table of TOML on one line, {folder = "...", arguments = ["..."], recipe = "..."}.
std::optional<CommandRequest> parse_request(const std::string& line);

}  // namespace bathline
