// Kernels and densities in recipes: a formula, or a table with linear interpolation.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parallel/communicator.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

constexpr const char* kernel_input_keys[] = {"kernel", "kernel_file", "spectral_density", "spectral_density_file"};

/// The rows of a table: positions that rise, and values.
using KernelTable = std::vector<std::array<double, 2>>;
/// Linear interpolation between rows; 0 after the last, and from 0 at 0 to the first.
double interpolated(const KernelTable& table, double x);

/// A kernel or density to be represented, from a formula or a table.
struct KernelInput {
  std::string key;
  std::function<double(double)> value;
  std::vector<double> kinks = {};  ///< positions of the rows of a table
  std::string cache_key = {};      ///< text that identifies the function
  double last_fraction = 0.0;      ///< size of the last value of a table, over the largest

  bool is_kernel() const { return key.starts_with("kernel"); }
};

/// The input of a section with one of these keys. Nothing if it is invalid; mistakes are added.
/// @note Collective.
std::optional<KernelInput> read_kernel_input(const Section& section, const Communicator& communicator,
                                             Mistakes& mistakes);

}  // namespace bathline
