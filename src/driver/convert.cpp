// Converting an environment of a recipe, or a bath of another program, and writing it as recipes have it.
// Tested by tests/command_line/convert_test.py.
// Tested by tests/command_line/import_test.py.
#include "driver/convert.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <fstream>
#include <ranges>
#include <set>
#include <sstream>
#include <utility>

#include "driver/experiment.hpp"
#include "driver/prepared_run.hpp"
#include "driver/on_root.hpp"
#include "model/attach_key.hpp"
#include "model/kernels/conversion.hpp"
#include "model/kernels/adaptive_quadrature.hpp"
#include "model/kernels/kernel_input.hpp"
#include "model/table_file.hpp"
#include "parallel/text_file.hpp"
#include "text/printable_text.hpp"
#include "recipe/toml_writer.hpp"

namespace bathline {

namespace {

namespace fs = std::filesystem;

/// The index of the environment with that name.
std::size_t index_of(const Recipe& recipe, const std::string& name) {
  std::string names;
  for (std::size_t i = 0; i < recipe.environments.size(); ++i) {
    if (recipe.environments[i].text("name") == name) return i;
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", recipe.environments[i].text("name"));
  }
  throw UsageError(
      fmt::format("{} has no environment `{}`{}", recipe.file, name, names.empty() ? "" : "; there is " + names));
}

/// The resolved recipe with the keys and subtables of environment `index` replaced by `keys`.
std::string with_environment(const std::string& resolved, std::size_t index, const std::string& keys) {
  std::istringstream lines(resolved);
  std::string line, text;
  std::size_t count = 0;
  bool is_replaced = false;
  while (std::getline(lines, line)) {
    const bool begins = line == "[[environments]]";
    if (begins) ++count;
    if (begins && count == index + 1) {
      is_replaced = true;
      text += line + "\n" + keys + "\n";
    } else if (line.starts_with("[") && !line.starts_with("[environments.") && !line.starts_with("[[environments.")) {
      is_replaced = false;
    }
    if (!is_replaced) text += line + "\n";
  }
  return text;
}

/// Throws UsageError if another environment is read from a file whose relative path would change with the folder.
void require_valid_file_paths(const Recipe& recipe, std::size_t index, const fs::path& target) {
  std::error_code ignored;
  const fs::path here = fs::weakly_canonical(fs::absolute(fs::path(recipe.file)).parent_path(), ignored);
  if (here == fs::weakly_canonical(fs::absolute(target).parent_path(), ignored)) return;
  std::set<std::string> files = files_of(recipe.system);
  for (std::size_t i = 0; i < recipe.environments.size(); ++i) {
    if (i != index) files.merge(files_of(recipe.environments[i]));
  }
  if (files.empty()) return;
  throw UsageError(fmt::format("the recipe reads {}, relative to {}: write the new recipe into that folder",
                               *files.begin(), here.string()));
}

/// How the environment of a section is attached, as TOML.
std::string attachment_keys(const Section& section) {
  if (section.has("attach") && attached_particles(section).size() == 1) {
    return fmt::format("attach = {}\n", attached_particles(section).front());
  }
  if (!section.has("couple")) return "";
  const bool is_single = section.holds<std::string>("couple");
  std::string formulas, numbers;
  for (const std::string& formula : is_single ? std::vector{section.text("couple")} : section.texts("couple")) {
    formulas += (formulas.empty() ? "" : ", ") + toml_text(formula);
  }
  if (section.has("parameters")) {
    const Section& table = section.table("parameters");
    for (const std::string& key : table.keys()) {
      numbers += fmt::format("{}{} = {}", numbers.empty() ? "" : ", ", key, toml_number(table.number(key)));
    }
  }
  return fmt::format("couple = [{}]\n{}", formulas,
                     numbers.empty() ? "" : fmt::format("parameters = {{ {} }}\n", numbers));
}

/// Writes a file and, if there are rows, their table beside it. Without `overwrite` neither may exist.
void write_with_table(const fs::path& path, const std::string& text, const fs::path& table, const std::string& rows,
                      bool overwrite) {
  std::vector<std::pair<fs::path, std::string>> files{{path, text}};
  if (!rows.empty()) files.emplace_back(table, rows);
  std::error_code ignored;
  for (const auto& [name, content] : files) {
    if (!overwrite && fs::exists(name, ignored))
      throw UsageError(fmt::format("{} exists already; --overwrite replaces it", name.string()));
  }
  for (const auto& [name, content] : std::views::reverse(files)) {
    std::ofstream file(name);
    file << content;
    file.close();
    if (!file) throw UsageError(fmt::format("cannot write {}", name.string()));
  }
}

}  // namespace

void convert_recipe(const ConvertRequest& request, const Program& program) {
  const Communicator& world = program.communicator();
  Mistakes mistakes;
  const Recipe recipe = parse_recipe(read_recipe_text(request.recipe, world), request.recipe, request.settings,
                                     program.catalogue_schema(), mistakes);
  mistakes.throw_if_any();
  const std::size_t index = index_of(recipe, request.environment);
  const Experiment experiment(recipe, program, mistakes);
  mistakes.throw_if_any();
  Section section = recipe.environments[index];
  // An environment given by a kernel or a density is built directly in the requested representation.
  const auto has_key = [&](const char* key) { return section.has(key); };
  if (std::any_of(std::begin(kernel_input_keys), std::end(kernel_input_keys), has_key)) {
    section.set("representation", request.to, section.where("kind"));
  }
  const EnvironmentKind& kind = *program.catalogues().environments.find(section.text("kind"));
  const std::unique_ptr<Environment> environment =
      kind.build(section, experiment.system(), {experiment.common_step(), experiment.end_time()}, world, mistakes);
  mistakes.throw_if_any();
  fs::path target = request.output;
  if (target.empty()) {
    target = fs::path(request.recipe).replace_extension();
    target += fmt::format("-{}-{}.toml", request.environment, request.to);
  }
  require_valid_file_paths(recipe, index, target);
  const fs::path table = fs::path(target).replace_extension(".txt");
  EquivalentEnvironment equivalent;
  check_on_root(world, [&] {
    try {
      equivalent =
          equivalent_environment(*environment, attachment_keys(section), request.to, table.filename().string());
    } catch (const UnsuitableFunction& error) {
      throw UsageError(error.what());
    }
    write_with_table(target, with_environment(recipe.resolved, index, equivalent.keys), table, equivalent.rows,
                     request.overwrite);
    if (!equivalent.rows.empty()) {
      spdlog::info("{}: `{}` is now a {} of {}, read from {}", target.string(), request.environment, request.to,
                   counted(static_cast<std::int64_t>(equivalent.size), request.to == "star" ? "oscillator" : "site"),
                   table.string());
    } else {
      spdlog::info("{}: `{}` is now a memory of {}", target.string(), request.environment,
                   counted(static_cast<std::int64_t>(equivalent.size), "exponential"));
    }
  });
}

void import_environments(const ImportRequest& request, const Program& program) {
  check_on_root(program.communicator(), [&] {
    BathSource source = request.source;
    if (!source.file.empty()) {
      const std::optional<std::string> text = read_text_file(source.file);
      if (!text) throw UsageError(fmt::format("cannot read {}", source.file));
      source.text = *text;
      if (text->find('\0') != std::string::npos) {
        throw UsageError(fmt::format("{} is not text in UTF-8; save it as UTF-8", source.file));
      }
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
    write_with_table(request.output, text, table, bath.rows, request.overwrite);
    for (const std::string& note : bath.notes) spdlog::info("{}", note);
  });
}

}  // namespace bathline
