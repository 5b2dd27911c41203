// What is known of single options, and the two ways in which options come in.
#include "solve/petsc_options.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>

#include "parallel/text_file.hpp"
#include "recipe/printable_text.hpp"
#include "recipe/mistakes.hpp"

namespace bathline {

namespace {

namespace fs = std::filesystem;

struct Option {
  std::string name;  ///< "-ksp_type"
  std::optional<std::string> value;
};

/// The types of PETSc that work without code, plugins or options of the user's.
constexpr std::string_view ksp_types[] = {
    "preonly",  "richardson", "chebyshev", "cg",         "groppcg", "pipecg", "pipecgrr", "pipelcg",
    "pipeprcg", "pipecg2",    "cgne",      "fcg",        "pipefcg", "gmres",  "fgmres",   "lgmres",
    "dgmres",   "pgmres",     "tcqmr",     "pipefgmres", "bcgs",    "ibcgs",  "qmrcgs",   "fbcgs",
    "fbcgsr",   "bcgsl",      "pipebcgs",  "cgs",        "tfqmr",   "cr",     "pipecr",   "lsqr",
    "bicg",     "minres",     "symmlq",    "lcd",        "pipegcr", "gcr",    "cgls"};
constexpr std::string_view pc_types[] = {"bathline", "none", "jacobi", "pbjacobi", "bjacobi",  "sor", "eisenstat",
                                         "ilu",      "icc",  "asm",    "lu",       "cholesky", "svd", "kaczmarz"};
constexpr std::string_view snes_types[] = {"newtonls", "newtontr", "newtontrdc", "nrichardson", "ksponly",
                                           "ngmres",   "qn",       "ncg",        "anderson"};
constexpr std::string_view linesearch_types[] = {"basic", "bt", "l2", "cp", "nleqerr"};
constexpr std::string_view rk_types[] = {"1fe", "2a", "2b", "3", "3bs", "4", "5f", "5dp", "5bs", "6vr", "7vr", "8vr"};

/// An option that sets a number, which is a whole one where it counts, or chooses among `types`.
struct Rule {
  std::string_view name;
  bool counts = false;
  double least = 0.0;
  std::span<const std::string_view> types = {};
};

constexpr Rule rules[] = {
    {.name = "ksp_rtol"},
    {.name = "ksp_atol"},
    {.name = "ksp_divtol"},
    {.name = "ksp_max_it", .counts = true},
    {.name = "ksp_gmres_restart", .counts = true, .least = 1.0},
    {.name = "ksp_type", .types = ksp_types},
    {.name = "pc_type", .types = pc_types},
    {.name = "snes_rtol"},
    {.name = "snes_atol"},
    {.name = "snes_stol"},
    {.name = "snes_max_it", .counts = true},
    {.name = "snes_max_funcs", .counts = true, .least = -1.0},  // -1: without limit
    {.name = "snes_type", .types = snes_types},
    {.name = "snes_linesearch_type", .types = linesearch_types},
    {.name = "snes_linesearch_max_it", .counts = true},
    {.name = "ts_rtol"},
    {.name = "ts_atol"},
    {.name = "ts_max_steps", .counts = true},
    {.name = "ts_rk_type", .types = rk_types},
};

/// Solvers that belong to the particles, the reference and the blocks of a preconditioner have options of their own.
constexpr std::string_view prefixes[] = {"particles_", "reference_", "sub_"};

/// The rule for "-particles_ksp_rtol", if there is one.
const Rule* rule_for(std::string_view name) {
  name.remove_prefix(1);
  for (const std::string_view prefix : prefixes) {
    if (name.starts_with(prefix)) {
      name.remove_prefix(prefix.size());
      break;
    }
  }
  const auto found =
      std::find_if(std::begin(rules), std::end(rules), [&](const Rule& rule) { return rule.name == name; });
  return found == std::end(rules) ? nullptr : found;
}

std::string written(const Option& option) {
  return printable(option.value ? fmt::format("{} {}", option.name, *option.value) : option.name);
}

std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) return std::nullopt;
  return number;
}

/// What is wrong with the value of an option for which there is a rule, or "". What is no number at all PETSc itself
/// reads or refuses.
std::string fault_of(const Option& option, const Rule& rule) {
  if (!option.value) return "it needs a value";
  if (!rule.types.empty()) return *option.value == "shell" ? "that needs code of the user's, and there is none" : "";
  const std::optional<double> number = number_in(*option.value);
  if (!number) return "";
  if (!std::isfinite(*number)) return "it must be finite";
  if (rule.counts && *number != std::floor(*number)) return "it must be a whole number";
  if (*number < rule.least) return fmt::format("it must be at least {:g}", rule.least);
  return "";
}

