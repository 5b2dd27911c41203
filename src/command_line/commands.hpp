// What the commands do that are not runs, and the log.
#pragma once

#include <string>
#include <vector>

#include "driver/program.hpp"
#include "recipe/recipe.hpp"

namespace CLI {
class App;
}

namespace bathline {

/// Names and summaries of everything that recipes can name, or of one kind: "systems", ..., "recipes".
std::string list_names(const std::string& what, const CatalogueSchema& catalogue_schema);

/// All names that `describe` accepts, except those of recipes.
std::vector<std::string> names_to_describe(const CatalogueSchema& catalogue_schema);

/// The description of a name. Throws UsageError for an unknown name. @note Collective.
std::string describe_name(const std::string& name, const Program& program);

/// An object with `top` (keys above all sections), `sections`, and by the plural of their category the entries of all
/// catalogues, in the order of `bathline list`.
std::string catalogue_json(const Program& program);

/// BibTeX of the program.
std::string cite_program();

/// BibTeX of every reference whose key occurs in one of the recipes (its paper, the sources of its claims) or in the
/// sources of the entries that it names: system, environments, integrators, study. In the order of references.bib.
std::string cite_recipes(const std::vector<Recipe>& recipes, const CatalogueSchema& catalogue_schema);

/// The manual page bathline(1) in the macros of man(7).
std::string manual_page(const CLI::App& app);

/// A completion script for bash and zsh that completes commands, options and their values: NAME by `names`, RECIPE by
/// `recipes` and files.
std::string shell_completion(const CLI::App& app, const std::vector<std::string>& names,
                             const std::vector<std::string>& recipes);

struct PlotRequest {
  std::string result;  ///< path of a result file
  std::string stem;    ///< path of the pictures without extension; "": that of the result
};

/// Plots the figure of a result as PNG and PDF and returns the exit code of the script, which prints its own messages.
/// BATHLINE_ANALYSIS overrides the folder analysis/; the interpreter is BATHLINE_PYTHON, or /usr/bin/python3. Throws
/// UsageError if either is missing. For one rank.
int plot_result(const PlotRequest& request);

/// Reads requests from the standard input of rank 0, one on each line, until it ends, and returns the exit code 0.
///
/// A request is a table of TOML on one line, {folder = "...", arguments = ["run", "..."], recipe = "..."}: the working
/// directory, the arguments of the command and, optionally, the text of the recipe, whose path in the arguments is then
/// only its name. The reply on standard output is one line of JSON, {"code": exit code, "messages": [{"level": "...",
/// "message": "..."}], "output": "what the command has printed"}. Progress, warnings and errors also appear on standard
/// error. If the input ends during a run, the run stops with a checkpoint. @note Collective.
int serve(const Program& program);

/// Adds a log file of JSON lines; standard error then gets no messages of level `info`. Throws UsageError if the file
/// cannot be written or has other content. @note Collective.
void add_json_log(const std::string& path, const Communicator& world);

}  // namespace bathline
