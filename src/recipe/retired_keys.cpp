// Entries can be removed when no recipe of version 0.1 is in use.
// Tested by tests/recipe/section_reader_test.cpp.
#include "recipe/retired_keys.hpp"

#include <fmt/format.h>

namespace bathline {

namespace {

struct Retired {
  const char* header;  ///< "" for values
  const char* old_name;
  const char* advice;
};

constexpr Retired retired[] = {
    {"the recipe", "environment", "it is called `environments`"},
    {"[system]", "temperature", "it is called `kT`"},
    {"[[environments]]", "temperature", "it is called `kT`"},
    {"[[environments]]", "until", "it is called `horizon`"},
    {"[[integrators]]", "label", "results are named by `name`, and the method is chosen by `method`"},
    {"[output]", "seed", "`seed` stands beside `title`, above the first table"},
    {"[output]", "section", "it is called `poincare_section`"},
    {"[[claims]]", "id", "it is called `name`"},
    {"[[claims]]", "over", "it is called `divided_by`"},
    {"[study]", "from", "it is called `burn_in`"},
    {"[study]", "longest_lag", "it is called `max_lag`"},
    {"[study]", "passages", "it is called `first_passages`"},
    {"[study]", "densities", "it is called `joint_histograms`"},
    {"[study]", "paths", "it is called `saved_paths`"},
    {"", "lyapunov", "it is called `energy-transfer`"},
    {"", "duplication", "it is called `doubled-variables`"},
    {"", "substitution", "it is called `substituting-system`"},
    {"", "memory", "it is called `memory-kernel`"},
    {"", "spread", "it is called `peak_to_peak`"},
};

}  // namespace

std::string retired_key_advice(const std::string& header, const std::string& key) {
  for (const Retired& name : retired) {
    if (header == name.header && key == name.old_name) return fmt::format(": {}", name.advice);
  }
  return "";
}

std::string retired_name_advice(const std::string& name) { return retired_key_advice("", name); }

}  // namespace bathline
