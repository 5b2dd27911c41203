// Kernels and densities as recipes give them: by a formula, or by lines between the rows of a table.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parallel/communicator.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

constexpr const char* kernel_input_keys[] = {"kernel", "kernel_file", "spectral_density", "spectral_density_file"};

/// What is to be represented: a function by its formula or by lines between the rows of a table.
struct KernelInput {
  std::string key;
  std::function<double(double)> value;
  std::vector<double> kinks = {};  ///< rows of a table
  std::string cache_key = {};      ///< all that the function depends on

  bool is_kernel() const { return key.starts_with("kernel"); }
};

/// Of a section that has one of these keys. Nothing where what it has makes no sense, which is added to the mistakes.
/// @note Collective.
std::optional<KernelInput> read_kernel_input(const Section& section, const Communicator& communicator,
                                             Mistakes& mistakes);

}  // namespace bathline
