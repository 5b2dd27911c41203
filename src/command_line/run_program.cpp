// A program from its begin to its exit code.
// Tested by tests/command_line/commands_test.py.
#include "command_line/run_program.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <new>

#include "command_line/command_line.hpp"
#include "driver/run.hpp"
#include "simd/subnormals.hpp"

namespace bathline {

int run_program(int argc, char** argv, const Catalogues& catalogues) {
  flush_subnormals();
  // A file that may not become longer is a full disk, which is said, and not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
  MpiSession session;
  const Communicator& world = session.world();
  auto log = spdlog::stderr_color_mt("bathline");
  log->set_pattern("%^%l%$: %v");
  if (!world.is_root()) log->set_level(spdlog::level::off);
  spdlog::set_default_logger(log);
  const auto ended = [&](int code) {
    const bool has_json_lines = log->sinks().size() > 1;
    if (has_json_lines) spdlog::info("bathline ended with exit code {}", code);
    return code;
  };
  try {
    return ended(run_command_line(argc, argv, Program(catalogues, world)));
  } catch (const UsageError& error) {
    // Thrown on every rank alike; rank 0 speaks.
    spdlog::error("{}", error.what());
    return ended(exit_code::usage);
  } catch (const FileError& error) {
    spdlog::error("{}", error.what());
    return ended(exit_code::numerical_failure);
  } catch (const OutOfMemory& error) {
    // The other ranks may wait for this one: all end. So below.
    fmt::print(stderr, "bathline: rank {}: {}\n", world.rank(), error.what());
    session.abort(exit_code::numerical_failure);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "bathline: rank {}: the memory does not suffice for this recipe; nothing was computed\n",
               world.rank());
    session.abort(exit_code::usage);
  } catch (const std::exception& error) {
    // A failure that the other ranks may not know of: end all of them rather than let them wait.
    fmt::print(stderr, "bathline: internal error on rank {}: {}\n", world.rank(), error.what());
    session.abort(exit_code::numerical_failure);
  }
}

}  // namespace bathline
