// Requests on standard input and replies on standard output.
// Tested by tests/command_line/serve_test.py.
#include "command_line/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include "command_line/command_line.hpp"
#include "command_line/live_session.hpp"
#include "driver/checkpoints.hpp"
#include "driver/json_text.hpp"
#include "driver/run.hpp"
#include "parallel/sleeping_barrier.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/command_request.hpp"

namespace bathline {

namespace {

/// Keeps the messages of a request as objects of JSON.
class MessageSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::vector<std::string> take() {
    const std::lock_guard<std::mutex> guard(mutex_);
    return std::exchange(messages_, {});
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const auto level = spdlog::level::to_string_view(message.level);
    messages_.push_back(fmt::format("{{\"level\": \"{}\", \"message\": {}}}",
                                    std::string_view(level.data(), level.size()),
                                    json_string(std::string_view(message.payload.data(), message.payload.size()))));
  }
  void flush_() override {}

 private:
  std::vector<std::string> messages_;
};

/// Lines of standard input, read by a thread of its own, which stops the run in progress at the end of input.
class RequestLines {
 public:
  RequestLines() {
    start_input_thread([state = state_] { read(*state); });
  }

  /// The next line; nothing at the end of input.
  std::optional<std::string> next() {
    std::unique_lock<std::mutex> lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->has_ended || state_->text.find('\n') != std::string::npos; });
    const std::size_t end = state_->text.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string line = state_->text.substr(0, end);
    state_->text.erase(0, end + 1);
    state_->is_busy = true;
    return line;
  }
  /// To be called before the reply to the last line, after which the input may end.
  void finish() {
    const std::lock_guard<std::mutex> guard(state_->mutex);
    state_->is_busy = false;
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::string text;
    bool has_ended = false, is_busy = false;
  };

  static void read(State& state) {
    char buffer[65536];
    for (;;) {
      const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
      if (count < 0 && errno == EINTR) continue;
      const std::lock_guard<std::mutex> guard(state.mutex);
      if (count > 0) {
        state.text.append(buffer, static_cast<std::size_t>(count));
      } else {
        state.has_ended = true;
        if (state.is_busy) kill(getpid(), SIGTERM);
      }
      state.changed.notify_one();
      if (count <= 0) return;
    }
  }

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// Standard output, which goes to a file in memory, so that replies alone reach the other program.
class CapturedOutput {
 public:
  CapturedOutput() : replies_(::dup(STDOUT_FILENO)), file_(::memfd_create("output", MFD_CLOEXEC)) {
    std::fflush(stdout);
    if (replies_ < 0 || file_ < 0 || ::dup2(file_, STDOUT_FILENO) < 0) {
      throw FileError("standard output cannot be redirected");
    }
  }
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

  /// What was printed since the last call.
  std::string take() {
    std::fflush(stdout);
    std::string text(static_cast<std::size_t>(std::max<off_t>(0, ::lseek(file_, 0, SEEK_END))), '\0');
    const ssize_t count = ::pread(file_, text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
    if (::ftruncate(file_, 0) == 0) ::lseek(file_, 0, SEEK_SET);
    return text;
  }

  void reply(const std::string& line) {
    for (std::size_t done = 0; done < line.size();) {
      const ssize_t count = ::write(replies_, line.data() + done, line.size() - done);
      if (count < 0 && errno != EINTR) return;  // the other program has ended
      done += static_cast<std::size_t>(std::max<ssize_t>(0, count));
    }
  }

 private:
  int replies_, file_;
};

int execute(const std::string& line, LiveSession& live, const Program& program) {
  const std::optional<CommandRequest> request = parse_request(line);
  const auto is_this_command = [](const std::vector<std::string>& arguments) {
    return arguments.front() == "serve" && arguments.back() != "--help";
  };
  if (!request || request->arguments.empty() || is_this_command(request->arguments)) {
    spdlog::error("a request is a table such as {{folder = \"/tmp\", arguments = [\"list\"]}} on one line");
    return exit_code::usage;
  }
  std::error_code error;
  if (!request->folder.empty()) std::filesystem::current_path(request->folder, error);
  if (program.communicator().any(static_cast<bool>(error))) {
    spdlog::error("{}: {}", request->folder, error.message());
    return exit_code::usage;
  }
  if (LiveSession::is_request(request->arguments)) return live.execute(request->arguments, request->recipe, program);
  return run_command_line(request->arguments, request->recipe, program);
}

}  // namespace

int serve(const Program& program) {
  const Communicator& world = program.communicator();
  std::unique_ptr<RequestLines> requests;
  std::unique_ptr<CapturedOutput> output;
  const auto messages = std::make_shared<MessageSink>();
  const auto log = spdlog::default_logger();
  if (world.is_root()) {
    requests = std::make_unique<RequestLines>();
    output = std::make_unique<CapturedOutput>();
    for (const auto& sink : log->sinks()) sink->set_level(spdlog::level::warn);
    log->sinks().push_back(messages);
  }
  const std::vector<spdlog::sink_ptr> sinks = log->sinks();
  LiveSession live;
  for (;;) {
    const std::optional<std::string> next = world.is_root() ? requests->next() : std::nullopt;
    sleeping_barrier(world);
    if (!world.broadcast(next.has_value())) return exit_code::complete;
    const int code = execute(world.broadcast(next.value_or("")), live, program);
    log->sinks() = sinks;  // without the log file of the request
    if (!world.is_root()) continue;
    requests->finish();
    output->reply(fmt::format("{{\"code\": {}, \"messages\": [{}], \"output\": {}}}\n", code,
                              fmt::join(messages->take(), ", "), json_string(output->take())));
  }
}

}  // namespace bathline
