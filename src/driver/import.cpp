// Importing a bath and writing its environments.
// Tested by tests/command_line/import_test.py.
#include "driver/import.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>

#include "driver/convert.hpp"
#include "driver/on_root.hpp"
#include "driver/prepared_run.hpp"
#include "model/kernels/adaptive_quadrature.hpp"
#include "parallel/text_file.hpp"

namespace bathline {

void import_environments(const ImportRequest& request, const Program& program) {
  namespace fs = std::filesystem;
  check_on_root(program.communicator(), [&] {
    BathSource source = request.source;
    if (!source.file.empty()) {
      const std::optional<std::string> text = read_text_file(source.file);
      if (!text) throw UsageError(fmt::format("cannot read {}", source.file));
      source.text = *text;
    }
    const fs::path table = request.output.empty() ? fs::path() : fs::path(request.output).replace_extension(".txt");
    ImportedBath bath;
    try {
      bath = import_bath(source, table.filename().string());
    } catch (const UnsuitableFunction& error) {
      throw UsageError(error.what());
    }
    std::string text;
    for (const std::string& note : bath.notes) text += fmt::format("# {}\n", note);
    text += fmt::format("\n{}", bath.environments);
    if (request.output.empty()) {
      fmt::print("{}", text);
      return;
    }
    if (!request.overwrite) {
      require_absent(request.output);
      if (!bath.rows.empty()) require_absent(table);
    }
    if (!bath.rows.empty()) write_new_file(table, bath.rows);
    write_new_file(request.output, text);
    for (const std::string& note : bath.notes) spdlog::info("{}", note);
  });
}

}  // namespace bathline
