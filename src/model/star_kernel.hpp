// A handful of bath oscillators, small enough for the first-level cache, advanced by an explicit scheme.
//
//   m w'' = k (x(t) - w)
#pragma once

#include <span>
#include <vector>

#include "integrate/scheme.hpp"
#include "model/lanes.hpp"

namespace bathline {

class StarKernel {
 public:
  /// Oscillators that are advanced together: whole groups on every machine.
  static constexpr int chunk = 480;

  StarKernel(const ExplicitScheme& scheme, double h);

  const ExplicitScheme& scheme() const { return scheme_; }
  double step() const { return h_; }
  int substeps() const { return static_cast<int>(scheme_.substeps.size()); }

  /// Advances `count` <= chunk oscillators through as many substeps as `heads` has entries, whole steps, with the head
  /// at `heads[i]` during substep i. Then goes on with copies through those of `ahead` and adds to `pulls[i]` the sum
  /// of k w as it is before substep i, for the first substep and all that feel a force.
  void pass(std::span<const double> heads, std::span<const double> ahead, int count, double* w, double* p,
            const double* stiffness, const double* inverse_mass, std::span<double> pulls);
  /// The sum of k w.
  static double pull(int count, const double* stiffness, const double* w);

 private:
  /// Partial sums of a sum over a chunk: element j belongs to sum j % sums.
  static constexpr int sums = 8;
  static constexpr int registers = lanes == 8 ? 10 : lanes == 4 ? 6 : 8;
  static constexpr int group = registers * lanes;
  static_assert(chunk % group == 0 && group % sums == 0 && sums % lanes == 0);

  /// One of k, 1/m, w, p of a group.
  struct Group {
    Lanes at[registers];
  };
  struct Stage {
    std::vector<double> velocity = std::vector<double>(chunk), force = std::vector<double>(chunk);
  };

  bool is_kick(std::size_t substep) const { return scheme_.substeps[substep].kind == Substep::Kind::kick; }
  static double added(const double* sums);

  // Splittings keep a group in registers for all steps.
  void split(std::span<const double> heads, std::span<const double> ahead, int count, double* w, double* p,
             const double* stiffness, const double* inverse_mass, std::span<double> pulls);
  void split_group(std::span<const double> heads, std::span<const double> ahead, double* w, double* p,
                   const double* stiffness, const double* inverse_mass);
  template <bool is_forecast>
  void split_steps(std::span<const double> heads, Group& w, Group& p, const double* stiffness);
  // Runge-Kutta methods take a whole chunk through one stage after the other.
  void run_stages(std::span<const double> heads, int count, double* w, double* p, const double* stiffness,
                  const double* inverse_mass, std::span<double> pulls);
  void stage(const Substep& substep, double head, int count, double* w, double* p, const double* stiffness,
             const double* inverse_mass);

  ExplicitScheme scheme_;
  double h_;
  std::vector<Group> strength_;  // by substep: weight h k of a kick, weight h / m of a drift
  std::vector<double> sums_;     // by substep of a pass
  std::vector<Stage> stages_;
  std::vector<double> stage_w_ = std::vector<double>(chunk), stage_p_ = std::vector<double>(chunk);
  std::vector<double> copy_w_ = std::vector<double>(chunk), copy_p_ = std::vector<double>(chunk);
};

}  // namespace bathline
