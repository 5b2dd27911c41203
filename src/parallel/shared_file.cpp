// Reading on one rank for all.
#include "parallel/shared_file.hpp"

#include <fstream>
#include <sstream>

namespace bathline {

std::optional<std::string> read_shared_file(const std::filesystem::path& path, const Communicator& communicator) {
  std::ostringstream all;
  bool found = false;
  std::error_code ignored;
  if (communicator.is_root() && std::filesystem::is_regular_file(path, ignored)) {
    std::ifstream file(path, std::ios::binary);
    found = file.is_open();
    // An empty file would count as a failure to write.
    if (found && file.peek() != std::ifstream::traits_type::eof()) all << file.rdbuf();
    found = found && !file.bad();
  }
  if (!communicator.broadcast(found)) return std::nullopt;
  return communicator.broadcast(all.str());
}

}  // namespace bathline
