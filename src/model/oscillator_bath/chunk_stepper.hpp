// A chunk of bath oscillators that fits into the first-level cache, advanced by an explicit scheme.
//
//   m w'' = k (x(t) - w)
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "methods/scheme.hpp"
#include "simd/simd_double.hpp"

namespace bathline {

class OscillatorChunkStepper {
 public:
  /// Oscillators of a chunk at most; a multiple of the group size for every register width.
  static constexpr int chunk = 480;

  OscillatorChunkStepper(const ExplicitScheme& scheme, double h);

  const ExplicitScheme& scheme() const { return scheme_; }
  double step() const { return h_; }
  int substeps() const { return static_cast<int>(scheme_.substeps.size()); }

  /// Advances `count` <= chunk oscillators through heads.size() substeps, whole steps, with the head at `heads[i]`
  /// during substep i. Copies are then advanced through pulls.size() further substeps with the head at 0, and the sum
  /// of k w before substep i is added to `pulls[i]`, for the first substep and every substep with a force.
  void advance_block(std::span<const double> heads, int count, double* w, double* p, const double* stiffness,
                     const double* inverse_mass, std::span<double> pulls);
  /// Adds the same pulls for oscillators that start at rest, with the head at `heads[i]` during substep i.
  void impulse_response(std::span<const double> heads, int count, const double* stiffness, const double* inverse_mass,
                        std::span<double> pulls);
  /// The sum of k w.
  static double pull(int count, const double* stiffness, const double* w);

 private:
  /// A sum over a chunk has `sums` partial sums; element j belongs to partial sum j % sums.
  static constexpr int sums = 8;
  static constexpr int max_registers = simd_width == 8 ? 10 : simd_width == 4 ? 6 : 8;
  static_assert(chunk % (max_registers * simd_width) == 0 && max_registers * simd_width % sums == 0 &&
                sums % simd_width == 0);

  /// The values of k, 1/m, w or p of a group of oscillators.
  template <int registers>
  struct Group {
    SimdDouble value[registers];
  };
  using LargestGroup = Group<max_registers>;
  struct PartialSums;
  struct Stage {
    std::vector<double> velocity = std::vector<double>(chunk), force = std::vector<double>(chunk);
  };

  bool is_kick(std::size_t substep) const { return scheme_.substeps[substep].kind == Substep::Kind::kick; }
  static double pairwise_sum(const double* sums);

  // Splitting methods keep a group in registers for all steps.
  /// Calls work(w, p, k, 1/m, registers) for every group. All groups have the same size, the last one is padded, and
  /// `registers` is a compile-time constant.
  template <class Work>
  void for_each_group(int count, double* w, double* p, const double* stiffness, const double* inverse_mass, Work work);
  template <int registers, class Work>
  static void for_each_group_of(int count, double* w, double* p, const double* stiffness, const double* inverse_mass,
                                Work work);
  template <int registers>
  void set_strength(const double* stiffness, const double* inverse_mass);
  template <bool has_free_response, int registers>
  void run_splitting(std::span<const double> heads, Group<registers>& w, Group<registers>& p, const double* stiffness);
  /// The same pulls as from `run_splitting` with the head at 0, for schemes with one kick a step: with u = k w before
  /// the kick and r the increment of u by the drifts until the next kick, u += r, r -= h^2 k/m u. One multiplication a
  /// step instead of three.
  template <int registers>
  void free_response_one_kick(std::size_t steps, const Group<registers>& w, const Group<registers>& p,
                              const double* stiffness);
  void add_sums(std::span<double> pulls);
  // Runge-Kutta methods compute each stage for a whole chunk.
  void run_stages(std::span<const double> heads, int count, double* w, double* p, const double* stiffness,
                  const double* inverse_mass, std::span<double> pulls);
  void stage(const Substep& substep, double head, int count, double* w, double* p, const double* stiffness,
             const double* inverse_mass);

  ExplicitScheme scheme_;
  double h_;
  std::optional<std::size_t> single_kick_;  // index of the kick if a step has exactly one
  std::vector<LargestGroup> strength_;      // by substep: weight h k of a kick, weight h / m of a drift
  std::vector<double> sums_;                // partial sums by substep
  std::vector<double> zero_input_;          // positions of a head at 0
  std::vector<Stage> stages_;
  std::vector<double> stage_w_ = std::vector<double>(chunk), stage_p_ = std::vector<double>(chunk);
  std::vector<double> copy_w_ = std::vector<double>(chunk), copy_p_ = std::vector<double>(chunk);
};

}  // namespace bathline
