// Writing the log to a file as lines of JSON.
// Tested by tests/command_line/log_test.py.
#include "command_line/commands.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <mutex>
#include <system_error>

#include "driver/json_text.hpp"
#include "recipe/mistakes.hpp"
#include "record/provenance.hpp"

namespace bathline {

namespace {

/// Writes one JSON object per message and line: time, level, message.
class JsonLines final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit JsonLines(const std::string& path) {
    if (std::ifstream before(path);
        before && before.peek() != '{' && before.peek() != std::ifstream::traits_type::eof()) {
      throw UsageError(fmt::format("{} is not a log of JSON lines; give another file", path));
    }
    file_.open(path, std::ios::app);
    if (!file_) {
      throw UsageError(fmt::format("cannot write the log {}: {}", path, std::generic_category().message(errno)));
    }
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const auto level = spdlog::level::to_string_view(message.level);
    file_ << fmt::format("{{\"time\": \"{}\", \"level\": \"{}\", \"message\": {}}}\n", utc_now(),
                         std::string_view(level.data(), level.size()),
                         json_string(std::string_view(message.payload.data(), message.payload.size())));
  }
  void flush_() override { file_.flush(); }

 private:
  std::ofstream file_;
};

}  // namespace

void add_json_log(const std::string& path, const Communicator& world) {
  std::shared_ptr<JsonLines> lines;
  std::string reason;
  if (world.is_root()) {
    try {
      lines = std::make_shared<JsonLines>(path);
    } catch (const UsageError& error) {
      reason = error.what();
    }
  }
  reason = world.broadcast(reason);
  if (!reason.empty()) throw UsageError(reason);
  if (!lines) return;
  const auto log = spdlog::default_logger();
  for (const auto& sink : log->sinks()) sink->set_level(spdlog::level::warn);
  log->sinks().push_back(lines);
  log->flush_on(spdlog::level::trace);
}

}  // namespace bathline
