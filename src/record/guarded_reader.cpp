// Requests to a child process, and its replies, over a socket.
// Tested by tests/record/checksum_test.cpp.
// Tested by tests/command_line/damage_test.py.
#include "record/guarded_reader.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "record/disk_space.hpp"
#include "record/result_file.hpp"

namespace bathline {

namespace {

constexpr unsigned timeout = 60;               // seconds
constexpr std::size_t longest_message = 8192;  // bytes

/// What a reply begins with; its text follows.
enum Reply : char { activity = 'a', readable = 'r', unreadable = 'u', links = 'l' };

void send_message(int socket, const std::string& message) {
  // If the other process has ended, the next reply does not come.
  static_cast<void>(send(socket, message.data(), std::min(message.size(), longest_message), MSG_NOSIGNAL));
}

/// The next message; "" if the other process has ended.
std::string receive_message(int socket) {
  std::string message(longest_message, '\0');
  ssize_t size = 0;
  do {
    size = recv(socket, message.data(), message.size(), 0);
  } while (size < 0 && errno == EINTR);
  message.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return message;
}

/// Removes the signal handlers of MPI and PETSc, which would print messages, and disables core dumps.
void suppress_crash_output() {
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGTERM}) std::signal(number, SIG_DFL);
  const struct rlimit none { 0, 0 };
  setrlimit(RLIMIT_CORE, &none);
}

[[noreturn]] void serve(int socket, const GuardedReader::Read& read) {
  suppress_crash_output();
  for (std::string request; !(request = receive_message(socket)).empty();) {
    const auto reply = [&](Reply kind, const std::string& text) {
      alarm(kind == activity ? timeout : 0);
      send_message(socket, static_cast<char>(kind) + text);
    };
    const auto report = [&](const std::string& text) { reply(activity, text); };
    report("opening the file");
    const std::size_t end_of_path = request.find('\0');
    try {
      read(request.substr(0, end_of_path), request.substr(end_of_path + 1), report);
      reply(readable, "");
    } catch (const ExternalLinks& error) {
      reply(links, error.what());
    } catch (const std::exception& error) {
      reply(unreadable, error.what());
    }
  }
  _exit(0);
}

}  // namespace

GuardedReader::GuardedReader(Read read) : read_(std::move(read)) {}

void GuardedReader::read_hdf5(const std::string& path, const std::string& prefix,
                              const std::function<void(const std::string&)>& report) {
  ResultReader(path).read_everything(prefix, report);
}

void GuardedReader::start() {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0) {
    child_ = fork();
    if (child_ == 0) {
      close(sockets[0]);
      serve(sockets[1], read_);
    }
    close(sockets[1]);
    socket_ = sockets[0];
  }
  if (child_ < 0) throw FileError("cannot start a child process: {}", system_error_message(errno));
}

void GuardedReader::require_readable(const std::string& path, const std::string& prefix) {
  if (child_ < 0) start();
  send_message(socket_, path + '\0' + prefix);
  std::string reply, last;
  while ((reply = receive_message(socket_)).starts_with(activity)) last = reply.substr(1);
  if (reply.starts_with(readable)) return;
  std::string reason = reply.substr(std::min<std::size_t>(1, reply.size()));
  if (reply.empty()) {
    const int status = end();
    reason = WTERMSIG(status) == SIGALRM ? fmt::format("{}: not finished within {} s", last, timeout)
                                         : fmt::format("{}: {}", last, strsignal(WTERMSIG(status)));
  }
  if (reason.find(path) == std::string::npos) reason = fmt::format("cannot read {}: {}", path, reason);
  if (reply.starts_with(links)) throw ExternalLinks(reason);
  throw FileError(reason);
}

int GuardedReader::end() {
  int status = 0;
  if (socket_ >= 0) close(std::exchange(socket_, -1));
  while (child_ > 0 && waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  return status;
}

}  // namespace bathline
