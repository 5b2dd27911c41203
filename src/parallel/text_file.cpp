// Reading on rank 0 for all ranks.
#include "parallel/text_file.hpp"

#include <fstream>
#include <sstream>
#include <string_view>

namespace bathline {

std::string without_byte_order_mark(std::string text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  return text;
}

std::optional<std::string> read_text_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream all;
  // An empty file would count as a failure to write.
  if (file.peek() != std::ifstream::traits_type::eof()) all << file.rdbuf();
  if (file.bad()) return std::nullopt;
  return without_byte_order_mark(all.str());
}

std::optional<std::string> read_text_file_on_root(const std::filesystem::path& path, const Communicator& communicator) {
  std::optional<std::string> text;
  if (communicator.is_root()) text = read_text_file(path);
  if (!communicator.broadcast(text.has_value())) return std::nullopt;
  return communicator.broadcast(text.value_or(""));
}

}  // namespace bathline
