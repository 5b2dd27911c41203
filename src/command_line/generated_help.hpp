// The manual page and the shell completion, generated from the description of the command line.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bathline {

/// The manual page bathline(1) in the macros of man(7).
std::string manual_page(const CLI::App& app);

/// A completion script for bash and zsh that completes commands, options and their values: NAME by `names`, RECIPE by
/// `recipes` and files.
std::string shell_completion(const CLI::App& app, const std::vector<std::string>& names,
                             const std::vector<std::string>& recipes);

}  // namespace bathline
