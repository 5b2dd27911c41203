// The modes of an environment on one rank: the state that all its steppers share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/modes/mode.hpp"
#include "parallel/communicator.hpp"
#include "parallel/reproducible_sum.hpp"
#include "simd/aligned_vector.hpp"
#include "simd/simd_double.hpp"

namespace bathline {

/// Coefficients and displacements are stored up to a multiple of `padding` modes; those beyond the last are zero.
struct ModesState {
  static constexpr std::int64_t padding = 64;
  /// Sums over a leaf are in so many parts, mode j in part j % parts, whatever the width of registers.
  static constexpr int parts = ReproducibleSum::interleaved, registers = parts / simd_width;

  ModesState(ModeTable modes, int number_of_axes, const Communicator& world)
      : table(std::move(modes)),
        communicator(world),
        axes(static_cast<std::size_t>(number_of_axes)),
        sum(Layout(table.size, world.size(),
                   ReproducibleSum::leaf_size(table.size, 256, std::max<std::int64_t>(256, table.size))),
            world) {}

  static double sum_of(const double* part) {
    return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
  }
  std::size_t padded() const { return static_cast<std::size_t>((sum.count() + padding - 1) / padding * padding); }
  /// Calls work(leaf, begin, end) for every leaf of this rank, with the padding behind the last one.
  template <class Work>
  void for_each_leaf(Work&& work) const {
    for (std::int64_t leaf = 0; leaf < sum.leaves(); ++leaf) {
      const auto end = static_cast<std::size_t>((leaf + 1) * sum.leaf_size());
      work(leaf, static_cast<std::size_t>(leaf * sum.leaf_size()), std::min(end, padded()));
    }
  }
  /// Recomputes the sums after the modes have been changed by something other than a stepper. @note Collective.
  void refresh_pull();

  ModeTable table;
  Communicator communicator;
  std::size_t axes;
  mutable ReproducibleSum sum;
  AlignedVector stiffness, inverse_mass;  ///< by mode of this rank
  std::vector<AlignedVector> w, p;        ///< one array per axis
  double total_stiffness = 0.0;           ///< on rank 0
  std::vector<double> pull;               ///< sum of k w by axis, on rank 0
  std::int64_t changes = 0;  ///< number of changes of w and p; what was computed ahead is valid for one of them only
};

/// The parts of a sum over products, of the modes [begin, end).
inline double sum_of_products(const double* a, const double* b, std::size_t begin, std::size_t end) {
  constexpr int registers = ModesState::registers;
  SimdDouble part[registers] = {};
  for (std::size_t j = begin; j < end; j += ModesState::parts) {
    for (int i = 0; i < registers; ++i) {
      part[i] = multiply_add(load(a + j + i * simd_width), load(b + j + i * simd_width), part[i]);
    }
  }
  double all[ModesState::parts];
  for (int i = 0; i < registers; ++i) store(part[i], all + i * simd_width);
  return ModesState::sum_of(all);
}

}  // namespace bathline