/// What is in the way of the file in ":FILE" or "ascii:FILE:FORMAT", as options that print take it, or "".
std::string fault_of_place(const std::string& value) {
  const std::string_view kind = value.starts_with("ascii:") ? "ascii:" : ":";
  if (!value.starts_with(kind)) return "";
  const fs::path path = value.substr(kind.size(), value.find(':', kind.size()) - kind.size());
  if (path.empty()) return "";
  std::error_code ignored;
  const fs::path folder = path.parent_path().empty() ? "." : path.parent_path();
  const bool is_there = fs::exists(path, ignored);
  int error = access((is_there ? path : folder).c_str(), W_OK) == 0 ? 0 : errno;
  if (is_there && fs::is_directory(path, ignored)) error = EISDIR;
  if (error == 0) return "";
  return fmt::format("cannot write {}: {}", printable(path.string()), std::generic_category().message(error));
}

/// PETSc's options are words that begin with a dash, each with at most one value behind it.
std::vector<Option> options_in(const std::vector<std::string>& words, const std::string& where) {
  std::vector<Option> options;
  for (const std::string& word : words) {
    if (word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1]))) {
      options.push_back({word, std::nullopt});
    } else if (!options.empty() && !options.back().value) {
      options.back().value = word;
    } else {
      throw UsageError(
          fmt::format("`{}` {} belongs to no option; PETSc's options look like -ksp_type cg", printable(word), where));
    }
  }
  return options;
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Options with those of `-options_file` in its place; `files` are the ones that are being read.
std::vector<Option> expanded(const std::vector<Option>& options, std::set<std::string> files);

std::vector<Option> expanded(const Option& option, std::set<std::string> files) {
  const std::string& path = option.value.value_or("");
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("PETSc's option `{}`: {}", written(option), why));
  };
  if (path.empty()) refuse("it needs a value");
  const std::optional<std::string> text = read_text_file(path);
  if (!text) refuse("there is no such file that can be read");
  const std::string extension = fs::path(path).extension();
  if (option.name != "-options_file" || extension == ".yaml" || extension == ".yml") return {option};
  std::error_code ignored;
  if (!files.insert(fs::canonical(path, ignored)).second) refuse("the file names itself");
  std::istringstream lines(*text);
  std::string line;
  std::vector<Option> all;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream rest(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; rest >> word;) words.push_back(word);
    const std::vector<Option> found = options_in(words, fmt::format("in line {} of {}", number, printable(path)));
    all.insert(all.end(), found.begin(), found.end());
  }
  return expanded(all, files);
}

std::vector<Option> expanded(const std::vector<Option>& options, std::set<std::string> files) {
  std::vector<Option> all;
  for (const Option& option : options) {
    const bool names_file = option.name == "-options_file" || option.name == "-options_file_yaml";
    const std::vector<Option> instead = names_file ? expanded(option, files) : std::vector{option};
    all.insert(all.end(), instead.begin(), instead.end());
  }
  return all;
}

void check_values(const std::vector<Option>& options) {
  for (const Option& option : options) {
    // PETSc does not tell upper from lower case.
    const std::string name = lower_case(option.name);
    const Rule* rule = rule_for(name);
    std::string fault = rule == nullptr ? "" : fault_of(option, *rule);
    if (name == "-fp_trap") fault = "with it numbers below 2.2e-308 would not be zero any more";
    if (fault.empty() && option.value) fault = fault_of_place(*option.value);
    if (!fault.empty()) throw UsageError(fmt::format("PETSc's option `{}`: {}", written(option), fault));
  }
}

}  // namespace

std::vector<std::string> user_options(const std::vector<std::string>& words, const Communicator& communicator) {
  std::string reason, all;
  if (communicator.is_root()) {
    try {
      const std::vector<Option> options = expanded(options_in(words, "behind `--`"), {});
      check_values(options);
      for (const Option& option : options) {
        all += option.name + '\0';
        if (option.value) all += *option.value + '\0';
      }
    } catch (const std::exception& error) {
      reason = error.what();
    }
  }
  reason = communicator.broadcast(reason);
  if (!reason.empty()) throw UsageError(reason);
  std::istringstream agreed(communicator.broadcast(all));
  std::vector<std::string> result;
  for (std::string word; std::getline(agreed, word, '\0');) result.push_back(word);
  return result;
}

std::vector<std::string> options_of_file(const std::vector<std::string>& words, const std::string& file) {
  std::vector<std::string> taken;
  for (const Option& option : options_in(words, "among the options of " + file)) {
    if (option.name == "-log_view") {
      spdlog::warn("`-log_view` of {} is left out; give it behind `--` to see it", file);
      continue;
    }
    const Rule* rule = rule_for(option.name);
    const bool is_good =
        rule != nullptr && option.value &&
        (rule->types.empty() ? number_in(*option.value).has_value() && fault_of(option, *rule).empty()
                             : std::find(rule->types.begin(), rule->types.end(), *option.value) != rule->types.end());
    if (!is_good) {
      throw UsageError(fmt::format(
          "{} wants the option `{}` of PETSc; from a file only tolerances, limits of iterations and types of "
          "solvers are taken; options of your own behind `--` stand for all of the file's",
          file, written(option)));
    }
    taken.push_back(option.name);
    taken.push_back(*option.value);
  }
  return taken;
}

}  // namespace bathline
