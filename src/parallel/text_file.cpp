// Reading on rank 0 for all ranks.
#include "parallel/text_file.hpp"

#include <fstream>
#include <sstream>

namespace bathline {

std::optional<std::string> read_text_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream all;
  // An empty file would count as a failure to write.
  if (file.peek() != std::ifstream::traits_type::eof()) all << file.rdbuf();
  if (file.bad()) return std::nullopt;
  return all.str();
}

std::optional<std::string> read_text_file_on_root(const std::filesystem::path& path, const Communicator& communicator) {
  std::optional<std::string> text;
  if (communicator.is_root()) text = read_text_file(path);
  if (!communicator.broadcast(text.has_value())) return std::nullopt;
  return communicator.broadcast(text.value_or(""));
}

}  // namespace bathline
