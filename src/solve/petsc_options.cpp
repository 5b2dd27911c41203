// Rules for single options, and the two sources of options: the user and files.
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
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>

#include "text/printable_text.hpp"
#include "recipe/mistakes.hpp"

namespace bathline {

namespace {

namespace fs = std::filesystem;

struct Option {
  std::string name;  ///< "-ksp_type"
  std::optional<std::string> value;
};

/// PETSc's types that need no code, plugins or further options of the user.
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

constexpr std::string_view tao_types[] = {"blmvm", "bncg", "bqnls", "bqnkls", "bqnktr", "bqnktl", "brgn"};
constexpr std::string_view scale_types[] = {"none", "scalar", "diagonal"};

/// An option whose value is a number, a whole one if `is_integer`, or one of `types`.
struct Rule {
  std::string_view name;
  bool is_integer = false;
  double min = 0.0;
  std::span<const std::string_view> types = {};
};

constexpr Rule rules[] = {
    {.name = "ksp_rtol"},
    {.name = "ksp_atol"},
    {.name = "ksp_divtol"},
    {.name = "ksp_max_it", .is_integer = true},
    {.name = "ksp_gmres_restart", .is_integer = true, .min = 1.0},
    {.name = "ksp_type", .types = ksp_types},
    {.name = "pc_type", .types = pc_types},
    {.name = "snes_rtol"},
    {.name = "snes_atol"},
    {.name = "snes_stol"},
    {.name = "snes_max_it", .is_integer = true},
    {.name = "snes_max_funcs", .is_integer = true, .min = -1.0},  // -1: without limit
    {.name = "snes_type", .types = snes_types},
    {.name = "snes_linesearch_type", .types = linesearch_types},
    {.name = "snes_linesearch_max_it", .is_integer = true},
    {.name = "tao_gatol"},
    {.name = "tao_max_it", .is_integer = true},
    {.name = "tao_max_funcs", .is_integer = true},
    {.name = "tao_type", .types = tao_types},
    {.name = "tao_blmvm_mat_lmvm_hist_size", .is_integer = true, .min = 1.0},
    {.name = "tao_blmvm_mat_lmvm_scale_type", .types = scale_types},
};

/// Prefixes of the options for the particles' solver and the blocks of a preconditioner.
constexpr std::string_view prefixes[] = {"particles_", "sub_"};

/// The rule for "-particles_ksp_rtol", if there is one.
const Rule* rule_for(std::string_view name) {
  name.remove_prefix(1);
  for (const std::string_view prefix : prefixes) {
    if (name.starts_with(prefix)) {
      name.remove_prefix(prefix.size());
      break;
    }
  }
  const auto rule =
      std::find_if(std::begin(rules), std::end(rules), [&](const Rule& candidate) { return candidate.name == name; });
  return rule == std::end(rules) ? nullptr : rule;
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

/// The mistake in the value of an option that has a rule, or "". Values that are not numbers are left to PETSc to read
/// or refuse.
std::string fault_of(const Option& option, const Rule& rule) {
  if (!option.value) return "it needs a value";
  if (!rule.types.empty())
    return *option.value == "shell" ? "the type `shell` needs code of the user, for which there is no interface" : "";
  const std::optional<double> number = number_in(*option.value);
  if (!number) return "";
  if (!std::isfinite(*number)) return "it must be finite";
  if (rule.is_integer && *number != std::floor(*number)) return "it must be a whole number";
  if (*number < rule.min) return fmt::format("it must be at least {:g}", rule.min);
  return "";
}

/// Why the file in ":FILE" or "ascii:FILE:FORMAT", the value of an option that prints, cannot be written, or "".
std::string fault_of_output_file(const std::string& value) {
  const std::string_view kind = value.starts_with("ascii:") ? "ascii:" : ":";
  if (!value.starts_with(kind)) return "";
  const fs::path path = value.substr(kind.size(), value.find(':', kind.size()) - kind.size());
  if (path.empty()) return "";
  std::error_code ignored;
  const fs::path folder = path.parent_path().empty() ? "." : path.parent_path();
  const bool exists = fs::exists(path, ignored);
  int error = access((exists ? path : folder).c_str(), W_OK) == 0 ? 0 : errno;
  if (exists && fs::is_directory(path, ignored)) error = EISDIR;
  if (error == 0) return "";
  return fmt::format("cannot write {}: {}", printable(path.string()), std::generic_category().message(error));
}

/// PETSc's options are words that begin with a dash, each followed by at most one value.
std::vector<Option> options_in(const std::vector<std::string>& words, const std::string& where) {
  std::vector<Option> options;
  for (const std::string& word : words) {
    if (is_option_name(word)) {
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

void check_values(const std::vector<Option>& options) {
  for (const Option& option : options) {
    // PETSc does not tell upper from lower case.
    const std::string name = lower_case(option.name);
    const Rule* rule = rule_for(name);
    std::string fault = rule == nullptr ? "" : fault_of(option, *rule);
    if (name.starts_with("-options_file")) fault = "files of options are not read; give the options themselves";
    if (name == "-fp_trap")
      fault = "it would stop numbers below 2.2e-308 from being rounded to zero, which results depend on";
    if (fault.empty() && option.value) fault = fault_of_output_file(*option.value);
    if (!fault.empty()) throw UsageError(fmt::format("PETSc's option `{}`: {}", written(option), fault));
  }
}

}  // namespace

bool is_option_name(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1]));
}

std::vector<std::string> user_options(const std::vector<std::string>& words, const Communicator& communicator) {
  std::string reason, all;
  if (communicator.is_root()) {
    try {
      const std::vector<Option> options = options_in(words, "after `--`");
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
  std::vector<std::string> accepted;
  for (const Option& option : options_in(words, "among the options of " + file)) {
    if (option.name == "-log_view") {
      spdlog::warn("`-log_view` from {} is ignored; give it after `--` to use it", file);
      continue;
    }
    const Rule* rule = rule_for(option.name);
    const bool is_accepted =
        rule != nullptr && option.value &&
        (rule->types.empty() ? number_in(*option.value).has_value() && fault_of(option, *rule).empty()
                             : std::find(rule->types.begin(), rule->types.end(), *option.value) != rule->types.end());
    if (!is_accepted) {
      throw UsageError(
          fmt::format("{} contains PETSc's option `{}`; from a file only tolerances, iteration limits and solver types "
                      "are accepted; options that you give after `--` replace all those of the file",
                      file, written(option)));
    }
    accepted.push_back(option.name);
    accepted.push_back(*option.value);
  }
  return accepted;
}

}  // namespace bathline
