// Running the program: MPI, log, command line, exit code.
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
  // Exceeding the limit on the size of files is reported like a full disk and must not end the program.
  std::signal(SIGXFSZ, SIG_IGN);
  MpiSession session;
  const Communicator& world = session.world();
  auto log = spdlog::stderr_color_mt("bathline");
  log->set_pattern("%^%l%$: %v");
  if (!world.is_root()) log->set_level(spdlog::level::off);
  spdlog::set_default_logger(log);
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const int code = run_command_line(arguments, std::nullopt, Program(catalogues, world));
    const bool has_json_lines = log->sinks().size() > 1;
    if (has_json_lines) spdlog::info("bathline ended with exit code {}", code);
    return code;
  } catch (const OutOfMemory& error) {
    // The other ranks may wait for this one, so that all are ended. The same applies below.
    fmt::print(stderr, "bathline: rank {}: {}\n", world.rank(), error.what());
    session.abort(exit_code::numerical_failure);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "bathline: rank {}: out of memory for this recipe; nothing was computed\n", world.rank());
    session.abort(exit_code::usage);
  } catch (const std::exception& error) {
    // The other ranks may not have failed, so that all are ended.
    fmt::print(stderr, "bathline: internal error on rank {}: {}\n", world.rank(), error.what());
    session.abort(exit_code::numerical_failure);
  }
}

}  // namespace bathline
