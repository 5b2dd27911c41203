// What shells and `man` are told of the command line, made from its own description.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bathline {

/// The manual page bathline(1) in the macros of man(7).
std::string manual_page(const CLI::App& app);

/// A script for bash, which zsh reads as well, that completes commands, options and their values. `names` stand for the
/// values of NAME, `recipes` for those of RECIPE, where files do too.
std::string shell_completion(const CLI::App& app, const std::vector<std::string>& names,
                             const std::vector<std::string>& recipes);

}  // namespace bathline
