// A handful of bath oscillators, small enough for the first-level cache, advanced by an explicit scheme.
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
  /// Oscillators that are advanced together: whole groups on every machine.
  static constexpr int chunk = 480;

  OscillatorChunkStepper(const ExplicitScheme& scheme, double h);

  const ExplicitScheme& scheme() const { return scheme_; }
  double step() const { return h_; }
  int substeps() const { return static_cast<int>(scheme_.substeps.size()); }

  /// Advances `count` <= chunk oscillators through as many substeps as `heads` has entries, whole steps, with the head
  /// at `heads[i]` during substep i. Then goes on with copies through as many as `pulls` has entries, the head at 0,
  /// and adds to `pulls[i]` the sum of k w as it is before substep i, for the first substep and all that feel a force.
  void advance_block(std::span<const double> heads, int count, double* w, double* p, const double* stiffness,
                     const double* inverse_mass, std::span<double> pulls);
  /// The same pulls of oscillators that start at rest, with the head at `heads[i]` during substep i.
  void impulse_response(std::span<const double> heads, int count, const double* stiffness, const double* inverse_mass,
                        std::span<double> pulls);
  /// The sum of k w.
  static double pull(int count, const double* stiffness, const double* w);

 private:
  /// Partial sums of a sum over a chunk: element j belongs to sum j % sums.
  static constexpr int sums = 8;
  static constexpr int max_registers = simd_width == 8 ? 10 : simd_width == 4 ? 6 : 8;
  static_assert(chunk % (max_registers * simd_width) == 0 && max_registers * simd_width % sums == 0 &&
                sums % simd_width == 0);

  /// One of k, 1/m, w, p of a group of oscillators in so many registers.
  template <int registers>
  struct Group {
    SimdDouble at[registers];
  };
  using LargestGroup = Group<max_registers>;
  struct PartialSums;
  struct Stage {
    std::vector<double> velocity = std::vector<double>(chunk), force = std::vector<double>(chunk);
  };

  bool is_kick(std::size_t substep) const { return scheme_.substeps[substep].kind == Substep::Kind::kick; }
  static double added(const double* sums);

  // Splittings keep a group in registers for all steps.
  /// work(w, p, k, 1/m, registers) of one group after the other, the last one filled up; groups are as large as each
  /// other, and their registers a number known at compile time.
  template <class Work>
  void for_each_group(int count, double* w, double* p, const double* stiffness, const double* inverse_mass, Work work);
  template <int registers, class Work>
  static void for_each_group_of(int count, double* w, double* p, const double* stiffness, const double* inverse_mass,
                                Work work);
  template <int registers>
  void set_strength(const double* stiffness, const double* inverse_mass);
  template <bool has_free_response, int registers>
  void split_steps(std::span<const double> heads, Group<registers>& w, Group<registers>& p, const double* stiffness);
  /// The same pulls as from `split_steps` with the head at 0, where a step has one kick: with u = k w before it and r
  /// what drifts add to u until the next,  u += r,  r -= h^2 k/m u. One multiplication a step instead of three.
  template <int registers>
  void free_response_one_kick(std::size_t steps, const Group<registers>& w, const Group<registers>& p,
                              const double* stiffness);
  void add_sums(std::span<double> pulls);
  // Runge-Kutta methods take a whole chunk through one stage after the other.
  void run_stages(std::span<const double> heads, int count, double* w, double* p, const double* stiffness,
                  const double* inverse_mass, std::span<double> pulls);
  void stage(const Substep& substep, double head, int count, double* w, double* p, const double* stiffness,
             const double* inverse_mass);

  ExplicitScheme scheme_;
  double h_;
  std::optional<std::size_t> only_kick_;  // the substep, where a step has one kick
  std::vector<LargestGroup> strength_;    // by substep: weight h k of a kick, weight h / m of a drift
  std::vector<double> sums_;              // by substep of a pass
  std::vector<double> zero_input_;        // a head at 0
  std::vector<Stage> stages_;
  std::vector<double> stage_w_ = std::vector<double>(chunk), stage_p_ = std::vector<double>(chunk);
  std::vector<double> copy_w_ = std::vector<double>(chunk), copy_p_ = std::vector<double>(chunk);
};

}  // namespace bathline
