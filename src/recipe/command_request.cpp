// Requests to `bathline serve`.
// Tested by tests/command_line/serve_test.py.
#include "recipe/command_request.hpp"

#include "recipe/toml_document.hpp"

namespace bathline {

std::optional<CommandRequest> parse_request(const std::string& line) {
  const auto document = parse_toml_value(line, "request");
  const toml::table* table = document ? document->get("value")->as_table() : nullptr;
  const toml::array* words = table == nullptr ? nullptr : table->get_as<toml::array>("arguments");
  if (words == nullptr) return std::nullopt;
  CommandRequest request;
  request.folder = (*table)["folder"].value_or("");
  request.recipe = (*table)["recipe"].value<std::string>();
  for (const auto& word : *words) request.arguments.push_back(word.value_or(""));
  return request;
}

}  // namespace bathline
