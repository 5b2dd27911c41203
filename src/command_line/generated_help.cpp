// The manual page and the shell completion, generated from the description of the command line.
// Tested by tests/install/install_test.py.
#include "command_line/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace bathline {

namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

/// "-o", "--output".
std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

/// Escapes text for roff: backslashes, requests at the beginning of a line, and hyphens, so that they can be copied.
std::string literal(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) result += "\\&";
      result += c;
    }
  }
  return result;
}

/// The placeholder of an option's value; empty for a flag.
std::string value_of(const CLI::Option& option) {
  if (option.get_expected_max() == 0 || option.get_type_size_max() == 0) return "";
  // CLI11 appends the name of a check, as in SECONDS:POSITIVE.
  const std::string name = option.get_type_name();
  return name.substr(0, name.find(":"));
}

std::string manual_entry(const CLI::Option& option) {
  std::vector<std::string> words;
  for (const std::string& name : spellings(option)) words.push_back("\\fB" + literal(name) + "\\fR");
  std::string head = option.get_positional() ? "\\fI" + literal(option.get_name(true)) + "\\fR"
                                             : fmt::format("{}", fmt::join(words, ", "));
  if (!option.get_positional() && !value_of(option).empty()) head += " \\fI" + literal(value_of(option)) + "\\fR";
  std::string text = fmt::format(".TP\n{}\n{}\n", head, literal(option.get_description()));
  if (!option.get_envname().empty()) {
    text += fmt::format(".br\nThe environment variable \\fB{}\\fR sets its default.\n", literal(option.get_envname()));
  }
  return text;
}

/// The completions of an option's value: `words`, or files.
struct Values {
  std::string words;
  bool files = false;
  bool operator<(const Values& other) const { return std::tie(words, files) < std::tie(other.words, other.files); }
};

/// Derived from the placeholder, to which CLI11 appends the permitted words, if they are restricted.
Values values_of(const CLI::Option& option) {
  const std::string name = option.get_type_name(), kind = value_of(option);
  if (const auto open = name.find(":{"); open != std::string::npos) {
    std::string words = name.substr(open + 2, name.find('}', open) - open - 2);
    std::replace(words.begin(), words.end(), ',', ' ');
    return {words, false};
  }
  if (kind == "RECIPE") return {"$recipes", true};
  return {"", kind.starts_with("FILE") || kind == "STEM"};
}

std::string synopsis(const CLI::App& command) {
  std::string text = fmt::format("\\fB{}\\fR", literal(command.get_name()));
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) text += fmt::format(" \\fI{}\\fR", literal(option->get_name(true)));
  }
  return text + " [\\fIOPTIONS\\fR]";
}

}  // namespace

std::string manual_page(const CLI::App& app) {
  const std::string version = app.version();
  std::string text = fmt::format(
      ".TH BATHLINE 1 \"\" \"{}\" \"User Commands\"\n.SH NAME\nbathline \\- dissipative mechanics computed as closed "
      "conservative systems\n",
      literal(version.substr(0, version.find('\n'))));
  text +=
      ".SH SYNOPSIS\n.B bathline\n.I COMMAND\n[\\fIOPTIONS\\fR] [\\fB\\-\\-\\fR \\fIPETSC OPTIONS\\fR]\n.br\n"
      ".B mpirun \\-n\n.I RANKS\n.B bathline\n.I COMMAND ...\n";
  text += fmt::format(".SH DESCRIPTION\n{}\n.PP\n", literal(app.get_description()));
  text +=
      ".B bathline describe recipe\nexplains every key of a recipe, and\n.B bathline list\nwhat recipes can name.\n";
  text += ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(app)) {
    text += fmt::format(".SS {}\n{}.\n", synopsis(*command), literal(command->get_description()));
    for (const CLI::Option* option : command->get_options()) {
      if (option != command->get_help_ptr()) text += manual_entry(*option);
    }
  }
  text += ".SH OPTIONS\n";
  for (const CLI::Option* option : app.get_options()) text += manual_entry(*option);
  text += fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", literal(app.get_footer()));
  return text;
}

std::string shell_completion(const CLI::App& app, const std::vector<std::string>& names,
                             const std::vector<std::string>& recipes) {
  std::vector<std::string> commands, cases, values;
  std::map<Values, std::set<std::string>> options_by_values;
  for (const CLI::App* command : commands_of(app)) {
    commands.push_back(command->get_name());
    std::vector<std::string> options;
    std::string words, files = "no";
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : spellings(*option)) {
        options.push_back(name);
        if (!value_of(*option).empty()) options_by_values[values_of(*option)].insert(name);
      }
      if (!option->get_positional()) continue;
      const std::string what = option->get_name(true);
      if (what == "WHAT") words += " systems potentials environments integrators studies recipes";
      if (what == "NAME") words += " $names $recipes";
      if (what == "RECIPE") words += " $recipes";
      if (what != "WHAT") files = "yes";
    }
    cases.push_back(fmt::format("    {}) options=\"{}\" words=\"{}\" files={} ;;", command->get_name(),
                                fmt::join(options, " "), words.empty() ? "" : words.substr(1), files));
  }
  for (const auto& [what, names_of_options] : options_by_values) {
    values.push_back(fmt::format("    {}) options=\"\" words=\"{}\" files={} ;;", fmt::join(names_of_options, " | "),
                                 what.words, what.files ? "yes" : "no"));
  }
  return fmt::format(R"(# Completion of bathline's command line.
_bathline() {{
  local names="{names}"
  local recipes="{recipes}"
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} options="" words="" files=no i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [ "${{COMP_WORDS[i]}}" != -- ] || return 0
  done
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{commands} --help --version" -- "$word"))
    return 0
  fi
  case ${{COMP_WORDS[1]}} in
{cases}
  esac
  case $before in
{values}
  esac
  case $word in
    -*) words=$options files=no ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [ $files = yes ]; then
    # Names may contain blanks.
    local file_names
    mapfile -t file_names < <(compgen -f -- "$word")
    COMPREPLY+=("${{file_names[@]}}")
  fi
}}
complete -o filenames -F _bathline bathline
)",
                     fmt::arg("names", fmt::join(names, " ")), fmt::arg("recipes", fmt::join(recipes, " ")),
                     fmt::arg("commands", fmt::join(commands, " ")), fmt::arg("cases", fmt::join(cases, "\n")),
                     fmt::arg("values", fmt::join(values, "\n")));
}

}  // namespace bathline
